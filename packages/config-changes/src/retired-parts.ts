/** Parts of earlier configurations that calls in flight still use. They end when no call is in flight, or after a while. */

import type { InFlight } from "@toolcrib/lifecycle";

/** Dependencies of `RetiredParts`. */
export interface RetiredPartsDeps {
  readonly inFlight: Pick<InFlight, "idle">;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Milliseconds after which a part ends although calls are in flight: hooks that are asked later deny. */
const keptMs = 600_000;

/** Parts that are kept; of more, the oldest ends. */
const keptMaxCount = 8;

/** The parts of one gateway. */
export class RetiredParts implements AsyncDisposable {
  readonly #deps: RetiredPartsDeps;
  readonly #kept = new Map<AbortController, Promise<void>>();

  constructor(deps: RetiredPartsDeps) {
    this.#deps = deps;
  }

  /** Calls `end` when the part is not used any more. A failure of it is the end, too. */
  add(end: () => Promise<void>): void {
    const now = new AbortController();
    // Those that end already are kept until they have ended.
    const kept = [...this.#kept.keys()].filter(({ signal }) => !signal.aborted);
    if (kept.length >= keptMaxCount) kept[0]?.abort();
    this.#kept.set(
      now,
      this.#end(end, now).finally(() => this.#kept.delete(now)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const now of this.#kept.keys()) now.abort();
    await Promise.all(this.#kept.values());
  }

  async #end(end: () => Promise<void>, now: AbortController): Promise<void> {
    const { inFlight, sleep } = this.#deps;
    const late = sleep(keptMs, now.signal).catch(() => {});
    await Promise.race([inFlight.idle(), late]);
    now.abort();
    await end().catch(() => {});
  }
}
