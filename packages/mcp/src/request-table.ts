/**
 * Values of requests in flight, by request id: a map for thousands of insertions
 * and deletions a second that keeps no reference to a deleted value.
 *
 * A `Map` of values does keep them in V8: a table that it outgrows points to the
 * next one. Once a table is in the old generation, all later tables stay alive
 * with every value that they ever held, until the next full collection. So the
 * `Map` here holds indexes only, and an array holds the values. Data only.
 */

import type { RpcId } from "./json-rpc.ts";

/** Values by request id, in insertion order. */
export class RequestTable<Value> {
  readonly #indexes = new Map<RpcId, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #freeIndexes: number[] = [];

  get size(): number {
    return this.#indexes.size;
  }

  has(id: RpcId): boolean {
    return this.#indexes.has(id);
  }

  get(id: RpcId): Value | undefined {
    const index = this.#indexes.get(id);
    return index === undefined ? undefined : this.#values[index];
  }

  set(id: RpcId, value: Value): void {
    const index = this.#indexes.get(id) ?? this.#freeIndexes.pop() ?? this.#values.length;
    this.#indexes.set(id, index);
    this.#values[index] = value;
  }

  /** @returns whether the table had an entry for `id` */
  delete(id: RpcId): boolean {
    const index = this.#indexes.get(id);
    if (index === undefined) return false;
    this.#indexes.delete(id);
    this.#values[index] = undefined;
    this.#freeIndexes.push(index);
    return true;
  }

  clear(): void {
    this.#indexes.clear();
    this.#values.length = 0;
    this.#freeIndexes.length = 0;
  }

  ids(): readonly RpcId[] {
    return [...this.#indexes.keys()];
  }

  values(): readonly Value[] {
    return Array.from(this.#indexes.values(), (index) => this.#values[index] as Value);
  }
}
