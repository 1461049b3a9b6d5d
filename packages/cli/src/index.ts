// For other packages here.

export { exitCodeOf } from "./exit-codes.ts";
export { commandLineReference } from "./help/command-line-reference.ts";
export { main } from "./main.ts";
export { createLogger, type LoggerOptions } from "./output/logger.ts";
export type { ProcessContext } from "./process-context.ts";
