/**
 * What is in flight, by id: a map whose entries come and go by the thousand a
 * second, and which forgets what was taken out of it.
 *
 * A `Map` does not, in V8: each table that it outgrows points to the next one.
 * Once one of them has become old, all that follow are kept, with everything
 * that ever stood in them, until the next full collection. So the `Map` here
 * holds places, and the values stand in an array. Data only.
 */

import type { RpcId } from "./json-rpc.ts";

/** Values by the id of a request, in the order in which they came. */
export class InFlight<Value> {
  readonly #places = new Map<RpcId, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #freePlaces: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(id: RpcId): boolean {
    return this.#places.has(id);
  }

  get(id: RpcId): Value | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#values[place];
  }

  set(id: RpcId, value: Value): void {
    const place = this.#places.get(id) ?? this.#freePlaces.pop() ?? this.#values.length;
    this.#places.set(id, place);
    this.#values[place] = value;
  }

  /** @returns whether it was there */
  delete(id: RpcId): boolean {
    const place = this.#places.get(id);
    if (place === undefined) return false;
    this.#places.delete(id);
    this.#values[place] = undefined;
    this.#freePlaces.push(place);
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#values.length = 0;
    this.#freePlaces.length = 0;
  }

  ids(): readonly RpcId[] {
    return [...this.#places.keys()];
  }

  values(): readonly Value[] {
    return Array.from(this.#places.values(), (place) => this.#values[place] as Value);
  }
}
