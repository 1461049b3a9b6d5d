/** The proxies of one egress. They share one local authority, which opens with the first proxy. */

import { disposeOnce, type StartTimer } from "@toolcrib/lifecycle";
import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { EgressDeps, EgressProxy, EgressSource, HandedProxy } from "../egress-types.ts";
import type { Pipeline } from "../pipeline.ts";
import { LeafCache } from "./host-cache.ts";
import { type OpenAuthority, openLocalAuthority } from "./open-local-authority.ts";
import { openHandedProxy, openProxy, type ProxyDeps } from "./open-proxy.ts";
import { proxyLimits } from "./proxy-limits.ts";

const startNodeTimer: StartTimer = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};

interface SharedAuthority {
  readonly files: OpenAuthority;
  readonly leaves: LeafCache;
}

/** Opens proxies. Disposing closes all of them. */
export class ProxySet implements AsyncDisposable {
  readonly #pipeline: Pipeline;
  readonly #caCertificates: readonly string[];
  readonly #deps: EgressDeps;
  readonly #opened = new Set<EgressProxy>();
  #authority: Promise<SharedAuthority> | undefined;
  #isClosed = false;

  constructor(
    pipeline: Pipeline,
    { caCertificates }: Pick<ResolvedSettings, "caCertificates">,
    deps: EgressDeps,
  ) {
    this.#pipeline = pipeline;
    this.#caCertificates = caCertificates;
    this.#deps = deps;
  }

  /**
   * Opens a proxy for `source`.
   *
   * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_LISTEN_FAILED`, `EGRESS_CLOSED`
   */
  open(source: EgressSource): Promise<EgressProxy> {
    return this.#open((deps) => openProxy(source, deps));
  }

  /**
   * Opens a proxy for `source` whose listener is handed over later.
   *
   * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED`
   */
  openHanded(source: EgressSource, port: number): Promise<HandedProxy> {
    return this.#open((deps) => openHandedProxy(source, port, deps));
  }

  async #open<P extends EgressProxy>(open: (deps: ProxyDeps) => Promise<P> | P): Promise<P> {
    if (this.#isClosed) throw closed();
    const { files, leaves } = await this.#openAuthority();
    const proxy = await open({
      pipeline: this.#pipeline,
      leaves,
      limits: proxyLimits,
      now: this.#deps.now,
      startTimer: this.#deps.startTimer ?? startNodeTimer,
      files,
    });
    const dispose = disposeOnce(() => proxy[Symbol.asyncDispose]());
    if (this.#isClosed) {
      await dispose();
      throw closed();
    }
    const opened: P = {
      ...proxy,
      [Symbol.asyncDispose]: async () => {
        await dispose();
        this.#opened.delete(opened);
      },
    };
    this.#opened.add(opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#opened].map((proxy) => proxy[Symbol.asyncDispose]()));
  }

  /** Opens the authority, or retries after a failure: the owner of a folder can be corrected. */
  #openAuthority(): Promise<SharedAuthority> {
    if (this.#authority !== undefined) return this.#authority;
    const opening = openLocalAuthority(this.#deps, this.#caCertificates).then((files) => ({
      files,
      leaves: new LeafCache(files.authority, this.#deps.now),
    }));
    opening.catch(() => {
      this.#authority = undefined;
    });
    this.#authority = opening;
    return opening;
  }
}

function closed(): EgressError {
  return new EgressError("EGRESS_CLOSED", "Cannot open a proxy: the egress was closed");
}
