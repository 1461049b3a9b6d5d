/**
 * A form is one encoding of a secret: a row of symbols, with an optional gap
 * between each two of them (line breaks in base64, separators in hexadecimal).
 */

import type { Spelling, TextSymbol } from "./text-symbol.ts";
import { byteCount, setOf, singleUnit, type UnitSet, unitsOf } from "./unit-set.ts";

/** One encoding of a secret. */
export interface Form {
  readonly symbols: readonly TextSymbol[];
  /** Allowed between two symbols. */
  readonly gap?: Gap;
}

/** Up to `maxCount` spellings, one after the other. */
export interface Gap {
  readonly spellings: readonly Spelling[];
  /** The units that a gap can begin with. */
  readonly firsts: UnitSet;
  readonly maxCount: number;
}

/** Creates a gap of at most `maxCount` of `spellings`. */
export function createGap(spellings: readonly Spelling[], maxCount: number): Gap {
  const firsts = spellings.flatMap(({ lead, run, rest }) => {
    const units = lead[0] === undefined && run !== undefined ? [run.unit] : [];
    const next = lead[0] ?? (run === undefined || run.min === 0 ? rest[0] : undefined);
    return next === undefined ? units : [...units, ...unitsOf(next)];
  });
  return { spellings, firsts: setOf(firsts), maxCount };
}

/**
 * The units at the edges of a symbol or a gap, and those that stand next to
 * each other in it. Each unit is given by its low byte; pairs and triples have
 * their first unit in the highest byte.
 */
export interface Edges {
  /** Differs from the number of all other edges. */
  readonly id: number;
  /** Number of units of the shortest spelling. */
  readonly shortest: number;
  readonly firsts: readonly number[];
  readonly lasts: readonly number[];
  /** Triples of neighbours anywhere. Some occur more than once. */
  readonly innerTriples: readonly number[];
  /** The last two units of spellings of two units or more. */
  readonly lastPairs: readonly number[];
  /** The first two units of spellings of two units or more, and the first three of those of three or more. */
  readonly firstPairs: readonly number[];
  readonly firstTriples: readonly number[];
  /** Whole spellings of one unit and of two units. */
  readonly wholeUnits: readonly number[];
  readonly wholePairs: readonly number[];
}

/** Forms share lists of spellings. */
const edgesBySpellings = new WeakMap<readonly Spelling[], Edges>();
let edgesCount = 0;

/** Returns the edges of any one of `spellings`. */
export function edgesOf(spellings: readonly Spelling[]): Edges {
  let edges = edgesBySpellings.get(spellings);
  if (edges === undefined) {
    edges = toEdges(spellings);
    edgesBySpellings.set(spellings, edges);
  }
  return edges;
}

/** The low bytes of the units of a set. */
type LowBytes = readonly number[];

const noUnits: LowBytes = [];

function lowBytesOf(set: UnitSet): LowBytes {
  const units = unitsOf(set);
  return set.length === byteCount ? units : units.map((unit) => unit & 0xff);
}

/** Longest run that is written out: in a longer one, the same units are next to each other. */
const runMaxWritten = 3;

function toEdges(spellings: readonly Spelling[]): Edges {
  const builder = new EdgesBuilder();
  for (const { lead, run, rest } of spellings) {
    if (run === undefined) {
      const row = [...lead, ...rest].map(lowBytesOf);
      builder.addRow(row);
      builder.addInner(row, 0, row.length);
      continue;
    }
    const before = lead.map(lowBytesOf);
    const repeated = lowBytesOf(singleUnit(run.unit));
    const after = rest.map(lowBytesOf);
    const longest = Math.min(run.max, runMaxWritten);
    for (let count = run.min; count <= longest; count += 1) {
      const row = [...before, ...Array<LowBytes>(count).fill(repeated), ...after];
      builder.addRow(row);
      // The rows of one spelling differ only around the run.
      if (count === longest) builder.addInner(row, 0, row.length);
      else builder.addInner(row, before.length - 2, before.length + count + 2);
    }
  }
  edgesCount += 1;
  return builder.toEdges(edgesCount);
}

/** Collects the edges of rows of units. */
class EdgesBuilder {
  #shortest = Number.POSITIVE_INFINITY;
  readonly #firsts = new Set<number>();
  readonly #lasts = new Set<number>();
  readonly #innerTriples: number[] = [];
  readonly #lastPairs = new Set<number>();
  readonly #firstPairs = new Set<number>();
  readonly #firstTriples = new Set<number>();
  readonly #wholeUnits = new Set<number>();
  readonly #wholePairs = new Set<number>();

  /** Adds the edges of `row`. */
  addRow(row: readonly LowBytes[]): void {
    const { length } = row;
    const first = row[0] ?? noUnits;
    const second = row[1];
    const third = row[2];
    if (length < this.#shortest) this.#shortest = length;
    for (const unit of first) this.#firsts.add(unit);
    for (const unit of row[length - 1] ?? noUnits) this.#lasts.add(unit);
    if (second === undefined) {
      for (const unit of first) this.#wholeUnits.add(unit);
      return;
    }
    for (const one of row[length - 2] as LowBytes) {
      for (const two of row[length - 1] as LowBytes) this.#lastPairs.add((one << 8) | two);
    }
    for (const one of first) {
      for (const two of second) {
        const pair = (one << 8) | two;
        this.#firstPairs.add(pair);
        if (third === undefined) this.#wholePairs.add(pair);
        else for (const three of third) this.#firstTriples.add((pair << 8) | three);
      }
    }
  }

  /** Adds the triples of `row` from `from` to before `to`. */
  addInner(row: readonly LowBytes[], from: number, to: number): void {
    // Plain loops: an iterator allocates an object for each element.
    const triples = this.#innerTriples;
    const end = Math.min(to, row.length);
    for (let at = Math.max(from, 0) + 2; at < end; at += 1) {
      const firsts = row[at - 2] as LowBytes;
      const seconds = row[at - 1] as LowBytes;
      const thirds = row[at] as LowBytes;
      for (let first = 0; first < firsts.length; first += 1) {
        for (let second = 0; second < seconds.length; second += 1) {
          const pair = ((firsts[first] as number) << 16) | ((seconds[second] as number) << 8);
          for (let third = 0; third < thirds.length; third += 1)
            triples.push(pair | (thirds[third] as number));
        }
      }
    }
  }

  toEdges(id: number): Edges {
    return {
      id,
      shortest: this.#shortest,
      firsts: [...this.#firsts],
      lasts: [...this.#lasts],
      innerTriples: this.#innerTriples,
      lastPairs: [...this.#lastPairs],
      firstPairs: [...this.#firstPairs],
      firstTriples: [...this.#firstTriples],
      wholeUnits: [...this.#wholeUnits],
      wholePairs: [...this.#wholePairs],
    };
  }
}

/** Number of units of the shortest input that matches `symbols`. */
export function shortestOf(symbols: readonly TextSymbol[]): number {
  return symbols.reduce((sum, { spellings }) => sum + edgesOf(spellings).shortest, 0);
}
