/**
 * Reads the body of a response as a stream: decompresses it, counts it, scrubs
 * it, keeps its beginning. Memory is bounded by the kept bytes, regardless of the
 * decompressed size. Reading stops at a ceiling, and a body that expands too much
 * is refused.
 */

import type { Transform } from "node:stream";
import type { ByteScrubber } from "@toolcrib/redaction";
import type { CreateDecoder } from "../content-codings.ts";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential } from "../egress-types.ts";

/** The kept part of a body. */
export interface ReadBody {
  readonly body: Uint8Array;
  /** Number of bytes that were read, decompressed; kept bytes are counted after scrubbing. */
  readonly totalBytes: number;
}

/** Options of a reader. */
export interface BodyOptions {
  readonly decoders: readonly CreateDecoder[];
  readonly scrubber: ReturnType<ByteScrubber<EgressCredential>["stream"]> | undefined;
  /** Maximum number of bytes that are kept. */
  readonly maxBytes: number;
  /** Maximum number of bytes that are read. */
  readonly ceilingBytes: number;
  /** The reader accepts more data. */
  readonly onDrain: () => void;
  /** The body is complete, or the ceiling is reached. */
  readonly onDone: (body: ReadBody) => void;
  readonly onError: (error: EgressError) => void;
}

/** A body up to this size may expand without limit; a larger one at most `maxRatio` times. */
const freeBytes = 8 << 20;
const maxRatio = 200;

/** Reads one body. */
export class BodyReader {
  readonly #options: BodyOptions;
  readonly #kept: Uint8Array[] = [];
  #streams: Transform[] = [];
  #keptBytes = 0;
  #writtenBytes = 0;
  #totalBytes = 0;
  /** Growth of the body by the replacements of secrets. */
  #grownBytes = 0;
  #isDone = false;

  constructor(options: BodyOptions) {
    this.#options = options;
  }

  /** Reads the next piece. Returns `false` if the caller must wait for `onDrain` before the next one. */
  write(piece: Uint8Array): boolean {
    if (this.#isDone) return true;
    this.#writtenBytes += piece.length;
    if (this.#options.decoders.length === 0) {
      this.#read(piece);
      return true;
    }
    if (this.#streams.length === 0) this.#open(piece);
    return this.#streams[0]?.write(piece) ?? true;
  }

  /** Marks the body as complete. */
  end(): void {
    if (this.#streams.length === 0) this.#finish();
    else this.#streams[0]?.end();
  }

  /** Stops reading. */
  destroy(): void {
    this.#isDone = true;
    for (const stream of this.#streams) stream.destroy();
  }

  #open(first: Uint8Array): void {
    this.#streams = this.#options.decoders.map((create) => create(first));
    for (const [at, stream] of this.#streams.entries()) {
      stream.on("error", (cause) => this.#fail("it cannot be decompressed", cause));
      const next = this.#streams[at + 1];
      if (next !== undefined) stream.pipe(next);
    }
    this.#streams[0]?.on("drain", this.#options.onDrain);
    const last = this.#streams.at(-1);
    last?.on("data", (piece: Buffer) => this.#read(piece));
    last?.on("end", () => this.#finish());
  }

  #read(piece: Uint8Array): void {
    if (this.#isDone) return;
    const { ceilingBytes, maxBytes, scrubber } = this.#options;
    const room = ceilingBytes - this.#totalBytes;
    const bytes = piece.length > room ? piece.subarray(0, room) : piece;
    this.#totalBytes += bytes.length;
    if (this.#keptBytes < maxBytes) {
      this.#grownBytes -= bytes.length;
      for (const clean of scrubber === undefined ? [bytes] : scrubber.push(bytes)) this.#keep(clean);
    }
    if (this.#totalBytes > freeBytes && this.#totalBytes > maxRatio * this.#writtenBytes) {
      this.#fail(`it expands to more than ${maxRatio} times its size`);
    } else if (piece.length >= room) {
      this.#finish();
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#grownBytes += bytes.length;
    const room = this.#options.maxBytes - this.#keptBytes;
    const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
    if (part.length > 0) this.#kept.push(part);
    this.#keptBytes += part.length;
  }

  #finish(): void {
    if (this.#isDone) return;
    for (const held of this.#options.scrubber?.end() ?? []) this.#keep(held);
    this.destroy();
    const [first] = this.#kept;
    const body = this.#kept.length === 1 && first !== undefined ? first : Buffer.concat(this.#kept);
    this.#options.onDone({ body, totalBytes: this.#totalBytes + this.#grownBytes });
  }

  #fail(state: string, cause?: unknown): void {
    if (this.#isDone) return;
    this.destroy();
    this.#options.onError(
      new EgressError("EGRESS_RESPONSE_INVALID", `Cannot read a response: ${state}`, { cause }),
    );
  }
}
