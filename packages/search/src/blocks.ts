/**
 * Blocks of a growing array: where in it each of many lists has its room.
 *
 * Sizes are powers of two; a block given back is used again for the next list
 * of its size. Only places are handed out: the arrays belong to the caller, who
 * makes them at least `end` long.
 */
export class Blocks {
  /** Blocks not in use, by the binary logarithm of their size. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => []);
  #end = 0;

  /** One past the last element of any block handed out so far. */
  get end(): number {
    return this.#end;
  }

  /** The start of a block of `2 ** sizeLog` elements. */
  take(sizeLog: number): number {
    const free = this.#free[sizeLog]!.pop();
    if (free !== undefined) return free;
    const start = this.#end;
    this.#end += 2 ** sizeLog;
    return start;
  }

  /** Give back the block of `2 ** sizeLog` elements at `start`. */
  give(start: number, sizeLog: number): void {
    this.#free[sizeLog]!.push(start);
  }
}

/** The `sizeLog` of the smallest block for `length` elements, at least 1. */
export function sizeLogFor(length: number): number {
  return length <= 1 ? 0 : 32 - Math.clz32(length - 1);
}
