/**
 * Slows down a server that sends messages without end. Messages that answer no
 * request are limited by number and size; over the limit nothing is read from the
 * server for a while, so that it waits for the pipe instead of using the gateway.
 * Its answers come later then, and no other server's.
 */

import type { Readable } from "node:stream";

/** Messages that answer no request, per second. */
const messagesPerSecond = 5_000;
/** Bytes of such messages, per second. */
const bytesPerSecond = 16 * 1024 * 1024;
/** Seconds of the limits that a server can use at once after a pause. */
const burstSeconds = 2;
/** Shortest time in milliseconds in which nothing is read. */
const pauseMinMs = 50;

/** The gate in front of the output of one server. */
export class FloodGate {
  readonly #source: Readable;
  readonly #now: () => number;
  readonly #onPause: () => void;
  /** Seconds of the limit that are left. */
  #left = burstSeconds;
  #refilledAt: number;
  /** Bytes that belong to no message yet. */
  #bytes = 0;
  #pause: NodeJS.Timeout | undefined;

  /**
   * @param now milliseconds since the epoch.
   * @param onPause called when reading stops for a while.
   */
  constructor(source: Readable, now: () => number, onPause: () => void) {
    this.#source = source;
    this.#now = now;
    this.#refilledAt = now();
    this.#onPause = onPause;
  }

  /** Counts bytes, before the messages that they complete. */
  arrived(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts a message. @param isAnswer whether it answers a request */
  received(isAnswer: boolean): void {
    if (!isAnswer) this.#left -= Math.max(1 / messagesPerSecond, this.#bytes / bytesPerSecond);
    this.#bytes = 0;
    if (this.#left < 0 && this.#pause === undefined) this.#check();
  }

  /** Ends a pause; nothing is counted any longer. */
  close(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#left = Number.POSITIVE_INFINITY;
  }

  #check(): void {
    const now = this.#now();
    // A clock that is set back refills nothing.
    this.#left = Math.min(burstSeconds, this.#left + Math.max(0, now - this.#refilledAt) / 1000);
    this.#refilledAt = now;
    if (this.#left >= 0) return;
    this.#source.pause();
    this.#onPause();
    const resume = () => {
      this.#pause = undefined;
      this.#source.resume();
    };
    this.#pause = setTimeout(resume, Math.max(pauseMinMs, -this.#left * 1000));
    this.#pause.unref();
  }
}
