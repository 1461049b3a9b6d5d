/** Exponential backoff for attempts that fail. Uses no clock and no timer: it only computes the pauses. */

import type { UpstreamLimits } from "./upstream-options.ts";

/** Milliseconds after which the end of a connection, or of a stream of changes, no longer counts as a failure. @limit server */
export const stableAfterMs = 10_000;

/** Counts consecutive failures. Pauses grow from `reconnectMinMs` to `reconnectMaxMs`, doubled at each failure. */
export class Backoff {
  readonly #limits: Pick<Required<UpstreamLimits>, "reconnectMinMs" | "reconnectMaxMs">;
  readonly #random: () => number;
  #failures = 0;

  /** @param random returns a number in [0, 1). */
  constructor(
    limits: Pick<Required<UpstreamLimits>, "reconnectMinMs" | "reconnectMaxMs">,
    random: () => number,
  ) {
    this.#limits = limits;
    this.#random = random;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Counts a failure.
   *
   * @param minMs the wait that the server asked for. @default 0
   * @returns milliseconds to wait before the next attempt
   */
  failed(minMs = 0): number {
    const { reconnectMinMs, reconnectMaxMs } = this.#limits;
    const pauseMs = Math.min(reconnectMaxMs, reconnectMinMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    // Half of the pause is random, so that many servers of one host do not reconnect at the same moment.
    return Math.max(minMs, Math.round(pauseMs * (0.5 + this.#random() / 2)));
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
