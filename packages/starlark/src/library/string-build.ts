/**
 * Builds strings of many pieces. Each piece is charged before it is added, steps are
 * counted as the text grows, and pieces are joined in portions, which avoids ropes of
 * a million strings.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";

/** Maximum length of a string in UTF-16 units: the limit of the JavaScript engine. */
export const maxStringLength = 2 ** 29 - 24;

const beyondLatin = /[^\x00-\xff]/;

/** Up to this length, reading characters one by one is faster than a regular expression. */
const shortLength = 32;

/** Whether `text` has a character beyond Latin-1, which doubles its weight. */
export function isWide(text: string): boolean {
  if (text.length > shortLength) return beyondLatin.test(text);
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 0xff) return true;
  }
  return false;
}

/**
 * Accounts for a string of `length` code units, before it is made.
 *
 * @throws {StarlarkError} `resource` if it would exceed the maximum length or the
 *   memory limit.
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

/** Number of pieces, and of code units, that are joined at a time. */
const portionPieces = 1024;
const portionLength = 1 << 15;

/** A string that grows. */
export class StringBuilder {
  readonly #thread: Thread;
  /** All complete portions. */
  #text = "";
  #portion = "";
  /** Number of pieces of the portion. */
  #pieces = 0;
  #length = 0;
  #wide = false;

  constructor(thread: Thread) {
    this.#thread = thread;
    thread.charge(24);
  }

  /**
   * Appends `piece`.
   *
   * @param wide whether it may have characters beyond Latin-1, if the caller knows.
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
    if (length >= portionLength) {
      this.#closePortion();
      this.#text += piece;
      return;
    }
    this.#portion += piece;
    this.#pieces += 1;
    if (this.#pieces >= portionPieces || this.#portion.length >= portionLength) this.#closePortion();
  }

  /** The complete string. */
  finish(): string {
    return this.#text + this.#portion;
  }

  #closePortion(): void {
    if (this.#portion === "") return;
    this.#text += joined(this.#portion);
    this.#portion = "";
    this.#pieces = 0;
  }
}

/** `rope` as a contiguous string: the engine joins a rope when one of its characters is read. */
function joined(rope: string): string {
  return Number.isNaN(rope.charCodeAt(0)) ? "" : rope;
}
