/**
 * The door for engines of this process: a request in, a response out, through
 * the pipeline and over connections that are kept. No TLS session but the one
 * to the host.
 */

import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { Egress, EgressRequest, EgressResponse, EgressSource } from "../egress-types.ts";
import type { Asker, Pipeline } from "../pipeline.ts";
import { untilAborted } from "../until-aborted.ts";
import { createConnectionPools } from "./connection-pools.ts";
import { sendRequest } from "./send-request.ts";

/** The door, and what it holds open. */
export interface FetchDoor extends AsyncDisposable {
  readonly fetch: Egress["fetch"];
}

const defaultMaxBytes = 10 << 20;

/** Create the door. */
export function createFetch(pipeline: Pipeline, settings: ResolvedSettings): FetchDoor {
  const pools = createConnectionPools(pipeline, settings);
  let isClosed = false;
  const underway = new Map<AbortController, Promise<EgressResponse>>();

  async function run(
    request: EgressRequest,
    source: EgressSource,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const { method, url, body, maxBytes = defaultMaxBytes, callId } = request;
    const asker: Asker = { source, callId };
    const headers = Object.entries(request.headers);
    const target = pipeline.readTarget(asker, url, headers, body);
    const admitted = await untilAborted(pipeline.admit(asker, { method, target, headers }, body), signal);
    const pool = pools.poolFor(source, target.authority);
    const ceilingBytes = settings.bodyMaxBytes;
    try {
      return await sendRequest(pool, admitted, { body, maxBytes, ceilingBytes, signal });
    } catch (error) {
      pipeline.denied(asker, target.authority.host, error);
      throw error;
    }
  }

  /** Ended by its deadline, by its caller, or with the egress. */
  async function start(
    request: EgressRequest,
    source: EgressSource,
    ending: AbortController,
  ): Promise<EgressResponse> {
    const { signal } = request;
    signal?.throwIfAborted();
    const { requestTimeoutMs } = settings;
    const timer = setTimeout(() => {
      const message = `Cannot wait longer for a response: it took more than ${requestTimeoutMs} ms`;
      ending.abort(new EgressError("EGRESS_TIMED_OUT", message));
    }, requestTimeoutMs);
    const end = (): void => ending.abort(signal?.reason);
    signal?.addEventListener("abort", end, { once: true });
    try {
      return await run(request, source, ending.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  return {
    async fetch(request, source) {
      if (isClosed) throw closed();
      const ending = new AbortController();
      const response = start(request, source, ending);
      underway.set(ending, response);
      try {
        return await response;
      } finally {
        underway.delete(ending);
      }
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      for (const ending of underway.keys()) ending.abort(closed());
      await Promise.allSettled(underway.values());
      await pools[Symbol.asyncDispose]();
    },
  };
}

function closed(): EgressError {
  return new EgressError("EGRESS_CLOSED", "Cannot send a request: the egress was closed");
}
