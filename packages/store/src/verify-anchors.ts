/**
 * Compares a trail with the anchors of it that were kept outside the home. An anchor
 * states the hash of one record, which depends on all records before it: when the hash is
 * another one, the trail up to this record was changed or written anew, also with a valid signature.
 */

import type { KeyObject } from "node:crypto";
import type { Anchor, AnchorFile } from "./anchor-file.ts";
import { isSignedWith } from "./audit-heads.ts";

/** An anchor that does not match, or that cannot be compared. */
export interface AnchorMismatch {
  /** Line of the anchor file. */
  readonly line: number;
  readonly message: string;
}

/** Findings about one anchor file: the first ones tell where a change begins. */
const mismatchesMaxCount = 100;

/** The anchors of one writer, while its trail is read. */
export class WriterAnchors {
  readonly #writer: string;
  readonly #bySequence: ReadonlyMap<number, readonly Anchor[]>;
  readonly #mismatches: AnchorMismatch[] = [];
  readonly #seen = new Set<number>();
  #matched = 0;
  #provedSequence = 0;

  constructor(writer: string, anchors: AnchorFile | undefined) {
    this.#writer = writer;
    this.#bySequence = anchors?.byWriter.get(writer) ?? new Map();
  }

  /** Compares the record `sequence`. */
  take(sequence: number, hash: string): void {
    const anchors = this.#bySequence.get(sequence);
    if (anchors === undefined) return;
    this.#seen.add(sequence);
    for (const { line, hash: anchored, time } of anchors) {
      if (anchored === hash) {
        this.#matched += 1;
        this.#provedSequence = Math.max(this.#provedSequence, sequence);
      } else {
        const message = `record ${sequence} of writer ${this.#writer} is not the one that was anchored at ${time}: it or an earlier one was changed, or the trail was written anew`;
        this.#report({ line, message });
      }
    }
  }

  /** Number of anchors that match, and the record up to which they prove the trail; 0 without one. */
  summary(): { readonly matched: number; readonly provedSequence: number } {
    return { matched: this.#matched, provedSequence: this.#provedSequence };
  }

  /**
   * All findings, when every record was compared.
   *
   * @param kept the first and the last record of the trail; `undefined` for a trail without records.
   */
  mismatches(
    kept: { readonly first: number; readonly last: number } | undefined,
    publicKey: KeyObject | undefined,
  ): readonly AnchorMismatch[] {
    let newest: Anchor | undefined;
    for (const [sequence, anchors] of this.#bySequence) {
      for (const anchor of anchors) {
        if (newest === undefined || sequence > newest.sequence) newest = anchor;
        if (publicKey !== undefined && !isSignedWith(anchor, publicKey)) {
          const message = "the anchor is not signed with the key of this home: one of them was replaced";
          this.#report({ line: anchor.line, message });
        }
        if (!this.#seen.has(sequence) && (kept === undefined || sequence >= kept.first))
          this.#report({ line: anchor.line, message: this.#missing(anchor, kept?.last ?? 0) });
      }
    }
    // Retention keeps the newest segment of each writer, so its newest anchor is about a record that is kept.
    if (newest !== undefined && kept !== undefined && newest.sequence < kept.first) {
      const message = `the newest anchor of writer ${this.#writer} is about record ${newest.sequence}, and the trail begins with record ${kept.first}: nothing could be compared`;
      this.#report({ line: newest.line, message });
    }
    return this.#mismatches.toSorted((a, b) => a.line - b.line);
  }

  #missing({ sequence, time }: Anchor, last: number): string {
    const state = last === 0 ? "this writer has no records" : `the last one here is ${last}`;
    return sequence > last
      ? `the records of writer ${this.#writer} up to ${sequence} were anchored at ${time}, and ${state}`
      : `record ${sequence} of writer ${this.#writer} was anchored at ${time} and is missing`;
  }

  #report(mismatch: AnchorMismatch): void {
    if (this.#mismatches.length < mismatchesMaxCount) this.#mismatches.push(mismatch);
  }
}
