/**
 * Names as a whole: a query that equals the name of a tool should find that
 * tool first, however it is written.
 *
 * A name becomes one word of its own kind, `=createissue`, from `create_issue`,
 * `createIssue` and `Create issue` alike. No other word has the sign in it, so
 * no text that merely contains the name is taken for it.
 */

import { scanWords } from "./scan-words.ts";

const sign = "=";

/** Longer names are found by their words only. */
const exactNameMaxChars = 256;

/** The word that stands for `name` as a whole; `undefined` when it has no words or is too long. */
export function exactNameWord(name: string): string | undefined {
  if (name.length > exactNameMaxChars) return undefined;
  let joined = "";
  scanWords(name, (text, start, end, kind) => {
    const word = text.slice(start, end);
    // The characters of a longer run come one by one too, so pairs are left out.
    if (kind === "word" || kind === "char" || (kind === "gram" && [...word].length === 1)) joined += word;
    return true;
  });
  return joined === "" ? undefined : sign + joined;
}

/** Whether `word` stands for a name as a whole. */
export function isExactName(word: string): boolean {
  return word.startsWith(sign);
}

/** `word` as people read it. */
export function withoutSign(word: string): string {
  return isExactName(word) ? word.slice(sign.length) : word;
}
