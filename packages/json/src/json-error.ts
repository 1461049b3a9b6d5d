/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { JsonCode } from "./codes.ts";

/** A JSON operation failed; `code` is one of this package's codes. */
export class JsonError extends CodedError<JsonCode> {}
