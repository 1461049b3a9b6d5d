/**
 * Checks every command line of `toolcrib` in the pages against the definitions of the commands: in code blocks for
 * a shell, in lists of words in other code blocks, and in code within text, where arguments may be missing.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { createCommandLineCheck } from "@toolcrib/cli";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { notYet } from "./commands-not-yet.ts";
import { listPages } from "./link-rules.ts";
import { shellCommands } from "./shell-commands.ts";

/** Checks the words after `toolcrib`. */
type Check = Awaited<ReturnType<typeof createCommandLineCheck>>;

/** A command line on a page. */
interface PageCommand {
  /** The words after `toolcrib`. */
  readonly words: readonly string[];
  readonly start: number;
  /** Whether it stands in text, which may name a command without its arguments. */
  readonly isInText: boolean;
}

/** Pages that show command lines of other times or of tests. */
const isExempt = (page: string) => /^(?:CHANGELOG\.md|docs\/adr\/|docs\/api\/)/.test(page);

const fencePattern = /^(?<indent> *)```(?<language>\S*)[^\n]*\n(?<body>[\s\S]*?)^\k<indent>```/gm;
const shellLanguages: ReadonlySet<string> = new Set(["sh", "bash", "shell", "console"]);

/** Programs whose arguments contain the command that they run. */
const wrappers: ReadonlySet<string> = new Set([
  ...[
    "npx",
    "npm",
    "sudo",
    "env",
    "exec",
    "nohup",
    "timeout",
    "time",
    "docker",
    "podman",
    "kubectl",
    "flatpak",
  ],
  ...["systemd-run", "node", "if", "then", "while", "do", "!"],
]);

/** Returns a finding for each command line of the pages below `root` that the command would refuse. */
export function checkCommands(root: string, check: Check): Diagnostic[] {
  const findings = listPages(root)
    .filter((page) => !isExempt(page))
    .flatMap((page) => checkPage({ name: page, text: readFileSync(join(root, page), "utf8") }, check));
  return [...findings, ...knownByNow(check)];
}

/** Returns the command lines of `toolcrib` on a page. */
export function commandsOf(text: string): readonly PageCommand[] {
  const found: PageCommand[] = [];
  for (const match of text.matchAll(fencePattern)) {
    const { language = "", body = "" } = match.groups ?? {};
    const start = match.index + match[0].indexOf("\n") + 1;
    found.push(...(shellLanguages.has(language) ? inShell(body, language, start) : inLists(body, start)));
  }
  const withoutFences = text.replace(fencePattern, (fence) => fence.replace(/[^\n]/g, " "));
  for (const match of withoutFences.matchAll(/`(?:\$ )?((?:npx )?toolcrib [^`\n]+)`/g)) {
    const start = match.index + match[0].indexOf(match[1] ?? "");
    found.push(...inShell(withAlternatives(match[1] ?? ""), "sh", start, true));
  }
  return found;
}

function checkPage(source: { readonly name: string; readonly text: string }, check: Check): Diagnostic[] {
  return commandsOf(source.text).flatMap(({ words, start, isInText }): Diagnostic[] => {
    const problem = check(words);
    if (problem === undefined || (isInText && problem.isIncomplete) || isPlanned(words)) return [];
    const message = `"toolcrib ${words.join(" ")}" is not a command line of this version: ${problem.message}`;
    const span = { start, end: start + 1 };
    return [{ severity: "error", code: "DOC_COMMAND_INVALID", message, source, span }];
  });
}

function inShell(body: string, language: string, offset: number, isInText = false): readonly PageCommand[] {
  const script = language === "console" ? promptLines(body) : body;
  return shellCommands(script).flatMap(({ words, start }) =>
    toolcribWords(words).map((own) => ({
      words: own,
      start: offset + start,
      isInText,
    })),
  );
}

/** Marks the alternatives of `enable|disable`, which are no pipe; in a table the `|` is escaped. */
function withAlternatives(code: string): string {
  return code.replaceAll("\\|", "|").replace(/(?<=[a-z])\|(?=[a-z-])/g, "\0");
}

/** Replaces everything but the commands of a transcript by blanks, which keeps positions. */
function promptLines(transcript: string): string {
  let isContinued = false;
  return transcript
    .split("\n")
    .map((line) => {
      const isCommand = isContinued || line.startsWith("$ ");
      isContinued = isCommand && line.endsWith("\\");
      return isCommand ? line.replace(/^\$ /, "  ") : " ".repeat(line.length);
    })
    .join("\n");
}

/** Lists of words in configurations: `["toolcrib", "serve"]`, and `ExecStart=` of systemd. */
function inLists(body: string, offset: number): readonly PageCommand[] {
  const lists = [...body.matchAll(/\[((?:\s*"[^"\n]*"\s*,?)+)\]/g)].map((match) => ({
    words: [...(match[1] ?? "").matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? ""),
    start: match.index,
  }));
  const units = [...body.matchAll(/^Exec(?:Start|Reload)=(.+)$/gm)].map((match) => ({
    words: (match[1] ?? "").split(/\s+/),
    start: match.index,
  }));
  return [...lists, ...units].flatMap(({ words, start }) => {
    const at = words.findLastIndex(isToolcrib);
    return at === -1 || at === words.length - 1
      ? []
      : [{ words: words.slice(at + 1), start: offset + start, isInText: false }];
  });
}

const isToolcrib = (word: string) => /^(?:.*\/)?toolcrib(?:\.js)?$/.test(word);

/** Returns the words after `toolcrib` of a command that runs it, also through another program; one list for each alternative. */
function toolcribWords(words: readonly string[]): readonly (readonly string[])[] {
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  const at = wrappers.has(words[first] ?? "")
    ? words.findLastIndex(isToolcrib)
    : isToolcrib(words[first] ?? "")
      ? first
      : -1;
  if (at === -1 || at === words.length - 1) return [];
  const own = words
    .slice(at + 1)
    .filter((word, index) => !/^(?:…|\.\.\.)$/.test(word) && !(index === 0 && word === "--"))
    .map((word) => word.replace(/^\[(.*?)\]$/, "$1").replace(/^\[|\]$/g, ""));
  const [command, ...rest] = own;
  if (command === undefined) return [];
  const firsts = rest.map((word) => word.replace(/\0.*/, ""));
  return command.split("\0").map((one) => [one, ...firsts]);
}

/** Whether a command line is of a command, or has an option, that this version does not have yet. */
function isPlanned(words: readonly string[]): boolean {
  return notYet.some((line) => {
    const [, command, ...rest] = line.split(" ");
    const flags = rest.filter((word) => word.startsWith("-"));
    return words[0] === command && flags.every((flag) => words.includes(flag));
  });
}

/** Returns a finding for each planned command line that this version has. */
function knownByNow(check: Check): Diagnostic[] {
  const name = "scripts/docs/commands-not-yet.ts";
  return notYet
    .filter((line) => check(line.split(" ").slice(1)) === undefined)
    .map((line) => ({
      severity: "error",
      code: "DOC_COMMAND_KNOWN",
      message: `"${line}" is a command line of this version`,
      hint: `remove it from ${name}`,
      source: { name, text: "" },
      span: { start: 0, end: 0 },
    }));
}
