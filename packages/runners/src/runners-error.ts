/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { RunnersCode } from "./codes.ts";

/** A package that a runner launches could not be used. */
export class RunnersError extends CodedError<RunnersCode> {}
