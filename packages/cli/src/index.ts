// For other packages here.
export { type ExitCode, exitCodeMeanings, exitCodeOf, exitCodes } from "./exit-codes.ts";
export { main } from "./main.ts";
export { createProgram } from "./program.ts";
export type { OutputStream, World } from "./world.ts";
