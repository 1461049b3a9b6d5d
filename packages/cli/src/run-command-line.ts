/** Runs a command line to its exit code. Reports every failure, except those that `runCommand` reports. */

import { nearestName } from "@toolcrib/diagnostics";
import { type Command, CommanderError } from "commander";
import type { CommandList } from "./cli-command.ts";
import { runCommand } from "./cli-context.ts";
import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodeOfError, exitCodes } from "./exit-codes.ts";
import type { ProcessContext } from "./process-context.ts";
import { createProgram } from "./program.ts";
import { optimize } from "./serve/optimizing.ts";

/**
 * Runs the command that `process.args` name, one of `commands`. Rejects only if the code that reports errors cannot
 * be loaded.
 */
export async function runCommandLine(process: ProcessContext, commands: CommandList): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  let program: Command | undefined;
  try {
    program = createProgram(
      process,
      await commands.loadCommandOf(process.args),
      async (invocation) => {
        // Any word of a command line can be "serve", for which the launcher turns it off.
        if (invocation.command.name !== "serve") optimize();
        exitCode = await runCommand(process, commands.loadCommands, invocation);
      },
      await commands.loadDefault?.(process.args),
    );
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
    const { shortProgram } = await import("./serve/own-command.ts");
    reportError(output, error, { isDebug: isGiven("--debug"), program: shortProgram(process) });
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

/** Commands of similar programs, and the equivalents in this one. */
const commandsElsewhere: ReadonlyMap<string, string> = new Map([
  ["start", "use toolcrib serve"],
  ["up", "use toolcrib serve"],
  ["stop", "end the gateway with Ctrl-C, or with kill and the process id that toolcrib status shows"],
  ["restart", "end the gateway with Ctrl-C, and start it again with toolcrib serve"],
  ["ls", "use toolcrib list"],
  ["tools", "use toolcrib list"],
  ["servers", "use toolcrib status"],
  ["ps", "use toolcrib status"],
  ["install", "use toolcrib add"],
]);

/** Splits "error: unknown command 'serch'\n(Did you mean search?)" into message and hint. */
function toUsageError(error: CommanderError, command: string): CliError {
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const { kind = "", unknown = "" } =
    /^unknown (?<kind>option|command) '(?<unknown>[^'=]+)/.exec(first)?.groups ?? {};
  // Commander also suggests names of which half is different.
  const suggested = /^\(Did you mean (?:one of )?(.*)\?\)$/s.exec(rest.join(" ").trim())?.[1];
  const names = suggested?.split(", ") ?? [];
  // A short beginning of a name is as far from it as another word.
  const near = nearestName(unknown, names) ?? names.find((name) => name.startsWith(unknown));
  const known =
    kind === "option" && command === "toolcrib serve"
      ? serveOptions.get(unknown)
      : kind === "command" && command === "toolcrib"
        ? commandsElsewhere.get(unknown)
        : undefined;
  const message = first.charAt(0).toUpperCase() + first.slice(1).replace(/\.$/, "");
  return new CliError("CLI_USAGE", message, {
    hint: known ?? (near === undefined ? `see ${command} --help` : `did you mean ${near}?`),
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
