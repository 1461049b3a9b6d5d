/**
 * Skips units in which no form begins. It treats escapes separately:
 *
 * - Between leads (units that begin an escape), a form consists of plain units. A
 *   form is longer than a stride, so it covers the last unit of the stride in
 *   which it begins and the units that follow. If four of these are no gram of
 *   any form, no form begins in that stride. Most strides of ordinary data are
 *   rejected after one gram: the prefilter reads four units out of 24.
 * - A form that begins near a lead continues up to it. The four units before the
 *   lead are a gram of the form, or it begins at most three units before the lead.
 * - A line break or a tab can stand between two characters of wrapped base64 or
 *   of hexadecimal. A gram with one is rejected if no form has the two
 *   characters around it as neighbours.
 *
 * At the remaining places, it follows the classes of the units through their
 * escapes in a trie of all forms. The checks are necessary conditions: they never
 * skip a form.
 */

import { EscapeReader, leadFlags, maxBackslashes, truncated } from "./escape-reader.ts";
import type { Units } from "./form-matcher.ts";
import { FormTrie, formOf } from "./form-trie.ts";
import { type GapKind, GramSet, gramCountOf, gramLength } from "./gram-set.ts";
import type { LeadCursor } from "./lead-cursor.ts";
import { breakClass, classBits, classOf, highClass, specialBit } from "./unit-class.ts";
import { WorkBudget } from "./work-budget.ts";

/** A form as the prefilter knows it. */
export interface Outline {
  /** The first symbols of the form, or all, each as its plain units. */
  readonly row: string;
  /** Separators that can stand between the symbols. */
  readonly gap: GapKind;
}

/** The part of the input that is searched. */
export interface SearchRange {
  /** No form begins at this place or later. */
  readonly limit: number;
  /** Whether nothing follows the input. */
  readonly isEnd: boolean;
  readonly leads: LeadCursor;
}

/** Longer strides gain little. */
const strideMax = 24;
/** The largest number of units that are read from the last one of a stride on. */
const lookaheadMax = 8;
/** The kinds of forms. Each has a bit and a trie. */
const kinds: readonly GapKind[] = ["none", "lines", "bytes"];
const linesKind = kinds.indexOf("lines");
const bytesKind = kinds.indexOf("bytes");
/** The bit of pairs that are neighbours anywhere in a form with separators. */
const kindCount = kinds.length;
const neighbourBit = 1 << kindCount;
/** Maximum number of units of a gap, each of them an escape or plain. More than a matcher accepts. */
const gapMaxCount = 20;
const kindMask = neighbourBit - 1;
const classMask = 2 ** classBits - 1;
const backslash = 0x5c;
const digitZero = 0x30;

/** Finds the places at which a form can begin. */
export class Prefilter {
  readonly #outlines: Outline[] = [];
  /** The least number of units of a row. */
  #room = Number.POSITIVE_INFINITY;
  #stride = strideMax;
  #lookahead = lookaheadMax;
  readonly #grams = new GramSet();
  /** Number of first units of a row whose grams are in the set. */
  #gramUnits = 0;
  readonly #trie = new FormTrie();
  /** By kind. */
  readonly #roots = kinds.map(() => this.#trie.addRoot());
  /** The kinds of forms that begin with a class, and with a pair of classes. */
  readonly #firsts = new Uint8Array(2 * specialBit);
  readonly #pairs = new Uint8Array(2 ** (2 * classBits));
  /** Whether a form begins with a lead. */
  #hasLeadStart = false;
  /** Whether the second unit of a form is a lead. */
  #hasLeadSecond = false;
  /** Whether a row has a unit above 127. */
  #hasHigh = false;
  /** The forms that can begin at the last place. */
  readonly #found: number[] = [];
  #foundCount = 0;
  #isTruncated = false;
  readonly #reader = new EscapeReader();
  #steps = 0;
  #placeSteps = 0;
  /** Of the input that is searched. */
  #budget = new WorkBudget();

  /** Adds forms; the index of each is the number of those added before. */
  add(outlines: readonly Outline[]): void {
    const shortest = this.#room;
    for (const outline of outlines) {
      this.#outlines.push(outline);
      if (outline.row.length < this.#room) this.#room = outline.row.length;
    }
    if (this.#room < shortest) {
      this.#lookahead = Math.max(gramLength, Math.min(lookaheadMax, Math.floor(this.#room / 4)));
      this.#stride = Math.max(1, Math.min(strideMax, this.#room - this.#lookahead + 1));
      this.#gramUnits = this.#stride + this.#lookahead - gramLength;
    }
    const count = outlines.reduce((sum, { row, gap }) => sum + gramCountOf(row, gap, this.#gramUnits), 0);
    const isEmpty = this.#grams.reserve(count);
    for (const { row, gap } of isEmpty ? this.#outlines : outlines)
      this.#grams.addRow(row, gap, this.#gramUnits);
    for (const outline of outlines) this.#addBeginning(outline);
  }

  /** Number of units, places and edges that were read around the places where a form could begin, a measure of work. */
  get steps(): number {
    return this.#steps + this.#reader.steps;
  }

  /**
   * Returns the next place at or after `from` where a form can begin, or where the work for the input is used up; `limit` or
   * more if there is none before it.
   */
  next(input: Units, from: number, { limit, isEnd, leads }: SearchRange): number {
    const near = this.#stride + this.#lookahead;
    this.#reader.reset();
    this.#budget = leads.budgetFor(input.length);
    let at = from;
    while (at < limit) {
      const lead = leads.next(input, at);
      if (lead > at) {
        const end = Math.min(limit, lead);
        const found =
          lead - at < near && lead < input.length
            ? this.#placeIn(input, this.#skipTo(input, at, lead), end)
            : this.#nextBefore(input, at, end, lead, isEnd);
        if (found >= 0) return found;
      }
      if (lead >= limit) return limit;
      if ((input[lead] as number) === backslash && !this.#hasLeadStart) {
        // All backslashes of a run begin the same escape, except those that are too far from its end.
        const runEnd = leads.runEnd(input, lead);
        const first = Math.max(lead, runEnd - maxBackslashes);
        if (first < limit && this.#beginsAt(input, first)) return first;
        at = runEnd;
      } else {
        if (this.#beginsAt(input, lead)) return lead;
        at = lead + 1;
      }
    }
    return Math.max(from, limit);
  }

  /** Whether no form begins in `text` from `from` to before `limit`. Answers only for text without escapes and line breaks. */
  rejects(text: string, from: number, limit: number): boolean {
    const { bits, shift } = this.#grams;
    const classes = classOf;
    const stride = this.#stride;
    const end = text.length - this.#lookahead;
    let at = from + stride - 1;
    // The gram that begins at the last possible place decides about the last stride.
    for (let isLast = false; !isLast; at += stride) {
      isLast = at > end;
      if (isLast) at = Math.min(at, limit - 1);
      const one = classes[text.charCodeAt(at)] as number;
      const two = classes[text.charCodeAt(at + 1)] as number;
      const three = classes[text.charCodeAt(at + 2)] as number;
      const four = classes[text.charCodeAt(at + 3)] as number;
      if ((one | two | three | four) & specialBit) return false;
      const hash = Math.imul((one << 18) | (two << 12) | (three << 6) | four, 0x9e3779b1) >>> shift;
      if ((bits[hash >>> 5] as number) & (1 << hash)) return false;
    }
    return !hasLead(text, from);
  }

  /** The steps that the budget was charged for the place that was returned last. */
  get placeSteps(): number {
    return this.#placeSteps;
  }

  /** Number of forms that can begin at the place that was returned last. */
  get candidateCount(): number {
    return this.#foundCount;
  }

  /** The index of one of these forms. */
  candidate(at: number): number {
    return this.#found[at] as number;
  }

  /** Whether the input ended within an escape or a beginning at the place that was returned last. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** The first place from `from` on where a form can begin whose units continue up to `lead`, which is near. */
  #skipTo(input: Units, from: number, lead: number): number {
    const sample = lead - gramLength;
    return sample < from || this.#hasGram(input, sample) ? from : sample + 1;
  }

  /** The first place from `from` to before `limit`, where `plainEnd` is the next lead or the end of the input; -1 if there is none. */
  #nextBefore(input: Units, from: number, limit: number, plainEnd: number, isEnd: boolean): number {
    const ahead = this.#stride - 1;
    let last = from + ahead;
    for (;;) {
      last = this.#nextHit(input, last, plainEnd);
      if (last + this.#lookahead > plainEnd) break;
      const found = this.#placeIn(input, last - ahead, Math.min(last + 1, limit));
      if (found >= 0) return found;
      last += this.#stride;
    }
    // The loop rejected every stride that ends before `last`. One more gram decides about most of the rest.
    let rest = last - ahead;
    const isInputEnd = plainEnd === input.length;
    if (isInputEnd && !isEnd) return this.#placeIn(input, rest, limit);
    const sample = isInputEnd ? limit - 1 : plainEnd - gramLength;
    if (sample >= rest && !this.#hasGram(input, sample)) rest = sample + 1;
    return this.#placeIn(input, rest, limit);
  }

  /** The first `last` of a stride, from `from` on, whose grams occur in a form. */
  #nextHit(input: Units, from: number, end: number): number {
    // Locals: every stride passes this loop.
    const { bits, shift } = this.#grams;
    const classes = classOf;
    const stride = this.#stride;
    const lookahead = this.#lookahead;
    const length = end - lookahead;
    let at = from;
    for (; at <= length; at += stride) {
      const one = classes[input[at] as number] as number;
      const two = classes[input[at + 1] as number] as number;
      const three = classes[input[at + 2] as number] as number;
      const four = classes[input[at + 3] as number] as number;
      const hash = Math.imul((one << 18) | (two << 12) | (three << 6) | four, 0x9e3779b1) >>> shift;
      if (
        ((bits[hash >>> 5] as number) & (1 << hash)) === 0 &&
        (((one | two | three | four) & specialBit) === 0 || !this.#isSpecial(input, at))
      )
        continue;
      if (this.#hasGrams(input, at + 1, at + lookahead - gramLength)) break;
    }
    return at;
  }

  /** Whether a gram with a special class can occur in a form. */
  #isSpecial(input: Units, at: number): boolean {
    let firstBreak = -1;
    for (let index = at + gramLength - 1; index >= at; index -= 1) {
      const unitClass = classOf[input[index] as number] as number;
      if (unitClass === highClass) {
        if (this.#hasHigh) return true;
      } else if (unitClass === breakClass) firstBreak = index;
    }
    return firstBreak !== -1 && this.#areNeighbours(input, firstBreak);
  }

  /** Whether the units around a gap, which has a line break or a tab at `at`, are neighbours in a form. */
  #areNeighbours(input: Units, at: number): boolean {
    let before = at - 1;
    const first = Math.max(0, at - gapMaxCount);
    while (before >= first && isLineGap(input[before] as number)) before -= 1;
    if (before < 0) return false;
    let after = at + 1;
    const end = Math.min(input.length, at + gapMaxCount);
    while (after < end && isLineGap(input[after] as number)) after += 1;
    this.#steps += after - before;
    if (before < first || after === end || leadFlags[input[after] as number] === 1) return true;
    const pair = pairOf(
      classOf[input[before] as number] as number,
      classOf[input[after] as number] as number,
    );
    return ((this.#pairs[pair] as number) & neighbourBit) !== 0;
  }

  #hasGrams(input: Units, from: number, last: number): boolean {
    for (let at = from; at <= last; at += 1) if (!this.#hasGram(input, at)) return false;
    return true;
  }

  #hasGram(input: Units, at: number): boolean {
    const one = classOf[input[at] as number] as number;
    const two = classOf[input[at + 1] as number] as number;
    const three = classOf[input[at + 2] as number] as number;
    const four = classOf[input[at + 3] as number] as number;
    const { bits, shift } = this.#grams;
    const hash = Math.imul((one << 18) | (two << 12) | (three << 6) | four, 0x9e3779b1) >>> shift;
    if (((bits[hash >>> 5] as number) & (1 << hash)) !== 0) return true;
    return ((one | two | three | four) & specialBit) !== 0 && this.#isSpecial(input, at);
  }

  /** The first place from `from` to before `end`; -1 if there is none. */
  #placeIn(input: Units, from: number, end: number): number {
    if (from >= end) return -1;
    this.#steps += end - from;
    const firsts = this.#firsts;
    let unit = input[from] as number;
    for (let at = from; at < end; at += 1) {
      const first = classOf[unit] as number;
      const next = at + 1;
      if (next < input.length) {
        unit = input[next] as number;
        if (firsts[first] === 0) continue;
        const pairKinds = this.#pairs[pairOf(first, classOf[unit] as number)] as number;
        if ((pairKinds & kindMask) === 0 && first !== highClass && leadFlags[unit] !== 1) continue;
      } else if (firsts[first] === 0) continue;
      if (this.#beginsAt(input, at)) return at;
    }
    return -1;
  }

  /** Whether a form can begin at `at`. Collects these forms. */
  #beginsAt(input: Units, at: number): boolean {
    let unit = input[at] as number;
    let next = at + 1;
    this.#foundCount = 0;
    this.#isTruncated = false;
    this.#placeSteps = 0;
    if (leadFlags[unit] === 1) {
      unit = this.#reader.read(input, at);
      next = this.#reader.end;
      if (this.#hasLeadStart) this.#collectLeadStarts();
      if (unit < 0) {
        this.#isTruncated = unit === truncated;
        return this.#isTruncated || this.#foundCount > 0;
      }
    }
    const first = classOf[unit] as number;
    let bits = this.#firsts[first] as number;
    if (bits !== 0 && first !== highClass) bits &= this.#kindsAfter(input, next, first);
    if (bits === 0) return this.#foundCount > 0;
    const before = this.steps;
    for (let kind = 0; kind < kindCount; kind += 1)
      if (bits & (1 << kind)) this.#follow(input, next, kind, first);
    this.#placeSteps = this.steps - before;
    this.#budget.use(this.#placeSteps);
    return this.#isTruncated || this.#foundCount > 0 || this.#budget.isUsedUp;
  }

  /** The kinds of forms that can begin with a unit of the class `first` and the symbol at `at`. */
  #kindsAfter(input: Units, at: number, first: number): number {
    if (at >= input.length) return kindMask;
    let unit = input[at] as number;
    if (leadFlags[unit] === 1) {
      if (this.#hasLeadSecond) return kindMask;
      unit = this.#reader.read(input, at);
      if (unit < 0) return unit === truncated ? kindMask : 0;
    }
    return this.#pairs[pairOf(first, classOf[unit] as number)] as number;
  }

  #collectLeadStarts(): void {
    for (const root of this.#roots) this.#collect(this.#trie.leadFormsAt(root));
  }

  /** Follows the forms of a kind from `start` on, which is after a unit of the class `first`. */
  #follow(input: Units, start: number, kind: number, first: number): void {
    const trie = this.#trie;
    let at = start;
    let node = trie.child(this.#roots[kind] as number, first);
    let depth = 1;
    let gapCount = 0;
    for (;;) {
      this.#steps += 1;
      if (node === 0) return;
      if (node < 0) {
        this.#collectForm(formOf(node));
        return;
      }
      if (gapCount === 0) this.#collect(trie.endsAt(node));
      if (at >= input.length) {
        this.#isTruncated = true;
        return;
      }
      let unit = input[at] as number;
      let next = at + 1;
      if (leadFlags[unit] === 1) {
        if (gapCount === 0) this.#collect(trie.leadFormsAt(node));
        unit = this.#reader.read(input, at);
        next = this.#reader.end;
        if (unit < 0) {
          if (unit === truncated) this.#isTruncated = true;
          return;
        }
      }
      let gapEnd = -1;
      if (kind === linesKind) gapEnd = lineGapEnd(unit, next, gapCount);
      else if (kind === bytesKind && depth % 2 === 0) {
        if (unit === digitZero && next >= input.length) {
          this.#isTruncated = true;
          return;
        }
        gapEnd = byteGapEnd(input, unit, next);
      }
      if (gapEnd >= 0) {
        at = gapEnd;
        gapCount += 1;
        if (gapCount > gapMaxCount) return;
        continue;
      }
      node = trie.child(node, classOf[unit] as number);
      at = next;
      depth += 1;
      gapCount = 0;
    }
  }

  #collect(forms: readonly number[] | undefined): void {
    if (forms === undefined) return;
    for (let index = 0; index < forms.length; index += 1) this.#collectForm(forms[index] as number);
  }

  #collectForm(form: number): void {
    this.#found[this.#foundCount] = form;
    this.#foundCount += 1;
  }

  #addBeginning({ row, gap }: Outline): void {
    const kind = kinds.indexOf(gap);
    const bit = 1 << kind;
    this.#trie.add(this.#roots[kind] as number, row);
    this.#hasHigh ||= /[^\0-\x7f]/.test(row);
    this.#hasLeadStart ||= leadFlags[row.charCodeAt(0)] === 1;
    this.#hasLeadSecond ||= leadFlags[row.charCodeAt(1)] === 1;
    const classAt = (at: number): number => classOf[row.charCodeAt(at)] as number;
    const first = classAt(0);
    this.#firsts[first] = (this.#firsts[first] as number) | bit;
    this.#addPair(first, classAt(1), bit);
    if (gap === "none") return;
    if (gap === "lines") this.#addPair(first, breakClass, bit);
    const end = Math.min(row.length, this.#gramUnits + gramLength);
    for (let at = 1; at < end; at += 1) this.#addPair(classAt(at - 1), classAt(at), neighbourBit);
  }

  #addPair(first: number, second: number, bit: number): void {
    const pair = pairOf(first, second);
    this.#pairs[pair] = (this.#pairs[pair] as number) | bit;
  }
}

/** Whether a unit can stand in a gap that has a line break or a tab. */
function isLineGap(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;
}

function pairOf(first: number, second: number): number {
  return ((first & classMask) << classBits) | (second & classMask);
}

/** The end of a part of a gap in wrapped base64, which is the unit `unit` before `next`; -1 if it is none. */
function lineGapEnd(unit: number, next: number, gapCount: number): number {
  const isGap = unit === 0x0a || unit === 0x0d || (gapCount > 0 && (unit === 0x20 || unit === 0x09));
  return isGap ? next : -1;
}

/** The same between bytes in hexadecimal: a separator, or `0x`. */
function byteGapEnd(input: Units, unit: number, next: number): number {
  if (separatorFlags[unit] === 1) return next;
  if (unit !== digitZero) return -1;
  return ((input[next] as number) | 0x20) === 0x78 ? next + 1 : -1;
}

/** 1 at the index of each separator between bytes. "+" can stand for a space. */
const separatorFlags = Uint8Array.from({ length: 0x81 }, (_, unit) =>
  Number(":-,+ \t\r\n".includes(String.fromCharCode(unit))),
);

/** A loop is faster for short texts. */
const shortLength = 64;

function hasLead(text: string, from: number): boolean {
  if (text.length - from > shortLength)
    return text.includes("%", from) || text.includes("\\", from) || text.includes("&", from);
  for (let at = from; at < text.length; at += 1) if (leadFlags[text.charCodeAt(at)] === 1) return true;
  return false;
}
