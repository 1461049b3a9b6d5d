/**
 * The forms in which a secret value may come back from a server that was given
 * it: as it is, escaped for JSON, URLs or HTML, in hexadecimal, in base64 alone
 * or inside a longer text, reversed, and line by line. Pure.
 *
 * Escapes may be mixed, repeated and of either case; that a character needs no
 * escape and has one all the same is not looked for in letters and digits.
 *
 * The egress has a list of its own, for bytes that come in pieces: its search
 * takes about ten times as long on short texts of JSON, and a gateway without
 * toolspecs does not load it at all. What is added there is wanted here too.
 */

/** Shorter values occur in ordinary text and would damage it. */
export const secretMinLength = 6;

/** Lines of this length that are one word are secret by themselves, such as those of a PEM block. */
const lineMinLength = 32;

/** Sources of regular expressions that match the forms of `value`; the longest text first. */
export function secretPatternsOf(value: string): readonly string[] {
  const sources = new Set<string>();
  const bare = value.replace(/^\s*(?:Bearer|Basic|Token)\s+/i, "").trim();
  for (const one of [value, value.trim(), bare, ...secretLines(value)]) {
    if (one.length < secretMinLength) continue;
    const text = one.toWellFormed();
    for (const source of sourcesOf(text)) sources.add(source);
  }
  return [...sources];
}

/** Standard error and logs come by lines, so a value of several is looked for by lines too. */
function secretLines(value: string): readonly string[] {
  if (!value.includes("\n")) return [];
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineMinLength && !/\s/.test(line));
}

function sourcesOf(value: string): readonly string[] {
  return [
    escapableSource(value),
    ...spellings(value).flatMap(encodedSources),
    escapableSource([...value].reverse().join("")),
  ];
}

/** `value`, and how it stands in a JSON text, a URL or a form, which may be encoded as a whole. */
function spellings(value: string): readonly string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const inUrl = encodeURIComponent(value);
  return [...new Set([value, inJson, inJson.replaceAll("/", "\\/"), inUrl, inUrl.replaceAll("%20", "+")])];
}

function encodedSources(text: string): readonly string[] {
  const hex = Buffer.from(text, "utf8").toString("hex");
  const encoded = base64Of(text).filter((form) => form.length >= secretMinLength);
  return [hex, hex.toUpperCase(), ...encoded.map(literalSource)];
}

/** `value` with each character as it is or in any of the escapes that it may have. */
function escapableSource(value: string): string {
  let source = "";
  for (const character of value) source += isPlain(character) ? character : escapesOf(character);
  return source;
}

function isPlain(character: string): boolean {
  return /^[A-Za-z0-9_-]$/.test(character);
}

/** JSON within JSON within JSON doubles each backslash three times. */
const backslashes = "\\\\{1,15}";
const maybeBackslashes = "\\\\{0,15}";

const jsonEscapes: { readonly [character: string]: string } = { "\n": "n", "\r": "r", "\t": "t" };
const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapesOf(character: string): string {
  if (character === "\\") return `(?:${backslashes}|%(?:25)*5[cC]|&#92;|&#[xX]5[cC];)`;
  const code = character.codePointAt(0) as number;
  const percent = [...Buffer.from(character, "utf8")].map((byte) => `%(?:25)*${hexSource(byte, 2)}`);
  const units = [...Array(character.length).keys()].map((at) => character.charCodeAt(at));
  const forms = [
    `${maybeBackslashes}${literalSource(character)}`,
    percent.join(""),
    units.map((unit) => `${backslashes}u${hexSource(unit, 4)}`).join(""),
    `&#0*${code};`,
    `&#[xX]0*${hexSource(code, 1)};`,
  ];
  if (entities[character] !== undefined) forms.push(entities[character]);
  if (jsonEscapes[character] !== undefined) forms.push(`${backslashes}${jsonEscapes[character]}`);
  if (character === " ") forms.push("\\+");
  return `(?:${forms.join("|")})`;
}

/** A number in hexadecimal digits of either case. */
function hexSource(number: number, width: number): string {
  return number
    .toString(16)
    .padStart(width, "0")
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literalSource(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/**
 * The value in base64 at each of the three places where it can begin in a longer
 * text (`user:SECRET`), as far as it alone decides the characters, and whole.
 */
function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = [bytes.toString("base64").replace(/=+$/, "")];
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const first = Math.ceil((before * 8) / 6);
    forms.push(shifted.slice(first, Math.floor(((before + bytes.length) * 8) / 6)));
  }
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}
