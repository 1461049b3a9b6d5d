/**
 * Sends the requests of engines in this process: a request in, a response out,
 * through the pipeline and over pooled connections. The TLS session to the host
 * is the only one.
 */

import { abortable, disposeOnce } from "@toolcrib/lifecycle";
import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { EgressRequest, EgressResponse, EgressSource } from "../egress-types.ts";
import type { Pipeline, Requester } from "../pipeline.ts";
import { ConnectionPools } from "./connection-pools.ts";
import { sendRequest } from "./send-request.ts";

const defaultMaxBytes = 10 << 20;

/** Implements `Egress.fetch`. Disposing aborts the requests in flight and closes the connections. */
export class FetchClient implements AsyncDisposable {
  readonly #pipeline: Pipeline;
  readonly #settings: ResolvedSettings;
  readonly #pools: ConnectionPools;
  readonly #inFlight = new Map<AbortController, Promise<EgressResponse>>();
  #isClosed = false;

  constructor(pipeline: Pipeline, settings: ResolvedSettings) {
    this.#pipeline = pipeline;
    this.#settings = settings;
    this.#pools = new ConnectionPools(pipeline, settings);
  }

  /** Sends `request` for `source`; see `Egress.fetch`. */
  async fetch(request: EgressRequest, source: EgressSource): Promise<EgressResponse> {
    if (this.#isClosed) throw closed();
    const controller = new AbortController();
    const response = this.#start(request, source, controller);
    this.#inFlight.set(controller, response);
    try {
      return await response;
    } finally {
      this.#inFlight.delete(controller);
    }
  }

  readonly [Symbol.asyncDispose] = disposeOnce(async () => {
    this.#isClosed = true;
    for (const controller of this.#inFlight.keys()) controller.abort(closed());
    await Promise.allSettled(this.#inFlight.values());
    await this.#pools[Symbol.asyncDispose]();
  });

  /** Sends a request that its deadline, its caller or the disposal of the egress can abort. */
  async #start(
    request: EgressRequest,
    source: EgressSource,
    controller: AbortController,
  ): Promise<EgressResponse> {
    const { signal } = request;
    signal?.throwIfAborted();
    const { requestTimeoutMs } = this.#settings;
    const timer = setTimeout(() => {
      const message = `Cannot wait longer for a response: it took more than ${requestTimeoutMs} ms`;
      controller.abort(new EgressError("EGRESS_TIMED_OUT", message));
    }, requestTimeoutMs);
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await this.#send(request, source, controller.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async #send(request: EgressRequest, source: EgressSource, signal: AbortSignal): Promise<EgressResponse> {
    const { method, url, body, maxBytes = defaultMaxBytes, callId } = request;
    const pipeline = this.#pipeline;
    const requester: Requester = { source, callId };
    const headers = Object.entries(request.headers);
    const target = pipeline.readTarget(requester, url, headers, body);
    const admitted = await abortable(pipeline.admit(requester, { method, target, headers }, body), signal);
    const pool = this.#pools.poolFor(source, target.authority);
    const ceilingBytes = this.#settings.bodyMaxBytes;
    try {
      return await sendRequest(pool, admitted, { body, maxBytes, ceilingBytes, signal });
    } catch (error) {
      pipeline.reportDenied(requester, target.authority.host, error);
      throw error;
    }
  }
}

function closed(): EgressError {
  return new EgressError("EGRESS_CLOSED", "Cannot send a request: the egress was closed");
}
