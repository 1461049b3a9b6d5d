/**
 * A limit of concurrent work with a bounded queue, both shared fairly. Each
 * holder, such as a client, has a share of the running work and of the queue.
 * When work ends, the holders that wait take turns; the work of one holder starts
 * in the order in which it came. No timer: the caller cancels a wait by its signal.
 */

import { FairShare, type ShareRefusal } from "./fair-share.ts";

/** Limits of a `FairQueue`. */
export interface FairQueueLimits {
  /** Work that runs at a time. */
  readonly maxRunning: number;
  /** Work that waits at a time. */
  readonly maxWaiting: number;
}

interface Waiter {
  start(): void;
}

/** Work that runs, and work that waits for it. */
export class FairQueue {
  readonly #running: FairShare;
  readonly #waiting: FairShare;
  /** The waiting work of each holder. The holder whose turn is next is the first one. */
  readonly #queues = new Map<string, Set<Waiter>>();

  constructor({ maxRunning, maxWaiting }: FairQueueLimits) {
    this.#running = new FairShare(maxRunning);
    this.#waiting = new FairShare(maxWaiting);
  }

  /** Work that runs. */
  get runningCount(): number {
    return this.#running.count;
  }

  /** Work that waits. */
  get waitingCount(): number {
    return this.#waiting.count;
  }

  /**
   * Starts work of `holder`; the caller calls `leave` at its end.
   *
   * @returns `"entered"` if it runs now, a promise for the time when it runs, or why it can neither run nor wait.
   *   The promise rejects with the reason of `signal`; then the work has not run.
   */
  enter(holder: string, signal: AbortSignal): "entered" | ShareRefusal | Promise<void> {
    // Later work of a holder does not overtake its earlier work.
    if (!this.#queues.has(holder) && this.#running.refusalFor(holder) === undefined) {
      this.#running.take(holder);
      return "entered";
    }
    return this.#waiting.refusalFor(holder) ?? this.#wait(holder, signal);
  }

  /** Ends work of `holder` that ran. */
  leave(holder: string): void {
    this.#running.giveBack(holder);
    while (this.#queues.size > 0 && this.#startNext());
  }

  #wait(holder: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const forget = () => {
        signal.removeEventListener("abort", abort);
        this.#remove(holder, waiter);
      };
      const abort = () => {
        forget();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        start: () => {
          forget();
          this.#running.take(holder);
          resolve();
        },
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.take(holder);
      const own = this.#queues.get(holder);
      if (own === undefined) this.#queues.set(holder, new Set([waiter]));
      else own.add(waiter);
    });
  }

  #remove(holder: string, waiter: Waiter): void {
    const own = this.#queues.get(holder);
    if (own?.delete(waiter) !== true) return;
    this.#waiting.giveBack(holder);
    if (own.size === 0) this.#queues.delete(holder);
  }

  /** Starts the work of the next holder whose share allows it. @returns whether there was one */
  #startNext(): boolean {
    for (const [holder, own] of this.#queues) {
      if (this.#running.refusalFor(holder) !== undefined) continue;
      const [first] = own;
      first?.start();
      // The holder has had its turn, so it moves to the end.
      if (own.size > 0) {
        this.#queues.delete(holder);
        this.#queues.set(holder, own);
      }
      return true;
    }
    return false;
  }
}
