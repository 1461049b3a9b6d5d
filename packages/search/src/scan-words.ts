/**
 * The words of a text.
 *
 * A run of letters and digits, with `_ - . / :` inside, is an identifier. It is
 * split at those characters, at case changes (`createIssue`, `HTTPServer` →
 * `http server`) and between letters and digits; the parts are its words. When
 * there are several, the identifier without its separators is given as well:
 * `create_issue`, `createIssue` and `create-issue` share `createissue`, and
 * `GitHub` meets `github`. An apostrophe between letters
 * belongs to the word.
 *
 * Scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer,
 * Burmese) give every two neighbouring characters as a word, and the single
 * characters as well, so that a query of one character finds them.
 *
 * Words come folded and in lower case, unstemmed, cut to 64 characters. Stop
 * words are words like any other here. It keeps nothing between calls.
 */

import { foldText, foldWord } from "./fold-text.ts";
import { searchLimits } from "./options.ts";

/**
 * `word` is a part of an identifier, `joined` the whole of one that has several
 * parts; `gram` is two characters of a script without spaces (or the one of a
 * run of one), `char` one character of a longer run. `joined` and `char` repeat
 * what the others say and do not count for the length of a text.
 */
export type WordKind = "word" | "joined" | "gram" | "char";

/**
 * Takes one word, which is `text` from `start` to `end`: cutting it out is left
 * to those who need it. `origin` tells the words of one identifier or run from
 * those of the next. Returning `false` ends the scan.
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

/** Identifiers of more parts are sentences that lack spaces; they are not joined. */
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
  // Capitals outside the basic plane are two units long, which splitting before a capital does not know.
  if (char.length === 1 && /[\p{Lu}\p{Lt}]/u.test(char)) return upper;
  if (/[\p{L}\p{M}]/u.test(char)) return lower;
  if (/\p{N}/u.test(char)) return digit;
  return char === "’" ? apostrophe : other;
}

/** The class of the character at `index`; both halves of a surrogate pair have the class of the pair. */
function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return asciiClasses[code]!;
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff && index > 0;
  return classOfNonAscii(String.fromCodePoint(text.codePointAt(isSecondHalf ? index - 1 : index)!));
}

/**
 * Give the words of `text` to `sink`, in the order of the text; `joined` follows its parts.
 *
 * @returns whether the scan came to the end of the text.
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

/** One identifier from `origin`; the index after it, or -1 when the sink has enough. */
function scanIdentifier(text: string, origin: number, sink: WordSink): number {
  let partStart = origin;
  let previous = classAt(text, origin);
  let joined = "";
  let partCount = 0;
  /** Whether all letters so far are small and in ASCII, so that there is nothing to fold. */
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
        // The common case, a plain word, is not even cut out.
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

/** Where the part that begins at `partStart` ends, given that `index` goes on with a letter or digit; 0 if it goes on. */
function cutBefore(
  text: string,
  index: number,
  partStart: number,
  previous: number,
  current: number,
): number {
  if (previous === current || previous === joiner || classAt(text, index - 1) === apostrophe) return 0;
  if (previous !== upper || current !== lower) return index;
  // HTTPServer is cut before its last capital; URLs is an acronym in the plural and O'Brien one name.
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

/** One run of a script without spaces from `origin`; the index after it, or -1 when the sink has enough. */
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
