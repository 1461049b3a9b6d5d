/**
 * The triples of neighbouring units that occur near the beginning of a form, in
 * all its spellings. A set of hashes: it has every triple of the forms, and some
 * others.
 */

import { type Edges, edgesOf, type Form, type Gap } from "./form.ts";
import type { TextSymbol } from "./text-symbol.ts";

/** Pairs or hashed triples, one bit each: small enough to stay in the processor's cache while data passes. */
export type BitSet = Int32Array;

/** Returns the index of a triple; several triples share an index. */
export function tripleIndex(pair: number, third: number): number {
  return (pair ^ (third * 0x9e5)) & 0xffff;
}

/** Whether `set` has the pair or triple with `index`. */
export function hasBit(set: BitSet, index: number): boolean {
  // A shift counts by its last five bits.
  return ((set[index >>> 5] as number) & (1 << index)) !== 0;
}

function addBit(set: BitSet, index: number): void {
  set[index >>> 5] = (set[index >>> 5] as number) | (1 << index);
}

/** Most pairs of symbols that a set remembers to have added. Forgetting them costs time only. */
const maxKnownPairs = 50_000;

/** Collects the neighbours near the beginning of forms. Forms share symbols, so it adds each neighbourhood once. */
export class NeighbourSet {
  /** The first two units of each triple. */
  readonly pairs: BitSet = new Int32Array(1 << 11);
  readonly triples: BitSet = new Int32Array(1 << 11);
  /** The symbols and pairs of symbols that were added with each gap. */
  readonly #known = new Map<Gap | undefined, Set<number>>();

  /** Adds the triples whose first unit can be among the first `count` units of a form. */
  addBeginning({ symbols, gap }: Form, count: number): void {
    const known = this.#knownWith(gap);
    const between = gap === undefined ? undefined : edgesOf(gap.spellings);
    // The least number of units before the symbol.
    let start = 0;
    let isLast = false;
    for (let index = 0; index < symbols.length && !isLast; index += 1) {
      const own = edgesOf((symbols[index] as TextSymbol).spellings);
      const next = edgesAt(symbols, index + 1);
      // The gap before the next symbol can still begin near the beginning.
      isLast = start >= count;
      start += own.shortest;
      if (isNew(known, own.id)) {
        this.#addTriples(own.innerTriples);
        if (gap !== undefined && between !== undefined) this.#addAround(own, between, gap);
      }
      if (next === undefined) break;
      if (isNew(known, own.id * maxEdges + next.id)) {
        this.#addLink(own, next);
        if (between !== undefined) {
          this.#addChain(own, between, next);
          this.#addChain(own, next, between);
          this.#addChain(between, own, next);
        }
      }
      const afterNext = edgesAt(symbols, index + 2);
      if (afterNext !== undefined) this.#addChain(own, next, afterNext);
    }
  }

  /** Returns the symbols and pairs that were added with `gap`. Adds a new gap. */
  #knownWith(gap: Gap | undefined): Set<number> {
    const known = this.#known.get(gap);
    if (known !== undefined) {
      if (known.size > maxKnownPairs) known.clear();
      return known;
    }
    const none = new Set<number>();
    this.#known.set(gap, none);
    if (gap === undefined) return none;
    const edges = edgesOf(gap.spellings);
    this.#addTriples(edges.innerTriples);
    if (gap.maxCount > 1) this.#addLink(edges, edges);
    if (gap.maxCount > 2) this.#addChain(edges, edges, edges);
    return none;
  }

  /** Adds the triples of a symbol and the gaps before and after it. */
  #addAround(own: Edges, between: Edges, { maxCount }: Gap): void {
    this.#addLink(own, between);
    this.#addLink(between, own);
    this.#addChain(between, own, between);
    if (maxCount === 1) return;
    this.#addChain(own, between, between);
    this.#addChain(between, between, own);
  }

  // Plain loops: most of this runs once, in code that the engine has not
  // optimized yet, where an iterator allocates an object for each element.

  #addTriples(triples: readonly number[]): void {
    for (let at = 0; at < triples.length; at += 1) {
      const triple = triples[at] as number;
      this.#add(triple >>> 8, triple & 0xff);
    }
  }

  /** Adds the triples of `one` followed by `two`, where one of them gives two units. */
  #addLink({ lastPairs, lasts }: Edges, { firsts, firstPairs }: Edges): void {
    for (let at = 0; at < lastPairs.length; at += 1) this.#addAfter(lastPairs[at] as number, firsts);
    for (let at = 0; at < firstPairs.length; at += 1) {
      const pair = firstPairs[at] as number;
      for (let before = 0; before < lasts.length; before += 1) {
        this.#add(((lasts[before] as number) << 8) | (pair >>> 8), pair & 0xff);
      }
    }
  }

  /** Adds the triples of `one`, a single unit of `two`, and `three`. */
  #addChain({ lasts }: Edges, { wholeUnits }: Edges, { firsts }: Edges): void {
    for (let at = 0; at < wholeUnits.length; at += 1) {
      for (let before = 0; before < lasts.length; before += 1) {
        this.#addAfter(((lasts[before] as number) << 8) | (wholeUnits[at] as number), firsts);
      }
    }
  }

  /** Adds the triples of `pair` and each of `thirds`. */
  #addAfter(pair: number, thirds: readonly number[]): void {
    addBit(this.pairs, pair);
    for (let at = 0; at < thirds.length; at += 1)
      addBit(this.triples, tripleIndex(pair, thirds[at] as number));
  }

  #add(pair: number, third: number): void {
    addBit(this.pairs, pair);
    addBit(this.triples, tripleIndex(pair, third));
  }
}

/** More than the edges that a process creates. */
const maxEdges = 2 ** 26;

function edgesAt(symbols: readonly TextSymbol[], index: number): Edges | undefined {
  const symbol = symbols[index];
  return symbol === undefined ? undefined : edgesOf(symbol.spellings);
}

/** Adds `key` to `known`. Returns whether it is new. */
function isNew(known: Set<number>, key: number): boolean {
  const { size } = known;
  return known.add(key).size > size;
}
