/** The commands as shell completion sees them: for each path of words, the words that can follow it. Pure. */

import {
  type CliArguments,
  type CliCommand,
  type CliCommandGroup,
  type CliOptions,
  type CommandSection,
  isGroup,
  longFlag,
} from "../cli-command.ts";
import { globalOptions } from "../global-options.ts";

/** A word that can follow, with its help. */
export interface Completion {
  readonly word: string;
  readonly help: string;
}

/** A command and the words that can follow it. */
export interface CommandPath {
  /** Words after `toolcrib`. */
  readonly words: readonly string[];
  readonly next: readonly Completion[];
  /** Whether arguments or values of options are names that only a home or a gateway knows. */
  readonly takesNames: boolean;
}

/** Returns the path of every command. */
export function pathsOf(sections: readonly CommandSection[]): readonly CommandPath[] {
  const commands = sections.flatMap((section) => section.commands);
  const shared = [{ word: "--version", help: "print the version" }, ...optionWords(globalOptions)];
  return [
    { words: [], next: [...commands.map(commandWord), ...shared], takesNames: false },
    ...commands.flatMap((command) => commandPaths(command, [command.name], shared)),
  ];
}

function commandPaths(
  command: CliCommand | CliCommandGroup,
  words: readonly string[],
  shared: readonly Completion[],
): readonly CommandPath[] {
  if (!isGroup(command)) {
    return [{ words, next: [...ownWords(command), ...shared], takesNames: takesNames(command) }];
  }
  const byDefault = command.commands.filter((one) => one.name === command.defaultCommand);
  return [
    {
      words,
      next: [...command.commands.map(commandWord), ...byDefault.flatMap(ownWords), ...shared],
      takesNames: byDefault.some(takesNames),
    },
    ...command.commands.flatMap((inner) => commandPaths(inner, [...words, inner.name], shared)),
  ];
}

function takesNames({ arguments: taken = {}, options = {} }: CliCommand): boolean {
  return [...Object.values(taken), ...Object.values(options)].some(
    ({ completes }) => completes !== undefined,
  );
}

/** The words of the arguments and options of a command. */
function ownWords({ arguments: taken = {}, options = {} }: CliCommand): readonly Completion[] {
  return [...choiceWords(taken), ...optionWords(options)];
}

function commandWord({ name, summary }: CliCommand | CliCommandGroup): Completion {
  return { word: name, help: summary };
}

function choiceWords(definitions: CliArguments): readonly Completion[] {
  return Object.values(definitions).flatMap(({ choices = [] }) =>
    choices.map((word) => ({ word, help: "" })),
  );
}

function optionWords(definitions: CliOptions): readonly Completion[] {
  return Object.entries(definitions).map(([name, option]) => ({
    word: longFlag(name, option),
    help: option.help,
  }));
}
