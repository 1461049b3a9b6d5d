/**
 * A form is one encoding of a secret: a row of symbols, with an optional gap
 * between each two of them (line breaks in base64, separators in hexadecimal).
 */

import type { Outline } from "./prefilter.ts";
import { firstsOf, type Spelling, type TextSymbol } from "./text-symbol.ts";
import type { UnitSet } from "./unit-set.ts";

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
  return { spellings, firsts: firstsOf(spellings), maxCount };
}
