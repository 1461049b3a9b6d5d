/**
 * The vectors of queries: one request for each search, within the time that a search may wait. Those of a client are
 * kept for that client alone, so that no client learns from a time what others search for. After a failure, searches
 * do not ask for a while, so that an endpoint that does not answer delays few of them.
 */

import { FairShare } from "@toolcrib/lifecycle";
import { EmbeddingsError } from "./embeddings-error.ts";
import type { Endpoint } from "./endpoint.ts";
import { requestLimits, waits } from "./limits.ts";
import type { Problems } from "./problems.ts";

/** Dependencies of `QueryVectors`. */
export interface QueryVectorsDeps {
  readonly endpoint: Pick<Endpoint, "vectorsOf">;
  readonly problems: Problems;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that a search waits. */
  readonly timeoutMs: number;
}

/** The vectors of queries of one gateway. */
export class QueryVectors implements Disposable {
  readonly #deps: QueryVectorsDeps;
  /** By client and text; the one that was used last comes last. */
  readonly #kept = new Map<string, Float32Array>();
  readonly #shares = new FairShare(requestLimits.queriesInFlight);
  readonly #disposed = new AbortController();
  #failures = 0;
  #askAgainAt = 0;

  constructor(deps: QueryVectorsDeps) {
    this.#deps = deps;
  }

  /** Returns the vector of a query; undefined when there is none in time, at once where none is asked for. Never rejects. */
  vectorOf(client: string, text: string): Promise<Float32Array | undefined> | undefined {
    const key = JSON.stringify([client, text]);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#keep(key, kept);
      return Promise.resolve(kept);
    }
    const isPaused = this.#deps.now() < this.#askAgainAt;
    if (isPaused || this.#disposed.signal.aborted || this.#shares.refusalFor(client) !== undefined) {
      return undefined;
    }
    return this.#ask(client, text, key);
  }

  [Symbol.dispose](): void {
    this.#disposed.abort();
  }

  async #ask(client: string, text: string, key: string): Promise<Float32Array | undefined> {
    const { endpoint, problems, timeoutMs } = this.#deps;
    const late = AbortSignal.timeout(timeoutMs);
    this.#shares.take(client);
    try {
      const signal = AbortSignal.any([this.#disposed.signal, late]);
      const [vector] = await endpoint.vectorsOf([text], { signal, maxBytes: requestLimits.queryMaxBytes });
      this.#failures = 0;
      problems.clear("queries");
      if (vector !== undefined) this.#keep(key, vector);
      return vector;
    } catch (error) {
      if (!this.#disposed.signal.aborted) this.#pause(late.aborted ? tooLate(timeoutMs) : error);
      return undefined;
    } finally {
      this.#shares.giveBack(client);
    }
  }

  #pause(error: unknown): void {
    const pauseMs = Math.min(waits.queryPauseMaxMs, waits.queryPauseMs * 2 ** this.#failures);
    // Searches that waited at the same time fail together, and count as one failure.
    if (this.#deps.now() >= this.#askAgainAt) {
      this.#failures = Math.min(30, this.#failures + 1);
      this.#askAgainAt = this.#deps.now() + pauseMs;
    }
    this.#deps.problems.add("queries", error);
  }

  #keep(key: string, vector: Float32Array): void {
    this.#kept.delete(key);
    this.#kept.set(key, vector);
    if (this.#kept.size <= requestLimits.keptQueries) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }
}

function tooLate(timeoutMs: number): EmbeddingsError {
  return new EmbeddingsError(
    "EMBEDDINGS_UNAVAILABLE",
    `The embeddings endpoint did not answer a query within ${timeoutMs} ms`,
    { hint: "raise search.embeddings.timeout_ms, or use an endpoint that answers faster" },
  );
}
