/** The one error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { CliCode } from "./codes.ts";

/** A command could not do what it was asked for. Its code decides the exit code (`exit-codes.ts`). */
export class CliError extends CodedError<CliCode> {}
