/**
 * The methods of strings. Indices count elements, which are UTF-16 code units.
 * Classes of characters (`isalpha`, `title`, the cutset of `strip`) refer to code
 * points. Each method charges results before it makes them, and counts steps in
 * proportion to the text that it reads. This is one piece because it is the list of
 * methods; most of the work is in other files of this folder.
 */

import { inPieces, inPiecesIfLong, longLength, PieceMeter, type Pieces } from "../run/long-work.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { stringWeight, tupleWeight } from "../value/heap-weight.ts";
import { isIterable, iterate } from "../value/iterate.ts";
import { typeOf } from "../value/type-of.ts";
import { ElementsView, StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { wantBool, wantSafeInt, wantString, wrongType } from "./arguments.ts";
import { type Builtin, builtin, type VariadicImplementation } from "./builtin.ts";
import { formatBraces } from "./format-braces.ts";
import { chargeString, isWide, StringBuilder } from "./string-build.ts";
import {
  cased,
  casedRuns,
  caseSteps,
  countCodePoints,
  firstCharacter,
  isHighSurrogate,
  isLowerWord,
  isLowSurrogate,
  isTitleWord,
  overWindows,
  titleSteps,
  titleWords,
  toLower,
  toTitle,
  toUpper,
} from "./string-characters.ts";
import {
  countOccurrences,
  createSearch,
  hasPartAt,
  indexOf,
  lastIndexOf,
  type Search,
} from "./string-search.ts";
import {
  cut,
  type Ends,
  splitAt,
  splitAtLast,
  splitLines,
  splitSpace,
  splitSpaceLast,
  stripEnds,
} from "./string-split.ts";

/** An optional argument. */
type Optional = Value | undefined;

/** The methods of strings. */
export const stringMethods: readonly Builtin[] = [
  builtin(
    "capitalize()",
    'The string with its first character in title case and all others in lower case. `"hELLO, World".capitalize()` gives `"Hello, world"`.',
    (t: Thread, self: string) => {
      if (self === "") return "";
      const first = firstCharacter(self);
      const rest = cut(self, first.length, self.length, t);
      return overWindows(rest, t, () => {
        const text = new StringBuilder(t);
        text.add(toTitle(first));
        return {
          visit: (window) => {
            text.add(toLower(window));
            return undefined;
          },
          end: () => text.finish(),
        };
      });
    },
  ),
  builtin(
    "codepoint_ords()",
    'An iterable of the code points of the string, as ints. `list("hé😿".codepoint_ords())` gives `[104, 233, 128575]`.',
    (t: Thread, self: string) => view(self, "codepointOrds", t),
  ),
  builtin(
    "codepoints()",
    'An iterable of the characters of the string: one string for each code point. `list("hé😿".codepoints())` gives `["h", "é", "😿"]`.',
    (t: Thread, self: string) => view(self, "codepoints", t),
  ),
  builtin(
    "count(sub, start?, end?, /)",
    'The number of non-overlapping occurrences of `sub` in the string, or in `s[start:end]`. `"banana".count("an")` gives `2`.',
    (t: Thread, self: string, sub: Value, start: Optional, end: Optional) => {
      const wanted = wantString("count", "sub", sub);
      const text = within("count", self, start, end, t).text;
      return wanted === "" ? countCodePoints(text, t) + 1 : countOccurrences(text, wanted, t);
    },
  ),
  builtin(
    "elem_ords()",
    'An iterable of the elements of the string (UTF-16 code units), as ints. `list("hé".elem_ords())` gives `[104, 233]`.',
    (t: Thread, self: string) => view(self, "elemOrds", t),
  ),
  builtin(
    "elems()",
    'An iterable of the elements of the string, each a string of length 1; a string itself is not iterable. `list("abc".elems())` gives `["a", "b", "c"]`.',
    (t: Thread, self: string) => view(self, "elems", t),
  ),
  builtin(
    "endswith(suffix, start?, end?, /)",
    'Whether the string, or `s[start:end]`, ends with `suffix`, or with any suffix of a tuple. `"build.star".endswith((".star", ".bzl"))` gives `True`.',
    (t: Thread, self: string, suffix: Value, start: Optional, end: Optional) =>
      hasAffix("endswith", self, suffix, start, end, t),
  ),
  builtin(
    "find(sub, start?, end?, /)",
    'The index of the first `sub` in the string, or in `s[start:end]`; -1 if there is none. `"bonbon".find("on", 2)` gives `4`.',
    (t: Thread, self: string, sub: Value, start: Optional, end: Optional) =>
      findIn("find", indexOf, self, sub, start, end, t),
  ),
  builtin(
    "format(*args, **kwargs)",
    'The string with every `{}`, `{0}` or `{name}` replaced by an argument, as `str` writes it, or as `repr` does with `{!r}`; `{{` and `}}` stand for braces. `"{} of {total}".format(2, total = 5)` gives `"2 of 5"`.',
    formatMethod(false),
  ),
  builtin(
    "index(sub, start?, end?, /)",
    'The index of the first `sub`, like `find`, but an error if there is none. `"bonbon".index("on")` gives `1`.',
    (t: Thread, self: string, sub: Value, start: Optional, end: Optional) =>
      present("index", "find", findIn("index", indexOf, self, sub, start, end, t)),
  ),
  builtin(
    "isalnum()",
    'Whether the string is not empty and all its characters are letters or digits. `"base64".isalnum()` gives `True`.',
    (t: Thread, self: string) => consistsOf(self, noAlphanumeric, t),
  ),
  builtin(
    "isalpha()",
    'Whether the string is not empty and all its characters are letters. `"base64".isalpha()` gives `False`.',
    (t: Thread, self: string) => consistsOf(self, noLetter, t),
  ),
  builtin(
    "isdigit()",
    'Whether the string is not empty and all its characters are decimal digits. `"123".isdigit()` gives `True`.',
    (t: Thread, self: string) => consistsOf(self, noDigit, t),
  ),
  builtin(
    "islower()",
    'Whether the string has letters with case, and all of them are in lower case. `"catch-22".islower()` gives `True`.',
    (t: Thread, self: string) => isInCase(self, notLower, t),
  ),
  builtin(
    "isspace()",
    'Whether the string is not empty and all its characters are white space. `" \\t\\n".isspace()` gives `True`.',
    (t: Thread, self: string) => consistsOf(self, noSpace, t),
  ),
  builtin(
    "istitle()",
    'Whether the string has words, and each one starts in title case and continues in lower case. `"Hello, World".istitle()` gives `True`.',
    (t: Thread, self: string) => isTitle(self, t),
  ),
  builtin(
    "isupper()",
    'Whether the string has letters with case, and all of them are in upper case. `"HAL-9000".isupper()` gives `True`.',
    (t: Thread, self: string) => isInCase(self, notUpper, t),
  ),
  builtin(
    "join(elements, /)",
    'The strings of an iterable, joined with this string as the separator. Convert elements of other types with `str` first. `", ".join(["a", "b", "c"])` gives `"a, b, c"`.',
    (t: Thread, self: string, elements: Value) => join(self, elements, t),
  ),
  builtin(
    "lower()",
    'The string in lower case. `"Hello".lower()` gives `"hello"`.',
    (t: Thread, self: string) => mapped(self, toLower, t),
  ),
  builtin(
    "lstrip(cutset?, /)",
    'The string without white space at its start, or without the characters of `cutset` there. `"  x ".lstrip()` gives `"x "`.',
    (t: Thread, self: string, cutset: Optional) => strip("lstrip", self, cutset, "left", t),
  ),
  builtin(
    "partition(sep, /)",
    'A tuple of the text before the first `sep`, `sep`, and the text after it; `(s, "", "")` if there is none. `"key=a=b".partition("=")` gives `("key", "=", "a=b")`.',
    (t: Thread, self: string, sep: Value) => partition("partition", self, sep, t),
  ),
  builtin(
    "removeprefix(prefix, /)",
    'The string without `prefix`, if it starts with it. `"v1.2".removeprefix("v")` gives `"1.2"`.',
    (t: Thread, self: string, prefix: Value) => {
      const fix = wantString("removeprefix", "prefix", prefix);
      return hasPartAt(self, fix, 0, t) ? cut(self, fix.length, self.length, t) : self;
    },
  ),
  builtin(
    "removesuffix(suffix, /)",
    'The string without `suffix`, if it ends with it. `"a.star".removesuffix(".star")` gives `"a"`.',
    (t: Thread, self: string, suffix: Value) => {
      const fix = wantString("removesuffix", "suffix", suffix);
      const end = self.length - fix.length;
      return hasPartAt(self, fix, end, t) ? cut(self, 0, end, t) : self;
    },
  ),
  builtin(
    "replace(old, new, count?)",
    'The string with every `old` replaced by `new`, or the first `count` of them. `"banana".replace("a", "o", 2)` gives `"bonona"`.',
    (t: Thread, self: string, old: Value, replacement: Value, count: Optional) =>
      replace(
        self,
        wantString("replace", "old", old),
        wantString("replace", "new", replacement),
        limitOf("replace", "count", count),
        t,
      ),
  ),
  builtin(
    "rfind(sub, start?, end?, /)",
    'The index of the last `sub` in the string, or in `s[start:end]`; -1 if there is none. `"bonbon".rfind("on")` gives `4`.',
    (t: Thread, self: string, sub: Value, start: Optional, end: Optional) =>
      findIn("rfind", lastIndexIn, self, sub, start, end, t),
  ),
  builtin(
    "rindex(sub, start?, end?, /)",
    'The index of the last `sub`, like `rfind`, but an error if there is none. `"bonbon".rindex("on")` gives `4`.',
    (t: Thread, self: string, sub: Value, start: Optional, end: Optional) =>
      present("rindex", "rfind", findIn("rindex", lastIndexIn, self, sub, start, end, t)),
  ),
  builtin(
    "rpartition(sep, /)",
    'A tuple of the text before the last `sep`, `sep`, and the text after it; `("", "", s)` if there is none. `"a/b/c".rpartition("/")` gives `("a/b", "/", "c")`.',
    (t: Thread, self: string, sep: Value) => partition("rpartition", self, sep, t),
  ),
  builtin(
    "rsplit(sep?, maxsplit?)",
    'The parts of the string between `sep`, like `split`; with `maxsplit`, it splits at the last occurrences. `"a.b.c".rsplit(".", 1)` gives `["a.b", "c"]`.',
    (t: Thread, self: string, sep: Optional, maxsplit: Optional) =>
      split("rsplit", splitAtLast, splitSpaceLast, self, sep, maxsplit, t),
  ),
  builtin(
    "rstrip(cutset?, /)",
    'The string without white space at its end, or without the characters of `cutset` there. `"1.500".rstrip("0")` gives `"1.5"`.',
    (t: Thread, self: string, cutset: Optional) => strip("rstrip", self, cutset, "right", t),
  ),
  builtin(
    "split(sep?, maxsplit?)",
    'The list of the parts of the string between `sep`; without `sep`, of its words, which are separated by white space. `maxsplit` limits the number of splits, from the left. `"a,b,,c".split(",", 2)` gives `["a", "b", ",c"]`.',
    (t: Thread, self: string, sep: Optional, maxsplit: Optional) =>
      split("split", splitAt, splitSpace, self, sep, maxsplit, t),
  ),
  builtin(
    "splitlines(keepends?)",
    'The list of the lines of the string, which end at line feeds; with `keepends`, the lines include them. `"one\\n\\ntwo\\n".splitlines()` gives `["one", "", "two"]`.',
    (t: Thread, self: string, keepends: Optional) =>
      new StarlarkList(
        splitLines(self, keepends !== undefined && wantBool("splitlines", "keepends", keepends), t),
      ),
  ),
  builtin(
    "startswith(prefix, start?, end?, /)",
    'Whether the string, or `s[start:end]`, starts with `prefix`, or with any prefix of a tuple. `"https://a.example".startswith(("http:", "https:"))` gives `True`.',
    (t: Thread, self: string, prefix: Value, start: Optional, end: Optional) =>
      hasAffix("startswith", self, prefix, start, end, t),
  ),
  builtin(
    "strip(cutset?, /)",
    'The string without white space at both ends, or without the characters of `cutset` there. `"  hello  ".strip("h o")` gives `"ell"`.',
    (t: Thread, self: string, cutset: Optional) => strip("strip", self, cutset, "both", t),
  ),
  builtin(
    "title()",
    'The string with every word in title case; a word is a run of letters. `"hELLO wORLD".title()` gives `"Hello World"`.',
    (t: Thread, self: string) => title(self, t),
  ),
  builtin(
    "upper()",
    'The string in upper case. `"Hello".upper()` gives `"HELLO"`.',
    (t: Thread, self: string) => mapped(self, toUpper, t),
  ),
];

/** Methods that the tool dialect adds or replaces. */
export const toolStringMethods: readonly Builtin[] = [
  builtin(
    "center(width, fill?, /)",
    'The string padded with `fill` (a space) on both sides to `width` characters. `"ab".center(6, "*")` gives `"**ab**"`.',
    (t: Thread, self: string, width: Value, fill: Optional) => {
      const missing = missingCharacters("center", self, width, t);
      // As in Python: an odd padding has its extra character on the left if the width is odd too.
      const left = (missing >> 1) + (missing & wantSafeInt("center", "width", width) & 1);
      return padded("center", left, self, missing - left, fill, t);
    },
  ),
  builtin(
    "format(*args, **kwargs)",
    'The string with every `{}`, `{0}` or `{name}` replaced by an argument; `{!r}` uses `repr`, and a format specification can follow a colon, as in f-strings. `"{:>6.2f}|{n:,}".format(1.5, n = 1200)` gives `"  1.50|1,200"`.',
    formatMethod(true),
  ),
  builtin(
    "ljust(width, fill?, /)",
    'The string padded with `fill` (a space) on the right to `width` characters. `"ab".ljust(4, ".")` gives `"ab.."`.',
    (t: Thread, self: string, width: Value, fill: Optional) =>
      padded("ljust", 0, self, missingCharacters("ljust", self, width, t), fill, t),
  ),
  builtin(
    "rjust(width, fill?, /)",
    'The string padded with `fill` (a space) on the left to `width` characters. `"7".rjust(3, "0")` gives `"007"`.',
    (t: Thread, self: string, width: Value, fill: Optional) =>
      padded("rjust", missingCharacters("rjust", self, width, t), self, 0, fill, t),
  ),
  builtin(
    "zfill(width, /)",
    'The string padded with zeros on the left, after its sign, to `width` characters. `"-7".zfill(4)` gives `"-007"`.',
    (t: Thread, self: string, width: Value) => {
      const missing = missingCharacters("zfill", self, width, t);
      if (missing === 0) return self;
      const signed = self[0] === "+" || self[0] === "-";
      chargeString(self.length + missing, isWide(self), t);
      const zeros = "0".repeat(missing);
      return signed ? self.charAt(0) + zeros + self.slice(1) : zeros + self;
    },
  ),
];

function formatMethod(specs: boolean): VariadicImplementation {
  return (t, self: Value, args, named) => formatBraces(self as string, args, named, t, { specs });
}

/** A part of a text, and its start. */
interface Within {
  readonly text: string;
  readonly start: number;
}

/** `text[start:end]`; empty if `end` is before `start`. */
function within(name: string, text: string, start: Optional, end: Optional, t: Thread): Within {
  if (start === undefined && end === undefined) return { text, start: 0 };
  const first = place(name, "start", start, 0, text.length);
  const last = place(name, "end", end, text.length, text.length);
  return { text: cut(text, first, Math.max(first, last), t), start: first };
}

function place(
  name: string,
  which: "start" | "end",
  value: Optional,
  absent: number,
  length: number,
): number {
  if (value === undefined || value === null) return absent;
  if (typeof value === "bigint") return value < 0n ? 0 : length;
  if (typeof value === "number") return Math.min(length, Math.max(0, value < 0 ? value + length : value));
  throw new StarlarkError(`${name}: invalid ${which} index: got ${typeOf(value)}, want int`);
}

function view(text: string, kind: ElementsView["kind"], t: Thread): ElementsView {
  t.charge(64);
  switch (kind) {
    case "elems":
      return new ElementsView("string.elems", text, ".elems()", kind);
    case "elemOrds":
      return new ElementsView("string.elems", text, ".elem_ords()", kind);
    case "codepoints":
      return new ElementsView("string.codepoints", text, ".codepoints()", kind);
    case "codepointOrds":
      return new ElementsView("string.codepoints", text, ".codepoint_ords()", kind);
  }
}

function lastIndexIn(text: string, sub: string, _from: number, t: Thread): number {
  return lastIndexOf(text, sub, text.length, t);
}

function findIn(
  name: string,
  find: typeof indexOf,
  self: string,
  sub: Value,
  start: Optional,
  end: Optional,
  t: Thread,
): number {
  const wanted = wantString(name, "sub", sub);
  const part = within(name, self, start, end, t);
  const found = find(part.text, wanted, 0, t);
  return found === -1 ? -1 : found + part.start;
}

function present(name: string, other: string, found: number): number {
  if (found !== -1) return found;
  throw new StarlarkError(`${name}: substring not found`, {
    hint: `${other} gives -1 instead of failing`,
  });
}

function hasAffix(
  name: "startswith" | "endswith",
  self: string,
  affix: Value,
  start: Optional,
  end: Optional,
  t: Thread,
): boolean {
  const { text } = within(name, self, start, end, t);
  const has = (one: string): boolean => {
    t.step(1);
    return hasPartAt(text, one, name === "startswith" ? 0 : text.length - one.length, t);
  };
  if (typeof affix === "string") return has(affix);
  if (!(affix instanceof StarlarkTuple)) {
    throw new StarlarkError(`${name}: got ${typeOf(affix)}, want string or tuple of string`);
  }
  for (const [index, one] of affix.items.entries()) {
    if (typeof one !== "string") {
      throw new StarlarkError(`${name}: want string, got ${typeOf(one)}, for element ${index}`);
    }
    if (has(one)) return true;
  }
  return false;
}

const noAlphanumeric = /[^\p{L}\p{Nd}]/u;
const noLetter = /[^\p{L}]/u;
const noDigit = /[^\p{Nd}]/u;
const notLower = /[\p{Uppercase}\p{Lt}]/u;
const notUpper = /[\p{Lowercase}\p{Lt}]/u;
const noSpace = /[^\p{White_Space}]/u;

/** Whether `text` is not empty and has no character that `other` matches. */
function consistsOf(text: string, other: RegExp, t: Thread): boolean {
  return overWindows<boolean>(text, t, () => ({
    visit: (window) => (other.test(window) ? false : undefined),
    end: () => text !== "",
  }));
}

/** Whether `text` has a cased letter and no character that `other` matches. */
function isInCase(text: string, other: RegExp, t: Thread): boolean {
  return overWindows<boolean>(text, t, () => {
    let hasCased = false;
    return {
      visit: (window) => {
        if (other.test(window)) return false;
        hasCased ||= cased.test(window);
        return undefined;
      },
      end: () => hasCased,
    };
  });
}

/** Maximum number of code units that are mapped at a time. */
const shortText = 64;

/** Maps each window of `text`. */
function mapped(text: string, map: (text: string) => string, t: Thread): string {
  if (text.length <= shortText) {
    t.step(1 + (text.length >> 4));
    t.charge(stringWeight(2 * text.length));
    return map(text);
  }
  return overWindows(text, t, () => {
    const result = new StringBuilder(t);
    return {
      visit: (window) => {
        t.step(caseSteps(window));
        result.add(map(window));
      },
      end: () => result.finish(),
    };
  });
}

function title(text: string, t: Thread): string {
  return overWindows(text, t, () => {
    const result = new StringBuilder(t);
    let inWord = false;
    return {
      visit: (window) => {
        t.step(titleSteps(window));
        result.add(titleWords(window, inWord));
        inWord = endsCased(window);
      },
      end: () => result.finish(),
    };
  });
}

function isTitle(text: string, t: Thread): boolean {
  return overWindows<boolean>(text, t, () => {
    let inWord = false;
    let hasWord = false;
    return {
      visit: (window) => {
        t.step(window.length);
        for (const match of window.matchAll(casedRuns)) {
          hasWord = true;
          const continues = inWord && match.index === 0;
          if (!(continues ? isLowerWord(match[0]) : isTitleWord(match[0]))) return false;
        }
        inWord = endsCased(window);
        return undefined;
      },
      end: () => hasWord,
    };
  });
}

function endsCased(window: string): boolean {
  const last = window.length - 1;
  const paired =
    last > 0 && isLowSurrogate(window.charCodeAt(last)) && isHighSurrogate(window.charCodeAt(last - 1));
  return cased.test(window.slice(paired ? last - 1 : last));
}

function join(separator: string, elements: Value, t: Thread): string {
  if (!isIterable(elements)) throw wrongType("join", "elements", elements, "iterable");
  const wide = isWide(separator);
  const text = new StringBuilder(t);
  const iterator = iterate(elements);
  try {
    let first = true;
    for (let element = iterator.next(); element !== undefined; element = iterator.next()) {
      t.step(2);
      if (typeof element !== "string") {
        throw new StarlarkError(`join: in list, want string, got ${typeOf(element)}`, {
          hint: "make strings of the elements first: sep.join([str(x) for x in elements])",
        });
      }
      if (!first) text.add(separator, wide);
      first = false;
      text.add(element);
    }
  } finally {
    iterator.close();
  }
  return text.finish();
}

function partition(name: "partition" | "rpartition", self: string, sep: Value, t: Thread): StarlarkTuple {
  const separator = wantString(name, "sep", sep);
  if (separator === "") throw new StarlarkError(`${name}: empty separator`);
  t.charge(tupleWeight(3));
  const fromLeft = name === "partition";
  const found = fromLeft ? indexOf(self, separator, 0, t) : lastIndexOf(self, separator, self.length, t);
  if (found === -1) return new StarlarkTuple(fromLeft ? [self, "", ""] : ["", "", self]);
  return new StarlarkTuple([
    cut(self, 0, found, t),
    separator,
    cut(self, found + separator.length, self.length, t),
  ]);
}

function replace(text: string, old: string, replacement: string, limit: number, t: Thread): string {
  if (old === "") return interleave(text, replacement, limit, t);
  const search = createSearch(old, t);
  if (text.length >= longLength)
    return inPieces(t, [text, old, replacement], () => replaceLong(text, old, replacement, limit, search, t));
  let found = limit > 0 ? search.find(text, 0) : -1;
  if (found === -1) return text;
  const textWide = isWide(text);
  const replacementWide = isWide(replacement);
  const result = new StringBuilder(t);
  let start = 0;
  for (let count = 0; found !== -1; found = count < limit ? search.find(text, start) : -1) {
    t.step(1);
    result.add(text.slice(start, found), textWide);
    result.add(replacement, replacementWide);
    start = found + old.length;
    count += 1;
  }
  result.add(text.slice(start), textWide);
  return result.finish();
}

function* replaceLong(
  text: string,
  old: string,
  replacement: string,
  limit: number,
  search: Search,
  t: Thread,
): Pieces<string> {
  const textWide = isWide(text);
  const replacementWide = isWide(replacement);
  const result = new StringBuilder(t);
  const meter = new PieceMeter(t);
  let start = 0;
  for (let count = 0; count < limit; count += 1) {
    const found = search.quickFind(text, start) ?? (yield* search.findInPieces(text, start));
    if (found === -1) break;
    t.step(1);
    result.add(text.slice(start, found), textWide);
    result.add(replacement, replacementWide);
    start = found + old.length;
    if (meter.isFull()) yield;
  }
  if (start === 0) return text;
  result.add(text.slice(start), textWide);
  return result.finish();
}

/** `text` with `piece` before each of the first `limit` code points; the end counts as one. */
function interleave(text: string, piece: string, limit: number, t: Thread): string {
  return inPiecesIfLong(t, text.length, [text, piece], () => interleaved(text, piece, limit, t));
}

function* interleaved(text: string, piece: string, limit: number, t: Thread): Pieces<string> {
  const textWide = isWide(text);
  const pieceWide = isWide(piece);
  const result = new StringBuilder(t);
  const meter = new PieceMeter(t);
  let at = 0;
  for (let count = 0; count < limit && at <= text.length; count += 1) {
    result.add(piece, pieceWide);
    const point = text.codePointAt(at);
    const next = at + (point === undefined || point <= 0xffff ? 1 : 2);
    result.add(text.slice(at, next), textWide);
    t.step(1);
    if (meter.isFull()) yield;
    at = next;
  }
  result.add(text.slice(at), textWide);
  return result.finish();
}

/** The maximum count: unlimited if the argument is absent or negative. */
function limitOf(name: string, parameter: string, value: Optional): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  const limit = wantSafeInt(name, parameter, value);
  return limit < 0 ? Number.POSITIVE_INFINITY : limit;
}

function split(
  name: "split" | "rsplit",
  atSeparator: typeof splitAt,
  atSpace: typeof splitSpace,
  self: string,
  sep: Optional,
  maxsplit: Optional,
  t: Thread,
): StarlarkList {
  const limit = limitOf(name, "maxsplit", maxsplit);
  if (sep === undefined || sep === null) return new StarlarkList(atSpace(self, limit, t));
  if (typeof sep !== "string") {
    throw new StarlarkError(`${name}: got ${typeOf(sep)} for separator, want string`);
  }
  if (sep === "") {
    throw new StarlarkError(`${name}: empty separator`, {
      hint: "list(s.elems()) gives the characters of s",
    });
  }
  return new StarlarkList(atSeparator(self, sep, limit, t));
}

function strip(name: string, self: string, cutset: Optional, ends: Ends, t: Thread): string {
  const set = cutset === undefined || cutset === null ? "" : wantString(name, "cutset", cutset);
  return stripEnds(self, set, ends, t);
}

/** Number of characters to pad `text` to `width`. */
function missingCharacters(name: string, text: string, width: Value, t: Thread): number {
  const wanted = wantSafeInt(name, "width", width);
  return wanted <= 0 ? 0 : Math.max(0, wanted - countCodePoints(text, t));
}

function padded(name: string, left: number, text: string, right: number, fill: Optional, t: Thread): string {
  const character = fill === undefined ? " " : wantString(name, "fill", fill);
  if (character === "" || firstCharacter(character) !== character) {
    throw new StarlarkError(`${name}: fill must be one character`);
  }
  if (left + right === 0) return text;
  const length = text.length + (left + right) * character.length;
  chargeString(length, isWide(text) || isWide(character), t);
  t.step(length >> 5);
  return character.repeat(left) + text + character.repeat(right);
}
