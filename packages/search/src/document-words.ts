/**
 * The distinct words of each document, by slot. They are removed from the index
 * together with the document.
 */

import { Blocks, sizeLogFor } from "./blocks.ts";
import { grownUint32 } from "./grown.ts";

export class DocumentWords {
  readonly #blocks = new Blocks();
  #words = new Uint32Array(0);
  #starts = new Uint32Array(0);
  #lengths = new Uint32Array(0);

  /** Stores `words` as those of the document at `slot`, which must have none. */
  set(slot: number, words: readonly number[]): void {
    if (slot >= this.#starts.length) {
      this.#starts = grownUint32(this.#starts, slot + 1);
      this.#lengths = grownUint32(this.#lengths, slot + 1);
    }
    this.#lengths[slot] = words.length;
    if (words.length === 0) return;
    const start = this.#blocks.take(sizeLogFor(words.length));
    if (this.#blocks.end > this.#words.length) this.#words = grownUint32(this.#words, this.#blocks.end);
    for (let index = 0; index < words.length; index += 1) this.#words[start + index] = words[index]!;
    this.#starts[slot] = start;
  }

  /** Removes and returns the words of the document at `slot`. The view is valid until the next `set`. */
  take(slot: number): Uint32Array {
    const start = this.#starts[slot]!;
    const length = this.#lengths[slot]!;
    this.#lengths[slot] = 0;
    if (length > 0) this.#blocks.give(start, sizeLogFor(length));
    return this.#words.subarray(start, start + length);
  }
}
