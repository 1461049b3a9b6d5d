/**
 * Values of requests in flight, by request id: a map for thousands of insertions
 * and deletions a second that keeps no reference to a deleted value. A `Map` holds
 * indexes only, and `LiveValues` the values. Data only.
 */

import { LiveValues } from "@toolcrib/lifecycle";
import type { RpcId } from "./json-rpc.ts";

/** Values by request id, in insertion order. */
export class RequestTable<Value> {
  readonly #places = new Map<RpcId, number>();
  readonly #values = new LiveValues<Value>();

  get size(): number {
    return this.#places.size;
  }

  has(id: RpcId): boolean {
    return this.#places.has(id);
  }

  get(id: RpcId): Value | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#values.get(place);
  }

  set(id: RpcId, value: Value): void {
    const place = this.#places.get(id);
    if (place === undefined) this.#places.set(id, this.#values.add(value));
    else this.#values.replace(place, value);
  }

  /** @returns whether the table had an entry for `id` */
  delete(id: RpcId): boolean {
    const place = this.#places.get(id);
    if (place === undefined) return false;
    this.#places.delete(id);
    this.#values.remove(place);
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#values.clear();
  }

  ids(): readonly RpcId[] {
    return [...this.#places.keys()];
  }

  values(): readonly Value[] {
    return Array.from(this.#places.values(), (place) => this.#values.get(place) as Value);
  }
}
