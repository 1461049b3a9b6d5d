/** Timers that fire when the test says so, for code that receives `startTimer`. No real time passes. */

/** Timers of one test. */
export class ManualTimers {
  readonly #armed = new Set<{ readonly delayMs: number; readonly callback: () => void }>();

  /** Arms a timer. @returns a function that cancels it */
  readonly startTimer = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { delayMs, callback };
    this.#armed.add(timer);
    return () => void this.#armed.delete(timer);
  };

  /** The delays of the armed timers in milliseconds, the oldest timer first. */
  get delays(): readonly number[] {
    return Array.from(this.#armed, ({ delayMs }) => delayMs);
  }

  /** Fires the timers that are armed now, the oldest first. Timers that they start stay armed. */
  fire(): void {
    const due = [...this.#armed];
    for (const timer of due) {
      // An earlier one can have cancelled it.
      if (this.#armed.delete(timer)) timer.callback();
    }
  }
}
