/**
 * The encodings in which a secret can come back from a program that received
 * it. Each is a form that a matcher finds in texts and in byte streams. This is
 * the only list: the gateway (results, errors, logs) and the egress (responses)
 * both use it.
 *
 * - plain text, with each character literal, percent-encoded, escaped for JSON
 *   or written as an HTML entity, letters in either case;
 * - the same reversed;
 * - hexadecimal in either case, with or without separators (`:`, `-`, `,`,
 *   space, line break, `0x`, `\x`);
 * - base64 in both alphabets, with or without padding, alone or at each of the
 *   three offsets inside a longer text, also wrapped into lines;
 * - in byte streams, UTF-16 of either byte order.
 *
 * Base64, hexadecimal and UTF-16 also apply to the secret as it stands inside
 * a JSON string, a URL or a form field.
 */

import { createGap, type Form, type Gap } from "./form.ts";
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
export function secretForms(secret: string, alphabet: Alphabet): readonly Form[] {
  if (secret.length < secretMinLength) return [];
  const text = secret.toWellFormed();
  const reversed = Array.from(text).reverse().join("");
  return [
    { symbols: caseless(text, alphabet) },
    { symbols: caseless(reversed, alphabet) },
    ...spellings(text).flatMap((one) => [
      ...encodedForms(one, alphabet),
      ...(alphabet === "bytes" ? wideForms(one) : []),
    ]),
  ];
}

/** `text`, and how it stands inside a JSON string, a URL or a form field. Most secrets have one spelling. */
function spellings(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inUrl = encodeURIComponent(text);
  return [...new Set([text, inJson, inJson.replaceAll("/", "\\/"), inUrl, inUrl.replaceAll("%20", "+")])];
}

function encodedForms(text: string, alphabet: Alphabet): readonly Form[] {
  const bytes = encoder.encode(text);
  const padded = toBase64(bytes);
  const encoded = [
    padded,
    padded.replace(/=+$/, ""),
    ...[0, 1, 2].map((before) => base64Within(bytes, before)),
  ];
  return [
    hexForm(bytes, alphabet),
    ...[...new Set(encoded)]
      .filter((one) => one.length >= secretMinLength)
      .map((one) => base64Form(one, alphabet)),
  ];
}

/** UTF-16 of either byte order: a reader that decodes the declared charset gets the secret. */
function wideForms(text: string): readonly Form[] {
  const zero = unescaped(singleUnit(0));
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  const pairs = units.map((unit): readonly [low: TextSymbol, high: TextSymbol] => {
    if (unit >= 0x80) return [unescaped(singleUnit(unit & 0xff)), unescaped(singleUnit(unit >>> 8))];
    const character = String.fromCharCode(unit);
    return [unescaped(bothCases(character)), zero];
  });
  return [{ symbols: pairs.flat() }, { symbols: pairs.flatMap(([low, high]) => [high, low]) }];
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
export function hexForm(bytes: Uint8Array, alphabet: Alphabet): Form {
  return { symbols: Array.from(bytes, hexSymbol), gap: hexGapOf(alphabet) };
}

/** Returns the form of base64 `text` in both alphabets, wrapped into lines or not. */
export function base64Form(text: string, alphabet: Alphabet): Form {
  const symbols = Array.from(text, (character): TextSymbol => {
    const inBoth = { "+": "+-", "-": "+-", "/": "/_", _: "/_" }[character] ?? character;
    return anyOf(inBoth, alphabet);
  });
  return { symbols, gap: base64GapOf(alphabet) };
}

/** Separators of two characters or more; `\x` is one too. */
const hexSeparators = ["\r\n", "0x", ",0x", " 0x", ", 0x"].map((text) => sets(literal(text)));
/** A carriage return and a line feed. */
const base64GapMaxCount = 2;

function hexGapOf(alphabet: Alphabet): Gap {
  hexGaps[alphabet] ??= createGap([...anyOf(":- \r\n", alphabet).spellings, ...hexSeparators, hexEscape], 1);
  return hexGaps[alphabet];
}

function base64GapOf(alphabet: Alphabet): Gap {
  base64Gaps[alphabet] ??= createGap(anyOf("\r\n", alphabet).spellings, base64GapMaxCount);
  return base64Gaps[alphabet];
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
