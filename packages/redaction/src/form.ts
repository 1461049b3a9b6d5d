/**
 * A form is one encoding of a secret: a row of symbols, with an optional gap
 * between each two of them (line breaks in base64, separators in hexadecimal).
 */

import type { Outline } from "./prefilter.ts";
import type { Spelling, TextSymbol } from "./text-symbol.ts";
import { setOf, type UnitSet, unitsOf } from "./unit-set.ts";

/** One encoding of a secret. */
export interface Form {
  readonly symbols: readonly TextSymbol[];
  /** Allowed between two symbols. */
  readonly gap?: Gap;
}

/** A form whose symbols are created when they are needed. */
export interface LazyForm extends Outline {
  /** The least number of units of the form. */
  readonly shortest: number;
  /** Creates the symbols. */
  readonly toForm: () => Form;
}

/** Separators between two symbols. */
export interface Gap {
  readonly separators: GapPart;
  /** Allowed after a separator. */
  readonly indentation?: GapPart;
  /** The units that a gap can begin with. */
  readonly firsts: UnitSet;
}

/** Up to `maxCount` spellings, one after the other. */
export interface GapPart {
  readonly spellings: readonly Spelling[];
  /** The units that the spellings can begin with. */
  readonly firsts: UnitSet;
  readonly maxCount: number;
}

/** Creates a part of a gap, of at most `maxCount` of `spellings`. */
export function createGapPart(spellings: readonly Spelling[], maxCount: number): GapPart {
  const firsts = spellings.flatMap(({ lead, run, rest }) => {
    const units = lead[0] === undefined && run !== undefined ? [run.unit] : [];
    const next = lead[0] ?? (run === undefined || run.min === 0 ? rest[0] : undefined);
    return next === undefined ? units : [...units, ...unitsOf(next)];
  });
  return { spellings, firsts: setOf(firsts), maxCount };
}
