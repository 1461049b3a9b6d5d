/**
 * Passes a request in plain HTTP on to an origin that a setting of the operator
 * names, such as a registry of the own network. Other plain requests are refused
 * before they come here, and so are those whose `Connection` removes their framing.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline as joinStreams } from "node:stream/promises";
import { EgressError } from "../egress-error.ts";
import type { EgressSource, NamedOrigin } from "../egress-types.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ProxyLimits } from "../proxy/proxy-limits.ts";
import { connectionOptions, toPairs, valuesOf } from "../proxy/raw-headers.ts";
import { toRefusal } from "../proxy/refusal.ts";
import { authorityOf } from "./named-origins.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { request: sendRequest } = process.getBuiltinModule("node:http");

/** One request and what it is passed on with. */
export interface PlainPass {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly source: EgressSource;
  readonly origin: NamedOrigin;
  readonly pipeline: Pipeline;
  readonly limits: ProxyLimits;
}

/** Headers that are not passed on besides those of the connection: those of the framing, which the sender creates. */
const framingHeaders: ReadonlySet<string> = new Set(["expect", "trailer"]);

/** Passes one request on, and its response back. Never rejects. */
export async function passPlain(pass: PlainPass): Promise<void> {
  const { request, response, limits } = pass;
  const controller = new AbortController();
  response.once("close", () =>
    controller.abort(new EgressError("EGRESS_CLOSED", "The client closed the connection")),
  );
  try {
    const answer = await send(pass, controller.signal);
    // Node has removed the chunks; without the header, nothing would say that the rest is encoded.
    if (valuesOf(answer.rawHeaders, "transfer-encoding").some((value) => value.toLowerCase() !== "chunked")) {
      answer.destroy();
      throw new EgressError(
        "EGRESS_RESPONSE_INVALID",
        "Cannot pass the response on: its transfer encoding is not chunked",
      );
    }
    const headers = passedOn(answer.rawHeaders);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers.flat());
    await joinStreams(answer, countTo(limits.relayMaxBytes), response);
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const { status, statusText, contentType, body } = toRefusal(error);
    response.writeHead(status, statusText, {
      "content-type": contentType,
      "content-length": body.length,
      connection: "close",
    });
    response.end(body);
    request.resume();
  }
}

/** Sends the request. @returns the response, whose body is not read yet */
async function send(
  { request, source, origin, pipeline, limits }: PlainPass,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { socket, proxy } = await pipeline.connectNamed(source, origin, signal);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const authority = authorityOf(origin);
  const path = (request.url ?? "").replace(/^http:\/\/[^/?#]*\/?/i, "/");
  const headers = passedOn(request.rawHeaders).filter(([name]) => name.toLowerCase() !== "host");
  headers.push(["Host", authority], ["Connection", "close"]);
  const isEncoded = request.headers["transfer-encoding"] !== undefined;
  if (isEncoded) headers.push(["Transfer-Encoding", "chunked"]);
  if (proxy?.authorization !== undefined) headers.push(["Proxy-Authorization", proxy.authorization]);
  const sent = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path: proxy === undefined ? path : `http://${authority}${path}`,
    headers: headers.flat(),
    timeout: limits.idleTimeoutMs,
    insecureHTTPParser: false,
  });
  sent.once("response", resolve);
  sent.once("timeout", () => sent.destroy());
  sent.on("error", (cause) => reject(lost(origin, cause)));
  signal.addEventListener("abort", () => sent.destroy(), { once: true });
  request.pipe(sent);
  return await promise;
}

/** Returns the headers that are passed on: none of the connection, nor those that `Connection` names (RFC 9110 section 7.6.1). */
function passedOn(raw: readonly string[]): [name: string, value: string][] {
  const ending = connectionOptions(raw).union(framingHeaders);
  return toPairs(raw).filter(([name]) => !ending.has(name.toLowerCase()));
}

function countTo(maxBytes: number) {
  return async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new EgressError("EGRESS_CONNECTION_LOST", "The response is too large");
      yield piece;
    }
  };
}

function lost({ host }: NamedOrigin, cause: unknown): EgressError {
  return new EgressError("EGRESS_CONNECTION_LOST", `Cannot get a response from "${host}"`, { cause });
}
