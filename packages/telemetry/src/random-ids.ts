/** Ids of traces and spans: random, and never zero (W3C Trace Context). */

import type { IdGenerator } from "@opentelemetry/sdk-trace";

/** Bytes that are fetched at a time. */
const poolBytes = 2048;

/** Generates ids from the random bytes of the composition root. */
export class RandomIds implements IdGenerator {
  readonly #randomBytes: (count: number) => Uint8Array;
  #pool = "";
  #at = 0;

  constructor(randomBytes: (count: number) => Uint8Array) {
    this.#randomBytes = randomBytes;
  }

  generateTraceId(): string {
    return this.#take(32);
  }

  generateSpanId(): string {
    return this.#take(16);
  }

  #take(length: number): string {
    if (this.#at + length > this.#pool.length) {
      this.#pool = Buffer.from(this.#randomBytes(poolBytes)).toString("hex");
      this.#at = 0;
    }
    const id = this.#pool.slice(this.#at, this.#at + length);
    this.#at += length;
    return /[1-9a-f]/.test(id) ? id : `${id.slice(0, -1)}1`;
  }
}
