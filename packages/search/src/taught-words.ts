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

/** The slots of documents by their ids. `version` changes with them. */
interface DocumentSlots {
  readonly version: number;
  slotOf(id: string): number | undefined;
}

/** Words of tools, besides those of their definitions. */
export class TaughtWords {
  readonly field: TaughtField;
  /** The number of each tool with words. Numbers are reused. */
  readonly #numbers = new Map<string, number>();
  /** By number. */
  readonly #ids: string[] = [];
  readonly #lengths: number[] = [];
  readonly #terms: (ReadonlyMap<string, number> | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  /** Per term: the weight of each tool that has it, by number. */
  readonly #postings = new Map<string, Map<number, number>>();
  #lengthSum = 0;
  /** The slot of each number in the documents that were searched last, -1 for none: ids are looked up once and not for each word. */
  #slots = new Int32Array(0);
  #documents: DocumentSlots | undefined;
  #version = -1;

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
    return this.#numbers.size;
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
    const number = this.#freeNumbers.pop() ?? this.#ids.length;
    for (const [term, weight] of terms) {
      const tools = this.#postings.get(term);
      if (tools === undefined) this.#postings.set(term, new Map([[number, weight]]));
      else tools.set(number, weight);
    }
    this.#numbers.set(id, number);
    this.#ids[number] = id;
    this.#terms[number] = terms;
    this.#lengths[number] = length;
    this.#lengthSum += length;
    this.#documents = undefined;
  }

  /** Removes the words of a tool. */
  delete(id: string): void {
    const number = this.#numbers.get(id);
    if (number === undefined) return;
    for (const term of this.#terms[number]!.keys()) {
      const tools = this.#postings.get(term);
      tools?.delete(number);
      if (tools?.size === 0) this.#postings.delete(term);
    }
    this.#numbers.delete(id);
    this.#ids[number] = "";
    this.#terms[number] = undefined;
    this.#freeNumbers.push(number);
    this.#lengthSum = this.#numbers.size === 0 ? 0 : this.#lengthSum - this.#lengths[number]!;
    this.#documents = undefined;
  }

  /** Whether a tool was taught `term`. */
  has(term: string): boolean {
    return this.#postings.has(term);
  }

  /** Calls `take` with the slot of each document that was taught `term`, and its weighted tf as in ranker.ts. */
  eachTf(term: string, documents: DocumentSlots, take: (slot: number, tf: number) => void): void {
    const tools = this.#postings.get(term);
    if (tools === undefined) return;
    this.#lookUp(documents);
    const slope = this.#slope();
    for (const [number, weight] of tools) {
      const slot = this.#slots[number]!;
      if (slot >= 0) take(slot, (boost * weight) / (1 - b + slope * this.#lengths[number]!));
    }
  }

  /** Returns the weighted tf of `term` in the words of the tool `id`; 0 without. */
  tfOf(term: string, id: string): number {
    const number = this.#numbers.get(id);
    const weight = number === undefined ? undefined : this.#postings.get(term)?.get(number);
    if (number === undefined || weight === undefined) return 0;
    return (boost * weight) / (1 - b + this.#slope() * this.#lengths[number]!);
  }

  #slope(): number {
    return (b * this.#numbers.size) / this.#lengthSum;
  }

  #lookUp(documents: DocumentSlots): void {
    if (documents === this.#documents && documents.version === this.#version) return;
    if (this.#slots.length < this.#ids.length) this.#slots = new Int32Array(this.#ids.length * 2);
    for (const [number, id] of this.#ids.entries()) this.#slots[number] = documents.slotOf(id) ?? -1;
    this.#documents = documents;
    this.#version = documents.version;
  }
}
