/**
 * The spans or log records of one gateway on their way to the collector: a bounded queue, sent in batches, one
 * request at a time. A failed request is repeated a few times with growing pauses; then its batch is discarded and
 * counted. Adding never waits and never throws.
 *
 * Invariant: the bytes of everything that waits or is being sent are within the limits of the kind and of all kinds
 * together.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { SendOutcome } from "./send-otlp.ts";
import type { SignalState } from "./signal-state.ts";
import type { SignalStatus, TelemetryLimits } from "./telemetry-types.ts";

/** Bytes of all queues together. */
export class SharedBytes {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Dependencies of a queue. */
export interface ExportQueueDeps<Item> {
  /** Makes one attempt. Never rejects. */
  readonly send: (items: readonly Item[], stopping: AbortSignal) => Promise<SendOutcome>;
  readonly state: SignalState;
  readonly shared: SharedBytes;
  readonly random: () => number;
}

interface Entry<Item> {
  readonly item: Item;
  readonly bytes: number;
}

/** A queue. Its owner drains it at the end. */
export class ExportQueue<Item> {
  readonly #deps: ExportQueueDeps<Item>;
  readonly #limits: TelemetryLimits;
  /** Aborts when the shutdown begins. */
  readonly #closing = new AbortController();
  /** Aborts when the time of the shutdown is over. */
  readonly #ending = new AbortController();
  #entries: Entry<Item>[] = [];
  #pending = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: ExportQueueDeps<Item>, limits: TelemetryLimits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Adds an item, or counts it as lost. @param bytes estimated size */
  add(item: Item, bytes: number): void {
    const { state, shared } = this.#deps;
    if (this.#closing.signal.aborted) {
      state.lost(1, "the gateway is being stopped");
      return;
    }
    if (this.#bytes + bytes > this.#limits.signalMaxBytes || !shared.take(bytes)) {
      state.lost(1, "the queue is full: the collector is too slow or does not answer");
      return;
    }
    this.#bytes += bytes;
    this.#pending += 1;
    this.#entries.push({ item, bytes });
    if (this.#entries.length >= this.#limits.batchMaxCount) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#limits.batchDelayMs).unref();
  }

  status(): SignalStatus {
    return this.#deps.state.status(this.#pending);
  }

  /** Sends the rest without further attempts, until `late` aborts. What remains then is lost. */
  async drain(late: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort(new Error("the gateway is being stopped"));
    const end = () => this.#ending.abort(late.reason);
    if (late.aborted) end();
    else late.addEventListener("abort", end, { once: true });
    await this.#sending;
    while (this.#entries.length > 0 && !late.aborted) {
      const batch = this.#takeBatch();
      const outcome = await this.#deps.send(itemsOf(batch), this.#ending.signal);
      this.#settle(batch, outcome);
      if (outcome.kind !== "sent") break;
    }
    this.#drop(this.#entries.splice(0), "the gateway was stopped");
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#entries.length > 0 && !signal.aborted) {
      const batch = this.#takeBatch();
      this.#settle(batch, await this.#attempts(batch));
    }
  }

  async #attempts(batch: readonly Entry<Item>[]): Promise<SendOutcome> {
    const items = itemsOf(batch);
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= this.#limits.attempts || this.#closing.signal.aborted;
      const outcome = await this.#deps.send(items, this.#ending.signal);
      if (outcome.kind !== "retry" || isLast) return outcome;
      this.#deps.state.failed(outcome.reason);
      await this.#pause(attempt, outcome.afterMs);
    }
  }

  /** Waits before the next attempt. A shutdown ends the wait: the next attempt is the last one. */
  async #pause(attempt: number, askedMs: number | undefined): Promise<void> {
    const { retryDelayMs, retryAfterMaxMs } = this.#limits;
    const ownMs = retryDelayMs * 2 ** (attempt - 1) * (0.5 + this.#deps.random());
    const ms = Math.min(Math.max(ownMs, askedMs ?? 0), retryAfterMaxMs);
    await delay(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
  }

  #settle(batch: readonly Entry<Item>[], outcome: SendOutcome): void {
    const { state } = this.#deps;
    if (outcome.kind !== "sent") {
      this.#drop(batch, outcome.reason);
      return;
    }
    this.#release(batch);
    const rejected = Math.min(outcome.rejected, batch.length);
    state.sent(batch.length - rejected);
    state.lost(rejected, "the collector did not accept some of the data");
  }

  #drop(batch: readonly Entry<Item>[], reason: string): void {
    this.#release(batch);
    this.#deps.state.lost(batch.length, reason);
  }

  #release(batch: readonly Entry<Item>[]): void {
    let bytes = 0;
    for (const entry of batch) bytes += entry.bytes;
    this.#bytes -= bytes;
    this.#pending -= batch.length;
    this.#deps.shared.giveBack(bytes);
  }

  #takeBatch(): readonly Entry<Item>[] {
    const { batchMaxCount, batchMaxBytes } = this.#limits;
    let count = 0;
    let bytes = 0;
    while (count < this.#entries.length && count < batchMaxCount) {
      bytes += this.#entries[count]!.bytes;
      if (count > 0 && bytes > batchMaxBytes) break;
      count += 1;
    }
    return this.#entries.splice(0, count);
  }
}

function itemsOf<Item>(batch: readonly Entry<Item>[]): readonly Item[] {
  return batch.map(({ item }) => item);
}
