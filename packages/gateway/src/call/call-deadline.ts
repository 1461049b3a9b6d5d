/**
 * The deadline of one execution. It stands still while the client is asked: the time that a person takes to answer is
 * not that of the tool, and has a limit of its own where the client is asked.
 */

/** A deadline that can stand still. */
export class CallDeadline {
  readonly #onEnd: () => void;
  readonly #now: () => number;
  /** Milliseconds that remained when the timer was set. */
  #remainingMs: number;
  #startedAt: number;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #isOver = false;

  /** @param now milliseconds since the epoch. @param onEnd called once, unless it ends before. */
  constructor(limitMs: number, now: () => number, onEnd: () => void) {
    this.#remainingMs = limitMs;
    this.#now = now;
    this.#onEnd = onEnd;
    this.#startedAt = now();
    this.#timer = setTimeout(onEnd, limitMs);
  }

  /** Returns the result of `work`, and stands still until it settles. */
  async paused<Value>(work: Promise<Value>): Promise<Value> {
    if (this.#pauses === 0) {
      clearTimeout(this.#timer);
      this.#remainingMs -= Math.max(0, this.#now() - this.#startedAt);
    }
    this.#pauses += 1;
    try {
      return await work;
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.#isOver) {
        this.#startedAt = this.#now();
        this.#timer = setTimeout(this.#onEnd, Math.max(0, this.#remainingMs));
      }
    }
  }

  /** Gives `ms` milliseconds from now. */
  extend(ms: number): void {
    clearTimeout(this.#timer);
    this.#remainingMs = ms;
    this.#startedAt = this.#now();
    if (this.#pauses === 0 && !this.#isOver) this.#timer = setTimeout(this.#onEnd, ms);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
