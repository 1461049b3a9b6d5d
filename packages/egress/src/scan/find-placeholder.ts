/** Finds placeholders in a text, or in a body that arrives in pieces. */

import { placeholderMatcher } from "./placeholder.ts";

/** A placeholder outside its place. */
export interface Misplaced {
  /** `method`, `url`, `header`, `header:<name>`, `body`. */
  readonly where: string;
  /** The placeholder as it was found, in any encoding. */
  readonly text: string;
}

/** Returns the first placeholder in `text`; `undefined` if there is none. */
export function findPlaceholder(where: string, text: string | Uint8Array): Misplaced | undefined {
  // A placeholder is ASCII: it has as many bytes as characters.
  if (text.length < placeholderMatcher().shortest) return undefined;
  const scanner = new PlaceholderScanner(where);
  return scanner.push(typeof text === "string" ? Buffer.from(text, "utf8") : text) ?? scanner.end();
}

const nothing = new Uint8Array(0);

/**
 * Finds placeholders in a body that arrives in pieces, also across their
 * boundaries. Keeps the possible beginning of a placeholder only. The caller may
 * send a piece that ends with such a beginning: it is harmless without the rest.
 */
export class PlaceholderScanner {
  readonly #where: string;
  #held: Uint8Array = nothing;

  constructor(where: string) {
    this.#where = where;
  }

  /** Scans the next piece. */
  push(piece: Uint8Array): Misplaced | undefined {
    return this.#scan(piece, false);
  }

  /** Scans the kept bytes at the end of the body. */
  end(): Misplaced | undefined {
    return this.#held.length === 0 ? undefined : this.#scan(nothing, true);
  }

  #scan(piece: Uint8Array, isEnd: boolean): Misplaced | undefined {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const finding = placeholderMatcher().find(bytes, 0, isEnd);
    if (finding.kind === "found") {
      const text = Buffer.from(bytes.subarray(finding.start, finding.end)).toString("latin1");
      return { where: this.#where, text };
    }
    this.#held = finding.kind === "pending" ? Uint8Array.from(bytes.subarray(finding.start)) : nothing;
    return undefined;
  }
}
