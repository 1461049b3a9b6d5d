/**
 * The words and terms of the index, each with a small number.
 *
 * A word occurs in a text (`issues`); a term is its stem (`issu`), which a search
 * matches. Several words can share a term. A word keeps its number while a
 * document contains it, and numbers are reused: the dictionary always contains
 * exactly the words of its documents. The term of a word is stored, so a word is
 * stemmed only once.
 *
 * An exact name (`=createissue`) is a word too, but no prefix matches it.
 */

import { isExactName } from "./exact-name.ts";
import { grownUint32 } from "./grown.ts";
import { SortedWords } from "./sorted-words.ts";
import { stemEnglish } from "./stem-english.ts";

/** Matches words that are stemmed: English letters only, no digits or other scripts. */
const englishWord = /^[a-z']+$/;

/** Returns the term that `word` is indexed by: its stem if it is English, otherwise the word itself. */
export function termTextOf(word: string): string {
  return englishWord.test(word) ? stemEnglish(word) : word;
}

/** Mask of the cache index: the size of the cache, a power of two, minus 1. */
const recentMask = 0x1fff;

export class Dictionary {
  readonly #wordNumbers = new Map<string, number>();
  readonly #wordTexts: string[] = [];
  #wordDocumentCounts = new Uint32Array(0);
  readonly #freeWords: number[] = [];
  /** Cache of the last word per approximate hash: frequent words need neither a substring nor a lookup. */
  readonly #recent = new Uint32Array(recentMask + 1);
  readonly #termNumbers = new Map<string, number>();
  readonly #termTexts: string[] = [];
  readonly #freeTerms: number[] = [];
  #termWordCounts = new Uint32Array(0);
  readonly #sorted = new SortedWords(this.#wordTexts);
  /** The term of each word number. Read only; the array is replaced when it grows. */
  wordTerms = new Uint32Array(0);

  /** The highest word number in use plus 1. */
  get wordNumberEnd(): number {
    return this.#wordTexts.length;
  }

  /** The highest term number in use plus 1. */
  get termNumberEnd(): number {
    return this.#termTexts.length;
  }

  termText(term: number): string {
    return this.#termTexts[term]!;
  }

  wordText(word: number): string {
    return this.#wordTexts[word]!;
  }

  /** Returns the number of the term with this text, if a document contains it. */
  findTerm(text: string): number | undefined {
    return this.#termNumbers.get(text);
  }

  /** Returns the words that begin with `prefix`, in code unit order, at most `max`. */
  wordsStartingWith(prefix: string, max: number): number[] {
    return this.#sorted.startingWith(prefix, max);
  }

  /**
   * Returns the number of the word in `text` from `start` to `end`, a new one if
   * necessary. The number is valid only if the caller then calls `retain`.
   */
  intern(text: string, start: number, end: number): number {
    const length = end - start;
    const place =
      (text.charCodeAt(start) * 31 +
        text.charCodeAt(start + (length >> 1)) * 1009 +
        text.charCodeAt(end - 1) * 131 +
        length * 517) &
      recentMask;
    const recent = this.#recent[place]!;
    const recentText = this.#wordTexts[recent];
    if (recentText?.length === length && text.startsWith(recentText, start)) return recent;
    const found = text.slice(start, end);
    const word = this.#wordNumbers.get(found) ?? this.#addWord(found);
    this.#recent[place] = word;
    return word;
  }

  /** Counts one more document with `word`. */
  retain(word: number): void {
    this.#wordDocumentCounts[word]! += 1;
  }

  /** Counts one document less with `word`. Without documents the word is removed, and with its last word the term. */
  release(word: number): void {
    this.#wordDocumentCounts[word]! -= 1;
    if (this.#wordDocumentCounts[word]! > 0) return;
    const text = this.#wordTexts[word]!;
    if (!isExactName(text)) this.#sorted.remove(word);
    this.#wordNumbers.delete(text);
    this.#wordTexts[word] = "";
    this.#freeWords.push(word);
    this.#releaseTerm(this.wordTerms[word]!);
  }

  #addWord(shared: string): number {
    const text = unshared(shared);
    const word = this.#freeWords.pop() ?? this.#wordTexts.length;
    if (word >= this.wordTerms.length) {
      this.wordTerms = grownUint32(this.wordTerms, word + 1);
      this.#wordDocumentCounts = grownUint32(this.#wordDocumentCounts, word + 1);
    }
    this.#wordTexts[word] = text;
    this.#wordNumbers.set(text, word);
    this.#wordDocumentCounts[word] = 0;
    this.wordTerms[word] = this.#retainTerm(termTextOf(text));
    if (!isExactName(text)) this.#sorted.add(word);
    return word;
  }

  #retainTerm(text: string): number {
    let term = this.#termNumbers.get(text);
    if (term === undefined) {
      term = this.#freeTerms.pop() ?? this.#termTexts.length;
      if (term >= this.#termWordCounts.length) {
        this.#termWordCounts = grownUint32(this.#termWordCounts, term + 1);
      }
      this.#termTexts[term] = text;
      this.#termNumbers.set(text, term);
      this.#termWordCounts[term] = 0;
    }
    this.#termWordCounts[term]! += 1;
    return term;
  }

  #releaseTerm(term: number): void {
    this.#termWordCounts[term]! -= 1;
    if (this.#termWordCounts[term]! > 0) return;
    this.#termNumbers.delete(this.#termTexts[term]!);
    this.#termTexts[term] = "";
    this.#freeTerms.push(term);
  }
}

/**
 * Copies `text` so that it does not keep its source alive: engines let longer
 * substrings point into their source, which may be a whole description.
 */
function unshared(text: string): string {
  if (text.length < 13) return text;
  const units: number[] = [];
  for (let index = 0; index < text.length; index += 1) units.push(text.charCodeAt(index));
  return String.fromCharCode(...units);
}
