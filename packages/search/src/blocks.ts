/**
 * Allocates blocks of a growing array, one for each of many lists.
 *
 * Sizes are powers of two; a freed block is reused for the next list of its
 * size. Only positions are allocated: the arrays belong to the caller, which
 * keeps them at least `end` long.
 */
export class Blocks {
  /** Free blocks, by the binary logarithm of their size. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => []);
  #end = 0;

  /** Index after the last element of any block allocated so far. */
  get end(): number {
    return this.#end;
  }

  /** Allocates a block of `2 ** sizeLog` elements and returns its start. */
  take(sizeLog: number): number {
    const free = this.#free[sizeLog]!.pop();
    if (free !== undefined) return free;
    const start = this.#end;
    this.#end += 2 ** sizeLog;
    return start;
  }

  /** Frees the block of `2 ** sizeLog` elements at `start`. */
  give(start: number, sizeLog: number): void {
    this.#free[sizeLog]!.push(start);
  }
}

/** Returns the `sizeLog` of the smallest block for `length` elements, at least 1. */
export function sizeLogFor(length: number): number {
  return length <= 1 ? 0 : 32 - Math.clz32(length - 1);
}
