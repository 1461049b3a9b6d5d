/**
 * Values that come and go thousands of times a second, such as calls in flight.
 *
 * A `Map` or `Set` of them keeps removed values in V8: a table that it outgrows points to
 * the next one. Once one of these tables is in the old generation, all later tables stay alive
 * with every value that they ever held, until the next full collection. An array with reused places keeps none.
 */

/** Values, each at a place that is reused after its removal. */
export class LiveValues<Value> {
  readonly #values: (Value | undefined)[] = [];
  readonly #freePlaces: number[] = [];

  /** Adds a value. @returns its place until it is removed */
  add(value: Value): number {
    const place = this.#freePlaces.pop() ?? this.#values.length;
    this.#values[place] = value;
    return place;
  }

  /** Returns the value at `place`; undefined if it was removed. */
  get(place: number): Value | undefined {
    return this.#values[place];
  }

  /** Replaces the value at `place`, which was not removed. */
  replace(place: number, value: Value): void {
    this.#values[place] = value;
  }

  /** Removes the value at `place`. Each is removed once. */
  remove(place: number): void {
    this.#values[place] = undefined;
    this.#freePlaces.push(place);
  }

  clear(): void {
    this.#values.length = 0;
    this.#freePlaces.length = 0;
  }

  /** Returns the values now, in no particular order. */
  all(): readonly Value[] {
    return this.#values.filter((value) => value !== undefined);
  }
}
