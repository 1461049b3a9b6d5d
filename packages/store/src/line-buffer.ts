/**
 * The lines of a batch of records as bytes. Each line is encoded once, for its hash and for the segment, into
 * memory that the next batch uses again. No I/O.
 */

import { type HeadParts, toHead } from "./format-record.ts";
import { hashLine } from "./hash-chain.ts";

/** Bytes that are kept between two batches. A larger batch takes memory of its own. */
const keptBytes = 256 * 1024;
/** A UTF-16 unit takes at most three bytes. */
const bytesPerUnit = 3;

/** The lines of a batch. */
export interface FormattedLines {
  /** Valid until the next batch is formatted. */
  readonly bytes: Buffer;
  /** The hash of the line before the batch, and that of each of its lines. */
  readonly hashes: readonly string[];
}

/** Formats the batches of one writer. */
export class LineBuffer {
  readonly #headParts: HeadParts;
  readonly #kept = Buffer.allocUnsafeSlow(keptBytes);

  constructor(headParts: HeadParts) {
    this.#headParts = headParts;
  }

  /**
   * Adds its head to each body that is not empty.
   *
   * @param last sequence number and hash of the line before the batch.
   */
  format(
    entries: readonly { readonly body: string }[],
    last: { readonly sequence: number; readonly hash: string },
  ): FormattedLines {
    let buffer = this.#kept;
    let end = 0;
    let { sequence, hash } = last;
    const hashes = [hash];
    for (const { body } of entries) {
      if (body === "") continue;
      sequence += 1;
      const line = toHead(this.#headParts, sequence, hash) + body;
      if (end + line.length * bytesPerUnit > buffer.length) buffer = grown(buffer, end, line.length);
      const start = end;
      end += buffer.write(line, start);
      // Without its line feed.
      hash = hashLine(buffer.subarray(start, end - 1));
      hashes.push(hash);
    }
    return { bytes: buffer.subarray(0, end), hashes };
  }
}

/** Returns a larger buffer with the first `used` bytes of `buffer`, and room for `length` UTF-16 units. */
function grown(buffer: Buffer, used: number, length: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(2 * (used + length * bytesPerUnit));
  buffer.copy(larger, 0, 0, used);
  return larger;
}
