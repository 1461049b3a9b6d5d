// For other packages here.

export { type ExitCode, exitCodeOf } from "./exit-codes.ts";
export { commandLineReference } from "./help/command-line-reference.ts";
