/**
 * Words that uses taught tools: for each tool, the words by which it was found before, with a
 * weight that its caller decides. They are kept beside the index, so that a change costs neither
 * a removal nor an addition there, and so that each search names the words that count for it.
 *
 * In the ranking, the words of one `TaughtWords` are one more field of each tool (ranker.ts). A word
 * of a tool that is not in the index counts for nothing, also not in the idf.
 *
 * No clock: its caller lowers the weights of old words.
 */

import { termTextOf } from "./dictionary.ts";
import { searchLimits } from "./options.ts";
import { scanWords } from "./scan-words.ts";
import { stopWords } from "./stop-words.ts";

/** The weight of taught words in the ranking, and their length normalization, as those of a field. */
const boost = 0.7;
const b = 0.75;

/** The name of taught words in the reasons of a hit: by uses of the searching client, or by those of several. */
export type TaughtField = "learned" | "shared";

/** Words of tools, besides those of their definitions. */
export class TaughtWords {
  readonly field: TaughtField;
  /** Per term: the weight of each tool that has it. */
  readonly #postings = new Map<string, Map<string, number>>();
  readonly #terms = new Map<string, ReadonlyMap<string, number>>();
  readonly #lengths = new Map<string, number>();
  #lengthSum = 0;

  constructor(field: TaughtField) {
    this.field = field;
  }

  /**
   * Returns the different words of `text` that can be taught: folded, without stop words, at most `max`.
   * Text past 32,768 characters is not read.
   */
  static wordsOf(text: string, max: number): readonly string[] {
    const words = new Set<string>();
    scanWords(text.slice(0, searchLimits.queryMaxChars), (part, start, end, kind) => {
      if (kind !== "word" && kind !== "gram") return true;
      const word = part.slice(start, end);
      if (!stopWords.has(word)) words.add(word);
      return words.size < max;
    });
    return [...words];
  }

  /** Number of tools with words. */
  get size(): number {
    return this.#lengths.size;
  }

  /** Replaces the words of a tool. Weights of 0 and below are left out. */
  set(id: string, words: Iterable<readonly [word: string, weight: number]>): void {
    this.delete(id);
    const terms = new Map<string, number>();
    let length = 0;
    for (const [word, weight] of words) {
      if (!(weight > 0)) continue;
      const term = termTextOf(word);
      terms.set(term, (terms.get(term) ?? 0) + weight);
      length += weight;
    }
    if (terms.size === 0) return;
    for (const [term, weight] of terms) {
      const tools = this.#postings.get(term);
      if (tools === undefined) this.#postings.set(term, new Map([[id, weight]]));
      else tools.set(id, weight);
    }
    this.#terms.set(id, terms);
    this.#lengths.set(id, length);
    this.#lengthSum += length;
  }

  /** Removes the words of a tool. */
  delete(id: string): void {
    const terms = this.#terms.get(id);
    if (terms === undefined) return;
    for (const term of terms.keys()) {
      const tools = this.#postings.get(term);
      tools?.delete(id);
      if (tools?.size === 0) this.#postings.delete(term);
    }
    this.#terms.delete(id);
    this.#lengthSum -= this.#lengths.get(id)!;
    this.#lengths.delete(id);
    if (this.#lengths.size === 0) this.#lengthSum = 0;
  }

  /** Whether a tool was taught `term`. */
  has(term: string): boolean {
    return this.#postings.has(term);
  }

  /** Calls `take` with each tool that was taught `term`, and its weighted tf as in ranker.ts. */
  eachTf(term: string, take: (id: string, tf: number) => void): void {
    const tools = this.#postings.get(term);
    if (tools === undefined) return;
    const slope = (b * this.#lengths.size) / this.#lengthSum;
    for (const [id, weight] of tools) take(id, (boost * weight) / (1 - b + slope * this.#lengths.get(id)!));
  }

  /** Returns the weighted tf of `term` in the words of the tool `id`; 0 without. */
  tfOf(term: string, id: string): number {
    const weight = this.#postings.get(term)?.get(id);
    if (weight === undefined) return 0;
    const slope = (b * this.#lengths.size) / this.#lengthSum;
    return (boost * weight) / (1 - b + slope * this.#lengths.get(id)!);
  }
}
