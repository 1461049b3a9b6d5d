/**
 * Parses a query into the words to look up, in the order of the query.
 *
 * Repeated words count once. Stop words are removed, unless the query contains
 * nothing else. The last word may be unfinished and is marked as such, together
 * with the identifier that it ends; a following character other than a letter or
 * digit, such as a space, finishes it. Parsing never reads the index.
 */

import { termTextOf } from "./dictionary.ts";
import { foldText } from "./fold-text.ts";
import { searchLimits } from "./options.ts";
import { scanWords, type WordKind } from "./scan-words.ts";
import { SearchError } from "./search-error.ts";
import { stopWords } from "./stop-words.ts";

/** A word to look up. */
export interface QueryWord {
  /** The word in the query, folded. */
  readonly text: string;
  /** The text of its term. */
  readonly term: string;
  /** Whether alternatives are searched in the index: not for grams and short words. */
  readonly isSpelled: boolean;
  /** Whether the query ends with the word, so that it may be the beginning of a longer one. */
  readonly isUnfinished: boolean;
}

/** Shortest word at the end of a query that is treated as a beginning. */
const prefixMinChars = 2;

/**
 * Returns the words of `query`.
 *
 * @throws {SearchError} `SEARCH_QUERY_TOO_LONG` past 1,000 words or 32,768 characters.
 */
export function parseQuery(query: string): readonly QueryWord[] {
  if (query.length > searchLimits.queryMaxChars) {
    throw tooLong(`${query.length} characters`, `${searchLimits.queryMaxChars} characters`);
  }
  const folded = foldText(query);
  const found: { text: string; kind: WordKind; origin: number }[] = [];
  let termCount = 0;
  const isWhole = scanWords(folded, (text, start, end, kind, origin) => {
    if (kind !== "char") found.push({ text: text.slice(start, end), kind, origin });
    if (kind === "word" || kind === "gram") termCount += 1;
    return termCount <= searchLimits.queryMaxTerms;
  });
  if (!isWhole) {
    throw tooLong(`more than ${searchLimits.queryMaxTerms} terms`, `${searchLimits.queryMaxTerms} terms`);
  }
  const significant = found.filter(({ text }) => !stopWords.has(text));
  const last = found.at(-1);
  const lastPart = found.findLast(({ kind }) => kind === "word");
  const isOpen = /[\p{L}\p{M}\p{N}]$/u.test(folded);
  const words = new Map<string, QueryWord>();
  for (const entry of significant.length > 0 ? significant : found) {
    const { text, kind } = entry;
    const term = termTextOf(text);
    const isLast = entry === last || (entry === lastPart && entry.origin === last?.origin);
    const isUnfinished = isOpen && isLast && kind !== "gram" && text.length >= prefixMinChars;
    const known = words.get(term);
    if (known === undefined) words.set(term, { text, term, isSpelled: kind !== "gram", isUnfinished });
    else if (isUnfinished) words.set(term, { ...known, text, isUnfinished });
  }
  return [...words.values()];
}

function tooLong(state: string, allowed: string): SearchError {
  return new SearchError(
    "SEARCH_QUERY_TOO_LONG",
    `Cannot search for a query of ${state}: at most ${allowed} are allowed`,
    { hint: "describe the tool in a few words" },
  );
}
