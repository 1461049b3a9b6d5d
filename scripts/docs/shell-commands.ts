/**
 * Finds the commands in text for a shell: quotes, comments, pipes, lists, substitutions, redirections, and lines
 * that are continued. It knows what documentation shows, and is no parser of a shell's whole language.
 */

/** One simple command. */
export interface ShellCommand {
  readonly words: readonly string[];
  /** Offset of its first word in the text. */
  readonly start: number;
}

const token =
  /(?<space>(?:[ \t]|\\\n)+)|(?<comment>#[^\n]*)|(?<redirection>\d?(?:>>|>|<<|<)&?\d?)|(?<end>\n|&&|\|\|?|;|&|\$\(|[()`]|[{}](?=\s|$))|(?<word>(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[^\n]|\$(?!\()|[^\s'"\\|;&()<>`$])+|['"\\])/y;

/** A command that is being read. */
interface OpenCommand {
  words: string[];
  start: number;
  /** Whether the next word is the target of a redirection. */
  isTarget: boolean;
}

/** Returns the simple commands of `text` in the order of their ends. A substitution is a word of its command. */
export function shellCommands(text: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  const outer: OpenCommand[] = [];
  const empty = (): OpenCommand => ({ words: [], start: 0, isTarget: false });
  let open = empty();
  const finish = () => {
    if (open.words.length > 0) commands.push({ words: open.words, start: open.start });
    open = empty();
  };
  const add = (word: string, at: number) => {
    if (open.isTarget) {
      open.isTarget = false;
      return;
    }
    if (open.words.length === 0) open.start = at;
    open.words.push(word);
  };
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null) {
      at += 1;
      continue;
    }
    const { comment, redirection, end, word } = match.groups ?? {};
    if (end === "$(") {
      add("$()", at);
      outer.push(open);
      open = empty();
    } else if (end === ")" && outer.length > 0) {
      finish();
      open = outer.pop() ?? empty();
    } else if (end !== undefined) finish();
    else if (redirection !== undefined) open.isTarget = !/\d$/.test(redirection);
    else if (comment === undefined && word !== undefined) add(unquoted(word), at);
    at += match[0].length;
  }
  finish();
  return commands;
}

function unquoted(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
  );
}
