/**
 * Symbols: one character of a secret in all its spellings. A character can be
 * literal, percent-encoded (up to three times), escaped for JSON (also JSON
 * inside JSON), or written as an HTML entity. A form of a secret is a row of
 * symbols, so that escapes can be mixed, and so that a letter or digit that
 * needs no escape is found with one.
 */

import { hexDigitsOf, literal, setOf, singleUnit, type UnitSet, unitsOf } from "./unit-set.ts";

/** The units of an input: the bytes of a stream (UTF-8), or the UTF-16 code units of a text. */
export type Alphabet = "bytes" | "text";

/** One way to write a symbol: one unit of each set in `lead`, a run of one unit, one unit of each set in `rest`. */
export interface Spelling {
  readonly lead: readonly UnitSet[];
  readonly run: Run | undefined;
  readonly rest: readonly UnitSet[];
}

/** A unit that is repeated. */
export interface Run {
  readonly unit: number;
  readonly min: number;
  readonly max: number;
}

/** One character, or any one of several, in all its spellings. */
export interface TextSymbol {
  readonly spellings: readonly Spelling[];
  /** The units that are the whole symbol and begin no other spelling of it. */
  readonly plain: UnitSet;
  /** The units that a spelling can begin with, where they are known to be ASCII. */
  readonly firsts?: UnitSet | undefined;
  /** The sets of the two digits of a byte in hexadecimal, which has no other spelling. */
  readonly pair?: readonly [high: UnitSet, low: UnitSet] | undefined;
}

const backslash = 0x5c;
/** Each level of JSON inside JSON doubles the backslashes. */
const maxBackslashes = 16;
/** `%2f`, `%252f`, `%25252f`. */
const percentDepths = 3;
/** HTML allows zeros before the number of a character: `&#0047;`. */
const maxEntityZeros = 6;

const shortEscapes: { readonly [character: string]: string } = {
  "\n": "n",
  "\r": "r",
  "\t": "t",
  "\b": "b",
  "\f": "f",
};

/** The named entities of HTML for ASCII characters. */
export const entityNames: { readonly [character: string]: readonly string[] } = {
  "\t": ["Tab"],
  "\n": ["NewLine"],
  "!": ["excl"],
  '"': ["quot", "QUOT"],
  "#": ["num"],
  $: ["dollar"],
  "%": ["percnt"],
  "&": ["amp", "AMP"],
  "'": ["apos"],
  "(": ["lpar"],
  ")": ["rpar"],
  "*": ["ast", "midast"],
  "+": ["plus"],
  ",": ["comma"],
  ".": ["period"],
  "/": ["sol"],
  ":": ["colon"],
  ";": ["semi"],
  "<": ["lt", "LT"],
  "=": ["equals"],
  ">": ["gt", "GT"],
  "?": ["quest"],
  "@": ["commat"],
  "[": ["lsqb", "lbrack"],
  "\\": ["bsol"],
  "]": ["rsqb", "rbrack"],
  "^": ["Hat"],
  _: ["lowbar", "UnderBar"],
  "`": ["grave", "DiacriticalGrave"],
  "{": ["lcub", "lbrace"],
  "|": ["verbar", "vert", "VerticalLine"],
  "}": ["rcub", "rbrace"],
};

const encoder = new TextEncoder();
const symbols: { readonly [A in Alphabet]: Map<string, TextSymbol> } = {
  bytes: new Map(),
  text: new Map(),
};

/** Returns `text` as symbols that ignore the case of letters. */
export function caseless(text: string, alphabet: Alphabet): readonly TextSymbol[] {
  return Array.from(text, (character) => anyOf(caseVariants(character), alphabet));
}

/** `character` in both cases, where the other case is one character of the same kind (ASCII or not). */
function caseVariants(character: string): string {
  const isAscii = character < "\x80";
  const others = [character.toLowerCase(), character.toUpperCase()].filter(
    (other) => Array.from(other).length === 1 && other < "\x80" === isAscii,
  );
  return [...new Set([character, ...others])].sort().join("");
}

/** Returns a symbol that matches any one of `characters`, in all their spellings. */
export function anyOf(characters: string, alphabet: Alphabet): TextSymbol {
  const cache = symbols[alphabet];
  const all = Array.from(characters);
  if (all.length === 1) return symbolOf(characters, alphabet);
  const known = cache.get(characters);
  if (known !== undefined) return known;
  const parts = all.map((character) => symbolOf(character, alphabet));
  const plain = setOf(parts.flatMap((part) => unitsOf(part.plain)));
  const escapes = parts.flatMap(({ spellings }) => spellings.filter((one) => !isWithin(one, plain)));
  const isPlain = unitsOf(plain).length > 0;
  return toShared(characters, { spellings: isPlain ? [sets([plain]), ...escapes] : escapes, plain }, cache);
}

function isWithin({ lead, run, rest }: Spelling, plain: UnitSet): boolean {
  const [set, second] = [...lead, ...rest];
  if (run !== undefined || set === undefined || second !== undefined) return false;
  return unitsOf(set).every((unit) => plain[unit] === 1);
}

/** Secrets share ASCII characters. A cache of others would grow with each secret. */
function isShared(characters: string): boolean {
  return /^[\x00-\x7f]+$/.test(characters);
}

function symbolOf(character: string, alphabet: Alphabet): TextSymbol {
  const cache = symbols[alphabet];
  const known = cache.get(character);
  if (known !== undefined) return known;
  return toShared(character, toSymbol(character, alphabet), cache);
}

/** Keeps the symbol of ASCII characters. */
function toShared(characters: string, symbol: TextSymbol, cache: Map<string, TextSymbol>): TextSymbol {
  if (!isShared(characters)) return symbol;
  const shared = { ...symbol, firsts: firstsOf(symbol.spellings) };
  cache.set(characters, shared);
  return shared;
}

/** Returns the units that `spellings` can begin with. */
export function firstsOf(spellings: readonly Spelling[]): UnitSet {
  const firsts = spellings.flatMap(({ lead, run, rest }) => {
    const units = lead[0] === undefined && run !== undefined ? [run.unit] : [];
    const next = lead[0] ?? (run === undefined || run.min === 0 ? rest[0] : undefined);
    return next === undefined ? units : [...units, ...unitsOf(next)];
  });
  return setOf(firsts);
}

function toSymbol(character: string, alphabet: Alphabet): TextSymbol {
  const code = character.codePointAt(0) as number;
  const bytes = [...encoder.encode(character)];
  const units = alphabet === "bytes" ? bytes : codeUnitsOf(character);
  const literalSets = units.map(singleUnit);
  const spellings = [
    ...percentSpellings(bytes),
    ...entitySpellings(character, code),
    ...unicodeEscapes(character),
  ];
  const short = shortEscapes[character];
  if (short !== undefined) spellings.push(afterBackslashes(literal(short)));
  const plainUnits: number[] = [];
  if (character === " ") {
    spellings.push(sets(literal("+")));
    plainUnits.push(0x2b);
  }
  if (code === backslash) {
    spellings.push(afterBackslashes([]));
  } else {
    spellings.push(sets(literalSets));
    if (!/^[A-Za-z0-9]$/.test(character)) spellings.push(afterBackslashes(literalSets));
    // "%" begins "%25", and "&" begins "&amp;".
    const [unit] = units;
    if (units.length === 1 && unit !== undefined && character !== "%" && character !== "&")
      plainUnits.push(unit);
  }
  return { spellings, plain: setOf(plainUnits) };
}

function codeUnitsOf(character: string): number[] {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
}

function percentSpellings(bytes: readonly number[]): Spelling[] {
  return Array.from({ length: percentDepths }, (_, depth) =>
    sets(bytes.flatMap((byte) => [...literal(`%${"25".repeat(depth)}`), ...hexDigitsOf(byte, 2)])),
  );
}

/** `&#97;`, `&#x61;` and `&name;`, also with `&` itself escaped as `&amp;`. */
function entitySpellings(character: string, code: number): Spelling[] {
  const zeros: Run = { unit: 0x30, min: 0, max: maxEntityZeros };
  const end = literal(";");
  return ["&", "&amp;"].flatMap((start) => [
    { lead: literal(`${start}#`), run: zeros, rest: [...literal(String(code)), ...end] },
    { lead: [...literal(`${start}#`), hexLetter], run: zeros, rest: [...hexDigitsOf(code, 1), ...end] },
    ...(entityNames[character] ?? []).map((name) => sets(literal(`${start}${name};`))),
  ]);
}

const hexLetter = setOf([0x78, 0x58]);

/** `\u0061`; two of them for a character outside the Basic Multilingual Plane. */
function unicodeEscapes(character: string): Spelling[] {
  const [first = 0, second] = codeUnitsOf(character);
  if (second === undefined) return [afterBackslashes([...literal("u"), ...hexDigitsOf(first, 4)])];
  return [1, 2, 4, 8].map((count) => {
    const start = literal(`${"\\".repeat(count)}u`);
    return sets([...start, ...hexDigitsOf(first, 4), ...start, ...hexDigitsOf(second, 4)]);
  });
}

/** A spelling without a run. */
export function sets(lead: readonly UnitSet[]): Spelling {
  return { lead, run: undefined, rest: [] };
}

function afterBackslashes(rest: readonly UnitSet[]): Spelling {
  return { lead: [], run: { unit: backslash, min: 1, max: maxBackslashes }, rest };
}

/** The spellings of `\x` as it stands before each byte in C and JavaScript. */
export const hexEscape: Spelling = afterBackslashes(literal("x"));

const unescapedSymbols = new WeakMap<UnitSet, TextSymbol>();

/** Returns the symbol of one unit of `set`, without escapes. */
export function unescaped(set: UnitSet): TextSymbol {
  let symbol = unescapedSymbols.get(set);
  if (symbol === undefined) {
    symbol = { spellings: [sets([set])], plain: set };
    unescapedSymbols.set(set, symbol);
  }
  return symbol;
}

const hexSymbols = new Map<number, TextSymbol>();
const nothingPlain = setOf([]);

/** Returns the symbol of a byte in two hexadecimal digits, without escapes. */
export function hexSymbol(byte: number): TextSymbol {
  let symbol = hexSymbols.get(byte);
  if (symbol === undefined) {
    const [high, low] = hexDigitsOf(byte, 2) as [UnitSet, UnitSet];
    symbol = { spellings: [sets([high, low])], plain: nothingPlain, firsts: high, pair: [high, low] };
    hexSymbols.set(byte, symbol);
  }
  return symbol;
}
