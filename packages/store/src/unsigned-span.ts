/**
 * The time that records without a signature cover. The writer signs before it grows too long, so that a longer one
 * is not what a crash leaves.
 *
 * Times of records come from a clock that can jump, also back, and from a machine that can sleep: each step counts as its
 * size, and as at most ten seconds. The writer measures with this class, and so does the verification: they agree
 * whatever the clock does.
 */

/** Milliseconds of unsigned records that no crash leaves. */
export const unsignedMaxMs = 120_000;
/** Largest step that counts. */
const stepMaxMs = 10_000;

/** Adds up the steps between records. */
export class UnsignedSpan {
  #spanMs = 0;
  #lastMs: number | undefined;

  /** Milliseconds between the first and the last record, as counted. */
  get spanMs(): number {
    return this.#spanMs;
  }

  /** The span with a record at `timeMs`, which is not added. */
  with(timeMs: number): number {
    if (this.#lastMs === undefined) return this.#spanMs;
    return this.#spanMs + Math.min(Math.abs(timeMs - this.#lastMs), stepMaxMs);
  }

  /** Adds a record. */
  take(timeMs: number): void {
    this.#spanMs = this.with(timeMs);
    this.#lastMs = timeMs;
  }

  /** Removes the span at some earlier time: everything up to then was signed. */
  subtract(spanMs: number): void {
    this.#spanMs = Math.max(0, this.#spanMs - spanMs);
  }

  copy(): UnsignedSpan {
    const copy = new UnsignedSpan();
    copy.#spanMs = this.#spanMs;
    copy.#lastMs = this.#lastMs;
    return copy;
  }
}
