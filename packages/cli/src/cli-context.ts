/** The dependencies of a command, and the function that runs one command to an exit code. */

import type { CliCommand, CommandSection } from "./cli-command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { exitCodeOfError } from "./exit-codes.ts";
import { type GlobalFlags, type GlobalOptions, resolveGlobalOptions } from "./global-options.ts";
import type { Output } from "./output/output.ts";
import type { ProcessContext } from "./process-context.ts";

/** The dependencies of one run of one command. */
export interface CliContext extends ProcessContext {
  readonly options: GlobalOptions;
  readonly output: Output;
  /** Loads the definition of every command, for help and shell completion. */
  readonly loadCommands: () => Promise<readonly CommandSection[]>;
}

/** A command with the values from its command line. */
export interface Invocation {
  readonly command: CliCommand;
  readonly args: { readonly [name: string]: unknown };
  readonly options: { readonly [name: string]: unknown };
  /** Words that no argument takes; see `CliCommand.acceptsExcess`. */
  readonly excess: readonly string[];
  readonly globalFlags: GlobalFlags;
}

/** Runs a command. Reports a thrown error, which also decides the exit code. Rejects only if the code that reports errors cannot be loaded. */
export async function runCommand(
  process: ProcessContext,
  loadCommands: CliContext["loadCommands"],
  { command, args, options, excess, globalFlags: flags }: Invocation,
): Promise<ExitCode> {
  // Help and usage do not need these modules and what they import.
  const { createOutput } = await import("./output/output.ts");
  const output = createOutput(process, { isJson: flags.json === true, noColor: flags.color === false });
  let homeFlag = "";
  try {
    const globalOptions = resolveGlobalOptions(flags, process, command.homeName);
    homeFlag = globalOptions.homeFlag;
    const context: CliContext = { ...process, options: globalOptions, output, loadCommands };
    return await command.run(context, args, options, excess);
  } catch (thrown) {
    const error = wasInterrupted(thrown, process.signal) ? process.signal.reason : thrown;
    const { reportError } = await import("./output/report-error.ts");
    const { shortProgram } = await import("./serve/own-command.ts");
    reportError(output, error, { isDebug: flags.debug === true, homeFlag, program: shortProgram(process) });
    return exitCodeOfError(error);
  }
}

/** Whether an error only says that the signal of the command ended what ran; the reason of the signal says why. */
function wasInterrupted(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && thrown instanceof Error && thrown.name === "AbortError";
}
