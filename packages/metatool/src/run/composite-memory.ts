/**
 * The memory that all running composites share. Each composite has its own limit, but
 * many composites below their limits can exhaust the process, and a composite that
 * waits for a tool keeps its values. Each execution therefore reserves what it uses,
 * as it grows. It is an account of simulated heaps and allocates nothing.
 *
 * Each client has a share of the total, so that the programs of one leave room for
 * those of the others.
 */

import { FairShare } from "@toolcrib/lifecycle";
import type { ThreadHost } from "@toolcrib/starlark";

/** Options of `CompositeMemory`. */
export interface CompositeMemoryOptions {
  /** Bytes of all simulated heaps together; one client gets at most half of them. @default 268,435,456 (256 MiB) */
  readonly totalBytes?: number;
  /** Milliseconds that a new execution waits for memory before it is refused. @default 5,000 */
  readonly waitMs?: number;
}

const defaultTotalBytes = 256 * 1024 * 1024;

/** Bytes for programs of `memoryBytes` each: a single one can use its whole limit, which is at most half of the total. */
export function totalBytesFor(memoryBytes: number): number {
  return Math.max(defaultTotalBytes, 2 * memoryBytes);
}

/** Bytes that an execution needs to start. */
const firstBytes = 1024 * 1024;

/** The memory of all executions of one host. */
export class CompositeMemory {
  readonly #startTimer: Required<ThreadHost>["startTimer"];
  readonly #totalBytes: number;
  readonly #waitMs: number;
  readonly #shares: FairShare;
  /** Ends the waits of each client. The client whose turn is next is the first one. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(deps: Pick<Required<ThreadHost>, "startTimer">, options: CompositeMemoryOptions = {}) {
    this.#startTimer = deps.startTimer;
    this.#totalBytes = options.totalBytes ?? defaultTotalBytes;
    this.#waitMs = options.waitMs ?? 5000;
    this.#shares = new FairShare(this.#totalBytes);
  }

  /** Bytes that running executions have reserved. */
  get usedBytes(): number {
    return this.#shares.count;
  }

  /**
   * Waits until an execution of `client`, an `identityKey`, can start. Returns `undefined` if memory is still short
   * after the wait, or if `signal` aborts.
   */
  async enter(client: string, signal: AbortSignal): Promise<MemoryLease | undefined> {
    // Later executions of a client do not overtake its earlier ones.
    if (this.#waiting.has(client) || !this.#hasRoom(client, firstBytes)) await this.#wait(client, signal);
    if (signal.aborted || !this.#hasRoom(client, firstBytes)) return undefined;
    const lease = new MemoryLease((bytes, more) => this.#resize(client, bytes, more));
    lease.resize(firstBytes);
    // Memory for several can have become free at once.
    if (this.#waiting.size > 0) this.#startNext();
    return lease;
  }

  /** Whether `client` can have `bytes` more: it then has no more than is left for the others. */
  #hasRoom(client: string, bytes: number): boolean {
    return this.#shares.countOf(client) + bytes <= this.#totalBytes - this.#shares.count;
  }

  /** Waits for its turn: each client in turn, first come, first served. */
  async #wait(client: string, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const end = () => turn.resolve();
    const own = this.#waiting.get(client) ?? new Set();
    this.#waiting.set(client, own.add(end));
    const stopTimer = this.#startTimer(this.#waitMs, end);
    signal.addEventListener("abort", end);
    await turn.promise;
    stopTimer();
    signal.removeEventListener("abort", end);
    own.delete(end);
    if (own.size === 0) this.#waiting.delete(client);
  }

  #resize(client: string, oldBytes: number, newBytes: number): boolean {
    const moreBytes = newBytes - oldBytes;
    if (moreBytes > 0 && !this.#hasRoom(client, moreBytes)) return false;
    if (moreBytes > 0) this.#shares.take(client, moreBytes);
    else if (moreBytes < 0) {
      this.#shares.giveBack(client, -moreBytes);
      this.#startNext();
    }
    return true;
  }

  #startNext(): void {
    for (const [client, own] of this.#waiting) {
      if (!this.#hasRoom(client, firstBytes)) continue;
      const [first] = own;
      first?.();
      // The client has had its turn, so it moves to the end.
      this.#waiting.delete(client);
      this.#waiting.set(client, own);
      return;
    }
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
