/** The proxies of one egress: they share one local authority, which is opened with the first of them, and end with it. */

import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { EgressDeps, EgressProxy, EgressSource } from "../egress-types.ts";
import type { Pipeline } from "../pipeline.ts";
import { createLeafCache, type LeafCache } from "./leaf-cache.ts";
import { type OpenAuthority, openLocalAuthority } from "./open-local-authority.ts";
import { openProxy } from "./open-proxy.ts";
import { proxyLimits } from "./proxy-limits.ts";

/** Opens proxies; disposing ends them all. */
export interface Proxies extends AsyncDisposable {
  /** @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_LISTEN_FAILED`, `EGRESS_CLOSED` */
  open(source: EgressSource): Promise<EgressProxy>;
}

/** Create the door for other processes. Opens nothing itself. */
export function createProxies(
  pipeline: Pipeline,
  { caCertificates }: Pick<ResolvedSettings, "caCertificates">,
  deps: EgressDeps,
): Proxies {
  const opened = new Set<EgressProxy>();
  let authority: Promise<{ readonly files: OpenAuthority; readonly leaves: LeafCache }> | undefined;
  let isClosed = false;

  async function openAuthority() {
    const files = await openLocalAuthority(deps, caCertificates);
    return { files, leaves: createLeafCache(files.authority, deps.now) };
  }

  return {
    async open(source) {
      if (isClosed) throw closed();
      authority ??= openAuthority();
      // What failed is tried again: a folder can be given back to its owner.
      authority.catch(() => {
        authority = undefined;
      });
      const { files, leaves } = await authority;
      const { caFile, caBundleFile } = files;
      const own = { pipeline, leaves, limits: proxyLimits, now: deps.now, files: { caFile, caBundleFile } };
      const proxy = await openProxy(source, own);
      if (isClosed) {
        await proxy[Symbol.asyncDispose]();
        throw closed();
      }
      opened.add(proxy);
      return {
        ...proxy,
        async [Symbol.asyncDispose]() {
          await proxy[Symbol.asyncDispose]();
          opened.delete(proxy);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all([...opened].map((proxy) => proxy[Symbol.asyncDispose]()));
      opened.clear();
    },
  };
}

function closed(): EgressError {
  return new EgressError("EGRESS_CLOSED", "Cannot open a proxy: the egress was closed");
}
