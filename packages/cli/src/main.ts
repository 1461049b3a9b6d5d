/** The command with all of its subcommands. */

import { loadCommandOf, loadCommands, loadDefault } from "./command-list.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { ProcessContext } from "./process-context.ts";
import { runCommandLine } from "./run-command-line.ts";

/** Runs the command that `process.args` name. Rejects only if the code that reports errors cannot be loaded. */
export function main(process: ProcessContext): Promise<ExitCode> {
  return runCommandLine(process, { loadCommandOf, loadCommands, loadDefault });
}
