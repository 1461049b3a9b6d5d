/** The error class of this package. Its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ToolspecCode } from "./codes.ts";

/** A request was refused before it was sent; `code` is a key of `toolspecCodes`. */
export class ToolspecError extends CodedError<ToolspecCode> {}
