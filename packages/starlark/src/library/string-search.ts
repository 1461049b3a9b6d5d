/**
 * Substring search in time proportional to the sum of both lengths, never to their
 * product, and counted as steps. The search of JavaScript is fast on ordinary text,
 * but can take time proportional to the product for certain needles (`"a" * n + "b"`
 * in many `a`). It is therefore used, window by window, only where the product is
 * small. Otherwise the two-way algorithm is used (Crochemore & Perrin 1991), which
 * needs constant memory, with a table that skips by the last character as in
 * Horspool's algorithm.
 */

import { finish, inPieces, longLength, type Pieces, pieceLength } from "../run/long-work.ts";
import type { Thread } from "../run/thread.ts";

/** Maximum length of a needle for which the search of JavaScript is used in a haystack of any length. */
const plainNeedle = 16;
/** Maximum number of comparisons of the search of JavaScript at a time. */
const plainWork = 1 << 18;

/** Index of the first `needle` in `haystack` at or after `from`; -1 if there is none. */
export function indexOf(haystack: string, needle: string, from: number, t: Thread): number {
  if (needle.length <= plainNeedle) return plainIndexOf(haystack, needle, from, t);
  return findOnce(createSearch(needle, t), haystack, needle, from, t);
}

/** Index of the last `needle` in `haystack` at or before `from`; -1 if there is none. */
export function lastIndexOf(haystack: string, needle: string, from: number, t: Thread): number {
  return findOnce(createLastSearch(needle, t), haystack, needle, from, t);
}

function findOnce(search: Search, haystack: string, needle: string, from: number, t: Thread): number {
  return (
    search.quickFind(haystack, from) ??
    inPieces(t, [haystack, needle], () => search.findInPieces(haystack, from))
  );
}

/** Number of non-overlapping occurrences of a non-empty `needle` in `haystack`, from the left. */
export function countOccurrences(haystack: string, needle: string, t: Thread): number {
  const search = createSearch(needle, t);
  if (haystack.length >= longLength)
    return inPieces(t, [haystack, needle], () => countInPieces(haystack, needle.length, search, t));
  let count = 0;
  for (let at = search.find(haystack, 0); at !== -1; at = search.find(haystack, at + needle.length)) {
    t.step(1);
    count += 1;
  }
  return count;
}

function* countInPieces(haystack: string, needleLength: number, search: Search, t: Thread): Pieces<number> {
  let count = 0;
  for (let from = 0; ; ) {
    const at = search.quickFind(haystack, from) ?? (yield* search.findInPieces(haystack, from));
    if (at === -1) return count;
    t.step(1);
    count += 1;
    if ((count & (pieceLength - 1)) === 0) yield;
    from = at + needleLength;
  }
}

/** Whether `part` is in `text` at `at`, which can be any number. */
export function hasPartAt(text: string, part: string, at: number, t: Thread): boolean {
  if (at < 0 || at + part.length > text.length) return false;
  for (let start = 0; start < part.length; start += plainWork) {
    const window = part.slice(start, start + plainWork);
    t.step(window.length >> 6);
    if (text.slice(at + start, at + start + window.length) !== window) return false;
  }
  return true;
}

/** A search for one needle that can be repeated. */
export class Search {
  readonly #needle: string;
  readonly #direction: 1 | -1;
  readonly #thread: Thread;
  #twoWay: TwoWaySearch | undefined = undefined;

  constructor(needle: string, direction: 1 | -1, thread: Thread) {
    this.#needle = needle;
    this.#direction = direction;
    this.#thread = thread;
  }

  /** Index of the next occurrence in the direction, seen from `from`; -1 if there is none. */
  find(haystack: string, from: number): number {
    return this.quickFind(haystack, from) ?? finish(this.findInPieces(haystack, from));
  }

  /** Like `find`, but `undefined` if the search may take long: then use `findInPieces`. */
  quickFind(haystack: string, from: number): number | undefined {
    const needle = this.#needle;
    const backwards = this.#direction === -1;
    const last = backwards ? Math.min(from, haystack.length - needle.length) : 0;
    if (backwards && last < 0) return -1;
    if (needle.length <= plainNeedle) {
      return backwards
        ? plainLastIndexOf(haystack, needle, last, this.#thread)
        : plainIndexOf(haystack, needle, from, this.#thread);
    }
    const starts = backwards ? last + 1 : haystack.length - from - needle.length + 1;
    if (starts <= 0) return -1;
    if (starts * needle.length > plainWork) return undefined;
    this.#thread.step((starts + needle.length) >> 5);
    return backwards ? haystack.lastIndexOf(needle, last) : haystack.indexOf(needle, from);
  }

  /** Searches in pieces what `quickFind` does not. */
  *findInPieces(haystack: string, from: number): Pieces<number> {
    const { length } = this.#needle;
    this.#twoWay ??= yield* TwoWaySearch.prepare(this.#needle, this.#direction, this.#thread);
    if (this.#direction === 1) return yield* this.#twoWay.find(haystack, from);
    const last = Math.min(from, haystack.length - length);
    const mirrored = yield* this.#twoWay.find(haystack, haystack.length - length - last);
    return mirrored === -1 ? -1 : haystack.length - length - mirrored;
  }
}

/** `indexOf` for repeated searches of one needle. */
export function createSearch(needle: string, t: Thread): Search {
  return new Search(needle, 1, t);
}

/** `lastIndexOf` for repeated searches of one needle. */
export function createLastSearch(needle: string, t: Thread): Search {
  return new Search(needle, -1, t);
}

function plainIndexOf(haystack: string, needle: string, from: number, t: Thread): number {
  for (let start = from; ; start += plainWork) {
    const end = start + plainWork + needle.length - 1;
    // A window from 0 to the end is the haystack itself.
    const window = end >= haystack.length ? haystack : haystack.slice(0, end);
    const found = window.indexOf(needle, start);
    t.step(((found === -1 ? Math.max(0, window.length - start) : found - start) >> 5) + 1);
    if (found !== -1 || window === haystack) return found;
  }
}

function plainLastIndexOf(haystack: string, needle: string, from: number, t: Thread): number {
  for (let last = from; ; last -= plainWork) {
    const start = Math.max(0, last - plainWork + 1);
    const window = haystack.slice(start, last + needle.length);
    const found = window.lastIndexOf(needle);
    t.step(((found === -1 ? window.length : window.length - found) >> 5) + 1);
    if (found !== -1) return start + found;
    if (start === 0) return -1;
  }
}

/**
 * The two-way search. It reads both strings in one direction, forwards (1) or
 * backwards (-1). Positions count along that direction, from the end where the search
 * starts.
 */
class TwoWaySearch {
  readonly #needle: string;
  readonly #direction: 1 | -1;
  readonly #thread: Thread;
  /** Start of the right half of the needle. */
  #critical = 0;
  #period = 0;
  /**
   * Length of the part of the needle that is known to match after a shift by its
   * period; 0 if the needle is not periodic.
   */
  #remembered = 0;
  /** Shift of a window by the low octet of its last character. */
  readonly #skips: Uint32Array;
  #work = 0;

  private constructor(needle: string, direction: 1 | -1, thread: Thread) {
    this.#needle = needle;
    this.#direction = direction;
    this.#thread = thread;
    this.#skips = new Uint32Array(256).fill(needle.length);
  }

  /** Analyses the needle, as long work. */
  static *prepare(needle: string, direction: 1 | -1, thread: Thread): Pieces<TwoWaySearch> {
    const search = new TwoWaySearch(needle, direction, thread);
    const rising = yield* search.#maximalSuffix(false);
    const falling = yield* search.#maximalSuffix(true);
    const [critical, period] = rising[0] > falling[0] ? rising : falling;
    search.#critical = critical;
    if (yield* search.#repeats(critical, period)) {
      search.#period = period;
      search.#remembered = needle.length - period;
    } else {
      search.#period = Math.max(critical, needle.length - critical) + 1;
    }
    yield* search.#fillSkips();
    return search;
  }

  /** Position of the needle along the direction; the search starts at `from`. */
  *find(haystack: string, from: number): Pieces<number> {
    const length = this.#needle.length;
    const last = haystack.length - length;
    let window = from;
    let known = 0;
    while (window <= last) {
      if (this.#count(1)) yield;
      const skip = this.#skips[this.#at(haystack, window + length - 1) & 0xff]!;
      if (skip > 0) {
        // A shift below the known part would read that part repeatedly.
        window += Math.max(skip, known);
        known = 0;
        continue;
      }
      const right = yield* this.#agree(haystack, window, Math.max(this.#critical, known), length, 1);
      if (right < length) {
        window += right - this.#critical + 1;
        known = 0;
        continue;
      }
      const left = yield* this.#agree(haystack, window, this.#critical - 1, known - 1, -1);
      if (left < known) return window;
      window += this.#period;
      known = this.#remembered;
    }
    return -1;
  }

  /** The first position from `start` to `end` at which needle and window differ; `end` if there is none. */
  *#agree(haystack: string, window: number, start: number, end: number, stride: 1 | -1): Pieces<number> {
    let at = start;
    while ((end - at) * stride > 0) {
      if (this.#at(this.#needle, at) !== this.#at(haystack, window + at)) break;
      at += stride;
      if (this.#count(1)) yield;
    }
    return at;
  }

  #at(text: string, position: number): number {
    return text.charCodeAt(this.#direction === 1 ? position : text.length - 1 - position);
  }

  /** Accounts for work, in portions. Returns whether a portion is complete. */
  #count(work: number): boolean {
    this.#work += work;
    if (this.#work < 0x4000) return false;
    this.#thread.step(this.#work >> 2);
    this.#work = 0;
    return true;
  }

  /** Start and period of the maximal suffix of the needle, in the order of characters or in reverse order. */
  *#maximalSuffix(reversed: boolean): Pieces<[start: number, period: number]> {
    const length = this.#needle.length;
    let start = 0;
    let candidate = 1;
    let matched = 0;
    let period = 1;
    while (candidate + matched < length) {
      if (this.#count(1)) yield;
      const a = this.#at(this.#needle, start + matched);
      const b = this.#at(this.#needle, candidate + matched);
      if (a === b) {
        matched += 1;
        if (matched === period) {
          candidate += period;
          matched = 0;
        }
      } else if (a > b !== reversed) {
        // The candidate is smaller: the matched part belongs to the period.
        candidate += matched + 1;
        matched = 0;
        period = candidate - start;
      } else {
        start = candidate;
        candidate = start + 1;
        matched = 0;
        period = 1;
      }
    }
    return [start, period];
  }

  /**
   * Whether the first `critical` characters of the needle recur `period` later, which
   * means that the whole needle is periodic.
   */
  *#repeats(critical: number, period: number): Pieces<boolean> {
    if (critical + period > this.#needle.length) return false;
    for (let at = 0; at < critical; at += 1) {
      if (this.#count(1)) yield;
      if (this.#at(this.#needle, at) !== this.#at(this.#needle, at + period)) return false;
    }
    return true;
  }

  *#fillSkips(): Pieces<void> {
    const length = this.#needle.length;
    for (let at = 0; at < length; at += 1) {
      if (this.#count(1)) yield;
      this.#skips[this.#at(this.#needle, at) & 0xff] = length - 1 - at;
    }
  }
}
