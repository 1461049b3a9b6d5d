/** Checks command lines against the definitions of the commands, without running them: for those that pages show. */

import { CommanderError } from "commander";
import { loadCommands } from "../command-list.ts";
import { createProgram } from "../program.ts";
import { silentProcess } from "./silent-process.ts";

/** A problem of a command line. */
export interface CommandLineProblem {
  /** Whether words are missing at its end, as in a text that names a command without its arguments. */
  readonly isIncomplete: boolean;
  readonly message: string;
}

const incompleteCodes: ReadonlySet<string> = new Set([
  "commander.help",
  "commander.missingArgument",
  "commander.missingMandatoryOptionValue",
  "commander.optionMissingArgument",
]);

/**
 * Loads all commands, and returns a function that checks the words after `toolcrib`: the names of commands and options,
 * the number of arguments, and values that an option or argument restricts.
 */
export async function createCommandLineCheck(): Promise<
  (words: readonly string[]) => CommandLineProblem | undefined
> {
  const sections = await loadCommands();
  return (words) => {
    try {
      createProgram(silentProcess, sections, async () => {}).parse([...words], { from: "user" });
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof CommanderError)) throw thrown;
      if (thrown.exitCode === 0) return undefined;
      const message = (thrown.message.replace(/^error: /, "").split("\n")[0] ?? "").replace(/\.$/, "");
      return { isIncomplete: incompleteCodes.has(thrown.code), message };
    }
  };
}
