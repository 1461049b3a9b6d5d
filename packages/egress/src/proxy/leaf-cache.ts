/**
 * What is kept by host, bounded: the one that was used longest ago goes first,
 * and each is made anew when its time is over. Leaves are kept so, each minted
 * once for all proxies, and the TLS servers of a proxy that hand them out.
 */

import { type Leaf, type LocalAuthority, leafRenewMs } from "./local-authority.ts";

/** Most hosts for which something is kept. */
const hostsMaxCount = 1000;

/** Something that is good for a time. */
export interface Kept<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly goodUntil: number;
}

/** Gives what is kept under a name, and makes it where there is none. */
export type HostCache<T> = (name: string, make: () => Kept<T>) => Kept<T>;

/** Create an empty cache. */
export function createHostCache<T>(now: () => number): HostCache<T> {
  const entries = new Map<string, Kept<T>>();
  return (name, make) => {
    const found = entries.get(name);
    entries.delete(name);
    const entry = found !== undefined && found.goodUntil > now() ? found : make();
    // The one that was used last is the last one of a map.
    entries.set(name, entry);
    if (entries.size > hostsMaxCount) entries.delete(entries.keys().next().value as string);
    return entry;
  };
}

/** Gives the leaf of a host. */
export type LeafCache = (host: string) => Kept<Leaf>;

/** Create a cache of the leaves of `authority`. */
export function createLeafCache(authority: LocalAuthority, now: () => number): LeafCache {
  const leaves = createHostCache<Leaf>(now);
  return (host) =>
    leaves(host, () => {
      const leaf = authority.mint(host);
      return { value: leaf, goodUntil: leaf.notAfter - leafRenewMs };
    });
}
