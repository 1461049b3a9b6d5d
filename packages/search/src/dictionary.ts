/**
 * The words and terms of the index, each under a small number.
 *
 * A word is what stands in a text (`issues`), a term what is searched for
 * (`issu`, its stem); several words share a term. Words keep their number while
 * a document contains them, and numbers are used again: the dictionary always
 * holds exactly what its documents contain. Since each word knows its term, a
 * word is stemmed once, however often it occurs.
 *
 * An exact name (`=createissue`) is a word too, but one that no prefix finds.
 */

import { isExactName } from "./exact-name.ts";
import { grownUint32 } from "./grown.ts";
import { SortedWords } from "./sorted-words.ts";
import { stemEnglish } from "./stem-english.ts";

/** Stemming is for words of English letters; words with digits and other scripts are left alone. */
const englishWord = /^[a-z']+$/;

/** The text of the term of `word`. */
export function termTextOf(word: string): string {
  return englishWord.test(word) ? stemEnglish(word) : word;
}

/** One less than the number of words remembered, a power of two. */
const recentMask = 0x1fff;

export class Dictionary {
  readonly #wordNumbers = new Map<string, number>();
  readonly #wordTexts: string[] = [];
  #wordDocumentCounts = new Uint32Array(0);
  readonly #freeWords: number[] = [];
  /** The word found last under a rough hash: frequent words need neither be cut out nor looked up. */
  readonly #recent = new Uint32Array(recentMask + 1);
  readonly #termNumbers = new Map<string, number>();
  readonly #termTexts: string[] = [];
  readonly #freeTerms: number[] = [];
  #termWordCounts = new Uint32Array(0);
  readonly #sorted = new SortedWords(this.#wordTexts);
  /** The term of each word number. For reading; it is replaced when it grows. */
  wordTerms = new Uint32Array(0);

  /** One past the highest word number in use. */
  get wordNumberEnd(): number {
    return this.#wordTexts.length;
  }

  /** One past the highest term number in use. */
  get termNumberEnd(): number {
    return this.#termTexts.length;
  }

  termText(term: number): string {
    return this.#termTexts[term]!;
  }

  wordText(word: number): string {
    return this.#wordTexts[word]!;
  }

  /** The number of the term with this text, if any document has it. */
  findTerm(text: string): number | undefined {
    return this.#termNumbers.get(text);
  }

  /** The words that begin with `prefix`, in code unit order, at most `max`. */
  wordsStartingWith(prefix: string, max: number): number[] {
    return this.#sorted.startingWith(prefix, max);
  }

  /**
   * The number of the word that is `text` from `start` to `end`, new if need be.
   * The caller follows with `retain` or loses the number.
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

  /** One more document contains `word`. */
  retain(word: number): void {
    this.#wordDocumentCounts[word]! += 1;
  }

  /** One document less contains `word`; the last one takes the word away, and its term with the last word. */
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
 * A copy of `text` that does not keep alive the text it was cut from: engines
 * let longer slices point into their source, which may be a whole description.
 */
function unshared(text: string): string {
  if (text.length < 13) return text;
  const units: number[] = [];
  for (let index = 0; index < text.length; index += 1) units.push(text.charCodeAt(index));
  return String.fromCharCode(...units);
}
