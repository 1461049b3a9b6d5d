/** Counts what became of one kind of telemetry, and reports its first loss to the log. */

import type { Logger } from "@toolcrib/diagnostics";
import type { Signal, SignalStatus } from "./telemetry-types.ts";

/** Counters of one kind. */
export class SignalState {
  readonly #signal: Signal;
  readonly #deps: { readonly logger: Logger; readonly now: () => number };
  #sent = 0;
  #dropped = 0;
  #lastAt: number | undefined;
  #reason: string | undefined;
  #hasWarned = false;

  constructor(signal: Signal, deps: { readonly logger: Logger; readonly now: () => number }) {
    this.#signal = signal;
    this.#deps = deps;
  }

  get dropped(): number {
    return this.#dropped;
  }

  sent(count: number): void {
    this.#sent += count;
    this.#lastAt = this.#deps.now();
    this.#reason = undefined;
  }

  /** An attempt failed. The data may still be sent. */
  failed(reason: string): void {
    this.#reason = reason;
    this.#warn(reason);
  }

  lost(count: number, reason: string): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#reason = reason;
    this.#warn(reason);
  }

  /** @param pending what waits to be sent */
  status(pending: number): SignalStatus {
    return {
      signal: this.#signal,
      sent: this.#sent,
      dropped: this.#dropped,
      pending,
      ...(this.#lastAt === undefined ? {} : { lastAt: new Date(this.#lastAt).toISOString() }),
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
    };
  }

  /** Once in a run: a collector that fails every five seconds would fill the log. Status and metrics count. */
  #warn(reason: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#deps.logger.warn(
      { signal: this.#signal, reason },
      "telemetry is not delivered; calls are not affected, and further losses are counted in the status only",
    );
  }
}
