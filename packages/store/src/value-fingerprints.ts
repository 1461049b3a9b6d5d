/**
 * Fingerprints of the values in arguments and results: HMAC-SHA-256 under a key of the
 * home, shortened. Equal values have equal fingerprints, so a trail shows where a value came from and went to,
 * without containing it. Without the key, a fingerprint says nothing about its value.
 *
 * A value is a scalar leaf as text, so that a number and the text of its digits are equal. What is too short to identify
 * anything has no fingerprint, and neither has a part of a text. The work for one call has a limit, whatever its size.
 *
 * Some of the last short values stay in memory with their fingerprints, at most 256 of them.
 */

import { hash } from "node:crypto";

/** Fingerprints by the places of the values, as JSON Pointers. */
export interface Fingerprints {
  readonly [pointer: string]: string;
}

/** Values of one tree that get a fingerprint. */
const leafMaxCount = 64;
/** Values of one tree that are looked at. */
const visitedMaxCount = 1000;
/** Deepest value that is looked at. */
const maxDepth = 16;
/** Characters of all values of one tree. */
const textsMaxLength = 128 * 1024;
/** Fewest characters of a value: shorter ones are everywhere. */
const textMinLength = 4;
/** Characters of a value from which on only its beginning and its length count. */
const textMaxLength = 16 * 1024;
/** Longest text of a tool that is read as JSON, to find the values in it. */
const jsonMaxLength = 4096;
/** Characters of a place. */
const pointerMaxLength = 200;
/** Hexadecimal digits of a fingerprint. */
const digitsCount = 16;

const blockBytes = 64;
const digestBytes = 32;
/** A UTF-16 unit takes at most six bytes, where it is escaped; a shortened text has its length at the end. */
const bufferBytes = blockBytes + 6 * (textMaxLength + 20);

/** Longest text whose fingerprint is kept for a while. */
const keptMaxLength = 256;
/** Fingerprints that are kept at most; a power of two. */
const keptCount = 256;

/** Computes fingerprints under one key. */
export class ValueFingerprints {
  /** Fingerprints of recent values: results repeat values of their arguments, and calls those of the calls before. */
  readonly #texts: string[] = new Array(keptCount).fill("");
  readonly #ofTexts: string[] = new Array(keptCount).fill("");
  /** The two inputs of HMAC, of which the key is the constant beginning. */
  readonly #inner = Buffer.alloc(bufferBytes);
  readonly #outer = Buffer.alloc(blockBytes + digestBytes);
  readonly #digits = Buffer.alloc(digitsCount);

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    for (let at = 0; at < blockBytes; at += 1) {
      const byte = key[at] ?? 0;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
  }

  /** Returns the fingerprint of a text or a number; `undefined` for what has none. */
  of(value: unknown): string | undefined {
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || text.length < textMinLength) return undefined;
    return text.length <= keptMaxLength ? this.#known(text) : this.#hash(text);
  }

  /**
   * Returns the fingerprints of the arguments of a call; `undefined` when there are none.
   *
   * @param clean changes places, which contain names that a client chose, before they are recorded
   */
  ofArguments(args: object, clean: (places: string) => string): Fingerprints | undefined {
    const found = this.#take(new Finder(this), args, "");
    const places = Object.keys(found ?? {});
    if (found === undefined || places.length === 0) return undefined;
    // One text for all places: most of the cost of cleaning is that of a call.
    const joined = places.join("\n");
    const cleaned = clean(joined);
    if (cleaned === joined) return found;
    const names = cleaned.split("\n");
    return Object.fromEntries(
      Object.values(found).map((value, at) => [names.length === places.length ? names[at] : `/${at}`, value]),
    );
  }

  /** Returns the fingerprints of a result; `undefined` when there are none. A text that is JSON counts as its values. */
  ofResult(result: { readonly [name: string]: unknown }): Fingerprints | undefined {
    const finder = new Finder(this);
    const { content, structuredContent } = result;
    if (structuredContent !== undefined) finder.find(structuredContent, "/structuredContent", 1);
    if (Array.isArray(content)) {
      for (const [at, block] of content.entries()) {
        if (finder.isFull) break;
        findInBlock(finder, block, `/content/${at}`, structuredContent === undefined);
      }
    }
    for (const name in result) {
      if (name === "content" || name === "structuredContent" || name === "_meta") continue;
      finder.find(result[name], `/${toPointerName(name)}`, 1);
    }
    return finder.found;
  }

  #take(finder: Finder, value: unknown, pointer: string): Fingerprints | undefined {
    finder.find(value, pointer, 0);
    return finder.found;
  }

  #known(text: string): string {
    const place = placeOf(text);
    if (this.#texts[place] === text) return this.#ofTexts[place] as string;
    const fingerprint = this.#hash(text);
    this.#texts[place] = text;
    this.#ofTexts[place] = fingerprint;
    return fingerprint;
  }

  #hash(text: string): string {
    const part = text.length <= textMaxLength ? text : `${text.slice(0, textMaxLength)}\u0000${text.length}`;
    // In UTF-8, all halves of surrogate pairs are the same.
    const whole = part.isWellFormed() ? part : JSON.stringify(part);
    const length = this.#inner.write(whole, blockBytes);
    const digest = hash("sha256", this.#inner.subarray(0, blockBytes + length), "latin1");
    this.#outer.write(digest, blockBytes, "latin1");
    // Copied instead of sliced: JSON.stringify takes twice as long for a slice of a string.
    this.#digits.write(hash("sha256", this.#outer, "hex"), 0, digitsCount, "latin1");
    return this.#digits.toString("latin1");
  }
}

/** The place of a text among those that are kept. Two texts with the same one take it from each other. */
function placeOf(text: string): number {
  const { length } = text;
  const [first, middle] = [text.charCodeAt(0), text.charCodeAt(length >> 1)];
  const [last, lastButOne] = [text.charCodeAt(length - 1), text.charCodeAt(length - 2)];
  return (first * 3 + middle * 7 + lastButOne * 13 + last * 31 + length) & (keptCount - 1);
}

/** Collects the fingerprints of one tree, within the limits. */
class Finder {
  readonly #fingerprints: Pick<ValueFingerprints, "of">;
  #found: { [pointer: string]: string } | undefined;
  #leavesLeft = leafMaxCount;
  #visitsLeft = visitedMaxCount;
  #lengthLeft = textsMaxLength;

  constructor(fingerprints: Pick<ValueFingerprints, "of">) {
    this.#fingerprints = fingerprints;
  }

  get found(): Fingerprints | undefined {
    return this.#found;
  }

  get isFull(): boolean {
    return this.#leavesLeft <= 0 || this.#visitsLeft <= 0;
  }

  find(value: unknown, pointer: string, depth: number): void {
    if (this.isFull) return;
    this.#visitsLeft -= 1;
    if (typeof value === "string" || typeof value === "number") this.#takeLeaf(value, pointer);
    else if (typeof value === "object" && value !== null && depth < maxDepth)
      this.#findInside(value, pointer, depth + 1);
  }

  #findInside(value: object, pointer: string, depth: number): void {
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length && !this.isFull; at += 1)
        this.find(value[at], `${pointer}/${at}`, depth);
      return;
    }
    for (const name in value) {
      if (this.isFull) return;
      const inside = `${pointer}/${toPointerName(name)}`;
      if (Object.hasOwn(value, name))
        this.find((value as { readonly [name: string]: unknown })[name], inside, depth);
    }
  }

  #takeLeaf(value: string | number, pointer: string): void {
    if (typeof value === "string") {
      const length = Math.min(value.length, textMaxLength);
      if (length > this.#lengthLeft) return;
      this.#lengthLeft -= length;
    }
    const fingerprint = this.#fingerprints.of(value);
    if (fingerprint === undefined) return;
    this.#leavesLeft -= 1;
    this.#found ??= {};
    this.#found[pointer.length <= pointerMaxLength ? pointer : `${pointer.slice(0, pointerMaxLength)}…`] =
      fingerprint;
  }
}

/** The values of one content block. Its type and its annotations describe it, and are no values. */
function findInBlock(finder: Finder, block: unknown, pointer: string, readsJson: boolean): void {
  if (typeof block !== "object" || block === null) return;
  for (const [name, value] of Object.entries(block)) {
    if (name === "type" || name === "mimeType" || name === "annotations" || name === "_meta") continue;
    const inside = `${pointer}/${toPointerName(name)}`;
    const parsed = readsJson && name === "text" ? parseText(value) : undefined;
    if (parsed === undefined) finder.find(value, inside, 2);
    else finder.find(parsed, `${inside}#`, 2);
  }
}

/** Returns the object or list in a text; `undefined` for any other text. */
function parseText(value: unknown): object | undefined {
  if (typeof value !== "string" || value.length > jsonMaxLength || !/^[{[]/.test(value)) return undefined;
  try {
    return JSON.parse(value) as object;
  } catch {
    return undefined;
  }
}

function toPointerName(name: string): string {
  return /[~/\n]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("\n", " ") : name;
}
