import { CodedError } from "@toolcrib/diagnostics";
import type { CedarCode } from "./codes.ts";

/** Policies cannot be used. */
export class CedarError extends CodedError<CedarCode> {}
