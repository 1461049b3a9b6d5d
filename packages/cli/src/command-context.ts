/** What a command's handler works with, and how it is run: options in, exit code out. */

import type { Command } from "commander";
import type { ExitCode } from "./exit-codes.ts";
import { exitCodeOfError } from "./exit-codes.ts";
import { type GlobalFlags, type GlobalOptions, resolveGlobalOptions } from "./global-options.ts";
import { createOutput, type Output } from "./output/output.ts";
import { reportError } from "./output/report-error.ts";
import type { World } from "./world.ts";

/** One run of one command. */
export interface CommandContext {
  readonly world: World;
  readonly options: GlobalOptions;
  readonly output: Output;
}

/** What a command does. What it throws is reported and decides the exit code. */
export type Handler = (context: CommandContext) => Promise<ExitCode>;

/** Run a command's handler; `createProgram` gives this to each command. */
export type RunCommand = (
  command: Command,
  handler: Handler,
  /** Name of the home in the user's directory, of commands with one of their own. */
  homeName?: string,
) => Promise<void>;

/** Make the runner of commands; `done` is told the exit code. */
export function createRunner(world: World, done: (code: ExitCode) => void): RunCommand {
  return async (command, handler, homeName) => {
    const flags = command.optsWithGlobals<GlobalFlags>();
    const output = createOutput(world, { isJson: flags.json === true, noColor: flags.color === false });
    try {
      const options = resolveGlobalOptions(flags, world, homeName);
      done(await handler({ world, options, output }));
    } catch (error) {
      reportError(output, error, flags.debug === true);
      done(exitCodeOfError(error));
    }
  };
}
