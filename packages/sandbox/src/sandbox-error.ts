/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { SandboxCode } from "./codes.ts";

/** A sandbox could not be built. */
export class SandboxError extends CodedError<SandboxCode> {}
