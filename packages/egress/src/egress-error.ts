import { CodedError } from "@toolcrib/diagnostics";
import type { EgressCode } from "./codes.ts";

/**
 * A request did not get out, or its response not in; `code` is one of this
 * package's codes. Neither message nor hint holds a secret.
 */
export class EgressError extends CodedError<EgressCode> {}
