import { CodedError } from "@toolcrib/diagnostics";
import type { SecretsCode } from "./codes.ts";

/** A secret cannot be read or kept; `code` is one of this package's codes. Neither its message nor its hint holds a value. */
export class SecretsError extends CodedError<SecretsCode> {}
