/**
 * Splits strings at a separator, at white space and at line feeds, and strips their
 * ends. Each part is charged before it is made.
 */

import type { Thread } from "../run/thread.ts";
import { listWeight, stringWeight } from "../value/heap-weight.ts";
import { isHighSurrogate, isLowSurrogate, isSpace } from "./string-characters.ts";
import { createLastSearch, createSearch } from "./string-search.ts";

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

  add(start: number, end: number): void {
    this.#thread.chargeElement(this.items.length);
    this.#thread.step(1);
    this.items.push(cut(this.#text, start, end, this.#thread));
  }
}

/** Splits `text` at a non-empty `separator`, at most `limit` times, from the left. */
export function splitAt(text: string, separator: string, limit: number, t: Thread): string[] {
  const parts = new Parts(text, t);
  const search = createSearch(separator, t);
  let start = 0;
  while (parts.items.length < limit) {
    const found = search(text, start);
    if (found === -1) break;
    parts.add(start, found);
    start = found + separator.length;
  }
  parts.add(start, text.length);
  return parts.items;
}

/** Like `splitAt`, from the right. */
export function splitAtLast(text: string, separator: string, limit: number, t: Thread): string[] {
  const parts = new Parts(text, t);
  const search = createLastSearch(separator, t);
  let end = text.length;
  while (parts.items.length < limit) {
    const found = search(text, end - separator.length);
    if (found === -1) break;
    parts.add(found + separator.length, end);
    end = found;
  }
  parts.add(0, end);
  return parts.items.reverse();
}

/** Splits `text` at white space, at most `limit` times, from the left; the last part extends to the end. */
export function splitSpace(text: string, limit: number, t: Thread): string[] {
  const parts = new Parts(text, t);
  for (let start = skipSpace(text, 0, t); start < text.length; ) {
    const end = parts.items.length < limit ? skipWord(text, start, t) : text.length;
    parts.add(start, end);
    start = skipSpace(text, end, t);
  }
  return parts.items;
}

/** Like `splitSpace`, from the right; the first part extends to the start. */
export function splitSpaceLast(text: string, limit: number, t: Thread): string[] {
  const parts = new Parts(text, t);
  for (let end = skipSpaceBack(text, text.length, t); end > 0; ) {
    const start = parts.items.length < limit ? skipWordBack(text, end, t) : 0;
    parts.add(start, end);
    end = skipSpaceBack(text, start, t);
  }
  return parts.items.reverse();
}

/** Splits `text` at line feeds, which `keepEnds` keeps. */
export function splitLines(text: string, keepEnds: boolean, t: Thread): string[] {
  const parts = new Parts(text, t);
  const search = createSearch("\n", t);
  for (let start = 0; start < text.length; ) {
    const found = search(text, start);
    const next = found === -1 ? text.length : found + 1;
    parts.add(start, found === -1 || keepEnds ? next : found);
    start = next;
  }
  return parts.items;
}

/** The first index from `start` that is not white space. */
export function skipSpace(text: string, start: number, t: Thread): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) {
    at += 1;
    if ((at & (portion - 1)) === 0) t.step(portion >> 4);
  }
  return at;
}

/** The index after the last character before `end` that is not white space. */
export function skipSpaceBack(text: string, end: number, t: Thread): number {
  let at = end;
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) {
    at -= 1;
    if ((at & (portion - 1)) === 0) t.step(portion >> 4);
  }
  return at;
}

function skipWord(text: string, start: number, t: Thread): number {
  let at = start;
  while (at < text.length && !isSpace(text.charCodeAt(at))) {
    at += 1;
    if ((at & (portion - 1)) === 0) t.step(portion >> 4);
  }
  return at;
}

function skipWordBack(text: string, end: number, t: Thread): number {
  let at = end;
  while (at > 0 && !isSpace(text.charCodeAt(at - 1))) {
    at -= 1;
    if ((at & (portion - 1)) === 0) t.step(portion >> 4);
  }
  return at;
}

/** The ends of a text to strip. */
export type Ends = "both" | "left" | "right";

/** `text` without the code points of `cutset` at its ends; without white space there if `cutset` is empty. */
export function stripEnds(text: string, cutset: string, ends: Ends, t: Thread): string {
  if (cutset === "") {
    const start = ends === "right" ? 0 : skipSpace(text, 0, t);
    const end = ends === "left" ? text.length : skipSpaceBack(text, text.length, t);
    return cut(text, start, Math.max(start, end), t);
  }
  const set = codePointSet(cutset, t);
  let start = 0;
  let end = text.length;
  let read = 0;
  const count = (): void => {
    read += 1;
    if ((read & (portion - 1)) === 0) t.step(portion >> 3);
  };
  while (ends !== "right" && start < end) {
    const point = text.codePointAt(start)!;
    if (!set.has(point)) break;
    start += point > 0xffff ? 2 : 1;
    count();
  }
  while (ends !== "left" && end > start) {
    const point = codePointBefore(text, end);
    if (!set.has(point)) break;
    end -= point > 0xffff ? 2 : 1;
    count();
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
    if ((read & (portion - 1)) === 0) t.step(portion >> 3);
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
