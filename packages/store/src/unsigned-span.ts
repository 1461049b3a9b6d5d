/**
 * The time that records without a signature cover. The writer signs before it grows too long, so that a longer one
 * is not what a crash leaves.
 *
 * Times of records come from a clock that can jump and from a machine that can sleep: a gap counts as at most ten
 * seconds, a clock that went back counts nothing, and neither does the time between two runs. The writer measures
 * with this class, and so does the verification: they agree whatever the clock does.
 */

/** Milliseconds of unsigned records that no crash leaves. */
export const unsignedMaxMs = 120_000;
/** Longest gap that counts. */
const gapMaxMs = 10_000;

/** Adds up the gaps between records. */
export class UnsignedSpan {
  #spanMs = 0;
  #lastMs: number | undefined;
  #run = "";

  /** Milliseconds between the first and the last record, as counted. */
  get spanMs(): number {
    return this.#spanMs;
  }

  /** The span with a record at `timeMs` of the same run, which is not added. */
  with(timeMs: number): number {
    if (this.#lastMs === undefined) return this.#spanMs;
    return this.#spanMs + Math.min(Math.max(0, timeMs - this.#lastMs), gapMaxMs);
  }

  /** Adds a record. @param run identifies the process that wrote it. */
  take(timeMs: number, run = ""): void {
    if (run !== this.#run) this.#lastMs = undefined;
    this.#spanMs = this.with(timeMs);
    this.#run = run;
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
    copy.#run = this.#run;
    return copy;
  }
}

/** Returns the run in the id of a record, `RUN-SEQUENCE`. */
export function runOf(id: string): string {
  return id.slice(0, id.lastIndexOf("-"));
}
