/**
 * Creates the egress: one pipeline, with `fetch` for this process and proxies
 * for other processes. Opens nothing before the first request or proxy.
 */

import { disposeOnce } from "@toolcrib/lifecycle";
import { EgressError } from "./egress-error.ts";
import { resolveEgressSettings } from "./egress-settings.ts";
import type { Egress, EgressDeps, EgressSettings } from "./egress-types.ts";
import { FetchClient } from "./fetch/fetch-client.ts";
import { sendToLoopback } from "./loopback-request.ts";
import { Pipeline } from "./pipeline.ts";
import type { ProxySet } from "./proxy/proxy-set.ts";

/**
 * Creates an egress.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createEgress(settings: EgressSettings, deps: EgressDeps): Egress {
  const resolved = resolveEgressSettings(settings);
  const pipeline = new Pipeline(resolved, deps);
  const client = new FetchClient(pipeline, resolved);
  const proxies = new LazyProxies(async () => {
    // The proxy is a quarter of this package's code, and few programs need it.
    const { ProxySet } = await import("./proxy/proxy-set.ts");
    return new ProxySet(pipeline, resolved, deps);
  });
  return {
    fetch: (request, source) => client.fetch(request, source),
    sendToLoopback,
    openProxy: async (source) => (await proxies.get()).open(source),
    openHandedProxy: async (source, port) => (await proxies.get()).openHanded(source, port),
    [Symbol.asyncDispose]: disposeOnce(async () => {
      await using stack = new AsyncDisposableStack();
      stack.defer(() => pipeline.clear());
      stack.use(proxies);
      stack.use(client);
    }),
  };
}

/** Loads the proxies with the first one that is opened. */
class LazyProxies implements AsyncDisposable {
  readonly #load: () => Promise<ProxySet>;
  #loading: Promise<ProxySet> | undefined;
  /** Those that are loaded. */
  #proxies: ProxySet | undefined;
  #isClosed = false;

  constructor(load: () => Promise<ProxySet>) {
    this.#load = load;
  }

  /** @throws {EgressError} `EGRESS_CLOSED`, and what prevents them from being loaded; the next use loads them again */
  async get(): Promise<ProxySet> {
    this.#assertOpen();
    this.#loading ??= this.#load();
    try {
      this.#proxies = await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
    // They open nothing by themselves, so that the end of the egress does not wait for those that are being loaded.
    this.#assertOpen();
    return this.#proxies;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#proxies?.[Symbol.asyncDispose]();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new EgressError("EGRESS_CLOSED", "Cannot open a proxy: the egress was closed");
  }
}
