/**
 * Prints a script that completes commands, options and choices in a shell, generated from the definitions. Names of
 * servers, tools and the like come from `toolcrib completion names`, which the script runs for the commands that take
 * some. The scripts evaluate nothing that they receive.
 */

import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type CommandPath, type Completion, pathsOf } from "./completion-paths.ts";

/** A shell that the command has a script for. */
export type Shell = "bash" | "zsh" | "fish";

/** Prints the script for `shell`. */
export async function printCompletion(context: CliContext, shell: Shell): Promise<ExitCode> {
  const script = scripts[shell](pathsOf(await context.loadCommands()));
  context.output.json({ shell, script });
  if (!context.output.isJson) context.stdout.write(script);
  return exitCodes.done;
}

const scripts: { readonly [Name in Shell]: (paths: readonly CommandPath[]) => string } = {
  bash: (paths) => `# bash completion of toolcrib
_toolcrib() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" names="" at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      --home|--config|-c|--log-level)
        [[ "\${COMP_WORDS[at + 1]}" == "=" ]] && at=$((at + 1))
        at=$((at + 1)) ;;
      -*) ;;
      *) path="$path $word" ;;
    esac
  done
  case "$path" in
${casesOf(paths, ({ next, takesNames }) => `words="${next.map(({ word }) => word).join(" ")}"${takesNames ? " names=1" : ""}`)}
  esac
  for word in $words; do
    [[ "$word" == "$current"* ]] && COMPREPLY+=("$word")
  done
  if [[ -n "$names" && "$current" != -* ]]; then
    while IFS= read -r word; do
      [[ "$word" == "$current"* ]] && COMPREPLY+=("$word")
    done < <("\${COMP_WORDS[0]}" completion names -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null </dev/null)
  fi
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
complete -F _toolcrib toolcrib
`,
  zsh: (paths) => `#compdef toolcrib
# "path" is the PATH in zsh.
_toolcrib() {
  local typed="" word names=""
  local -i at
  local -a offered known
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    case "$word" in
      --home|--config|-c|--log-level) at=$((at + 1)) ;;
      -*) ;;
      *) typed="$typed $word" ;;
    esac
  done
  case "$typed" in
${casesOf(paths, ({ next, takesNames }) => {
  const offered = next.map(({ word, help }) => zshQuote(help === "" ? word : `${word}:${help}`)).join(" ");
  return `offered=(${offered})${takesNames ? " names=1" : ""}`;
})}
  esac
  if [[ -n "$names" && "\${words[CURRENT]}" != -* ]]; then
    known=("\${(@f)$("\${words[1]}" completion names -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}")
    (( \${#known} )) && compadd -a known
  fi
  if (( \${#offered} )); then _describe toolcrib offered; elif [[ -z "$names" ]]; then _files; fi
}
compdef _toolcrib toolcrib
`,
  fish: (paths) => `# fish completion of toolcrib
function __toolcrib_names
  set -l tokens (commandline -opc)
  $tokens[1] completion names -- $tokens[2..-1] 2>/dev/null </dev/null
end
${paths.flatMap((path) => fishLines(path, paths)).join("\n")}
`,
};

/** Lists longer paths first, so that the shell finds the most specific path. */
function casesOf(paths: readonly CommandPath[], bodyOf: (path: CommandPath) => string): string {
  return paths
    .toReversed()
    .map((path) => `    ${patternOf(path.words)}) ${bodyOf(path)} ;;`)
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

function fishLines(path: CommandPath, paths: readonly CommandPath[]): readonly string[] {
  const lines = path.next.map((one) => fishLine(path.words, paths, one));
  if (!path.takesNames) return lines;
  return [
    ...lines,
    `complete -c toolcrib -n "${fishCondition(path.words, paths, true)}" -f -a "(__toolcrib_names)"`,
  ];
}

function fishLine(
  words: readonly string[],
  paths: readonly CommandPath[],
  { word, help }: Completion,
): string {
  const condition = fishCondition(words, paths, !word.startsWith("--"));
  const completed = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
  return `complete -c toolcrib -n "${condition}" ${completed} -d ${zshQuote(help)}`;
}

function fishCondition(words: readonly string[], paths: readonly CommandPath[], isArgument: boolean): string {
  const inner = paths.filter((path) => path.words.length === words.length + 1 && path.words[0] === words[0]);
  if (words.length === 0) return "__fish_use_subcommand";
  return [
    ...words.map((one) => `__fish_seen_subcommand_from ${one}`),
    ...(inner.length > 0 && isArgument
      ? [`not __fish_seen_subcommand_from ${inner.map((path) => path.words.at(-1)).join(" ")}`]
      : []),
  ].join("; and ");
}
