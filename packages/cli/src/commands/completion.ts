/** `toolcrib completion SHELL`: a script that completes commands, options and their choices. Made from the grammar. */

import { Argument, type Command } from "commander";
import type { RunCommand } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";

const shells = ["bash", "zsh", "fish"] as const;

export function addCompletionCommand(program: Command, run: RunCommand): void {
  program
    .command("completion")
    .description("print a completion script; for bash: source <(toolcrib completion bash)")
    .addArgument(new Argument("<shell>", "for which shell").choices(shells))
    .action((shell: (typeof shells)[number], _flags, command: Command) =>
      run(command, async ({ output, world }) => {
        const script = scripts[shell](pathsOf(program));
        if (output.isJson) output.json({ shell, script });
        else world.stdout.write(script);
        return exitCodes.done;
      }),
    );
}

/** A command with what may follow it. */
interface CommandPath {
  /** Words after `toolcrib`. */
  readonly words: readonly string[];
  readonly next: readonly { readonly word: string; readonly about: string }[];
}

function pathsOf(program: Command): readonly CommandPath[] {
  const paths: CommandPath[] = [];
  const add = (command: Command, words: readonly string[]) => {
    const options = [...command.options, ...(command === program ? [] : program.options)];
    paths.push({
      words,
      next: [
        ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, about: "" })),
        ),
        ...options.flatMap(({ long, description }) =>
          long === undefined || long === null ? [] : [{ word: long, about: description }],
        ),
      ],
    });
    for (const one of command.commands) add(one, [...words, one.name()]);
  };
  add(program, []);
  return paths;
}

const scripts: { readonly [Shell in (typeof shells)[number]]: (paths: readonly CommandPath[]) => string } = {
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
    const offered = next
      .map(({ word, about }) => zshQuote(about === "" ? word : `${word}:${about}`))
      .join(" ");
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

/** Longer paths first, so that the most special one is found. */
function casesOf(paths: readonly CommandPath[]): string {
  return paths
    .toReversed()
    .map(({ words, next }) => `    ${patternOf(words)}) words="${next.map(({ word }) => word).join(" ")}" ;;`)
    .join("\n");
}

/** The path itself, or with arguments behind it. */
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
  { word, about }: { readonly word: string; readonly about: string },
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
  const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
  return `complete -c toolcrib -n "${condition}" ${what} -d ${zshQuote(about)}`;
}
