/**
 * Sends the figures of this moment at intervals. They count from the start of the gateway, so that the next export
 * contains what a failed one did: nothing is queued, and nothing is repeated.
 */

import type { SendOutcome } from "./send-otlp.ts";
import type { SignalState } from "./signal-state.ts";
import type { SignalStatus } from "./telemetry-types.ts";

/** Makes one export. Never rejects. */
export type PushMetrics = (stopping: AbortSignal) => Promise<SendOutcome>;

/** The exports of one gateway. Its owner drains it at the end. */
export class MetricsPush {
  readonly #push: PushMetrics;
  readonly #hasFigures: () => boolean;
  readonly #state: SignalState;
  readonly #timer: NodeJS.Timeout;
  readonly #ending = new AbortController();
  #sending: Promise<void> | undefined;

  /** @param hasFigures whether a call was counted */
  constructor(push: PushMetrics, hasFigures: () => boolean, state: SignalState, intervalMs: number) {
    this.#push = push;
    this.#hasFigures = hasFigures;
    this.#state = state;
    this.#timer = setInterval(() => this.#start(), intervalMs).unref();
  }

  status(): SignalStatus {
    return this.#state.status(0);
  }

  /** Sends the last figures, unless `late` aborts before. Without a call, there are none. */
  async drain(late: AbortSignal): Promise<void> {
    clearInterval(this.#timer);
    const end = () => this.#ending.abort(late.reason);
    if (late.aborted) end();
    else late.addEventListener("abort", end, { once: true });
    await this.#sending;
    if (this.#hasFigures()) await this.#start();
  }

  #start(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    const outcome = await this.#push(this.#ending.signal);
    if (outcome.kind === "sent") {
      this.#state.sent(1);
      if (outcome.rejected > 0) this.#state.failed("the collector did not accept some of the data");
    } else this.#state.lost(1, outcome.reason);
  }
}
