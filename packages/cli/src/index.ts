// For other packages here.

export { exitCodeOf } from "./exit-codes.ts";
export { commandLineReference } from "./help/command-line-reference.ts";
