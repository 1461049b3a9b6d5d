/**
 * Exact names: a query that equals the name of a tool, in any spelling, finds
 * that tool first.
 *
 * A name becomes one special word: `create_issue`, `createIssue` and `Create
 * issue` all become `=createissue`. No other word contains the sign, so a text
 * that only contains the name does not match.
 */

import { scanWords } from "./scan-words.ts";

const sign = "=";

/** Longest exact name. Longer names are found by their words only. */
const exactNameMaxChars = 256;

/** Returns the word for the whole of `name`; `undefined` if it has no words or is too long. */
export function exactNameWord(name: string): string | undefined {
  if (name.length > exactNameMaxChars) return undefined;
  let joined = "";
  scanWords(name, (text, start, end, kind) => {
    const word = text.slice(start, end);
    // A longer run also yields its single characters, so pairs are skipped.
    if (kind === "word" || kind === "char" || (kind === "gram" && [...word].length === 1)) joined += word;
    return true;
  });
  return joined === "" ? undefined : sign + joined;
}

/** Whether `word` is an exact name. */
export function isExactName(word: string): boolean {
  return word.startsWith(sign);
}

/** Returns `word` for display. */
export function withoutSign(word: string): string {
  return isExactName(word) ? word.slice(sign.length) : word;
}
