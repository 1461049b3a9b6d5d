/**
 * Classes of characters, and letter case. Case maps one code point to one code point
 * (the simple mappings of Unicode), as in go.starlark.net: `"ß".upper()` is `"ß"`,
 * final sigma is no special case, and the number of code points does not change. Text
 * is processed in windows, counted as steps, so that no operation takes long.
 */

import { inPieces, type Pieces } from "../run/long-work.ts";
import type { Thread } from "../run/thread.ts";
import { isWide } from "./string-build.ts";

/** Number of code units that are processed at a time. */
export const windowLength = 1 << 15;

/** Splits `text` into windows that split no surrogate pair; each is counted as steps. */
export function windowsOf(text: string, t: Thread): Iterable<string> {
  if (text.length > windowLength) return longWindows(text, t);
  if (text === "") return [];
  t.step(1 + (text.length >> 4));
  return [text];
}

function* longWindows(text: string, t: Thread): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + windowLength);
    const next = cutsPair(text, end) ? end + 1 : end;
    t.step(1 + ((next - start) >> 4));
    yield text.slice(start, next);
    start = next;
  }
}

function cutsPair(text: string, at: number): boolean {
  return at < text.length && isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));
}

export function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

export function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/**
 * Whether a code unit is white space, by the White_Space property of Unicode. All
 * such characters are single units.
 */
export function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  return (
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x1680 ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** Receives the windows of a text; a result of `visit` ends the work early. */
interface WindowReader<Result> {
  visit(window: string): Result | undefined;
  end(): Result;
}

/**
 * Reads `text` window by window, as long work if there are several. `start` creates
 * the reader.
 */
export function overWindows<Result extends string | number | boolean>(
  text: string,
  t: Thread,
  start: () => WindowReader<Result>,
): Result {
  if (text.length <= windowLength) {
    const reader = start();
    if (text === "") return reader.end();
    t.step(1 + (text.length >> 4));
    return reader.visit(text) ?? reader.end();
  }
  return inPieces(t, [text], () => readWindows(text, t, start));
}

function* readWindows<Result>(text: string, t: Thread, start: () => WindowReader<Result>): Pieces<Result> {
  const reader = start();
  for (const window of windowsOf(text, t)) {
    const early = reader.visit(window);
    if (early !== undefined) return early;
    yield;
  }
  return reader.end();
}

/** Number of code points in `text`; a lone surrogate counts as one. */
export function countCodePoints(text: string, t: Thread): number {
  if (text.length <= windowLength) {
    t.step(1 + (text.length >> 4));
    return text.length - countPairs(text);
  }
  return overWindows(text, t, () => {
    let pairs = 0;
    return {
      visit: (window) => {
        pairs += countPairs(window);
      },
      end: () => text.length - pairs,
    };
  });
}

function countPairs(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1))) pairs += 1;
  }
  return pairs;
}

/**
 * Characters whose full upper case has several characters. Their simple upper case is
 * the character itself, or one with an iota.
 */
const manyUpper =
  /[\u00df\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50\u1f52\u1f54\u1f56\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17]/;
const manyUpperOrOtherRun = new RegExp(`${manyUpper.source}+|[^${manyUpper.source.slice(1)}+`, "g");
/**
 * Dotted capital I, which becomes two characters in lower case, and capital sigma,
 * whose lower case depends on its context.
 */
const unusualLower = /[\u0130\u03a3]/;

/** Upper case of a short `text`. */
export function toUpper(text: string): string {
  if (!manyUpper.test(text)) return text.toUpperCase();
  return text.replace(manyUpperOrOtherRun, (run) =>
    manyUpper.test(run[0]!) ? upperWithIota(run) : run.toUpperCase(),
  );
}

const withIota = /[\u1f80-\u1faf\u1fb3\u1fc3\u1ff3]/;
const eachWithIota = new RegExp(withIota.source, "g");

/** Upper case of a run of characters whose full upper case has several characters. */
function upperWithIota(run: string): string {
  if (!withIota.test(run)) return run;
  return run.replace(eachWithIota, (character) => {
    const unit = character.charCodeAt(0);
    return String.fromCharCode(unit <= 0x1faf ? unit | 8 : unit + 9);
  });
}

/** Steps for a change of case in `window`, in addition to reading it: unusual mappings take longer. */
export function caseSteps(window: string): number {
  return manyUpper.test(window) || unusualLower.test(window) ? window.length : 0;
}

/** Lower case of a short `text`. */
export function toLower(text: string): string {
  if (!isWide(text)) return text.toLowerCase();
  if (!unusualLower.test(text)) return text.toLowerCase();
  return text.replaceAll("\u0130", "i").replaceAll("\u03a3", "\u03c3").toLowerCase();
}

/** Title case of one code point: its upper case, except for digraphs (`ǅ`) and Georgian letters. */
export function toTitle(character: string): string {
  const unit = character.charCodeAt(0);
  if (unit >= 0x01c4 && unit <= 0x01cc) return String.fromCharCode(unit - ((unit - 0x01c4) % 3) + 1);
  if (unit >= 0x01f1 && unit <= 0x01f3) return "\u01f2";
  if (unit >= 0x10d0 && unit <= 0x10ff) return character;
  return toUpper(character);
}

const beyondAscii = /[^\x00-\x7f]/;

/** `text`, which is ASCII, with every run of letters in title case. */
function asciiTitle(text: string): string {
  const lower = text.toLowerCase();
  let result = "";
  let start = 0;
  let inWord = false;
  for (let at = 0; at < lower.length; at += 1) {
    const unit = lower.charCodeAt(at);
    const isLetter = unit >= 0x61 && unit <= 0x7a;
    if (isLetter && !inWord) {
      result += lower.slice(start, at) + String.fromCharCode(unit - 0x20);
      start = at + 1;
    }
    inWord = isLetter;
  }
  return result + lower.slice(start);
}

/**
 * Converts every run of cased letters in `text` to title case. `goesOn` says that a
 * run at the start continues a word.
 */
export function titleWords(text: string, goesOn: boolean): string {
  if (!goesOn && !beyondAscii.test(text)) {
    return asciiTitle(text);
  }
  return text.replace(casedRuns, (word, offset: number) =>
    goesOn && offset === 0 ? toLower(word) : titleWord(word),
  );
}

/** Steps for the title case of `window`: one for each code unit beyond ASCII, where every word is read several times. */
export function titleSteps(window: string): number {
  return beyondAscii.test(window) ? window.length : window.length >> 2;
}

/** A letter with case. */
export const cased = /\p{Cased}/u;
/** Runs of letters with case, which are the words for `title`. */
export const casedRuns = /\p{Cased}+/gu;
const onlyLower = /^\p{Lowercase}*$/u;
const upperOrTitle = /^[\p{Lu}\p{Lt}]/u;

/** `word`, a run of cased letters, with its first letter in title case and the others in lower case. */
function titleWord(word: string): string {
  const first = firstCharacter(word);
  return toTitle(first) + toLower(word.slice(first.length));
}

/** Whether `word` is in that form. */
export function isTitleWord(word: string): boolean {
  const first = firstCharacter(word);
  return upperOrTitle.test(first) && toTitle(first) === first && isLowerWord(word.slice(first.length));
}

/** Whether all letters of `word`, a run of cased letters, are in lower case. */
export function isLowerWord(word: string): boolean {
  return onlyLower.test(word);
}

/** The first code point of `text`, which must not be empty. */
export function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}
