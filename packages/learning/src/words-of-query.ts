/**
 * The words of a search that may be stored: without known secrets, without what has the form of a credential, without
 * addresses and without long or random tokens. What is left are the words of a language, mostly.
 *
 * Pure. The text of a search itself is never stored.
 */

import { omitCredentials } from "@toolcrib/redaction";
import { TaughtWords } from "@toolcrib/search";
import { observationLimits, wordLimits } from "./limits.ts";

/** A mark that a scrubber put in the place of a secret. */
const secretMark = /\[secret [^\]]{0,200}\]/g;
/** Addresses of people, pages and files, which name things and not what a tool does. */
const address =
  /\S{1,200}@\S{1,200}|[a-z][a-z0-9+.-]{0,20}:\/\/\S{1,2000}|(?:^|\s)[~.]{0,2}\/\S{1,2000}|[A-Za-z]:\\\S{1,2000}/gi;
/** Texts between spaces that are longer name something. */
const tokenMaxChars = 40;
/** A token with as many digits is a number, an id or a key. */
const tokenMaxDigits = 4;
/** A token of letters and digits that is longer is an id or a key. */
const mixedMaxChars = 12;

/** @param scrub removes known secrets from a text */
export function wordsOfQuery(query: string, scrub: (text: string) => string): readonly string[] {
  const text = omitCredentials(scrub(query.slice(0, observationLimits.queryMaxChars)))
    .replace(secretMark, " ")
    .replace(address, " ");
  const kept = text
    .split(/\s+/)
    .filter((token) => isWordLike(token))
    .join(" ");
  return TaughtWords.wordsOf(kept, wordLimits.wordsPerUse).filter(isLearned);
}

/** Whether a word may be stored; false for numbers and for what is too long. */
export function isLearned(word: string): boolean {
  return word.length > 0 && word.length <= wordLimits.wordMaxChars && !/^\p{N}+$/u.test(word);
}

function isWordLike(token: string): boolean {
  if (token.length > tokenMaxChars) return false;
  const digits = token.replace(/\P{N}/gu, "").length;
  return digits === 0 || (digits <= tokenMaxDigits && token.length <= mixedMaxChars);
}
