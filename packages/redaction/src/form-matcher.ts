/**
 * Finds forms in a text or in bytes, in one pass. The prefilter names the places
 * where a form can begin. At such a place the matcher follows each form through
 * all spellings at the same time, so the time is bounded by the length of the
 * form. It returns the form that begins first, and the longest of those that
 * begin at the same place.
 *
 * A matcher keeps no state between calls. When the input ends within a possible
 * form, it returns `pending`, and the caller keeps these units for the next call.
 */

import { type Form, type Gap, shortestOf } from "./form.ts";
import { Prefilter } from "./prefilter.ts";
import type { Spelling } from "./text-symbol.ts";

/** A form to find. */
export interface WantedForm<Tag> {
  readonly form: Form;
  /** The secret that it is a form of. */
  readonly tag: Tag;
}

/** The result of a search. */
export type Finding<Tag> =
  | { readonly kind: "found"; readonly start: number; readonly end: number; readonly tag: Tag }
  /** The units from `start` on can be the beginning of a form: more input is needed. */
  | { readonly kind: "pending"; readonly start: number }
  | { readonly kind: "none" };

/** Bytes, or a text whose code units match the alphabet of the forms. */
export type Input = string | Uint8Array;

const none = { kind: "none" } as const;
/** The shortest form that the prefilter can handle. */
const formMinLength = 4;

/** Finds forms, which share one alphabet. */
export class FormMatcher<Tag> {
  #shortest = Number.POSITIVE_INFINITY;
  readonly #prefilter = new Prefilter();
  readonly #wanted: WantedForm<Tag>[] = [];

  constructor(wanted: readonly WantedForm<Tag>[]) {
    this.add(wanted);
  }

  /** Number of units of the shortest form: shorter input contains none. */
  get shortest(): number {
    return this.#shortest;
  }

  /** Adds `wanted`. The cost does not depend on the forms that were added before. */
  add(wanted: readonly WantedForm<Tag>[]): void {
    const forms = wanted.map(({ form }) => form);
    const shortest = Math.min(this.#shortest, ...forms.map(({ symbols }) => shortestOf(symbols)));
    if (shortest < formMinLength) throw new RangeError(`A form has fewer than ${formMinLength} units`);
    this.#shortest = shortest;
    this.#prefilter.add(forms, this.#wanted.length);
    this.#wanted.push(...wanted);
  }

  /**
   * Finds the first form at or after `from`.
   *
   * @param isEnd whether nothing follows `input`; then nothing is pending.
   */
  find(input: Input, from: number, isEnd: boolean): Finding<Tag> {
    // At the end of the input, a form needs room.
    const limit = isEnd ? input.length - this.#shortest + 1 : input.length;
    for (let at = this.#next(input, from, limit); at < limit; at = this.#next(input, at + 1, limit)) {
      const finding = this.#findAt(input, at, isEnd);
      if (finding !== undefined) return finding;
    }
    return none;
  }

  #next(input: Input, from: number, limit: number): number {
    return typeof input === "string"
      ? this.#prefilter.nextInText(input, from, limit)
      : this.#prefilter.nextInBytes(input, from, limit);
  }

  #findAt(input: Input, start: number, isEnd: boolean): Finding<Tag> | undefined {
    let longest: { readonly end: number; readonly tag: Tag } | undefined;
    for (const index of this.#candidatesAt(input, start)) {
      const { form, tag } = this.#wanted[index] as WantedForm<Tag>;
      const { end, hasRunOut } = follow(input, start, form);
      if (hasRunOut && !isEnd) return { kind: "pending", start };
      if (end !== undefined && (longest === undefined || end > longest.end)) longest = { end, tag };
    }
    return longest === undefined ? undefined : { kind: "found", start, ...longest };
  }

  /** The indexes of the forms that can begin at `start`: all of them at the end of the input. */
  #candidatesAt(input: Input, start: number): Iterable<number> {
    if (start + 2 >= input.length) return this.#wanted.keys();
    const first = unitAt(input, start) & 0xff;
    const second = unitAt(input, start + 1) & 0xff;
    const third = unitAt(input, start + 2) & 0xff;
    return this.#prefilter.formsBeginningWith(first, second, third);
  }
}

function unitAt(input: Input, at: number): number {
  return typeof input === "string" ? input.charCodeAt(at) : (input[at] as number);
}

/** The result of following one form. */
interface Followed {
  /** The longest end; `undefined` when the form is not there. */
  readonly end: number | undefined;
  /** Whether more input could change the result. */
  readonly hasRunOut: boolean;
}

/** Follow `form` from `start`. */
function follow(input: Input, start: number, form: Form): Followed {
  const { gap } = form;
  let positions = [start];
  let hasRunOut = false;
  let isFirst = true;
  for (const symbol of form.symbols) {
    if (gap !== undefined && !isFirst && addGaps(input, positions, gap)) hasRunOut = true;
    isFirst = false;
    const next: number[] = [];
    for (const position of positions) {
      if (position >= input.length) {
        hasRunOut = true;
      } else if (symbol.plain[unitAt(input, position)] === 1) {
        add(next, position + 1);
      } else {
        for (const spelling of symbol.spellings) {
          if (spell(input, position, spelling, next)) hasRunOut = true;
        }
      }
    }
    if (next.length === 0) return { end: undefined, hasRunOut };
    positions = next;
  }
  return { end: Math.max(...positions), hasRunOut };
}

/** Add the positions after each possible gap. Returns whether the input ended within one. */
function addGaps(input: Input, positions: number[], gap: Gap): boolean {
  let hasRunOut = false;
  let from = 0;
  for (let count = 0; count < gap.maxCount; count += 1) {
    const { length } = positions;
    for (let index = from; index < length; index += 1) {
      const position = positions[index] as number;
      if (position >= input.length || gap.firsts[unitAt(input, position)] !== 1) continue;
      for (const spelling of gap.spellings) {
        if (spell(input, position, spelling, positions)) hasRunOut = true;
      }
    }
    if (positions.length === length) break;
    from = length;
  }
  return hasRunOut;
}

/** Add each position after `spelling` to `next`. Returns whether the input ended within it. */
function spell(input: Input, start: number, spelling: Spelling, next: number[]): boolean {
  const { lead, run, rest } = spelling;
  let at = start;
  for (const set of lead) {
    if (at >= input.length) return true;
    if (set[unitAt(input, at)] !== 1) return false;
    at += 1;
  }
  if (run !== undefined) {
    const runStart = at;
    while (at - runStart < run.max && at < input.length && unitAt(input, at) === run.unit) at += 1;
    const length = at - runStart;
    if (rest.length === 0) {
      // Within a run, any part of it counts: it can be two symbols.
      for (let part = run.min; part <= length; part += 1) add(next, runStart + part);
    }
    if (length < run.max && at >= input.length) return true;
    if (length < run.min || rest.length === 0) return false;
  }
  for (const set of rest) {
    if (at >= input.length) return true;
    if (set[unitAt(input, at)] !== 1) return false;
    at += 1;
  }
  add(next, at);
  return false;
}

/** Only runs of backslashes inside a secret lead to more, and such a text is no secret. */
const maxPositions = 64;

function add(positions: number[], position: number): void {
  if (positions.length < maxPositions && !positions.includes(position)) positions.push(position);
}
