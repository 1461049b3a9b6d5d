/**
 * Closes streams of events when the token that opened them ends (RFC 6750; MCP authorization: a server validates access
 * tokens). Nothing asks for the token of a stream again, and it can stay open for days. Answers of calls are left alone:
 * their request was made with a token that was valid, and they have deadlines. A stream that carries such answers
 * (legacy SSE) is closed after them.
 *
 * It checks all streams once in each interval.
 */

import type { HttpRequest, HttpResponse } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";

interface OpenStream {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly client: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** Dependencies of `ExpiringStreams`. */
export interface ExpiringStreamsDeps {
  readonly now: () => number;
  /** Returns when the token that gave an identity ends; undefined for one that does not, or whose end is not known. */
  readonly tokenEndOf: (identity: Identity) => number | undefined;
  /** Lets a stream end after the answers that it still carries. @returns false for a stream that carries none */
  readonly endWhenAnswered: (response: HttpResponse) => boolean;
  /** Called before a stream is closed. */
  readonly onExpired: (request: HttpRequest, client: string) => void;
}

/** Watches streams until it is disposed of. */
export class ExpiringStreams implements Disposable {
  readonly #deps: ExpiringStreamsDeps;
  readonly #streams = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: ExpiringStreamsDeps, { intervalMs }: { readonly intervalMs: number }) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#check(), intervalMs);
    this.#timer.unref();
  }

  /** Notes a request that was accepted, if its answer can be a stream without an end. */
  add(request: HttpRequest, response: HttpResponse, identity: Identity): void {
    const { method, headers } = request;
    // The modern era repeats the method of a message in a header, which is compared with the message.
    if (method !== "GET" && headers["mcp-method"] !== "subscriptions/listen") return;
    const endsAt = this.#deps.tokenEndOf(identity);
    if (endsAt !== undefined) this.#streams.add({ request, response, client: identity.name, endsAt });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#streams.clear();
  }

  #check(): void {
    const now = this.#deps.now();
    for (const stream of this.#streams) {
      const { request, response, client, endsAt } = stream;
      const isOver = response.destroyed || response.writableFinished;
      if (!isOver && now < endsAt) continue;
      this.#streams.delete(stream);
      if (isOver) continue;
      this.#deps.onExpired(request, client);
      if (!this.#deps.endWhenAnswered(response)) request.socket.destroy();
    }
  }
}
