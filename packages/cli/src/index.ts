// For other packages here.

export { exitCodeOf } from "./exit-codes.ts";
export { loadExplained } from "./explain/load-explained.ts";
export { createCommandLineCheck } from "./help/check-command-line.ts";
export { commandLineReference } from "./help/command-line-reference.ts";
export { main } from "./main.ts";
export { createLogger } from "./output/logger.ts";
