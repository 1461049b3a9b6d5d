/** Builds the commander program: parsing, help and usage errors, from the definitions of the commands. */

import { styleText } from "node:util";
import { Argument, Command, Option } from "commander";
import {
  type CliArgument,
  type CliCommand,
  type CliCommandGroup,
  type CliOption,
  type CliOptions,
  type CommandSection,
  isGroup,
  longFlag,
} from "./cli-command.ts";
import type { Invocation } from "./cli-context.ts";
import { type GlobalFlags, globalOptions } from "./global-options.ts";
import type { OutputStream, ProcessContext } from "./process-context.ts";
import { version } from "./version.ts";

/** Runs the command of a parsed command line. */
type Run = (invocation: Invocation) => Promise<void>;

/**
 * Builds the program.
 *
 * @param sections the commands that it knows; a program for one run needs only the one that is run
 * @param defaultCommand what runs where no command is named. @default the help is printed
 * @throws {CommanderError} when it parses an invalid command line
 */
export function createProgram(
  process: Pick<ProcessContext, "args" | "stdout" | "stderr">,
  sections: readonly CommandSection[],
  run: Run,
  defaultCommand?: CliCommand,
): Command {
  const program = new Command("toolcrib")
    .description("Toolcrib, a gateway for AI agents: one MCP endpoint in front of many tools.")
    .usage("<command> [options]")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput(outputOf(process))
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
      styleCommandText: (name) => styleText("cyan", name, { validateStream: false }),
      styleSubcommandTerm: (term) => styleText("cyan", term, { validateStream: false }),
      styleOptionTerm: (term) => styleText("cyan", term, { validateStream: false }),
    });
  addOptions(program, globalOptions);
  for (const { title, commands } of sections) {
    program.commandsGroup(`${title}:`);
    for (const command of commands) addCommand(program, command, run);
  }
  if (defaultCommand !== undefined) {
    const command = defaultCommand;
    const invocation = () => ({
      command,
      args: {},
      options: {},
      excess: [],
      globalFlags: program.opts<GlobalFlags>(),
    });
    program.action(() => run(invocation()));
  }
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 denied,\n4 not found, 5 unavailable or timed out (toolcrib help exit-codes).",
  );
  return program;
}

/** Returns the help of a command, with its examples. */
export function helpTextOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut(part) {
      text += part;
    },
  });
  command.outputHelp();
  return text.trimEnd();
}

function addCommand(
  parent: Command,
  definition: CliCommand | CliCommandGroup,
  run: Run,
  isDefault = false,
): void {
  const command = parent.command(definition.name, { isDefault }).description(definition.summary);
  if (isGroup(definition)) {
    for (const inner of definition.commands) {
      addCommand(command, inner, run, inner.name === definition.defaultCommand);
    }
    return;
  }
  const names = Object.keys(definition.arguments ?? {});
  for (const [name, argument] of Object.entries(definition.arguments ?? {})) {
    command.addArgument(toArgument(name, argument));
  }
  addOptions(command, definition.options ?? {});
  const { acceptsExcess = false, examples = [] } = definition;
  command.allowExcessArguments(acceptsExcess).allowUnknownOption(acceptsExcess);
  if (examples.length > 0) {
    command.addHelpText(
      "after",
      [
        "",
        styleText("bold", "Examples:", { validateStream: false }),
        ...examples.map((example) => `  ${example}`),
      ].join("\n"),
    );
  }
  command.action(() => {
    const values = command.processedArgs.slice(0, names.length);
    return run({
      command: definition,
      args: Object.fromEntries(names.map((name, index) => [name, values[index]])),
      options: command.opts(),
      excess: command.args.slice(names.length),
      globalFlags: command.optsWithGlobals<GlobalFlags>(),
    });
  });
}

function addOptions(command: Command, options: CliOptions): void {
  for (const [name, option] of Object.entries(options)) command.addOption(toOption(name, option));
}

function toArgument(name: string, definition: CliArgument): Argument {
  const { help, isOptional, isVariadic, choices } = definition;
  const term = isVariadic === true ? `${name}...` : name;
  const isLeftOut = isOptional === true || definition.default !== undefined;
  const argument = new Argument(isLeftOut ? `[${term}]` : `<${term}>`, help);
  if (choices !== undefined) argument.choices(choices);
  if (definition.default !== undefined) argument.default(definition.default);
  return argument;
}

function toOption(name: string, definition: CliOption): Option {
  const { help, short, value, choices, parse, isRepeatable, isRequired } = definition;
  const flags = `${short === undefined ? "" : `-${short}, `}${longFlag(name, definition)}`;
  const option = new Option(value === undefined ? flags : `${flags} <${value}>`, help);
  if (choices !== undefined) option.choices(choices);
  if (isRepeatable === true) {
    option.argParser((text: string, previous: readonly unknown[] | undefined) => [
      ...(previous ?? []),
      parse === undefined ? text : parse(text),
    ]);
  } else if (parse !== undefined) option.argParser((text) => parse(text));
  if (definition.default !== undefined) option.default(definition.default);
  return option.makeOptionMandatory(isRequired === true);
}

function outputOf({ args, stdout, stderr }: Pick<ProcessContext, "args" | "stdout" | "stderr">) {
  const widthOf = (stream: OutputStream) => (stream.isTTY === true ? stream.columns || 80 : 80);
  const hasColors = (stream: OutputStream) =>
    !args.includes("--no-color") && styleText("bold", "x", { stream: stream as NodeJS.WriteStream }) !== "x";
  return {
    writeOut: (text: string) => void stdout.write(text),
    writeErr: (text: string) => void stderr.write(text),
    // `main` reports usage errors like all other errors.
    outputError: () => {},
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
    getOutHasColors: () => hasColors(stdout),
    getErrHasColors: () => hasColors(stderr),
  };
}
