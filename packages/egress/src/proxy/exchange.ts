/**
 * One request inside a tunnel, step by step: read it, admit it (which authorizes
 * it, finds placeholders, reads and inserts secrets), lease a connection, send
 * it, and return the response without secrets. Bodies stream in pieces, at the
 * pace of their reader; none is kept.
 *
 * A request that fails before the head of a response was sent gets an answer in
 * JSON. A later failure aborts the response to the client too, so that no client
 * mistakes half a response for a complete one. No request is sent twice.
 */

import type { StartTimer } from "@toolcrib/lifecycle";
import type { Authority } from "../authority.ts";
import type { HeaderField } from "../inject/request-head.ts";
import type { AdmittedRequest, Pipeline, Requester } from "../pipeline.ts";
import { fromReadable } from "./body-source.ts";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import { withoutUnknownEncodings } from "./decode-body.ts";
import { cleanHeaders, passResponse } from "./pass-response.ts";
import { connectionOptions, toPairs, withoutHeaders } from "./raw-headers.ts";
import { type ReadRequest, readRequest } from "./read-request.ts";
import { toRefusal } from "./refusal.ts";
import { relayBody } from "./relay-body.ts";
import type { Upstream } from "./upstream.ts";
import type { FailureKind, RequestHead, UpstreamExchange, UpstreamLease } from "./upstream-exchange.ts";

/** The inputs of an exchange. */
export interface ExchangeContext {
  readonly requester: Requester;
  readonly authority: Authority;
  readonly pipeline: Pipeline;
  readonly upstream: Upstream;
  readonly startTimer: StartTimer;
}

/** Passes a request to the origin, and the response to the client. Never rejects. */
export async function passExchange(client: ClientExchange, context: ExchangeContext): Promise<void> {
  const { requester, authority, pipeline, upstream, startTimer } = context;
  let isGone = false;
  client.onGone(() => {
    isGone = true;
  });
  try {
    const request = readInside(client, context);
    const admitted = await pipeline.admit(requester, request.head);
    const lease = await upstream.open();
    if (isGone) return lease.release();
    admitted.sending();
    const head = toRequestHead(client, request, admitted, requester);
    passAdmitted(client, { admitted, lease, head, startTimer });
  } catch (error) {
    pipeline.reportDenied(requester, authority.host, error);
    if (!isGone) refuse(client, error);
  }
}

function readInside(
  client: ClientExchange,
  { requester, authority, pipeline }: ExchangeContext,
): ReadRequest {
  try {
    return readRequest(client, authority);
  } catch (error) {
    const names = client.authorities.map((name): HeaderField => ["host", name]);
    const target: HeaderField = [":path", client.target];
    pipeline.reportRefused(requester, authority.host, error, [target, ...names, ...toPairs(client.headers)]);
    throw error;
  }
}

interface AdmittedExchange {
  readonly admitted: AdmittedRequest;
  readonly head: RequestHead;
  readonly lease: UpstreamLease;
  readonly startTimer: StartTimer;
}

function passAdmitted(client: ClientExchange, { admitted, head, lease, startTimer }: AdmittedExchange): void {
  let isOver = false;
  let hasHead = false;
  const fail = (error: Error, { errorCode, wasIdle = false }: FailureKind = {}): void => {
    if (isOver) return;
    isOver = true;
    sent.cancel();
    // A client retries a request that an idle connection lost, as it does without a proxy.
    if (hasHead || wasIdle || errorCode !== undefined) client.reset(errorCode);
    else refuse(client, error);
  };
  const sent = lease.send(head, {
    onInterim(status, headers) {
      if (!isOver && !hasHead) client.inform(status, cleanHeaders(headers, admitted));
    },
    onResponse(response) {
      if (isOver) return;
      try {
        passResponse(client, response, admitted, { done, fail, startTimer });
        hasHead = true;
      } catch (error) {
        fail(error as Error);
      }
    },
    onFailed: fail,
  });
  client.onGone(() => {
    isOver = true;
    sent.cancel();
  });
  if (head.hasBody) passBody(client, sent, admitted, fail);
  else sent.endBody([]);

  function done(): void {
    isOver = true;
    // An origin that answers before the request is complete does not need the rest.
    if (!sent.body.writableEnded) sent.cancel();
  }
}

function passBody(
  client: ClientExchange,
  sent: UpstreamExchange,
  admitted: AdmittedRequest,
  fail: (error: Error) => void,
): void {
  relayBody(fromReadable(client.body), sent.body, {
    piece(piece) {
      admitted.scanBody(piece);
      return [piece];
    },
    end() {
      // If the client has disconnected, `onGone` handles it; the body is incomplete.
      if (client.wasCut() || sent.body.destroyed || sent.body.writableEnded) return;
      const trailers = cleanRequestTrailers(client.trailers());
      if (trailers.length > 0) admitted.scanBody(Buffer.from(`\n${trailers.join("\n")}`, "latin1"));
      admitted.scanBody(undefined);
      sent.endBody(trailers);
    },
    fail,
  });
}

/** Headers that are not allowed in trailers: framing, routing and authentication (RFC 9110 §6.5.1). */
const notInTrailers: ReadonlySet<string> = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "trailer",
]);

function cleanRequestTrailers(raw: RawHeaders): RawHeaders {
  return withoutHeaders(withoutHeaders(raw, connectionOptions(raw)), notInTrailers);
}

function toRequestHead(
  { hasBody }: ClientExchange,
  { framing, takesTrailers }: ReadRequest,
  { head: { method, target, headers }, scrubber }: AdmittedRequest,
  { source }: Requester,
): RequestHead {
  const isPart = headers.some(([name]) => name.toLowerCase() === "range");
  const passed = headers.flatMap(([name, value]) => {
    if (scrubber === undefined || name.toLowerCase() !== "accept-encoding") return [name, value];
    return [name, isPart ? "identity" : withoutUnknownEncodings(value)];
  });
  return {
    method,
    path: target.path,
    authority: target.authority.text,
    headers: [...passed, ...framing],
    secretHeaders: source.credentials.flatMap(({ place }) =>
      place.kind === "header" ? [place.name.toLowerCase()] : [],
    ),
    hasBody,
    takesTrailers,
  };
}

function refuse(client: ClientExchange, error: unknown): void {
  const { status, statusText, contentType, body } = toRefusal(error);
  const isEnd = client.method === "HEAD";
  const headers = ["content-type", contentType, "content-length", String(body.length)];
  const to = client.respond({ status, statusText, headers, isEnd });
  if (!isEnd) to.write(body);
  client.end([]);
}
