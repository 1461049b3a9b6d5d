/** From a command line to an exit code. Everything that goes wrong on the way is reported here or below. */

import { CommanderError } from "commander";
import { CliError } from "./cli-error.ts";
import { createRunner } from "./command-context.ts";
import { type ExitCode, exitCodeOfError, exitCodes } from "./exit-codes.ts";
import { createOutput } from "./output/output.ts";
import { reportError } from "./output/report-error.ts";
import { createProgram } from "./program.ts";
import type { World } from "./world.ts";

/** Run the command that `world.args` asks for. Never rejects. */
export async function main(world: World): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram(
    world,
    createRunner(world, (code) => {
      exitCode = code;
    }),
  );
  try {
    await program.parseAsync([...world.args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Help and the version end the parsing too.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
    if (thrown instanceof CommanderError && thrown.code === "commander.help") return exitCodes.usage;
    const error = thrown instanceof CommanderError ? toUsageError(thrown) : thrown;
    const isGiven = (flag: string) => world.args.includes(flag);
    const output = createOutput(world, { isJson: isGiven("--json"), noColor: isGiven("--no-color") });
    reportError(output, error, isGiven("--debug"));
    return exitCodeOfError(error);
  }
}

/** "error: unknown command 'serch'\n(Did you mean search?)" as message and hint. */
function toUsageError(error: CommanderError): CliError {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /^\((Did you mean .*\?)\)$/s.exec(rest.join(" ").trim())?.[1];
  const message = first.charAt(0).toUpperCase() + first.slice(1).replace(/\.$/, "");
  return new CliError("CLI_USAGE", message, {
    hint: suggestion === undefined ? "see toolcrib --help" : suggestion.replace(/^D/, "d"),
  });
}
