/**
 * Converts the words of a query to terms of an index.
 *
 * Each word becomes a clause: its own term, and alternative terms. For an
 * unfinished last word, these are its completions (`gith` → `github`); for a
 * word that no document has, words one typing error away. An additional clause
 * stands for the whole query as the exact name of a tool.
 *
 * The alternatives depend only on the content of the index, never on the order
 * in which documents were added.
 */

import type { Dictionary } from "./dictionary.ts";
import { exactNameWord, withoutSign } from "./exact-name.ts";
import type { InvertedIndex } from "./inverted-index.ts";
import { isOneEditAway } from "./one-edit.ts";
import type { QueryWord } from "./parse-query.ts";
import { stopWords } from "./stop-words.ts";

/** The way in which a document matches; see `SearchReason`. */
export type SearchMatch = "word" | "prefix" | "typo" | "name";

/** The terms that match one word of the query. */
export interface Clause {
  readonly word: string;
  readonly match: "word" | "name";
  /** The text of the term of the word itself. */
  readonly termText: string;
  /** The term of the word itself, if the index contains it. */
  readonly term: number | undefined;
  /** Alternative terms. */
  readonly others: readonly number[];
  readonly othersMatch: "prefix" | "typo";
}

/** Maximum number of completions of an unfinished word, and the number of words among which the most frequent are selected. */
const completionsMax = 32;
const completionsScanned = 8_192;

/** Maximum number of corrections of a word, and the number of words with the same first letter among which the most frequent are selected. */
const correctionsMax = 8;
const correctionsScanned = 16_384;
/** Maximum number of words that are corrected in one query, and the shortest word that is corrected. */
const correctedWordsMax = 4;
const correctedMinChars = 4;

/**
 * Returns the clauses of a query in its order; the one for the exact name comes last.
 *
 * @param isTaught whether a term that no document has finds documents nevertheless
 */
export function clausesOf(
  query: string,
  words: readonly QueryWord[],
  index: InvertedIndex,
  isTaught: (term: string) => boolean,
): Clause[] {
  const { dictionary } = index;
  const clauses: Clause[] = [];
  let correctionsLeft = correctedWordsMax;
  for (const { text, term: termText, isSpelled, isUnfinished } of words) {
    const term = dictionary.findTerm(termText);
    let others = isUnfinished ? completionsOf(text, term, index) : [];
    let othersMatch: "prefix" | "typo" = "prefix";
    const mayBeTypo = term === undefined && others.length === 0 && isSpelled;
    if (mayBeTypo && text.length >= correctedMinChars && correctionsLeft > 0) {
      correctionsLeft -= 1;
      others = correctionsOf(text, index);
      othersMatch = "typo";
    }
    if (term === undefined && others.length === 0 && !isTaught(termText)) continue;
    clauses.push({ word: text, match: "word", termText, term, others, othersMatch });
  }
  const name = exactNameWord(query);
  const nameTerm = name === undefined ? undefined : dictionary.findTerm(name);
  if (name !== undefined && nameTerm !== undefined) {
    const word = withoutSign(name);
    clauses.push({ word, match: "name", termText: name, term: nameTerm, others: [], othersMatch: "prefix" });
  }
  return clauses;
}

function completionsOf(prefix: string, term: number | undefined, index: InvertedIndex): number[] {
  const words = index.dictionary.wordsStartingWith(prefix, completionsScanned);
  return mostFrequentTerms(words, completionsMax, index, (word) => index.dictionary.wordTerms[word] !== term);
}

function correctionsOf(text: string, index: InvertedIndex): number[] {
  const { dictionary } = index;
  const words = dictionary.wordsStartingWith(text[0]!, correctionsScanned);
  return mostFrequentTerms(words, correctionsMax, index, (word) =>
    isOneEditAway(text, dictionary.wordText(word)),
  );
}

/**
 * Returns the most frequent terms of `words`, at most `max`; of equally frequent
 * ones, the first. Stop words are never alternatives.
 */
function mostFrequentTerms(
  words: readonly number[],
  max: number,
  { dictionary, postings }: InvertedIndex,
  isMeant: (word: number) => boolean,
): number[] {
  const chosen: number[] = [];
  for (const word of words) {
    const term = dictionary.wordTerms[word]!;
    const df = postings.dfs[term]!;
    if (chosen.length === max && df <= postings.dfs[chosen[max - 1]!]!) continue;
    if (!isMeant(word) || chosen.includes(term) || isStopWord(word, dictionary)) continue;
    if (chosen.length === max) chosen.pop();
    let at = chosen.length;
    while (at > 0 && postings.dfs[chosen[at - 1]!]! < df) at -= 1;
    chosen.splice(at, 0, term);
  }
  return chosen;
}

function isStopWord(word: number, dictionary: Dictionary): boolean {
  return stopWords.has(dictionary.wordText(word));
}
