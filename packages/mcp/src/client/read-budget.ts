/**
 * Bounds what the responses of one session hold while they are read, for an owner that passes them on to a reader of
 * its own. While the reader takes nothing, nothing is read. Past the limit, only the response that has held bytes for
 * the longest time is read on, so that one of them always ends. The server waits for its connections meanwhile.
 */

import type { Readable } from "node:stream";

/** Behaviour of a `ReadBudget`. */
export interface ReadBudgetOptions {
  /** Bytes of unfinished responses past which only the oldest of them is read. */
  readonly maxBytes: number;
  /** Returns when the reader of the owner takes more; undefined while it does. */
  readonly whenTaken: () => Promise<void> | undefined;
}

/** The unfinished responses of one session. */
export class ReadBudget {
  readonly #options: ReadBudgetOptions;
  /** Bytes that each response holds, oldest first. */
  readonly #held = new Map<HeldResponse, number>();
  readonly #waiting = new Set<() => void>();
  #bytes = 0;

  constructor(options: ReadBudgetOptions) {
    this.#options = options;
  }

  /** Begins with a response, which holds nothing yet. */
  begin(body: Readable): HeldResponse {
    return new HeldResponse(this, body);
  }

  /** Sets what a response holds. */
  hold(response: HeldResponse, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(response) ?? 0);
    if (bytes > 0) this.#held.set(response, bytes);
    else this.#held.delete(response);
    for (const wake of this.#waiting) wake();
  }

  /** Returns when it may be time to read on; undefined where it is. */
  whenReadable(response: HeldResponse): Promise<void> | undefined {
    const taken = this.#options.whenTaken();
    if (taken !== undefined) return taken;
    const [oldest] = this.#held.keys();
    if (this.#bytes <= this.#options.maxBytes || oldest === response) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    return promise.finally(() => this.#waiting.delete(resolve));
  }
}

/** One response that is being read. Disposed when nothing of it is held any more. */
export class HeldResponse implements Disposable {
  readonly #budget: ReadBudget;
  readonly #body: Readable;

  constructor(budget: ReadBudget, body: Readable) {
    this.#budget = budget;
    this.#body = body;
  }

  /** Sets what it holds now, and waits until it may be read on or is closed. */
  async holds(bytes: number): Promise<void> {
    this.#budget.hold(this, bytes);
    let readable = this.#budget.whenReadable(this);
    if (readable === undefined || this.#body.destroyed) return;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#body.once("close", resolve);
    for (; readable !== undefined && !this.#body.destroyed; readable = this.#budget.whenReadable(this))
      await Promise.race([readable, closed]);
    this.#body.off("close", resolve);
  }

  [Symbol.dispose](): void {
    this.#budget.hold(this, 0);
  }
}
