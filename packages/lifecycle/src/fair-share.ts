/**
 * A limited number of places, shared fairly among holders such as the clients of
 * a gateway. A holder can take a place only while it has fewer than are free, so
 * one holder gets at most half of the places and the next one always finds some.
 */

/** The reason why a holder gets no place: all are taken, or its share of them is. */
export type ShareRefusal = "full" | "share";

/** Places that holders take and give back. */
export class FairShare {
  readonly #max: number;
  readonly #taken = new Map<string, number>();
  #count = 0;

  /** @param max places of all holders together. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Places that are taken. */
  get count(): number {
    return this.#count;
  }

  /** Places that `holder` has. */
  countOf(holder: string): number {
    return this.#taken.get(holder) ?? 0;
  }

  /** Returns why `holder` does not get `places` more; undefined if it gets them. @param places @default 1 */
  refusalFor(holder: string, places = 1): ShareRefusal | undefined {
    const free = this.#max - this.#count;
    if (free < places) return "full";
    // It gets the last of them while it has fewer than are free.
    const others = places - 1;
    return this.countOf(holder) + others < free - others ? undefined : "share";
  }

  /** Takes `places` for `holder`, whether or not its share allows it. @param places @default 1 */
  take(holder: string, places = 1): void {
    this.#count += places;
    this.#taken.set(holder, this.countOf(holder) + places);
  }

  /** Gives back `places` of `holder`. @param places @default 1 */
  giveBack(holder: string, places = 1): void {
    this.#count -= places;
    const left = this.countOf(holder) - places;
    if (left > 0) this.#taken.set(holder, left);
    else this.#taken.delete(holder);
  }
}
