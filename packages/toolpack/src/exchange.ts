/**
 * Carries out one call over HTTP: sends the request, retries it if the service
 * asks for that, and follows redirects, all before the deadline. Never accesses
 * the network or the clock itself: both are dependencies.
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

/** A request to send. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  /** Cancels the request. */
  readonly signal: AbortSignal;
  /** Maximum number of bytes of the body that are returned. */
  readonly maxBytes: number;
  /** The call that the request belongs to, for the audit. */
  readonly callId: string;
}

/**
 * Sends a request and reads its response. Never follows a redirect, and never retries.
 *
 * @throws {CodedError} if there is no response; the caller of the tool gets this error.
 */
export type SendRequest = (request: OutgoingRequest) => Promise<HttpResponse>;

/** The dependencies of an exchange. */
export interface ExchangeDeps {
  readonly send: SendRequest;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms` milliseconds; rejects with the reason of `signal`. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
}

/** The result of an exchange. */
export interface Exchanged {
  readonly response: HttpResponse;
  /** The URL that answered. */
  readonly url: string;
  /** The reason why a redirect was not followed, if the response is one. */
  readonly refusal: string | undefined;
}

/** Maximum number of bytes of a response that are kept. @limit server */
const bodyMaxBytes = 10 * 1024 * 1024;

/** A planned request with its deadline and its call. */
export interface ExchangeRequest {
  readonly tool: ToolspecTool;
  /** The request; packages have further methods. */
  readonly plan: Omit<RequestPlan, "method"> & { readonly method: string };
  readonly credentials: readonly FilledCredential[];
  readonly signal: AbortSignal;
  /** No retry starts after this time, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly callId: string;
  /** Called right before each time that the request is sent again: a retry, a redirect. What it throws ends the exchange. */
  readonly beforeRepeat: (() => void) | undefined;
}

/** Carries out `request`. @throws the error of `send` or of `beforeRepeat`, or the reason of the signal. */
export async function exchange(request: ExchangeRequest, deps: ExchangeDeps): Promise<Exchanged> {
  const { tool, plan, credentials, signal, deadline, callId, beforeRepeat } = request;
  const { method, headers, body } = plan;
  let { url } = plan;
  let retries = 0;
  let redirects = 0;
  for (;;) {
    signal.throwIfAborted();
    if (retries + redirects > 0) beforeRepeat?.();
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
