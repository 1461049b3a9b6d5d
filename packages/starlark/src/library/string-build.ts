/**
 * Making strings of many pieces: charged before a piece is added, stepped as the
 * text grows, and joined in portions, so that neither a list of a million pieces
 * nor a rope of a million strings comes about.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";

/** The longest string there can be, in UTF-16 code units: JavaScript holds none longer. */
export const maxStringLength = 2 ** 29 - 24;

const beyondLatin = /[^\x00-\xff]/;

/** Up to this length reading characters one by one is quicker than to begin with an expression. */
const shortLength = 32;

/** Whether a character of `text` is beyond Latin-1, which makes it twice as heavy. */
export function isWide(text: string): boolean {
  if (text.length > shortLength) return beyondLatin.test(text);
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 0xff) return true;
  }
  return false;
}

/**
 * Account for a string of `length` code units, before it is made.
 *
 * @throws {StarlarkError} `resource` when it would be longer than a string can be, or there is no memory left.
 */
export function chargeString(length: number, wide: boolean, t: Thread): void {
  checkLength(length);
  t.charge(24 + (wide ? 2 * length : length));
}

function checkLength(length: number): void {
  if (length <= maxStringLength) return;
  throw new StarlarkError(`string of ${length} elements is too long: the limit is ${maxStringLength}`, {
    kind: "resource",
  });
}

/** Pieces that a string begins with; they are put together at once. Most strings have no more. */
const firstPieces = 16;
/** Pieces that are joined in one go, and code units. */
const portionPieces = 1024;
const portionLength = 1 << 15;

/** A string that grows. */
export class StringBuilder {
  readonly #thread: Thread;
  #text = "";
  #pieces = 0;
  #pending: string[] | undefined = undefined;
  #pendingLength = 0;
  #length = 0;
  #wide = false;

  constructor(thread: Thread) {
    this.#thread = thread;
    thread.charge(24);
  }

  /**
   * Add `piece` at the end.
   *
   * @param wide whether it may have characters beyond Latin-1, when the caller knows.
   */
  add(piece: string, wide: boolean = isWide(piece)): void {
    const { length } = piece;
    if (length === 0) return;
    if (wide && !this.#wide) {
      this.#wide = true;
      this.#thread.charge(this.#length);
    }
    this.#length += length;
    checkLength(this.#length);
    this.#thread.charge(this.#wide ? 2 * length : length);
    this.#thread.step(1 + (length >> 5));
    this.#pieces += 1;
    if (this.#pieces <= firstPieces || length >= portionLength) {
      this.#flush();
      this.#text += piece;
      return;
    }
    this.#pending ??= [];
    this.#pending.push(piece);
    this.#pendingLength += length;
    if (this.#pending.length >= portionPieces || this.#pendingLength >= portionLength) this.#flush();
  }

  /** All of it. */
  finish(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    if (this.#pending === undefined) return;
    this.#text += this.#pending.join("");
    this.#pending = undefined;
    this.#pendingLength = 0;
  }
}
