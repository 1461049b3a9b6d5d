/**
 * Leaves by host: each is minted once, however many connections ask for it at
 * the same time, and kept until it is about to expire or others were used more
 * recently.
 */

import { type SecureContext, createSecureContext } from "node:tls";
import { type LocalAuthority, leafRenewMs } from "./local-authority.ts";

/** Most hosts whose leaves are kept. */
export const leavesMaxCount = 1000;

/** Gives what a TLS server for a host is made of. */
export type LeafCache = (host: string) => Promise<SecureContext>;

interface Entry {
  readonly context: Promise<SecureContext>;
  /** Until when it is given out; unknown while it is minted. */
  goodUntil: number;
}

/** Create an empty cache. */
export function createLeafCache(authority: LocalAuthority, now: () => number): LeafCache {
  const entries = new Map<string, Entry>();
  return (host) => {
    const found = entries.get(host);
    entries.delete(host);
    const entry = found !== undefined && found.goodUntil > now() ? found : mint(host);
    // The one that was used last is the last one of a map.
    entries.set(host, entry);
    if (entries.size > leavesMaxCount) entries.delete(entries.keys().next().value as string);
    return entry.context;
  };

  function mint(host: string): Entry {
    const entry: Entry = {
      goodUntil: Number.POSITIVE_INFINITY,
      context: authority.mint(host).then(({ certificate, key, notAfter }) => {
        // An authority that ends sooner than a leaf is renewed cannot keep the leaf from being used at all.
        entry.goodUntil = Math.max(notAfter - leafRenewMs, now() + 1);
        return createSecureContext({
          cert: `${certificate}${authority.certificate}`,
          key,
          minVersion: "TLSv1.2",
        });
      }),
    };
    // What failed is tried again.
    entry.context.catch(() => entries.delete(host));
    return entry;
  }
}
