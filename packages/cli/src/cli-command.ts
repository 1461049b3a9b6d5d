/**
 * The definition of a command: its name, help, arguments, options and a `run`
 * function. The parser, the help, shell completion and `docs/reference/cli.md`
 * are generated from it.
 *
 * A definition file loads nothing but other definitions. `run` imports the
 * implementation, so that help and usage errors do not load the gateway.
 */

import type { CliContext } from "./cli-context.ts";
import type { ExitCode } from "./exit-codes.ts";

/**
 * Names that only a home, its configuration or its gateway knows, for shell completion. `source`: servers, toolspecs and
 * packages; `program`: MCP clients, such as cursor; `client`: clients of the gateway; `code`: codes of errors.
 */
export type NameKind =
  | "server"
  | "tool"
  | "disabledTool"
  | "source"
  | "package"
  | "profile"
  | "client"
  | "program"
  | "saved"
  | "token"
  | "secret"
  | "call"
  | "code";

/** A positional argument. Arguments take their places in the order of the definition. */
export interface CliArgument {
  readonly help: string;
  /** Whether the argument may be left out. An argument with a default is always optional. */
  readonly isOptional?: boolean;
  /** Whether the argument takes all remaining words. Only the last argument can. */
  readonly isVariadic?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** The names that shells complete, or those by the first word of the arguments. @default none */
  readonly completes?: NameKind | { readonly [firstWord: string]: NameKind };
}

/** An option. Its long flag is its key in kebab case: `maxTools` is `--max-tools`. */
export interface CliOption {
  readonly help: string;
  /** One letter, without a dash. */
  readonly short?: string;
  /** The placeholder of the value in the help, such as `count`. An option without a value is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** The names that shells complete as its value. @default none */
  readonly completes?: NameKind;
  /** Converts the value. @throws {InvalidArgumentError} for an invalid value. */
  readonly parse?: (text: string) => unknown;
  /** Whether the option may be given several times; its value is then a list. */
  readonly isRepeatable?: boolean;
  readonly isRequired?: boolean;
  /** Whether the switch turns something off: `color` is `--no-color`, and `false` when given. */
  readonly isNegated?: boolean;
  readonly default?: unknown;
}

/** The arguments of a command by name, in order. */
export interface CliArguments {
  readonly [name: string]: CliArgument;
}

/** The options of a command by name. */
export interface CliOptions {
  readonly [name: string]: CliOption;
}

/** A command. Define one with `defineCommand`, which infers the types of `run`. */
export interface CliCommand {
  readonly name: string;
  /** One line: an imperative without a capital letter and a full stop. */
  readonly summary: string;
  readonly arguments?: CliArguments;
  readonly options?: CliOptions;
  /** Command lines for the help. A test parses each of them. */
  readonly examples?: readonly string[];
  /** Name of the home in the user's directory, for a command that has its own. @default ".toolcrib" */
  readonly homeName?: string;
  /** Whether `run` receives words and options that the definition does not have. @default they are a usage error */
  readonly acceptsExcess?: boolean;
  /** Runs the command. A thrown error is reported and decides the exit code. */
  run(
    context: CliContext,
    args: { readonly [name: string]: unknown },
    options: { readonly [name: string]: unknown },
    excess: readonly string[],
  ): Promise<ExitCode>;
}

/** A command with subcommands. */
export interface CliCommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CliCommand[];
  /** Name of the subcommand that runs where none is named. @default none: the help is printed */
  readonly defaultCommand?: string;
}

/** Commands under one heading of the help. */
export interface CommandSection {
  readonly title: string;
  readonly commands: readonly (CliCommand | CliCommandGroup)[];
}

/** The commands of a program. */
export interface CommandList {
  /** Loads the definition of the command that the words name; of every command if they name none. */
  readonly loadCommandOf: (args: readonly string[]) => Promise<readonly CommandSection[]>;
  /** Loads the definition of every command, for help and shell completion. */
  readonly loadCommands: () => Promise<readonly CommandSection[]>;
  /** Loads what runs where the words name no command; undefined where they name one. @default the help is printed */
  readonly loadDefault?: (args: readonly string[]) => Promise<CliCommand | undefined>;
}

/** The type of an argument's value. */
type ArgumentValue<A extends CliArgument> = A extends { readonly isVariadic: true }
  ? readonly string[]
  : A extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : A extends { readonly isOptional: true }
      ? string | undefined
      : string;

/** The type of one value of an option. */
type SingleValue<O extends CliOption> = O extends { readonly parse: (text: string) => infer Value }
  ? Value
  : O extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : O extends { readonly value: string }
      ? string
      : boolean;

/** The type of an option's value. */
type OptionValue<O extends CliOption> = O extends { readonly isRepeatable: true }
  ? readonly SingleValue<O>[]
  : SingleValue<O>;

/** The names of the options that always have a value. */
type PresentNames<O extends CliOptions> = {
  [Name in keyof O]: O[Name] extends { readonly isRequired: true } | { readonly default: unknown }
    ? Name
    : never;
}[keyof O];

/** The values of arguments. */
export type ArgumentValues<A extends CliArguments> = { readonly [Name in keyof A]: ArgumentValue<A[Name]> };

/** The values of options. */
export type OptionValues<O extends CliOptions> = {
  readonly [Name in PresentNames<O>]: OptionValue<O[Name]>;
} & { readonly [Name in Exclude<keyof O, PresentNames<O>>]?: OptionValue<O[Name]> };

/** A command whose `run` has the types of its arguments and options. */
interface TypedCommand<A extends CliArguments, O extends CliOptions>
  extends Omit<CliCommand, "arguments" | "options" | "run"> {
  readonly arguments?: A;
  readonly options?: O;
  run(
    context: CliContext,
    args: ArgumentValues<A>,
    options: OptionValues<O>,
    excess: readonly string[],
  ): Promise<ExitCode>;
}

/** Defines a command. */
export function defineCommand<const A extends CliArguments, const O extends CliOptions>(
  command: TypedCommand<A, O>,
): CliCommand {
  // The program passes exactly the values that the definition declares.
  return command as unknown as CliCommand;
}

/** Whether `command` is a group. */
export function isGroup(command: CliCommand | CliCommandGroup): command is CliCommandGroup {
  return "commands" in command;
}

/** The long flag of an option, such as `--max-tools`. */
export function longFlag(name: string, option: CliOption): string {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${option.isNegated === true ? "no-" : ""}${kebab}`;
}
