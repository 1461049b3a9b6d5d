/** Limits concurrency: first come, first served. Pure. */

/** A bounded number of slots. */
export class Slots {
  readonly #count: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Takes a slot: resolves when one is free; `undefined` when one is free now. Each `enter` needs one `leave`. */
  enter(): Promise<void> | undefined {
    if (this.#taken < this.#count) {
      this.#taken += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    // The slot passes directly to the next waiter.
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
