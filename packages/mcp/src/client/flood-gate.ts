/**
 * Slows down a server that sends messages without end, or large ones. Messages that answer no
 * request are limited by number and size; over the limit nothing is read from the
 * server for a while, so that it waits for its pipe or connection instead of using
 * the gateway. Its answers come later then, and no other server's. A large message of a
 * process is read in portions: what was read of it is released later than more arrives
 * otherwise.
 */

import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Messages that answer no request, per second. */
const messagesPerSecond = 5_000;
/** Bytes of such messages, per second. @limit server */
const bytesPerSecond = 16 * 1024 * 1024;
/** Seconds of the limits that a server can use at once after a pause. */
const burstSeconds = 2;
/** Shortest time in milliseconds in which nothing is read. */
const pauseMinMs = 50;
/** Bytes of one message that are read without a pause. */
const portionBytes = 8 * 1024 * 1024;
/** Milliseconds between two portions of a message: 400 MiB/s. */
const portionPauseMs = 20;

/** The messages that one server sends unasked, over all of its streams. */
export class FloodMeter {
  readonly #now: () => number;
  readonly #onPause: () => void;
  /** Seconds of the limit that are left. */
  #left = burstSeconds;
  #refilledAt: number;

  /**
   * @param now milliseconds since the epoch.
   * @param onPause called when reading stops for a while.
   */
  constructor(now: () => number, onPause: () => void) {
    this.#now = now;
    this.#refilledAt = now();
    this.#onPause = onPause;
  }

  /** Counts `messages` of together `bytes` that answer no request. */
  spend(bytes: number, messages = 1): void {
    this.#left -= Math.max(messages / messagesPerSecond, bytes / bytesPerSecond);
  }

  /** Returns the milliseconds for which nothing may be read now; 0 within the limits. */
  takePauseMs(): number {
    if (this.#left >= 0) return 0;
    const now = this.#now();
    // A clock that is set back refills nothing.
    this.#left = Math.min(burstSeconds, this.#left + Math.max(0, now - this.#refilledAt) / 1000);
    this.#refilledAt = now;
    if (this.#left >= 0) return 0;
    this.#onPause();
    return Math.max(pauseMinMs, -this.#left * 1000);
  }
}

/** The gate in front of the output of one process. */
export class FloodGate {
  readonly #source: Readable;
  readonly #meter: FloodMeter;
  /** Bytes that belong to no message yet. */
  #bytes = 0;
  /** Bytes of them at which the next pause is due. */
  #portionEnd = portionBytes;
  #pause: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(source: Readable, meter: FloodMeter) {
    this.#source = source;
    this.#meter = meter;
  }

  /** Counts bytes, before the messages that they complete. */
  arrived(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < this.#portionEnd) return;
    this.#portionEnd = this.#bytes + portionBytes;
    this.#pauseFor(portionPauseMs);
  }

  /** Counts a message. @param isAnswer whether it answers a request */
  received(isAnswer: boolean): void {
    if (!isAnswer) this.#meter.spend(this.#bytes);
    this.#bytes = 0;
    this.#portionEnd = portionBytes;
    if (this.#pause !== undefined) return;
    const pauseMs = this.#meter.takePauseMs();
    // A server that floods keeps no process alive.
    if (pauseMs > 0) this.#pauseFor(pauseMs)?.unref();
  }

  #pauseFor(pauseMs: number): NodeJS.Timeout | undefined {
    if (this.#pause !== undefined || this.#isClosed) return undefined;
    this.#source.pause();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#source.resume();
    }, pauseMs);
    return this.#pause;
  }

  /** Ends a pause; nothing is slowed down any longer. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }
}

/** Waits while nothing may be read from the server of `meter`, or until `source` is closed. */
export async function waitForFlood(meter: FloodMeter, source: Readable): Promise<void> {
  const pauseMs = meter.takePauseMs();
  if (pauseMs === 0 || source.destroyed) return;
  const closed = new AbortController();
  const onClose = () => closed.abort();
  source.once("close", onClose);
  await sleep(pauseMs, undefined, { signal: closed.signal, ref: false }).catch(() => {});
  source.off("close", onClose);
}
