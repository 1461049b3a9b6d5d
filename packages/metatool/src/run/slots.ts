/** Limits concurrency: first come, first served. Pure. */

/** A bounded number of slots. */
export interface Slots {
  /** Takes a slot: resolves when one is free; `undefined` when one is free now. Each `enter` needs one `leave`. */
  enter(): Promise<void> | undefined;
  leave(): void;
}

/** Creates `count` slots. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    enter() {
      if (taken < count) {
        taken += 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    leave() {
      // The slot passes directly to the next waiter.
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    },
  };
}
