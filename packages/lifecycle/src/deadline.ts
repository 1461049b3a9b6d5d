/** A time limit as an abort signal. The timer is the caller's: this package starts none of its own. */

/**
 * Runs `callback` once after `delayMs` milliseconds.
 *
 * @returns a function that cancels the timer; without effect once it has fired.
 */
export type StartTimer = (delayMs: number, callback: () => void) => () => void;

/**
 * Aborts its signal after a time, unless it is disposed of before.
 *
 * ```ts
 * using deadline = new Deadline(startTimer, 5_000, () => new Error("Not done within 5 s"));
 * await connect(AbortSignal.any([signal, deadline.signal]));
 * ```
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #cancel: () => void;

  /**
   * @param delayMs milliseconds until `signal` aborts.
   * @param reason makes the reason of the abort; called when the time is over.
   */
  constructor(startTimer: StartTimer, delayMs: number, reason: () => unknown) {
    this.#cancel = startTimer(delayMs, () => this.#controller.abort(reason()));
  }

  /** Aborts when the time is over. Never aborts after the deadline was disposed of. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}
