/** Prints a script that completes commands, options and choices in a shell, generated from the definitions. */

import {
  type CliArguments,
  type CliCommand,
  type CliCommandGroup,
  type CliOptions,
  type CommandSection,
  isGroup,
  longFlag,
} from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { globalOptions } from "../global-options.ts";

/** A shell that the command has a script for. */
export type Shell = "bash" | "zsh" | "fish";

/** Prints the script for `shell`. */
export async function printCompletion(context: CliContext, shell: Shell): Promise<ExitCode> {
  const script = scripts[shell](pathsOf(await context.loadCommands()));
  context.output.json({ shell, script });
  if (!context.output.isJson) context.stdout.write(script);
  return exitCodes.done;
}

/** A word that can follow, with its help. */
interface Completion {
  readonly word: string;
  readonly help: string;
}

/** A command and the words that can follow it. */
interface CommandPath {
  /** Words after `toolcrib`. */
  readonly words: readonly string[];
  readonly next: readonly Completion[];
}

function pathsOf(sections: readonly CommandSection[]): readonly CommandPath[] {
  const commands = sections.flatMap((section) => section.commands);
  const shared = [{ word: "--version", help: "print the version" }, ...optionWords(globalOptions)];
  return [
    { words: [], next: [...commands.map(commandWord), ...shared] },
    ...commands.flatMap((command) => commandPaths(command, [command.name], shared)),
  ];
}

function commandPaths(
  command: CliCommand | CliCommandGroup,
  words: readonly string[],
  shared: readonly Completion[],
): readonly CommandPath[] {
  if (!isGroup(command)) return [{ words, next: [...ownWords(command), ...shared] }];
  const own = command.commands.flatMap((one) => (one.name === command.defaultCommand ? ownWords(one) : []));
  return [
    { words, next: [...command.commands.map(commandWord), ...own, ...shared] },
    ...command.commands.flatMap((inner) => commandPaths(inner, [...words, inner.name], shared)),
  ];
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

const scripts: { readonly [Name in Shell]: (paths: readonly CommandPath[]) => string } = {
  bash: (paths) => `# bash completion of toolcrib
_toolcrib() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) path="$path $word" ;;
    esac
  done
  case "$path" in
${casesOf(paths)}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _toolcrib toolcrib
`,
  zsh: (paths) => `#compdef toolcrib
_toolcrib() {
  local path="" word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] || path="$path $word"
  done
  case "$path" in
${paths
  .toReversed()
  .map(({ words, next }) => {
    const offered = next.map(({ word, help }) => zshQuote(help === "" ? word : `${word}:${help}`)).join(" ");
    return `    ${patternOf(words)}) offered=(${offered}) ;;`;
  })
  .join("\n")}
  esac
  (( \${#offered} )) && _describe toolcrib offered || _files
}
compdef _toolcrib toolcrib
`,
  fish: (paths) =>
    `# fish completion of toolcrib\n${paths
      .flatMap(({ words, next }) => next.map((one) => fishLine(words, paths, one)))
      .join("\n")}\n`,
};

/** Lists longer paths first, so that the shell finds the most specific path. */
function casesOf(paths: readonly CommandPath[]): string {
  return paths
    .toReversed()
    .map(({ words, next }) => `    ${patternOf(words)}) words="${next.map(({ word }) => word).join(" ")}" ;;`)
    .join("\n");
}

/** Matches the path itself, and the path with arguments after it. */
function patternOf(words: readonly string[]): string {
  const path = words.map((word) => ` ${word}`).join("");
  return path === "" ? '""' : `"${path}"|"${path} "*`;
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}

function fishLine(
  words: readonly string[],
  paths: readonly CommandPath[],
  { word, help }: Completion,
): string {
  const inner = paths.filter((path) => path.words.length === words.length + 1 && path.words[0] === words[0]);
  const first = words[0];
  const condition =
    first === undefined
      ? "__fish_use_subcommand"
      : [
          `__fish_seen_subcommand_from ${words.at(-1)}`,
          ...(inner.length > 0 && !word.startsWith("--")
            ? [`not __fish_seen_subcommand_from ${inner.map((path) => path.words.at(-1)).join(" ")}`]
            : []),
        ].join("; and ");
  const completed = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
  return `complete -c toolcrib -n "${condition}" ${completed} -d ${zshQuote(help)}`;
}
