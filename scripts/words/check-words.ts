/**
 * Checks the English of the repository: comments, messages, identifiers, file
 * names and pages against the word list, and prints random excerpts for a
 * person to read. It recognizes words, not style.
 */

import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { wordRules } from "./word-list.ts";

const patterns = [
  "*.md",
  ".ci/*",
  "{bench,scripts,site}/**/*.{ts,md}",
  "docs/*.md",
  "docs/{adr,clients,guides,migrate,operations,security}/**/*.md",
  "{catalog,examples}/**/*.{md,ts}",
  "packages/*/*.md",
  "packages/*/{src,test,bench,conformance}/**/*.{ts,md}",
];

/** Files that have to contain the words: the list itself and its tests. */
const exempt = /^scripts\/(?:words\/|test\/words\.test\.ts)/;

/** Returns the files whose English is checked, as paths from `root` with `/`. */
export function listProseFiles(root: string): string[] {
  const isForeign = (name: string) => name === "node_modules" || name === "dist";
  return globSync(patterns, { cwd: root, exclude: isForeign })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => !exempt.test(path))
    .sort();
}

/** Returns a finding for each unwanted word in the files below `root`. */
export function checkWords(root: string): Diagnostic[] {
  return listProseFiles(root).flatMap((name) => [
    ...checkName(name),
    ...checkText({ name, text: readFileSync(join(root, name), "utf8") }),
  ]);
}

function checkName(name: string): Diagnostic[] {
  return findWords(name).map(
    ({ word, say }): Diagnostic => ({
      severity: "error",
      code: "WORD_IN_FILE_NAME",
      message: `The name of ${name} contains "${word}"`,
      hint: `say: ${say}`,
    }),
  );
}

/** Returns a finding for each unwanted word of `source`. */
export function checkText(source: Source): Diagnostic[] {
  return findWords(source.text).map(
    ({ start, end, word, say }): Diagnostic => ({
      severity: "error",
      code: "WORD_UNWANTED",
      message: `"${word}" is on the word list`,
      hint: `say: ${say}`,
      source,
      span: { start, end },
    }),
  );
}

/** A match of a rule; `start` and `end` are positions in the original text. */
interface FoundWord {
  readonly word: string;
  readonly say: string;
  readonly start: number;
  readonly end: number;
}

function findWords(text: string): FoundWord[] {
  const { normal, offsets } = normalize(text);
  return wordRules.flatMap(({ pattern, say }) =>
    [...normal.matchAll(pattern)].map((match) => ({
      word: match[0],
      say,
      start: offsets[match.index] ?? 0,
      end: (offsets[match.index + match[0].length - 1] ?? 0) + 1,
    })),
  );
}

/**
 * Splits identifiers and file names into words and joins wrapped comment lines,
 * so that one pattern finds `wayBack`, `way-back` and "way" at the end of a line before "back".
 */
function normalize(text: string): { readonly normal: string; readonly offsets: readonly number[] } {
  let normal = "";
  const offsets: number[] = [];
  const add = (character: string, offset: number) => {
    if (character === " " && normal.endsWith(" ")) return;
    normal += character;
    offsets.push(offset);
  };
  for (const match of text.matchAll(/\s*\n\s*(?:\*(?!\/)|\/\/|>)?\s*|[\s_-]+|[a-z0-9](?=[A-Z])|[\s\S]/g)) {
    const [token] = match;
    if (/^[\s_-]/.test(token)) add(" ", match.index);
    else {
      add(token.toLowerCase(), match.index);
      if (/^[a-z0-9]$/.test(token) && /[A-Z]/.test(text[match.index + 1] ?? "")) add(" ", match.index);
    }
  }
  return { normal, offsets };
}

/** A comment, message or paragraph of the repository. */
export interface Excerpt {
  readonly name: string;
  readonly lineNumber: number;
  readonly text: string;
}

/** At least this many words make an excerpt worth reading. */
const minWords = 8;
/** Comments and texts of code, and paragraphs of pages. */
const codeExcerpts = /\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/[^\n]*\n)+|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gm;
const pageExcerpts = /(?:^(?![ \t]*(?:```|\||#))[^\n]+\n)+/gm;

/**
 * Returns `count` random comments, messages and paragraphs of the repository.
 *
 * @param random a number from 0 up to 1, as `Math.random` returns it.
 */
export function sampleExcerpts(root: string, count: number, random: () => number): Excerpt[] {
  const all = listProseFiles(root)
    .filter((name) => !name.includes("/test/"))
    .flatMap((name) => listExcerpts({ name, text: readFileSync(join(root, name), "utf8") }));
  const chosen: Excerpt[] = [];
  while (chosen.length < count && all.length > 0) {
    chosen.push(...all.splice(Math.floor(random() * all.length), 1));
  }
  return chosen;
}

function listExcerpts({ name, text }: Source): Excerpt[] {
  const pattern = name.endsWith(".md") ? pageExcerpts : codeExcerpts;
  return [...text.matchAll(pattern)]
    .filter(([excerpt]) => (excerpt.match(/[A-Za-z]{2,}/g)?.length ?? 0) >= minWords && /\w \w/.test(excerpt))
    .map((match) => ({
      name,
      lineNumber: text.slice(0, match.index).split("\n").length,
      text: match[0].replace(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?/gm, "").trim(),
    }));
}
