/**
 * The triples of neighbouring units that occur near the beginning of a form, in
 * all its spellings. A set of hashes: it has every triple of the forms, and some
 * others.
 */

import { type Edges, edgesOf, type Form, type Gap } from "./form.ts";

/** Pairs or hashed triples, one bit each: small enough to stay in the processor's cache while data passes. */
export type BitSet = Int32Array;

/** The neighbours near the beginning of some forms. */
export interface Neighbours {
  /** The first two units of each triple. */
  readonly pairs: BitSet;
  readonly triples: BitSet;
}

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

/** Returns the triples whose first unit can be among the first `count` units of a form. */
export function neighboursNearBeginning(forms: readonly Form[], count: number): Neighbours {
  const builder = new NeighboursBuilder();
  for (const { symbols, gap } of forms) {
    const between = gap === undefined ? undefined : edgesOf(gap.spellings);
    if (gap !== undefined && between !== undefined) builder.addGap(gap, between);
    // The least number of units before the symbol.
    let start = 0;
    for (let index = 0; index < symbols.length && start < count; index += 1) {
      const [own, next, afterNext] = [0, 1, 2].map((ahead) => {
        const symbol = symbols[index + ahead];
        return symbol === undefined ? undefined : edgesOf(symbol.spellings);
      });
      if (own === undefined) break;
      builder.addInner(own);
      start += own.shortest;
      if (next === undefined) break;
      builder.addLink(own, next);
      if (afterNext !== undefined) builder.addChain(own, next, afterNext);
      if (between === undefined) continue;
      builder.addLink(own, between);
      builder.addLink(between, next);
      builder.addChain(own, between, next);
      if (gap !== undefined && gap.maxCount > 1) {
        builder.addChain(own, between, between);
        builder.addChain(between, between, next);
      }
      if (afterNext === undefined) continue;
      builder.addChain(own, next, between);
      builder.addChain(between, next, afterNext);
      builder.addChain(between, next, between);
    }
  }
  return builder;
}

/** Collects triples. Forms share symbols, so it adds each neighbourhood once. */
class NeighboursBuilder implements Neighbours {
  readonly pairs: BitSet = new Int32Array(1 << 11);
  readonly triples: BitSet = new Int32Array(1 << 11);
  readonly #inner = new Set<Edges>();
  readonly #links = new Map<Edges, Set<Edges>>();

  /** Adds the triples within `edges`. */
  addInner(edges: Edges): void {
    if (this.#inner.has(edges)) return;
    this.#inner.add(edges);
    for (const triple of edges.innerTriples) this.#add(triple >>> 8, triple & 0xff);
  }

  /** Adds the triples of `one` followed by `two`, where one of them gives two units. */
  addLink(one: Edges, two: Edges): void {
    const known = this.#links.get(one) ?? new Set();
    if (known.has(two)) return;
    this.#links.set(one, known.add(two));
    for (const pair of one.lastPairs) for (const first of two.firsts) this.#add(pair, first);
    for (const last of one.lasts) {
      for (const pair of two.firstPairs) this.#add((last << 8) | (pair >>> 8), pair & 0xff);
    }
  }

  /** Adds the triples of `one`, a single unit of `two`, and `three`. */
  addChain(one: Edges, two: Edges, three: Edges): void {
    for (const last of one.lasts) {
      for (const whole of two.wholeUnits) {
        for (const first of three.firsts) this.#add((last << 8) | whole, first);
      }
    }
  }

  /** Adds the triples within a gap. */
  addGap({ maxCount }: Gap, edges: Edges): void {
    this.addInner(edges);
    if (maxCount > 1) this.addLink(edges, edges);
    if (maxCount > 2) this.addChain(edges, edges, edges);
  }

  #add(pair: number, third: number): void {
    addBit(this.pairs, pair);
    addBit(this.triples, tripleIndex(pair, third));
  }
}
