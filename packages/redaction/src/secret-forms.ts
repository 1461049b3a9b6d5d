/**
 * The encodings in which a secret can come back from a program that received
 * it. Each is a form that a matcher finds in texts and in byte streams. This is
 * the only list: the gateway (results, errors, logs) and the egress (responses)
 * both use it.
 *
 * - plain text, with each character literal, percent-encoded, escaped for JSON
 *   or written as an HTML entity, letters in either case;
 * - the same reversed;
 * - hexadecimal in either case, with or without separators (`:`, `-`, `,`, a
 *   comma and a space, one or two spaces, tab, line break, `0x`, `\x`);
 * - base64 in both alphabets, with or without padding, alone or at each of the
 *   three offsets inside a longer text, also wrapped into lines, with or without indentation;
 * - in byte streams, UTF-16 of either byte order.
 *
 * Base64, hexadecimal and UTF-16 also apply to the secret as it stands inside
 * a JSON string, a URL or a form field.
 */

import { createGapPart, type Form, type Gap, type LazyForm } from "./form.ts";
import {
  type Alphabet,
  anyOf,
  caseless,
  hexEscape,
  hexSymbol,
  sets,
  type TextSymbol,
  unescaped,
} from "./text-symbol.ts";
import { literal, setOf, singleUnit, type UnitSet } from "./unit-set.ts";

/**
 * Number of characters of the shortest secret that is recognized. Shorter ones
 * occur in ordinary text by coincidence, and replacing them would damage it.
 */
export const secretMinLength = 6;

const encoder = new TextEncoder();

/** Returns the forms of `secret`; none when it is shorter than `secretMinLength`. */
export function secretForms(secret: string, alphabet: Alphabet): readonly LazyForm[] {
  if (secret.length < secretMinLength) return [];
  const text = secret.toWellFormed();
  const forms = [plainForm(text, alphabet), plainForm(Array.from(text).reverse().join(""), alphabet)];
  for (const one of spellings(text)) {
    forms.push(...encodedForms(one, alphabet));
    if (alphabet === "bytes") forms.push(...wideForms(one));
  }
  return forms;
}

function plainForm(text: string, alphabet: Alphabet): LazyForm {
  return {
    row: text,
    gap: "none",
    shortest: text.length,
    toForm: () => ({ symbols: caseless(text, alphabet) }),
  };
}

/** `text`, and how it stands inside a JSON string, a URL or a form field. Most secrets have one spelling. */
function spellings(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inUrl = encodeURIComponent(text);
  return [...new Set([text, inJson, inJson.replaceAll("/", "\\/"), inUrl, inUrl.replaceAll("%20", "+")])];
}

function encodedForms(text: string, alphabet: Alphabet): readonly LazyForm[] {
  const bytes = encoder.encode(text);
  const padded = toBase64(bytes);
  const encoded = new Set([padded, padded.replace(/=+$/, "")]);
  for (let before = 0; before < 3; before += 1) encoded.add(base64Within(bytes, before));
  const forms = [hexForm(bytes, alphabet)];
  for (const one of encoded) if (one.length >= secretMinLength) forms.push(base64Form(one, alphabet));
  return forms;
}

/** UTF-16 of either byte order: a reader that decodes the declared charset gets the secret. */
function wideForms(text: string): readonly LazyForm[] {
  let row = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    row += String.fromCharCode(unit & 0xff, unit >>> 8);
  }
  const swapped = row.replace(/(.)(.)/gs, "$2$1");
  return [wideForm(text, row, "little"), wideForm(text, swapped, "big")];
}

function wideForm(text: string, row: string, order: "little" | "big"): LazyForm {
  const toForm = (): Form => ({
    symbols: Array.from({ length: text.length }, (_, at) => {
      const [low, high] = wideSymbols(text.charCodeAt(at));
      return order === "little" ? [low, high] : [high, low];
    }).flat(),
  });
  return { row, gap: "none", shortest: row.length, toForm };
}

function wideSymbols(unit: number): readonly [low: TextSymbol, high: TextSymbol] {
  if (unit >= 0x80) return [unescaped(singleUnit(unit & 0xff)), unescaped(singleUnit(unit >>> 8))];
  return [unescaped(bothCases(String.fromCharCode(unit))), unescaped(singleUnit(0))];
}

/** ASCII letters in both cases, which wide forms share. */
const casesOf = new Map<string, UnitSet>();

function bothCases(character: string): UnitSet {
  const lower = character.toLowerCase();
  let cases = casesOf.get(lower);
  if (cases === undefined) {
    cases = setOf([lower.charCodeAt(0), lower.toUpperCase().charCodeAt(0)]);
    casesOf.set(lower, cases);
  }
  return cases;
}

/** Returns the form of `bytes` in hexadecimal. */
export function hexForm(bytes: Uint8Array, alphabet: Alphabet): LazyForm {
  let row = "";
  for (const byte of bytes) row += hexOf(byte);
  return {
    row,
    gap: "bytes",
    shortest: row.length,
    toForm: () => ({ symbols: Array.from(bytes, hexSymbol), gap: hexGapOf(alphabet) }),
  };
}

function hexOf(byte: number): string {
  return (byte < 16 ? "0" : "") + byte.toString(16);
}

/** Returns the form of base64 `text` in both alphabets, wrapped into lines or not. */
export function base64Form(text: string, alphabet: Alphabet): LazyForm {
  const toForm = (): Form => {
    const symbols = Array.from(text, (character): TextSymbol => {
      const inBoth = { "+": "+-", "-": "+-", "/": "/_", _: "/_" }[character] ?? character;
      return anyOf(inBoth, alphabet);
    });
    return { symbols, gap: base64GapOf(alphabet) };
  };
  return { row: text, gap: "lines", shortest: text.length, toForm };
}

/** Separators of two characters or more; `\x` is one too. */
const hexSeparators = [
  "\r\n",
  ", ",
  "  ",
  ...["", ",", " ", ", "].flatMap((start) => [`${start}0x`, `${start}0X`]),
].map((text) => sets(literal(text)));
/** A carriage return and a line feed. */
const lineBreakMaxCount = 2;
const indentationMaxCount = 16;

function hexGapOf(alphabet: Alphabet): Gap {
  hexGaps[alphabet] ??= createHexGap(alphabet);
  return hexGaps[alphabet];
}

function createHexGap(alphabet: Alphabet): Gap {
  const separators = createGapPart(
    [...anyOf(":-, \t\r\n", alphabet).spellings, ...hexSeparators, hexEscape],
    1,
  );
  return { separators, firsts: separators.firsts };
}

function base64GapOf(alphabet: Alphabet): Gap {
  base64Gaps[alphabet] ??= createBase64Gap(alphabet);
  return base64Gaps[alphabet];
}

function createBase64Gap(alphabet: Alphabet): Gap {
  const separators = createGapPart(anyOf("\r\n", alphabet).spellings, lineBreakMaxCount);
  // "+" can stand for a space, but here it is a character of base64.
  const plus = singleUnit(0x2b);
  const spellings = ["\t", " "]
    .flatMap((character) => anyOf(character, alphabet).spellings)
    .filter(({ lead }) => lead[0] !== plus);
  return {
    separators,
    indentation: createGapPart(spellings, indentationMaxCount),
    firsts: separators.firsts,
  };
}

/** Created when a form needs them: most processes use one alphabet, and some have no secrets. */
const hexGaps: { [A in Alphabet]?: Gap } = {};
const base64Gaps: { [A in Alphabet]?: Gap } = {};

/**
 * Returns the base64 characters that `bytes` alone decide when `before` bytes
 * precede them: those at the edges also depend on the neighbouring bytes.
 */
export function base64Within(bytes: Uint8Array, before: number): string {
  const shifted = new Uint8Array(before + bytes.length);
  shifted.set(bytes, before);
  return toBase64(shifted).slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
