/** The one error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { McpkgRuntimeCode } from "./codes.ts";

/** A package cannot run, or its run failed. */
export class McpkgRuntimeError extends CodedError<McpkgRuntimeCode> {}
