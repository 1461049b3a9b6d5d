/**
 * Finds forms in a text or in bytes, in one pass. The prefilter names the places
 * where a form can begin. At such a place the matcher follows each form through
 * all spellings at the same time, so the time is bounded by the length of the
 * form. It returns the form that begins first, and the longest of those that
 * begin at the same place.
 *
 * All attempts together have a budget that grows with the input. An input that
 * uses it up consists of partial matches of secrets, and could hide a whole one
 * behind them: the rest of it counts as found.
 *
 * A matcher keeps no state between calls. When the input ends within a possible
 * form, it returns `pending`, and the caller keeps these units for the next call.
 */

import type { Form, Gap, GapPart, LazyForm } from "./form.ts";
import { LeadCursor } from "./lead-cursor.ts";
import { Prefilter, type SearchRange } from "./prefilter.ts";
import type { Spelling, TextSymbol } from "./text-symbol.ts";
import { setOf, type UnitSet } from "./unit-set.ts";
import { WorkBudget } from "./work-budget.ts";

/** A form to find. Most forms never have a place where they can begin, so their symbols are created at the first one. */
export interface WantedForm<Tag> extends LazyForm {
  /** The secret that it is a form of. */
  readonly tag: Tag;
}

/** The result of a search. */
export type Finding<Tag> =
  | {
      readonly kind: "found";
      readonly start: number;
      readonly end: number;
      readonly tag: Tag;
      /** Whether the work for the input was used up, so that the rest of it counts as found, and all that follows it must, too. */
      readonly isRest: boolean;
    }
  /** The units from `start` on can be the beginning of a form: more input is needed. */
  | { readonly kind: "pending"; readonly start: number }
  | { readonly kind: "none" };

/** Bytes, or a text whose code units match the alphabet of the forms. */
export type Input = string | Uint8Array;

/** Units that can be read one at a time: a text is converted when its prefilter does not reject it. */
export type Units = Uint8Array | Uint16Array;

const none = { kind: "none" } as const;
/** The shortest row that the prefilter can handle. */
const rowMinLength = 4;

interface KnownForm<Tag> {
  readonly wanted: WantedForm<Tag>;
  /** Created when it is needed first. */
  form: Form | undefined;
}

/** Finds forms, which share one alphabet. */
export class FormMatcher<Tag> {
  #shortest = Number.POSITIVE_INFINITY;
  readonly #prefilter = new Prefilter();
  readonly #known: KnownForm<Tag>[] = [];
  readonly #work = new Work();

  constructor(wanted: readonly WantedForm<Tag>[]) {
    this.add(wanted);
  }

  /** Number of units of the shortest form: shorter input contains none. */
  get shortest(): number {
    return this.#shortest;
  }

  /** Adds `wanted`. The cost does not depend on the forms that were added before, except that tables double in size. */
  add(wanted: readonly WantedForm<Tag>[]): void {
    for (const { row, shortest } of wanted) {
      if (row.length < rowMinLength) throw new RangeError(`A form has fewer than ${rowMinLength} units`);
      if (shortest < this.#shortest) this.#shortest = shortest;
    }
    this.#prefilter.add(wanted);
    for (const one of wanted) this.#known.push({ wanted: one, form: undefined });
  }

  /**
   * Finds the first form at or after `from`.
   *
   * @param isEnd whether nothing follows `input`; then nothing is pending.
   * @param leads the cursor of earlier searches of the same input, so that a search does not repeat their work.
   */
  find(input: Input, from: number, isEnd: boolean, leads?: LeadCursor): Finding<Tag> {
    // At the end of the input, a form needs room.
    const limit = isEnd ? input.length - this.#shortest + 1 : input.length;
    if (from >= limit) return none;
    if (typeof input !== "string")
      return this.#findIn(input, from, { limit, isEnd, leads: leads ?? new LeadCursor() });
    if (leads?.units === undefined && isEnd && this.#prefilter.rejects(input, from, limit)) return none;
    const cursor = leads ?? new LeadCursor(input);
    cursor.units ??= toUnits(input);
    return this.#findIn(cursor.units, from, { limit, isEnd, leads: cursor });
  }

  #findIn(input: Units, from: number, range: SearchRange): Finding<Tag> {
    const { limit, isEnd, leads } = range;
    const filter = this.#prefilter;
    for (let at = filter.next(input, from, range); at < limit; at = filter.next(input, at + 1, range)) {
      const budget = leads.budgetFor(input.length);
      if (budget.isUsedUp) return this.#rest(input, at);
      const before = this.#work.steps;
      const finding: Finding<Tag> | undefined =
        filter.isTruncated && !isEnd
          ? { kind: "pending", start: at }
          : this.#findAt(input, at, isEnd, budget);
      if (finding === undefined) continue;
      const steps = filter.placeSteps + this.#work.steps - before;
      if (finding.kind === "pending") budget.refund(steps);
      else if (finding.kind === "found" && !finding.isRest)
        budget.refundFound(steps, finding.end - finding.start);
      return finding;
    }
    return none;
  }

  /** Number of units and edges that were read where a form could begin, a measure of work for tests. */
  get steps(): number {
    return this.#prefilter.steps + this.#work.steps;
  }

  /** All from `start` on, by the secret that it resembles, or any if the attempts ended before it was known. */
  #rest(input: Units, start: number): Finding<Tag> {
    const filter = this.#prefilter;
    const index = filter.candidateCount > 0 ? filter.candidate(0) : 0;
    const { tag } = (this.#known[index] as KnownForm<Tag>).wanted;
    return { kind: "found", start, end: input.length, tag, isRest: true };
  }

  #findAt(input: Units, start: number, isEnd: boolean, budget: WorkBudget): Finding<Tag> | undefined {
    this.#work.budget = budget;
    let longest: { readonly end: number; readonly index: number } | undefined;
    const filter = this.#prefilter;
    for (let at = 0; at < filter.candidateCount; at += 1) {
      const index = filter.candidate(at);
      const known = this.#known[index] as KnownForm<Tag>;
      known.form ??= known.wanted.toForm();
      const { end, hasRunOut } = follow(input, start, known.form, this.#work);
      if (budget.isUsedUp) return this.#rest(input, start);
      if (hasRunOut && !isEnd) return { kind: "pending", start };
      if (end === undefined) continue;
      // Of the same length, the form that was added first.
      if (longest === undefined || end > longest.end || (end === longest.end && index < longest.index))
        longest = { end, index };
    }
    if (longest === undefined) return undefined;
    const { tag } = (this.#known[longest.index] as KnownForm<Tag>).wanted;
    return { kind: "found", start, end: longest.end, tag, isRest: false };
  }
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function toUnits(text: string): Uint16Array {
  if (!isLittleEndian) return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  const { buffer, byteOffset } = Buffer.from(text, "utf16le");
  return new Uint16Array(buffer, byteOffset, text.length);
}

/** Counts the work of following forms. */
class Work {
  steps = 0;
  /** Of the input that is searched. */
  budget = new WorkBudget();

  count(steps: number): void {
    this.steps += steps;
    this.budget.use(steps);
  }
}

/** The result of following one form. */
interface Followed {
  /** The longest end; `undefined` when the form is not there. */
  readonly end: number | undefined;
  /** Whether more input could change the result. */
  readonly hasRunOut: boolean;
}

/** Follows `form` from `start`. */
function follow(input: Units, start: number, form: Form, work: Work): Followed {
  const { length } = form.symbols;
  let first: Place = { at: start, index: 0 };
  let hasRunOut = false;
  for (;;) {
    const { at, index } = followPlain(input, first, form);
    work.count(index - first.index + 1);
    if (index === length) return { end: at, hasRunOut };
    if (work.budget.isUsedUp || isElsewhere(input, at, index, form)) return { end: undefined, hasRunOut };
    const rest = followSpellings(input, { at, index }, form, work);
    hasRunOut ||= rest.hasRunOut;
    if (rest.place === undefined) return { end: rest.end, hasRunOut };
    first = rest.place;
  }
}

/** A place in an input, and the symbol of a form that is expected there. */
interface Place {
  readonly at: number;
  readonly index: number;
}

/** Follows the symbols that have one reading there: most are one plain unit, or two hexadecimal digits. */
function followPlain(input: Units, first: Place, { symbols, gap }: Form): Place {
  let { at, index } = first;
  for (; index < symbols.length && at < input.length; index += 1) {
    const { plain, pair } = symbols[index] as TextSymbol;
    const unit = input[at] as number;
    if (pair !== undefined) {
      if (isPair(input, at, pair)) {
        at += 2;
      } else {
        // No separator continues with two digits, so that one which these follow is the only one.
        const digits = index === 0 ? at : separatorEnd(input, at);
        if (digits === at || !isPair(input, digits, pair)) break;
        at = digits + 2;
      }
    } else {
      if (plain[unit] !== 1) break;
      if (gap !== undefined && index > 0 && gap.firsts[unit] === 1) break;
      at += 1;
    }
  }
  return { at, index };
}

/** The separators between bytes in hexadecimal that are one plain unit. */
const simpleSeparators = setOf(Array.from(":-, +\t\r\n", (one) => one.charCodeAt(0)));
const comma = 0x2c;
const space = 0x20;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const digitZero = 0x30;
const letterX = 0x78;

/** The end of the longest separator of plain units between bytes in hexadecimal; `start` if there is none. */
function separatorEnd(input: Units, start: number): number {
  const first = input[start] as number;
  let at = start;
  let canHavePrefix = true;
  if (simpleSeparators[first] === 1) {
    at += 1;
    canHavePrefix = first === comma || first === space;
    const second = input[at];
    if (first === carriageReturn && second === lineFeed) return at + 1;
    if (canHavePrefix && second === space) {
      at += 1;
      canHavePrefix = first === comma;
    }
  }
  const isPrefix = canHavePrefix && input[at] === digitZero && ((input[at + 1] ?? 0) | 0x20) === letterX;
  return isPrefix ? at + 2 : at;
}

function isPair(input: Units, at: number, [high, low]: readonly [high: UnitSet, low: UnitSet]): boolean {
  return at + 1 < input.length && high[input[at] as number] === 1 && low[input[at + 1] as number] === 1;
}

/** Whether the unit at a place begins neither a spelling of the symbol nor a gap. */
function isElsewhere(input: Units, at: number, index: number, { symbols, gap }: Form): boolean {
  const { firsts } = symbols[index] as TextSymbol;
  if (firsts === undefined || at >= input.length) return false;
  const unit = input[at] as number;
  return firsts[unit] !== 1 && (gap === undefined || index === 0 || gap.firsts[unit] !== 1);
}

/** The result of following some symbols through all spellings. */
interface FollowedSpellings extends Followed {
  /** Where to continue, when a single place is left. */
  readonly place?: Place;
}

/** Follows the symbols of `form` from one of them on, through all spellings at the same time, until a single place is left. */
function followSpellings(input: Units, first: Place, { symbols, gap }: Form, work: Work): FollowedSpellings {
  let positions = [first.at];
  let hasRunOut = false;
  for (let index = first.index; index < symbols.length; index += 1) {
    const symbol = symbols[index] as TextSymbol;
    if (gap !== undefined && index > 0 && addGaps(input, positions, gap, work)) hasRunOut = true;
    const next: number[] = [];
    for (const position of positions) {
      work.count(1);
      if (position >= input.length) {
        hasRunOut = true;
      } else if (symbol.plain[input[position] as number] === 1) {
        add(next, position + 1, work);
      } else if (symbol.firsts?.[input[position] as number] !== 0) {
        work.count(symbol.spellings.length);
        for (const spelling of symbol.spellings) {
          if (spell(input, position, spelling, next, work)) hasRunOut = true;
        }
      }
    }
    if (next.length === 0 || work.budget.isUsedUp) return { end: undefined, hasRunOut };
    const [at] = next;
    if (next.length === 1 && at !== undefined)
      return { end: undefined, hasRunOut, place: { at, index: index + 1 } };
    positions = next;
  }
  return { end: Math.max(...positions), hasRunOut };
}

/** Adds the positions after each possible gap. Returns whether the input ended within one. */
function addGaps(input: Units, positions: number[], { separators, indentation }: Gap, work: Work): boolean {
  const before = positions.length;
  let hasRunOut = addRepeated(input, positions, { from: 0, ...separators }, work);
  if (indentation !== undefined && positions.length > before)
    hasRunOut = addRepeated(input, positions, { from: before, ...indentation }, work) || hasRunOut;
  return hasRunOut;
}

/** Adds the positions after one part of a gap or more, from the positions at the index `from` on. */
function addRepeated(
  input: Units,
  positions: number[],
  { from, spellings, firsts, maxCount }: GapPart & { readonly from: number },
  work: Work,
): boolean {
  let hasRunOut = false;
  let first = from;
  for (let count = 0; count < maxCount; count += 1) {
    const { length } = positions;
    for (let index = first; index < length; index += 1) {
      const position = positions[index] as number;
      work.steps += 1;
      if (position >= input.length) {
        hasRunOut = true;
        continue;
      }
      if (firsts[input[position] as number] !== 1) continue;
      work.count(spellings.length);
      for (const spelling of spellings) {
        if (spell(input, position, spelling, positions, work)) hasRunOut = true;
      }
    }
    if (positions.length === length) break;
    first = length;
  }
  return hasRunOut;
}

/** Adds each position after `spelling` to `next`. Returns whether the input ended within it. */
function spell(input: Units, start: number, spelling: Spelling, next: number[], work: Work): boolean {
  const { lead, run, rest } = spelling;
  let at = start;
  for (const set of lead) {
    if (at >= input.length) return true;
    if (set[input[at] as number] !== 1) return false;
    at += 1;
  }
  if (run !== undefined) {
    const runStart = at;
    while (at - runStart < run.max && at < input.length && (input[at] as number) === run.unit) at += 1;
    const length = at - runStart;
    if (rest.length === 0) {
      // Within a run, any part of it counts: it can be two symbols.
      for (let part = run.min; part <= length; part += 1) add(next, runStart + part, work);
    }
    if (length < run.max && at >= input.length) return true;
    if (length < run.min || rest.length === 0) return false;
  }
  for (const set of rest) {
    if (at >= input.length) return true;
    if (set[input[at] as number] !== 1) return false;
    at += 1;
  }
  add(next, at, work);
  return false;
}

/** Only runs of backslashes inside a secret lead to more, and such a text is no secret. */
const maxPositions = 64;

function add(positions: number[], position: number, work: Work): void {
  if (positions.length > 1) work.count(1 + (positions.length >> 3));
  if (positions.length < maxPositions && !positions.includes(position)) positions.push(position);
}
