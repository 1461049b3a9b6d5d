/** The error class of this package. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ToolpackImageCode } from "./codes.ts";

/** An image, package or bundle cannot be built. */
export class ToolpackImageError extends CodedError<ToolpackImageCode> {}
