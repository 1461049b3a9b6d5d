/** Finds placeholders where none may be: in a text, or in a body that comes in pieces. */

import { placeholderMatcher } from "./placeholder.ts";

/** A placeholder that is not in its place. */
export interface Misplaced {
  /** `method`, `url`, `header`, `header:<name>`, `body`. */
  readonly where: string;
  /** The placeholder as it is written there, in whatever encoding. */
  readonly text: string;
}

/** The placeholder in `text`, wherever that comes from; `undefined` when there is none. */
export function findPlaceholder(where: string, text: string | Uint8Array): Misplaced | undefined {
  // A byte of a placeholder is a character of its own.
  if (text.length < placeholderMatcher.shortest) return undefined;
  const scanner = new PlaceholderScanner(where);
  return scanner.push(typeof text === "string" ? Buffer.from(text, "utf8") : text) ?? scanner.end();
}

const nothing = new Uint8Array(0);

/**
 * Looks for placeholders in what comes in pieces, across their edges. Keeps no
 * more than the beginning of one. A piece that ends in such a beginning may be
 * sent on: without its rest it is harmless.
 */
export class PlaceholderScanner {
  readonly #where: string;
  #held: Uint8Array = nothing;

  constructor(where: string) {
    this.#where = where;
  }

  /** Look into the next piece. */
  push(piece: Uint8Array): Misplaced | undefined {
    return this.#look(piece, false);
  }

  /** Look at what is left when nothing follows. */
  end(): Misplaced | undefined {
    return this.#held.length === 0 ? undefined : this.#look(nothing, true);
  }

  #look(piece: Uint8Array, isEnd: boolean): Misplaced | undefined {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const finding = placeholderMatcher.find(bytes, 0, isEnd);
    if (finding.kind === "found") {
      const text = Buffer.from(bytes.subarray(finding.start, finding.end)).toString("latin1");
      return { where: this.#where, text };
    }
    this.#held = finding.kind === "pending" ? Uint8Array.from(bytes.subarray(finding.start)) : nothing;
    return undefined;
  }
}
