/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { CliCode } from "./codes.ts";

/** A failed command. Its code decides the exit code (`exit-codes.ts`). */
export class CliError extends CodedError<CliCode> {}
