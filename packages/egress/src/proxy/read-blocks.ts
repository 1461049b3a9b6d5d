/**
 * The memory that a connection reads into. A block is filled from its beginning,
 * read by read, so that what follows each other in a response lies side by side
 * and goes on in one piece; once all of it was given back, it is filled again.
 * A long body so passes without a new buffer for each of its records, which the
 * garbage collector would follow with a run over the whole heap every few
 * megabytes. A block of which something is kept is never filled again.
 */

/** One block, and how much of it is in use. */
interface Block {
  readonly bytes: Buffer;
  filled: number;
  givenBack: number;
}

/** What a TLS record holds (RFC 8446 §5.1): with less room, one would be taken in two pieces. */
const roomMinBytes = 16 * 1024;
/** For heads and short bodies. */
const smallBytes = 64 * 1024;
/** Once a small block was not enough. */
const largeBytes = 256 * 1024;
/** Blocks that wait to be filled again. */
const spareMaxCount = 4;

/** The largest piece that lies side by side. */
export const pieceMaxBytes = largeBytes;

/** The blocks of one connection. */
export class ReadBlocks {
  #current = allocate(smallBytes);
  /** Full, and not yet given back. */
  readonly #full = new Set<Block>();
  readonly #spare: Block[] = [];
  #isShrinking = false;

  /** Where the next bytes go. */
  room(): Buffer {
    if (this.#isShrinking && this.#current.bytes.length > smallBytes) this.#current = allocate(smallBytes);
    this.#isShrinking = false;
    if (this.#current.bytes.length - this.#current.filled < roomMinBytes) this.#retire();
    return this.#current.bytes.subarray(this.#current.filled);
  }

  /** The `count` bytes that were read into what `room` gave last. */
  take(count: number): Buffer {
    const start = this.#current.filled;
    this.#current.filled += count;
    return this.#current.bytes.subarray(start, this.#current.filled);
  }

  /** Nobody looks any more at `count` bytes that lie in `memory`. */
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

  /** Let go of what a long body needed; of the block that is being read into, with the next room. */
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
