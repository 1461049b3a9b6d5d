/**
 * The posting lists: the occurrences of each term.
 *
 * A posting is a key (`slot * 8 + field`) and a tf, the number of occurrences in
 * that field. The postings of a term are sorted by key, so that those of a
 * document are adjacent and found by binary search. All lists are stored in two
 * typed arrays, in blocks whose sizes are powers of two. A list that outgrows its
 * block moves to one of twice the size, and the old block is reused. Adding at
 * the end, the common case, moves nothing; adding or removing in the middle moves
 * the rest of that list.
 *
 * df, the number of documents with the term, is always exact.
 */

import { Blocks } from "./blocks.ts";
import { grownUint8, grownUint16, grownUint32 } from "./grown.ts";

/** Number of bits of a key for the field; the others are the slot of the document. */
export const fieldBits = 3;
export const fieldMask = (1 << fieldBits) - 1;

export class PostingLists {
  /** The keys and tfs of all lists. Read only; both arrays are replaced when they grow. */
  keys = new Uint32Array(0);
  tfs = new Uint16Array(0);
  /** Per term: start of its block, number of postings, number of documents. Read only. */
  starts = new Uint32Array(0);
  lengths = new Uint32Array(0);
  dfs = new Uint32Array(0);
  /** Per term: binary logarithm of the size of its block plus 1; 0 without a block. */
  #sizes = new Uint8Array(0);
  readonly #blocks = new Blocks();

  /** Adds a posting; `term` must not have one with this key. */
  insert(term: number, key: number, tf: number): void {
    if (term >= this.starts.length) this.#growTerms(term + 1);
    const length = this.lengths[term]!;
    const size = this.#sizes[term]!;
    if (size === 0 || length === 1 << (size - 1)) this.#move(term, size + 1);
    const start = this.starts[term]!;
    const end = start + length;
    let at = end;
    if (length > 0 && this.keys[end - 1]! > key) {
      at = this.#lowerBound(start, end, key);
      this.keys.copyWithin(at + 1, at, end);
      this.tfs.copyWithin(at + 1, at, end);
    }
    this.keys[at] = key;
    this.tfs[at] = tf;
    this.lengths[term] = length + 1;
    const slot = key >>> fieldBits;
    const isKnown =
      (at > start && this.keys[at - 1]! >>> fieldBits === slot) ||
      (at < end && this.keys[at + 1]! >>> fieldBits === slot);
    if (!isKnown) this.dfs[term]! += 1;
  }

  /** Removes the postings of `term` in the document at `slot`, if any. */
  removeDocument(term: number, slot: number): void {
    const start = this.starts[term]!;
    const end = start + this.lengths[term]!;
    const first = this.find(term, slot);
    let last = first;
    while (last < end && this.keys[last]! >>> fieldBits === slot) last += 1;
    if (first === last) return;
    this.keys.copyWithin(first, last, end);
    this.tfs.copyWithin(first, last, end);
    const length = this.lengths[term]! - (last - first);
    this.lengths[term] = length;
    this.dfs[term]! -= 1;
    const size = this.#sizes[term]!;
    if (length === 0) this.#release(term);
    else if (size > 3 && length <= 1 << (size - 3)) this.#move(term, size - 1);
  }

  /** Returns the index of the first posting of `term` for the document at `slot`, or the index for inserting one. */
  find(term: number, slot: number): number {
    const start = this.starts[term]!;
    return this.#lowerBound(start, start + this.lengths[term]!, (slot << fieldBits) >>> 0);
  }

  #lowerBound(start: number, end: number, key: number): number {
    let low = start;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Moves the list of `term` to a block of another size, which must be large enough. */
  #move(term: number, size: number): void {
    const target = this.#blocks.take(size - 1);
    if (this.#blocks.end > this.keys.length) {
      this.keys = grownUint32(this.keys, this.#blocks.end);
      this.tfs = grownUint16(this.tfs, this.keys.length);
    }
    const start = this.starts[term]!;
    const end = start + this.lengths[term]!;
    this.keys.copyWithin(target, start, end);
    this.tfs.copyWithin(target, start, end);
    if (this.#sizes[term]! > 0) this.#release(term);
    this.starts[term] = target;
    this.#sizes[term] = size;
  }

  #release(term: number): void {
    this.#blocks.give(this.starts[term]!, this.#sizes[term]! - 1);
    this.#sizes[term] = 0;
  }

  #growTerms(length: number): void {
    this.starts = grownUint32(this.starts, length);
    this.lengths = grownUint32(this.lengths, length);
    this.dfs = grownUint32(this.dfs, length);
    this.#sizes = grownUint8(this.#sizes, length);
  }
}
