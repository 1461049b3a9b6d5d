/** The one error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ToolpackCode } from "./codes.ts";

/** A toolspec cannot be used as a source of tools. */
export class ToolpackError extends CodedError<ToolpackCode> {}
