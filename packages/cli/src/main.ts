/** Runs a command line to its exit code. Reports every failure, except those that `runCommand` reports. */

import { type Command, CommanderError } from "commander";
import { runCommand } from "./cli-context.ts";
import { CliError } from "./cli-error.ts";
import { loadCommandOf, loadCommands } from "./command-list.ts";
import { type ExitCode, exitCodeOfError, exitCodes } from "./exit-codes.ts";
import type { ProcessContext } from "./process-context.ts";
import { createProgram } from "./program.ts";

/** Runs the command that `process.args` name. Rejects only if the code that reports errors cannot be loaded. */
export async function main(process: ProcessContext): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  let program: Command | undefined;
  try {
    program = createProgram(process, await loadCommandOf(process.args), async (invocation) => {
      exitCode = await runCommand(process, loadCommands, invocation);
    });
    await program.parseAsync([...process.args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Commander also throws after it printed the help or the version.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
    if (thrown instanceof CommanderError && thrown.code === "commander.help") return exitCodes.usage;
    const error =
      thrown instanceof CommanderError ? toUsageError(thrown, commandWords(program, process.args)) : thrown;
    const isGiven = (flag: string) => process.args.includes(flag);
    const { createOutput } = await import("./output/output.ts");
    const { reportError } = await import("./output/report-error.ts");
    const output = createOutput(process, { isJson: isGiven("--json"), noColor: isGiven("--no-color") });
    reportError(output, error, { isDebug: isGiven("--debug") });
    return exitCodeOfError(error);
  }
}

/** Options of other servers, and what `serve` has instead. */
const serveOptions: ReadonlyMap<string, string> = new Map([
  ["--port", "use --listen 127.0.0.1:PORT"],
  ["-p", "use --listen 127.0.0.1:PORT"],
  ["--host", "use --listen HOST:PORT"],
  ["--address", "use --listen HOST:PORT"],
  ["--bind", "use --listen HOST:PORT"],
]);

/** Splits "error: unknown command 'serch'\n(Did you mean search?)" into message and hint. */
function toUsageError(error: CommanderError, command: string): CliError {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /^\((Did you mean .*\?)\)$/s.exec(rest.join(" ").trim())?.[1];
  const unknown = /^unknown option '(?<option>[^'=]+)/.exec(first)?.groups?.["option"] ?? "";
  const known = command === "toolcrib serve" ? serveOptions.get(unknown) : undefined;
  const message = first.charAt(0).toUpperCase() + first.slice(1).replace(/\.$/, "");
  return new CliError("CLI_USAGE", message, {
    hint: known ?? suggestion?.replace(/^D/, "d") ?? `see ${command} --help`,
  });
}

/** Returns the words of the command that `args` name, such as "toolcrib secret set". */
function commandWords(program: Command | undefined, args: readonly string[]): string {
  const words = ["toolcrib"];
  let command = program;
  for (const arg of args) {
    const inner = command?.commands.find((one) => one.name() === arg);
    if (inner === undefined) continue;
    words.push(arg);
    command = inner;
  }
  return words.join(" ");
}
