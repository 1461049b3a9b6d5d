/**
 * The memory that a connection reads into. Reads fill a block from its start, so
 * that consecutive bytes of a response are contiguous and pass on in one piece.
 * A block is reused after all of its bytes were given back. A long body therefore
 * needs no new buffer for each TLS record, which would make the garbage
 * collector mark the whole heap every few megabytes. A block is never reused
 * while some of its bytes are in use.
 */

/** One block, and its use. */
interface Block {
  readonly bytes: Buffer;
  filled: number;
  givenBack: number;
}

/** The size of a TLS record (RFC 8446 §5.1): with less room, one record would be read in two pieces. */
const roomMinBytes = 16 * 1024;
/** The size for heads and short bodies. */
const smallBytes = 64 * 1024;
/** The size after the first small block is full. */
const largeBytes = 256 * 1024;
/** Maximum number of blocks that are kept for reuse. */
const spareMaxCount = 4;

/** The largest contiguous piece. */
export const pieceMaxBytes = largeBytes;

/** The blocks of one connection. */
export class ReadBlocks {
  #current = allocate(smallBytes);
  /** Full blocks that were not given back completely. */
  readonly #full = new Set<Block>();
  readonly #spare: Block[] = [];
  #isShrinking = false;

  /** Returns the memory for the next bytes. */
  room(): Buffer {
    if (this.#isShrinking && this.#current.bytes.length > smallBytes) this.#current = allocate(smallBytes);
    this.#isShrinking = false;
    if (this.#current.bytes.length - this.#current.filled < roomMinBytes) this.#retire();
    return this.#current.bytes.subarray(this.#current.filled);
  }

  /** Returns the `count` bytes that were read into the memory of the last `room`. */
  take(count: number): Buffer {
    const start = this.#current.filled;
    this.#current.filled += count;
    return this.#current.bytes.subarray(start, this.#current.filled);
  }

  /** Gives back `count` bytes of `memory` after their last use. */
  giveBack(memory: ArrayBufferLike, count: number): void {
    if (memory === this.#current.bytes.buffer) {
      this.#current.givenBack += count;
      return;
    }
    for (const block of this.#full) {
      if (block.bytes.buffer !== memory) continue;
      block.givenBack += count;
      if (block.givenBack < block.filled) return;
      this.#full.delete(block);
      if (this.#spare.length < spareMaxCount) this.#spare.push(block);
      return;
    }
  }

  /** Frees the memory of a long body; the current block is replaced with the next `room`. */
  shrink(): void {
    this.#full.clear();
    this.#spare.length = 0;
    this.#isShrinking = true;
  }

  #retire(): void {
    const block = this.#current;
    if (block.givenBack === block.filled && block.bytes.length === largeBytes) {
      block.filled = 0;
      block.givenBack = 0;
      return;
    }
    if (block.bytes.length === largeBytes) this.#full.add(block);
    const spare = this.#spare.pop();
    if (spare !== undefined) {
      spare.filled = 0;
      spare.givenBack = 0;
    }
    this.#current = spare ?? allocate(largeBytes);
  }
}

function allocate(size: number): Block {
  return { bytes: Buffer.allocUnsafeSlow(size), filled: 0, givenBack: 0 };
}
