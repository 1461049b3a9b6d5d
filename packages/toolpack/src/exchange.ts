/**
 * One call as HTTP: the request is sent, sent again where the service asks for
 * it, and redirects are followed, all before the deadline. Knows no network and
 * no clock of its own: both are handed in.
 */

import {
  type FilledCredential,
  type HttpResponse,
  mapResponse,
  mayRetry,
  type RequestPlan,
  type ToolspecTool,
} from "@toolcrib/toolspec";
import { decideRedirect } from "./redirect.ts";
import { retriesMaxCount, retryDelayMs } from "./retry-delay.ts";

/** A request as it goes out. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Most bytes of the body that are kept. */
  readonly maxBytes: number;
  /** The call that it belongs to, for the record. */
  readonly callId: string;
}

/**
 * Sends a request and reads its response. Follows no redirect and sends nothing twice.
 *
 * @throws {CodedError} when there is no response; the caller of the tool is told.
 */
export type SendRequest = (request: OutgoingRequest) => Promise<HttpResponse>;

/** What an exchange takes from its surroundings. */
export interface ExchangeDeps {
  readonly send: SendRequest;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms`; rejects with the reason of `signal`. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

/** What an exchange came to. */
export interface Exchanged {
  readonly response: HttpResponse;
  /** The address that answered. */
  readonly url: string;
  /** Why a redirect was not followed, where it was one. */
  readonly refusal: string | undefined;
}

/** Most bytes of a response that are kept. */
const bodyMaxBytes = 10 * 1024 * 1024;

/** The request, and until when and on whose account it is sent. */
export interface ExchangeRequest {
  readonly tool: ToolspecTool;
  readonly plan: RequestPlan;
  readonly credentials: readonly FilledCredential[];
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch past which nothing is sent again. */
  readonly deadline: number;
  readonly callId: string;
}

/** Carry out `request`. @throws what `send` throws, and the reason of the signal. */
export async function exchange(request: ExchangeRequest, deps: ExchangeDeps): Promise<Exchanged> {
  const { tool, plan, credentials, signal, deadline, callId } = request;
  const { method, headers, body } = plan;
  let { url } = plan;
  let retries = 0;
  let redirects = 0;
  for (;;) {
    signal.throwIfAborted();
    const sent = { method, url, headers, signal, maxBytes: bodyMaxBytes, callId };
    const response = await deps.send(body === undefined ? sent : { ...sent, body });
    if (mayRetry(method, response.status) && retries < retriesMaxCount) {
      const { rateLimit } = mapResponse(tool, response);
      const now = deps.now();
      const delayMs = retryDelayMs(retries, rateLimit, now, deps.random());
      if (now + delayMs < deadline) {
        retries += 1;
        await deps.sleep(delayMs, signal);
        continue;
      }
    }
    const redirect = decideRedirect({ method, url }, response, credentials, redirects);
    if (redirect.kind !== "follow") {
      return { response, url, refusal: redirect.kind === "refuse" ? redirect.reason : undefined };
    }
    url = redirect.url;
    redirects += 1;
  }
}
