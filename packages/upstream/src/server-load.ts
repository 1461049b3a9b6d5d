/**
 * The calls of one server: a limit of running calls and a bounded queue, shared
 * fairly among clients, so that a server that hangs fills only its own queue and
 * a client only its own share. It also knows for how long the server is silent,
 * and whether it floods.
 */

import { FairQueue, type ShareRefusal } from "@toolcrib/lifecycle";
import { type CallContext, identityKey } from "@toolcrib/tool";
import { UpstreamError } from "./upstream-error.ts";
import { resolveUpstreamLimits, type UpstreamLimits } from "./upstream-options.ts";

/** Milliseconds after the last pause in which a server counts as one that floods. */
const slowedShownMs = 30_000;

/** The running and waiting calls of one server. */
export class ServerLoad {
  readonly #serverId: string;
  readonly #now: () => number;
  readonly #limits: Required<UpstreamLimits>;
  readonly #queue: FairQueue;
  /** The last answer while calls ran, or the time when the first of them started. */
  #heardAt = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #idle: PromiseWithResolvers<void> | undefined;

  /** @param now milliseconds since the epoch. */
  constructor(serverId: string, now: () => number, limits: UpstreamLimits = {}) {
    this.#serverId = serverId;
    this.#now = now;
    this.#limits = resolveUpstreamLimits(limits);
    const { maxConcurrentCalls: maxRunning, maxQueuedCalls: maxWaiting } = this.#limits;
    this.#queue = new FairQueue({ maxRunning, maxWaiting });
  }

  /**
   * Runs `work` for the call `context` as soon as there is a place for it.
   *
   * @throws {UpstreamError} `UPSTREAM_QUEUE_FULL`, `UPSTREAM_QUEUE_SHARE`; the reason of the call's signal.
   */
  async run<Value>(context: CallContext, work: () => Promise<Value>): Promise<Value> {
    const holder = identityKey(context.identity);
    const waiting = this.#enter(holder, context.signal);
    if (waiting !== undefined) await waiting;
    try {
      // What allowed the call can have changed while it waited.
      if (waiting !== undefined) context.recheck?.();
      return await work();
    } finally {
      this.#leave(holder, context.signal);
    }
  }

  /**
   * Starts a call of `holder`, an `identityKey`; `#leave` follows at its end.
   *
   * @returns undefined if it runs now, else a promise for the time when it runs.
   * @throws {UpstreamError} what `run` throws.
   */
  #enter(holder: string, signal: AbortSignal): Promise<void> | undefined {
    const entry = this.#queue.enter(holder, signal);
    if (entry === "full" || entry === "share") throw this.#refusal(entry);
    if (entry !== "entered") return entry;
    if (this.#queue.runningCount === 1) this.#heardAt = this.#now();
    return undefined;
  }

  /** Resolves when no call runs or waits. */
  async idle(): Promise<void> {
    while (this.#queue.runningCount + this.#queue.waitingCount > 0) {
      this.#idle ??= Promise.withResolvers();
      await this.#idle.promise;
    }
  }

  /** Ends a call. */
  #leave(holder: string, signal: AbortSignal): void {
    this.#queue.leave(holder);
    if (this.#idle !== undefined && this.#queue.runningCount === 0) {
      this.#idle.resolve();
      this.#idle = undefined;
    }
    // The end of a call that was cancelled is no sign of the server.
    if (!signal.aborted) this.#heardAt = this.#now();
  }

  /** The server is read slowly, because it sends too much that answers no request. */
  slowed(): void {
    this.#slowedAt = this.#now();
  }

  /** Returns a sentence about a server that answers no call or floods; undefined for others. */
  trouble(): string | undefined {
    const isSlowed = this.#now() - this.#slowedAt < slowedShownMs;
    const flood =
      "It sends more messages than can be read, which answer no call; it is read slowly, and its answers are late";
    return this.#silence() ?? (isSlowed ? flood : undefined);
  }

  #silence(): string | undefined {
    const { runningCount, waitingCount } = this.#queue;
    const silentMs = this.#now() - this.#heardAt;
    if (runningCount === 0 || silentMs < this.#limits.silentAfterMs) return undefined;
    const seconds = Math.floor(silentMs / 1000);
    const calls = runningCount === 1 ? "1 call" : `${runningCount} calls`;
    return `It has answered no call for ${seconds} s; ${calls} in flight, ${waitingCount} waiting`;
  }

  #refusal(kind: ShareRefusal): UpstreamError {
    const server = this.#serverId;
    const { runningCount, waitingCount } = this.#queue;
    const data = { server };
    if (kind === "full") {
      const text = `The queue of the server "${server}" is full: ${runningCount} calls run and ${waitingCount} wait`;
      const hint =
        "try again after other calls have ended, or raise serve.limits.max_queued_calls_per_server";
      return new UpstreamError("UPSTREAM_QUEUE_FULL", text, { hint, data });
    }
    const text = `This client has used up its share of the calls to the server "${server}"`;
    const hint = "wait for answers before sending more, or raise serve.limits.max_queued_calls_per_server";
    return new UpstreamError("UPSTREAM_QUEUE_SHARE", text, { hint, data });
  }
}
