/**
 * Values by host, bounded: the least recently used one is dropped first, and an
 * expired one is created again. Holds the leaf certificates, which all proxies
 * share, and the TLS servers of a proxy that present them.
 */

import { type Leaf, type LocalAuthority, leafRenewMs } from "./local-authority.ts";

/** Maximum number of hosts with a cached value. */
const hostsMaxCount = 1000;

/** A value with an expiry time. */
export interface Expiring<Value> {
  readonly value: Value;
  /** Milliseconds since the epoch. */
  readonly goodUntil: number;
}

/** A bounded cache of values by host. */
export class HostCache<Value> {
  readonly #now: () => number;
  /** The most recently used entry is at the end. */
  readonly #entries = new Map<string, Expiring<Value>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the value of `name`, created by `create` if there is none or it has expired. */
  get(name: string, create: () => Expiring<Value>): Expiring<Value> {
    const found = this.#entries.get(name);
    this.#entries.delete(name);
    const entry = found !== undefined && found.goodUntil > this.#now() ? found : create();
    this.#entries.set(name, entry);
    if (this.#entries.size > hostsMaxCount) this.#entries.delete(this.#entries.keys().next().value as string);
    return entry;
  }
}

/** The leaf certificates of an authority, by host. */
export class LeafCache {
  readonly #authority: LocalAuthority;
  readonly #leaves: HostCache<Leaf>;

  constructor(authority: LocalAuthority, now: () => number) {
    this.#authority = authority;
    this.#leaves = new HostCache(now);
  }

  /** Returns the leaf of `host`, minted if necessary. */
  leafOf(host: string): Expiring<Leaf> {
    return this.#leaves.get(host, () => {
      const leaf = this.#authority.mint(host);
      return { value: leaf, goodUntil: leaf.notAfter - leafRenewMs };
    });
  }
}
