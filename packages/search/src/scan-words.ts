/**
 * Splits a text into words.
 *
 * A run of letters and digits, with `_ - . / :` inside, is an identifier. It is
 * split at those characters, at case changes (`createIssue`, `HTTPServer` →
 * `http server`) and between letters and digits; the parts are its words. If
 * there are several, the identifier without its separators is a word too:
 * `create_issue`, `createIssue` and `create-issue` share `createissue`, and
 * `GitHub` matches `github`. An apostrophe between letters belongs to the word.
 *
 * Scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer,
 * Burmese) yield every two adjacent characters as a word, and the single
 * characters too, so that a query of one character finds them.
 *
 * Words are folded, in lower case, not stemmed, and cut to 64 characters. Stop
 * words are not treated specially. No state is kept between calls.
 */

import { foldText, foldWord } from "./fold-text.ts";
import { searchLimits } from "./options.ts";

/**
 * `word` is a part of an identifier, `joined` the whole of an identifier with
 * several parts; `gram` is two characters of a script without spaces (or one, if
 * the run has only one), `char` one character of a longer run. `joined` and `char`
 * repeat other words and do not count towards the length of a text.
 */
export type WordKind = "word" | "joined" | "gram" | "char";

/**
 * Receives one word, which is `text` from `start` to `end`; a caller that needs
 * the substring creates it. `origin` distinguishes the words of one identifier or
 * run from those of the next. Returning `false` ends the scan.
 */
export type WordSink = (text: string, start: number, end: number, kind: WordKind, origin: number) => boolean;

const other = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const joiner = 4;
const apostrophe = 5;
const unspaced = 6;

const asciiClasses = Uint8Array.from({ length: 128 }, (_, code) => classOfAscii(String.fromCharCode(code)));

/** Maximum number of parts of an identifier that is joined. One with more parts is a sentence without spaces. */
const joinedMaxParts = 16;

const unspacedScript =
  /[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]&&[\p{L}\p{M}\p{Nl}]]/v;

function classOfAscii(char: string): number {
  if (/[a-z]/.test(char)) return lower;
  if (/[A-Z]/.test(char)) return upper;
  if (/[0-9]/.test(char)) return digit;
  if (/[_\-./:]/.test(char)) return joiner;
  return char === "'" ? apostrophe : other;
}

function classOfNonAscii(char: string): number {
  if (unspacedScript.test(char)) return unspaced;
  // Capitals outside the basic plane have two units, which the split before a capital does not support.
  if (char.length === 1 && /[\p{Lu}\p{Lt}]/u.test(char)) return upper;
  if (/[\p{L}\p{M}]/u.test(char)) return lower;
  if (/\p{N}/u.test(char)) return digit;
  return char === "’" ? apostrophe : other;
}

/** Returns the class of the character at `index`; both halves of a surrogate pair have the class of the pair. */
function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return asciiClasses[code]!;
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff && index > 0;
  return classOfNonAscii(String.fromCodePoint(text.codePointAt(isSecondHalf ? index - 1 : index)!));
}

/**
 * Passes the words of `text` to `sink`, in the order of the text; `joined` follows its parts.
 *
 * @returns whether the scan reached the end of the text.
 */
export function scanWords(text: string, sink: WordSink): boolean {
  const folded = foldText(text);
  let index = 0;
  while (index < folded.length) {
    const kind = classAt(folded, index);
    if (kind === lower || kind === upper || kind === digit) {
      index = scanIdentifier(folded, index, sink);
    } else if (kind === unspaced) {
      index = scanRun(folded, index, sink);
    } else {
      index += 1;
    }
    if (index < 0) return false;
  }
  return true;
}

/** Scans one identifier from `origin`. Returns the index after it, or -1 if the sink ended the scan. */
function scanIdentifier(text: string, origin: number, sink: WordSink): number {
  let partStart = origin;
  let previous = classAt(text, origin);
  let joined = "";
  let partCount = 0;
  /** Whether all letters so far are lower-case ASCII, so that folding is unnecessary. */
  let isPlain = previous !== upper && text.charCodeAt(origin) < 128;
  let index = origin + 1;
  for (; ; index += 1) {
    const current = index < text.length ? classAt(text, index) : other;
    isPlain &&= current !== upper && !(text.charCodeAt(index) >= 128);
    if (current === apostrophe && isLetter(previous) && isLetterAt(text, index + 1)) continue;
    const isEnd = current === other || current === apostrophe || current === unspaced;
    const cut = isEnd || current === joiner ? index : cutBefore(text, index, partStart, previous, current);
    if (cut > partStart) {
      const end = Math.min(cut, partStart + searchLimits.wordMaxChars);
      partCount += 1;
      if (isEnd && partCount === 1 && isPlain) {
        // The common case, a plain word, needs no substring.
        return sink(text, partStart, end, "word", origin) ? index : -1;
      }
      const part = isPlain ? text.slice(partStart, end) : foldWord(text.slice(partStart, end));
      if (!sink(part, 0, part.length, "word", origin)) return -1;
      if (joined.length <= searchLimits.wordMaxChars) joined += part;
      partStart = cut;
    }
    if (isEnd) break;
    if (current === joiner) partStart = index + 1;
    previous = current;
  }
  if (partCount > 1 && partCount <= joinedMaxParts && joined.length <= searchLimits.wordMaxChars) {
    if (!sink(joined, 0, joined.length, "joined", origin)) return -1;
  }
  return index;
}

/** Returns the end of the part that begins at `partStart`, if it ends before the letter or digit at `index`; 0 if it continues. */
function cutBefore(
  text: string,
  index: number,
  partStart: number,
  previous: number,
  current: number,
): number {
  if (previous === current || previous === joiner || classAt(text, index - 1) === apostrophe) return 0;
  if (previous !== upper || current !== lower) return index;
  // HTTPServer is split before its last capital. URLs is a plural acronym, and O'Brien is one name.
  const capital = index - 1;
  const isOne =
    capital === partStart || isPluralEnd(text, index) || classAt(text, capital - 1) === apostrophe;
  return isOne ? 0 : capital;
}

function isPluralEnd(text: string, index: number): boolean {
  return text[index] === "s" && (index + 1 >= text.length || classAt(text, index + 1) !== lower);
}

function isLetter(kind: number): boolean {
  return kind === lower || kind === upper;
}

function isLetterAt(text: string, index: number): boolean {
  return index < text.length && isLetter(classAt(text, index));
}

/** Scans one run of a script without spaces from `origin`. Returns the index after it, or -1 if the sink ended the scan. */
function scanRun(text: string, origin: number, sink: WordSink): number {
  let end = origin;
  let before = -1;
  while (end < text.length && classAt(text, end) === unspaced) {
    const at = end;
    end += text.codePointAt(at)! > 0xffff ? 2 : 1;
    if (before >= 0 && !sink(text, before, end, "gram", origin)) return -1;
    const isAlone = before < 0 && (end >= text.length || classAt(text, end) !== unspaced);
    if (!sink(text, at, end, isAlone ? "gram" : "char", origin)) return -1;
    before = at;
  }
  return end;
}
