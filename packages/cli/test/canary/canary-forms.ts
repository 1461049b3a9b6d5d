/**
 * Canaries, the encodings in which an API may write them, and a search for them in
 * bytes. It implements the definitions of the encodings, independently of the product's
 * search for secrets.
 *
 * The search also finds parts: ten consecutive characters of a canary, in any encoding,
 * are a leak. It therefore finds truncated secrets too.
 */

/** An encoding of a text. */
export interface CanaryForm {
  readonly name: string;
  /** Returns the encoded characters of a text, one entry for each; base64 returns one entry for the whole text. */
  readonly write: (text: string) => readonly string[];
}

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text, "utf8")];
const hexOf = (byte: number): string => byte.toString(16).padStart(2, "0");
const lowerPercents = (text: string): string => text.replace(/%../g, (code) => code.toLowerCase());
const strictly = (character: string): string =>
  /[A-Za-z0-9_.~-]/.test(character) ? character : `%${hexOf(character.charCodeAt(0)).toUpperCase()}`;
const each =
  (write: (character: string) => string) =>
  (text: string): readonly string[] =>
    [...text].map(write);
const eachByte =
  (write: (byte: number) => string) =>
  (text: string): readonly string[] =>
    bytesOf(text).map(write);
const inBase64 =
  (encoding: "base64" | "base64url", before: string, after: string, isBare = false) =>
  (text: string): readonly string[] => {
    const encoded = Buffer.from(`${before}${text}${after}`, "utf8").toString(encoding);
    return [isBare ? encoded.replace(/=+$/, "") : encoded];
  };
const named: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Every encoding that the API uses. */
export const canaryForms: readonly CanaryForm[] = [
  { name: "plain", write: each((character) => character) },
  { name: "percent", write: each(strictly) },
  { name: "percent, lower case", write: each((character) => lowerPercents(strictly(character))) },
  { name: "percent, all of it", write: eachByte((byte) => `%${hexOf(byte).toUpperCase()}`) },
  { name: "percent, twice", write: each((character) => strictly(character).replace("%", "%25")) },
  { name: "form", write: each((character) => (character === " " ? "+" : strictly(character))) },
  { name: "JSON", write: each((character) => JSON.stringify(character).slice(1, -1)) },
  {
    name: "JSON in JSON",
    write: each((character) => JSON.stringify(JSON.stringify(character).slice(1, -1)).slice(1, -1)),
  },
  { name: "JSON, \\u", write: eachByte((byte) => `\\u00${hexOf(byte)}`) },
  { name: "JSON, \\u in upper case", write: eachByte((byte) => `\\u00${hexOf(byte).toUpperCase()}`) },
  { name: "HTML", write: each((character) => named[character] ?? character) },
  { name: "HTML, numbers", write: eachByte((byte) => `&#${byte};`) },
  { name: "hexadecimal", write: eachByte(hexOf) },
  { name: "hexadecimal, upper case", write: eachByte((byte) => hexOf(byte).toUpperCase()) },
  { name: "base64", write: inBase64("base64", "", "") },
  { name: "base64, unpadded", write: inBase64("base64", "", "", true) },
  { name: "base64 after one byte", write: inBase64("base64", "k", "+v") },
  { name: "base64 after two bytes", write: inBase64("base64", "k=", "; more") },
  { name: "base64 of user:secret", write: inBase64("base64", "user:", "") },
  { name: "base64url", write: inBase64("base64url", "", "") },
  { name: "base64url within a text", write: inBase64("base64url", '{"token":"', '"}') },
];

/** Encodes `text` in `form`. */
export function inForm(form: CanaryForm, text: string): string {
  return form.write(text).join("");
}

/** A canary that the search found. */
export interface Leak {
  readonly canary: string;
  readonly form: string;
  /** The canary with its context. */
  readonly excerpt: string;
}

/** A search for canaries. */
export interface LeakSearch {
  /** Returns the first part of a canary in `bytes`, or `undefined`. */
  find(bytes: Uint8Array): Leak | undefined;
}

interface Piece {
  readonly text: string;
  readonly canary: string;
  readonly form: string;
}

/** Number of consecutive characters of a canary that are a leak. */
const significant = 10;
/** The same number for base64: ten bytes are 13.3 characters. */
const significantInBase64 = 13;
const filterBits = 20;

/** Creates a search for `canaries`, names by value. */
export function createLeakSearch(canaries: ReadonlyMap<string, string>): LeakSearch {
  const filter = new Uint8Array(1 << filterBits);
  const byStart = new Map<number, Piece[]>();
  for (const [value, canary] of canaries) {
    for (const piece of piecesOf(value, canary)) {
      const start = Buffer.from(piece.text, "latin1").readInt32LE(0);
      const known = byStart.get(start);
      if (known === undefined) byStart.set(start, [piece]);
      else if (!known.some(({ text }) => text === piece.text)) known.push(piece);
      filter[slotOf(start)] = 1;
    }
  }

  function scan(bytes: Buffer): Leak | undefined {
    let window = 0;
    for (let end = 0; end < bytes.length; end += 1) {
      window = (window >>> 8) | ((bytes[end] as number) << 24);
      if (filter[slotOf(window)] === 0 || end < 3) continue;
      const at = end - 3;
      for (const { text, canary, form } of byStart.get(window) ?? []) {
        if (bytes.toString("latin1", at, at + text.length) !== text) continue;
        const excerpt = bytes.toString("latin1", Math.max(0, at - 120), at + text.length + 120);
        return { canary, form, excerpt };
      }
    }
    return undefined;
  }

  return {
    find(bytes) {
      let buffer: Buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      // Escapes may be mixed and nested.
      for (let depth = 0; ; depth += 1) {
        const leak = scan(buffer);
        if (leak !== undefined || depth === 3) return leak;
        const text = buffer.toString("latin1");
        const plainer = unescapeOnce(text);
        if (plainer === text) return undefined;
        buffer = Buffer.from(plainer, "latin1");
      }
    },
  };
}

function slotOf(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> (32 - filterBits);
}

function piecesOf(value: string, canary: string): Piece[] {
  const pieces: Piece[] = [];
  const add = (units: readonly string[], length: number, form: string): void => {
    const count = Math.min(length, units.length);
    for (let at = 0; at + count <= units.length; at += 1)
      pieces.push({ text: units.slice(at, at + count).join(""), canary, form });
  };
  for (const { name, write } of canaryForms) {
    const units = write(value);
    if (units.length > 1) add(units, significant, name);
  }
  // No API returns these; header names and media types are converted to lower case.
  add([...value.toLowerCase()], significant, "lower case");
  add([...value.toUpperCase()], significant, "upper case");
  // UTF-16 in either byte order.
  add(
    [...value].map((character) => `${character}\0`),
    significant,
    "UTF-16",
  );
  for (const encoding of ["base64", "base64url"] as const) {
    for (const before of [0, 1, 2]) {
      const shifted = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]).toString(encoding);
      const first = Math.ceil((before * 4) / 3);
      const last = Math.floor(((before + Buffer.byteLength(value)) * 4) / 3);
      add([...shifted.slice(first, last)], significantInBase64, `${encoding} at ${before}`);
    }
  }
  return pieces;
}

function unescapeOnce(text: string): string {
  if (!/%|\\|&#/.test(text)) return text;
  return text.replace(
    /%([0-9a-f]{2})|\\u00([0-9a-f]{2})|&#x0*([0-9a-f]{1,2});|&#0*(\d{1,3});|\\(["'\\/])/gi,
    (all, percent?: string, unicode?: string, hex?: string, decimal?: string, character?: string) => {
      const digits = percent ?? unicode ?? hex;
      if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
      if (decimal !== undefined) return Number(decimal) < 256 ? String.fromCharCode(Number(decimal)) : all;
      return character ?? all;
    },
  );
}
