/**
 * Splits strings at a separator, at white space and at line feeds, and strips their
 * ends. Each part is charged before it is made.
 */

import { inPieces, inPiecesIfLong, longLength, type Pieces, pieceLength } from "../run/long-work.ts";
import type { Thread } from "../run/thread.ts";
import { listWeight, stringWeight } from "../value/heap-weight.ts";
import { isHighSurrogate, isLowSurrogate, isSpace } from "./string-characters.ts";
import { createLastSearch, createSearch, type Search } from "./string-search.ts";

/** Maximum number of code units that are read one by one before steps are counted. */
const portion = 1 << 14;

/** `text.slice(start, end)`, charged. */
export function cut(text: string, start: number, end: number, t: Thread): string {
  if (start <= 0 && end >= text.length) return text;
  t.charge(stringWeight(Math.max(0, end - start)));
  return text.slice(start, end);
}

/** The start of `text`, for a message. */
export function excerpt(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}

/** The parts of a text, in the order in which they are found. */
class Parts {
  readonly items: string[] = [];
  readonly #text: string;
  readonly #thread: Thread;

  constructor(text: string, thread: Thread) {
    this.#text = text;
    this.#thread = thread;
    thread.charge(listWeight(0));
  }

  /** Adds a part. Returns whether a piece of long work is complete. */
  add(start: number, end: number): boolean {
    this.#thread.chargeElement(this.items.length);
    // Cutting a part takes as long as two operations.
    this.#thread.step(2);
    this.items.push(cut(this.#text, start, end, this.#thread));
    return (this.items.length & (pieceLength - 1)) === 0;
  }
}

/** Splits `text` at a non-empty `separator`, at most `limit` times, from the left. */
export function splitAt(text: string, separator: string, limit: number, t: Thread): string[] {
  const search = createSearch(separator, t);
  if (text.length >= longLength)
    return inPieces(t, [text, separator], () => splitLong(text, search, separator.length, limit, t));
  const parts = new Parts(text, t);
  let start = 0;
  while (parts.items.length < limit) {
    const found = search.find(text, start);
    if (found === -1) break;
    parts.add(start, found);
    start = found + separator.length;
  }
  parts.add(start, text.length);
  return parts.items;
}

function* splitLong(
  text: string,
  search: Search,
  separatorLength: number,
  limit: number,
  t: Thread,
): Pieces<string[]> {
  const parts = new Parts(text, t);
  let start = 0;
  while (parts.items.length < limit) {
    const found = search.quickFind(text, start) ?? (yield* search.findInPieces(text, start));
    if (found === -1) break;
    if (parts.add(start, found)) yield;
    start = found + separatorLength;
  }
  parts.add(start, text.length);
  return parts.items;
}

/** Like `splitAt`, from the right. */
export function splitAtLast(text: string, separator: string, limit: number, t: Thread): string[] {
  const search = createLastSearch(separator, t);
  return inPiecesIfLong(t, text.length, [text, separator], () =>
    splitFromLast(text, search, separator.length, limit, t),
  );
}

function* splitFromLast(
  text: string,
  search: Search,
  separatorLength: number,
  limit: number,
  t: Thread,
): Pieces<string[]> {
  const parts = new Parts(text, t);
  let end = text.length;
  while (parts.items.length < limit) {
    const from = end - separatorLength;
    const found = search.quickFind(text, from) ?? (yield* search.findInPieces(text, from));
    if (found === -1) break;
    if (parts.add(found + separatorLength, end)) yield;
    end = found;
  }
  parts.add(0, end);
  return parts.items.reverse();
}

/** Splits `text` at white space, at most `limit` times, from the left; the last part extends to the end. */
export function splitSpace(text: string, limit: number, t: Thread): string[] {
  return inPiecesIfLong(t, text.length, [text], () => splitWords(text, 1, limit, t));
}

/** Like `splitSpace`, from the right; the first part extends to the start. */
export function splitSpaceLast(text: string, limit: number, t: Thread): string[] {
  return inPiecesIfLong(t, text.length, [text], () => splitWords(text, -1, limit, t));
}

function* splitWords(text: string, direction: Direction, limit: number, t: Thread): Pieces<string[]> {
  const parts = new Parts(text, t);
  const last = direction === 1 ? text.length : 0;
  let start = yield* skipSpace(text, direction === 1 ? 0 : text.length, direction, t);
  while (start !== last) {
    let end = last;
    if (parts.items.length < limit) {
      end = skipPortion(text, start, direction, false);
      if (Math.abs(end - start) === portion) end = yield* skipRest(text, end, direction, false, t);
    }
    if (parts.add(Math.min(start, end), Math.max(start, end))) yield;
    start = skipPortion(text, end, direction, true);
    if (Math.abs(end - start) === portion) start = yield* skipRest(text, start, direction, true, t);
  }
  return direction === 1 ? parts.items : parts.items.reverse();
}

/** Splits `text` at line feeds, which `keepEnds` keeps. */
export function splitLines(text: string, keepEnds: boolean, t: Thread): string[] {
  return inPiecesIfLong(t, text.length, [text], () => linesOf(text, keepEnds, t));
}

function* linesOf(text: string, keepEnds: boolean, t: Thread): Pieces<string[]> {
  const search = createSearch("\n", t);
  const parts = new Parts(text, t);
  for (let start = 0; start < text.length; ) {
    const found = search.find(text, start);
    const next = found === -1 ? text.length : found + 1;
    if (parts.add(start, found === -1 || keepEnds ? next : found)) yield;
    start = next;
  }
  return parts.items;
}

/** A direction of reading. */
type Direction = 1 | -1;

/** Skips a run of white space (or of other characters, unless `space`), at most one portion of it. */
function skipPortion(text: string, from: number, direction: Direction, space: boolean): number {
  const end = direction === 1 ? Math.min(text.length, from + portion) : Math.max(0, from - portion);
  const offset = direction === 1 ? 0 : -1;
  let at = from;
  while (at !== end && isSpace(text.charCodeAt(at + offset)) === space) at += direction;
  return at;
}

/** Continues to skip after a full portion. */
function* skipRest(
  text: string,
  from: number,
  direction: Direction,
  space: boolean,
  t: Thread,
): Pieces<number> {
  let at = from;
  for (;;) {
    t.step(portion >> 3);
    yield;
    const start = at;
    at = skipPortion(text, start, direction, space);
    if (Math.abs(at - start) !== portion) return at;
  }
}

/** Skips white space, of any length. */
function* skipSpace(text: string, from: number, direction: Direction, t: Thread): Pieces<number> {
  const at = skipPortion(text, from, direction, true);
  return Math.abs(at - from) === portion ? yield* skipRest(text, at, direction, true, t) : at;
}

/** The ends of a text to strip. */
export type Ends = "both" | "left" | "right";

/** `text` without the code points of `cutset` at its ends; without white space there if `cutset` is empty. */
export function stripEnds(text: string, cutset: string, ends: Ends, t: Thread): string {
  if (cutset === "") {
    if (text.length >= portion) return inPieces(t, [text], () => stripSpace(text, ends, t));
    const start = ends === "right" ? 0 : skipPortion(text, 0, 1, true);
    const end = ends === "left" ? text.length : skipPortion(text, text.length, -1, true);
    return cut(text, start, Math.max(start, end), t);
  }
  return inPiecesIfLong(t, Math.max(text.length, cutset.length), [text, cutset], () =>
    stripSet(text, cutset, ends, t),
  );
}

function* stripSpace(text: string, ends: Ends, t: Thread): Pieces<string> {
  const start = ends === "right" ? 0 : yield* skipSpace(text, 0, 1, t);
  const end = ends === "left" ? text.length : yield* skipSpace(text, text.length, -1, t);
  return cut(text, start, Math.max(start, end), t);
}

function* stripSet(text: string, cutset: string, ends: Ends, t: Thread): Pieces<string> {
  const set = codePointSet(cutset, t);
  let start = 0;
  let end = text.length;
  let read = 0;
  const isPortion = (): boolean => {
    read += 1;
    if ((read & (portion - 1)) !== 0) return false;
    t.step(portion >> 1);
    return true;
  };
  while (ends !== "right" && start < end) {
    const point = text.codePointAt(start)!;
    if (!set.has(point)) break;
    start += point > 0xffff ? 2 : 1;
    if (isPortion()) yield;
  }
  while (ends !== "left" && end > start) {
    const point = codePointBefore(text, end);
    if (!set.has(point)) break;
    end -= point > 0xffff ? 2 : 1;
    if (isPortion()) yield;
  }
  return cut(text, start, end, t);
}

/** Bytes for each member of a set of numbers. */
const setEntryBytes = 32;

function codePointSet(text: string, t: Thread): Set<number> {
  const set = new Set<number>();
  let read = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at)!;
    if (!set.has(point)) {
      t.charge(setEntryBytes);
      set.add(point);
    }
    at += point > 0xffff ? 2 : 1;
    read += 1;
    if ((read & (portion - 1)) === 0) t.step(portion >> 1);
  }
  return set;
}

function codePointBefore(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  if (end >= 2 && isLowSurrogate(last) && isHighSurrogate(text.charCodeAt(end - 2))) {
    return text.codePointAt(end - 2)!;
  }
  return last;
}
