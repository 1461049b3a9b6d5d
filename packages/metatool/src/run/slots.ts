/** So many at a time, first come, first served. Pure. */

/** A bounded number of places. */
export interface Slots {
  /** Resolves when there is a place; `undefined` when there is one now. Whoever enters leaves. */
  enter(): Promise<void> | undefined;
  leave(): void;
}

/** Make `count` places. */
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
      // The place goes to the next one and is never free in between.
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    },
  };
}
