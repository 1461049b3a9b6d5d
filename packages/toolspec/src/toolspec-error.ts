/** The one error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ToolspecCode } from "./codes.ts";

/** A request was refused before anything was sent; `code` is one of this package's codes. */
export class ToolspecError extends CodedError<ToolspecCode> {}
