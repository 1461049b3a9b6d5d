/**
 * The life of one request inside a tunnel, one step after the other: read,
 * admit (which authorises, finds placeholders, reads and puts in secrets), have
 * a connection, send, and pass the response back without secrets. Bodies go
 * through in pieces, each as fast as its reader takes it; none is kept.
 *
 * What is refused before the head of a response was sent is answered with JSON;
 * what breaks later is broken off on the client's side too, so that no client
 * takes half a response for a whole one. No request is sent twice.
 */

import type { Authority } from "../authority.ts";
import type { HeaderField } from "../inject/request-head.ts";
import type { AdmittedRequest, Asker, Pipeline } from "../pipeline.ts";
import { fromReadable } from "./body-source.ts";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import { withoutUnknownEncodings } from "./decode-body.ts";
import { cleanHeaders, passResponse } from "./pass-response.ts";
import { connectionOptions, toPairs, withoutHeaders } from "./raw-headers.ts";
import { type ReadRequest, readRequest } from "./read-request.ts";
import { toRefusal } from "./refusal.ts";
import { relayBody } from "./relay-body.ts";
import type { Upstream } from "./upstream.ts";
import type { FailureKind, Passage, RequestHead, UpstreamExchange } from "./upstream-exchange.ts";

/** What an exchange goes through. */
export interface ExchangeSetting {
  readonly asker: Asker;
  readonly authority: Authority;
  readonly pipeline: Pipeline;
  readonly upstream: Upstream;
}

/** Pass one request on, and its response back. Never rejects. */
export async function passExchange(client: ClientExchange, setting: ExchangeSetting): Promise<void> {
  const { asker, authority, pipeline, upstream } = setting;
  let isGone = false;
  client.onGone(() => {
    isGone = true;
  });
  try {
    const request = readInside(client, setting);
    const admitted = await pipeline.admit(asker, request.head);
    const passage = await upstream.open();
    if (isGone) return passage.leave();
    admitted.sending();
    passAdmitted(client, { admitted, passage, head: toRequestHead(client, request, admitted, asker) });
  } catch (error) {
    pipeline.denied(asker, authority.host, error);
    if (!isGone) refuse(client, error);
  }
}

function readInside(client: ClientExchange, { asker, authority, pipeline }: ExchangeSetting): ReadRequest {
  try {
    return readRequest(client, authority);
  } catch (error) {
    const names = client.authorities.map((name): HeaderField => ["host", name]);
    const target: HeaderField = [":path", client.target];
    pipeline.refused(asker, authority.host, error, [target, ...names, ...toPairs(client.headers)]);
    throw error;
  }
}

interface AdmittedExchange {
  readonly admitted: AdmittedRequest;
  readonly head: RequestHead;
  readonly passage: Passage;
}

function passAdmitted(client: ClientExchange, { admitted, head, passage }: AdmittedExchange): void {
  let isOver = false;
  let hasHead = false;
  const fail = (error: Error, { errorCode, wasIdle = false }: FailureKind = {}): void => {
    if (isOver) return;
    isOver = true;
    sent.cancel();
    // A client repeats what an idle connection lost, as it would without a proxy.
    if (hasHead || wasIdle || errorCode !== undefined) client.reset(errorCode);
    else refuse(client, error);
  };
  const sent = passage.send(head, {
    onInterim(status, headers) {
      if (!isOver && !hasHead) client.inform(status, cleanHeaders(headers, admitted));
    },
    onResponse(response) {
      if (isOver) return;
      try {
        passResponse(client, response, admitted, { done, fail });
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
    // An origin that answered before the request was whole does not want the rest.
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
      // A client that went away tells so itself; what it sent is not the whole.
      if (client.wasCut() || sent.body.destroyed || sent.body.writableEnded) return;
      const trailers = cleanRequestTrailers(client.trailers());
      if (trailers.length > 0) admitted.scanBody(Buffer.from(`\n${trailers.join("\n")}`, "latin1"));
      admitted.scanBody(undefined);
      sent.endBody(trailers);
    },
    fail,
  });
}

/** What a trailer may not say: what frames, routes or proves a request (RFC 9110 §6.5.1). */
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
  { source }: Asker,
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
