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
  const units = rowsOf(spellings).flatMap(([first]) => (first === undefined ? [] : unitsOf(first)));
  return { spellings, firsts: setOf(units), maxCount };
}

/**
 * The units at the edges of a symbol or a gap, and those that stand next to
 * each other in it. Each unit is given by its low byte; pairs and triples have
 * their first unit in the highest byte.
 */
export interface Edges {
  /** Number of units of the shortest spelling. */
  readonly shortest: number;
  readonly firsts: readonly number[];
  readonly lasts: readonly number[];
  /** Triples of neighbours anywhere. */
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

/** Returns the edges of any one of `spellings`. */
export function edgesOf(spellings: readonly Spelling[]): Edges {
  let edges = edgesBySpellings.get(spellings);
  if (edges === undefined) {
    edges = toEdges(rowsOf(spellings).map((row) => row.map(lowBytesOf)));
    edgesBySpellings.set(spellings, edges);
  }
  return edges;
}

/** The low bytes of the units of a set. */
type LowBytes = readonly number[];

function lowBytesOf(set: UnitSet): LowBytes {
  const units = unitsOf(set);
  return set.length === byteCount ? units : units.map((unit) => unit & 0xff);
}

function toEdges(rows: readonly (readonly LowBytes[])[]): Edges {
  const firsts = new Set<number>();
  const lasts = new Set<number>();
  const firstPairs = new Set<number>();
  const lastPairs = new Set<number>();
  const firstTriples = new Set<number>();
  const wholeUnits = new Set<number>();
  const wholePairs = new Set<number>();
  for (const row of rows) {
    const [first = [], second, third] = row;
    for (const unit of first) firsts.add(unit);
    for (const unit of row.at(-1) ?? []) lasts.add(unit);
    if (second === undefined) {
      for (const unit of first) wholeUnits.add(unit);
      continue;
    }
    for (const one of row.at(-2) ?? []) for (const two of row.at(-1) ?? []) lastPairs.add((one << 8) | two);
    const pairs = third === undefined ? [firstPairs, wholePairs] : [firstPairs];
    for (const one of first) {
      for (const two of second) {
        const pair = (one << 8) | two;
        for (const set of pairs) set.add(pair);
        for (const three of third ?? []) firstTriples.add((pair << 8) | three);
      }
    }
  }
  return {
    shortest: rows.reduce((least, row) => Math.min(least, row.length), Number.POSITIVE_INFINITY),
    firsts: [...firsts],
    lasts: [...lasts],
    innerTriples: innerTriplesOf(rows),
    lastPairs: [...lastPairs],
    firstPairs: [...firstPairs],
    firstTriples: [...firstTriples],
    wholeUnits: [...wholeUnits],
    wholePairs: [...wholePairs],
  };
}

function innerTriplesOf(rows: readonly (readonly LowBytes[])[]): readonly number[] {
  const triples = new Set<number>();
  for (const row of rows) {
    for (let at = 2; at < row.length; at += 1) {
      for (const one of row[at - 2] as LowBytes) {
        for (const two of row[at - 1] as LowBytes) {
          for (const three of row[at] as LowBytes) triples.add((one << 16) | (two << 8) | three);
        }
      }
    }
  }
  return [...triples];
}

/** Number of units of the shortest input that matches `symbols`. */
export function shortestOf(symbols: readonly TextSymbol[]): number {
  return symbols.reduce((sum, { spellings }) => sum + edgesOf(spellings).shortest, 0);
}

/** Longest run that is written out: in a longer one, the same units are next to each other. */
const runMaxWritten = 3;

/** Returns `spellings` without runs: one row for each length of a run up to three. */
function rowsOf(spellings: readonly Spelling[]): readonly (readonly UnitSet[])[] {
  return spellings.flatMap(({ lead, run, rest }) => {
    if (run === undefined) return [[...lead, ...rest]];
    const count = Math.min(run.max, runMaxWritten) - run.min + 1;
    return Array.from({ length: count }, (_, index) => {
      const repeated = Array<UnitSet>(run.min + index).fill(singleUnit(run.unit));
      return [...lead, ...repeated, ...rest];
    });
  });
}
