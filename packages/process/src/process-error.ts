/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ProcessCode } from "./codes.ts";

/** A process could not be started. */
export class ProcessError extends CodedError<ProcessCode> {}
