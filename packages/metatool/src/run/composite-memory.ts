/**
 * The memory that all running composites share. Each composite has its own limit, but
 * many composites below their limits can exhaust the process, and a composite that
 * waits for a tool keeps its values. Each execution therefore reserves what it uses,
 * as it grows. It is an account of simulated heaps and allocates nothing.
 */

import type { ThreadHost } from "@toolcrib/starlark";

/** Options of `CompositeMemory`. */
export interface CompositeMemoryOptions {
  /** Bytes of all simulated heaps together. @default 268,435,456 (256 MiB) */
  readonly totalBytes?: number;
  /** Milliseconds that a new execution waits for memory before it is refused. @default 5,000 */
  readonly waitMs?: number;
}

/** The default of `CompositeMemoryOptions.totalBytes`. */
export const defaultTotalBytes = 256 * 1024 * 1024;

/** Bytes that an execution needs to start. */
const firstBytes = 1024 * 1024;

/** The memory of all executions of one host. */
export class CompositeMemory {
  readonly #startTimer: Required<ThreadHost>["startTimer"];
  readonly #totalBytes: number;
  readonly #waitMs: number;
  #usedBytes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(deps: Pick<Required<ThreadHost>, "startTimer">, options: CompositeMemoryOptions = {}) {
    this.#startTimer = deps.startTimer;
    this.#totalBytes = options.totalBytes ?? defaultTotalBytes;
    this.#waitMs = options.waitMs ?? 5000;
  }

  /** Bytes that running executions have reserved. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Waits until an execution can start. Returns `undefined` if memory is still short after the wait, or if `signal` aborts. */
  async enter(signal: AbortSignal): Promise<MemoryLease | undefined> {
    if (this.#waiting.size > 0 || !this.#hasRoom()) await this.#wait(signal);
    if (signal.aborted || !this.#hasRoom()) return undefined;
    const lease = new MemoryLease((bytes, more) => this.#resize(bytes, more));
    lease.resize(firstBytes);
    return lease;
  }

  #hasRoom(): boolean {
    return this.#usedBytes + firstBytes <= this.#totalBytes;
  }

  /** Waits for its turn: first come, first served. */
  async #wait(signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const end = () => turn.resolve();
    this.#waiting.add(end);
    const stopTimer = this.#startTimer(this.#waitMs, end);
    signal.addEventListener("abort", end);
    await turn.promise;
    stopTimer();
    signal.removeEventListener("abort", end);
    this.#waiting.delete(end);
  }

  #resize(oldBytes: number, newBytes: number): boolean {
    const usedBytes = this.#usedBytes + newBytes - oldBytes;
    if (newBytes > oldBytes && usedBytes > this.#totalBytes) return false;
    this.#usedBytes = usedBytes;
    if (newBytes < oldBytes && this.#hasRoom()) this.#waiting.values().next().value?.();
    return true;
  }
}

/** The memory of one execution. */
export class MemoryLease {
  readonly #resize: (oldBytes: number, newBytes: number) => boolean;
  #bytes = 0;

  /** Use `CompositeMemory.enter`. */
  constructor(resize: (oldBytes: number, newBytes: number) => boolean) {
    this.#resize = resize;
  }

  /** Reserves `bytes` in place of the earlier reservation. Returns whether there is room; otherwise keeps the earlier one. */
  resize(bytes: number): boolean {
    if (!this.#resize(this.#bytes, bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Ends the reservation. Safe to repeat. */
  release(): void {
    this.resize(0);
  }
}
