/**
 * HTTP/1.1 with the origin, by the client of `node:http`, over connections that
 * are handed in. A request is sent once: what a connection lost is the client's
 * to repeat, as it would be without a proxy.
 */

import { Agent, type ClientRequest, type IncomingMessage, type InformationEvent, request } from "node:http";
import type { Duplex } from "node:stream";
import type { Authority } from "../authority.ts";
import { egressTimedOut } from "../codes.ts";
import { EgressError } from "../egress-error.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toPairs, valuesOf } from "./raw-headers.ts";
import type { RequestHead, UpstreamExchange, UpstreamListener } from "./upstream-exchange.ts";

/** Requests over HTTP/1.1 connections. */
export interface Http1Upstream extends Disposable {
  /** Have a connection that was opened elsewhere. */
  add(connection: Duplex): void;
  /** Open a connection unless one is idle. */
  prepare(): Promise<void>;
  /** Send over a connection that is idle, else over a new one. */
  readonly send: (head: RequestHead, listener: UpstreamListener) => UpstreamExchange;
}

/** Create the HTTP/1.1 side of an upstream; `connect` opens a connection to `authority` with TLS done. */
export function createHttp1Upstream(
  authority: Authority,
  limits: ProxyLimits,
  connect: () => Promise<Duplex>,
): Http1Upstream {
  const ready: Duplex[] = [];
  const takeReady = (): Duplex | undefined => {
    const connection = ready.pop();
    return connection?.destroyed === true ? takeReady() : connection;
  };
  const agent = new Agent({
    keepAlive: true,
    maxSockets: limits.streamsMaxCount,
    maxFreeSockets: limits.streamsMaxCount,
    timeout: limits.idleTimeoutMs,
  });
  agent.createConnection = (_options, done) => {
    const connection = takeReady();
    if (connection !== undefined) return connection;
    connect().then(
      (opened) => done?.(null, opened),
      // The declared type wants a stream beside the error; Node's own code does without.
      (error: Error) => (done as (error: Error) => void)(error),
    );
    return undefined;
  };
  return {
    add: (connection) => void ready.push(connection),
    async prepare() {
      const idle = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
      if (idle.length === 0 && ready.length === 0) ready.push(await connect());
    },
    send(head, listener) {
      const sent = request({
        agent,
        host: authority.host,
        port: authority.port,
        method: head.method,
        path: head.path,
        setHost: false,
        headers: toHeaders(head),
        maxHeaderSize: limits.headersMaxBytes,
        insecureHTTPParser: false,
      });
      listen(sent, head, listener);
      return toExchange(sent, head);
    },
    [Symbol.dispose]() {
      agent.destroy();
      for (const connection of ready) connection.destroy();
    },
  };
}

function toHeaders({ authority, headers, hasBody, method, takesTrailers }: RequestHead): string[] {
  const all = ["Host", authority, ...headers];
  const hasLength = valuesOf(headers, "content-length").length > 0;
  if (hasBody && !hasLength) all.push("Transfer-Encoding", "chunked");
  // Without either, node would announce chunks for a method that usually has a body.
  else if (!hasBody && !hasLength && !/^(?:GET|HEAD|OPTIONS|DELETE)$/.test(method))
    all.push("Content-Length", "0");
  if (takesTrailers) all.push("TE", "trailers", "Connection", "TE, keep-alive");
  return all;
}

function listen(sent: ClientRequest, head: RequestHead, listener: UpstreamListener): void {
  let isOver = false;
  let hasResponse = false;
  const fail = (error: Error, wasIdle = false): void => {
    if (isOver) return;
    isOver = true;
    listener.onFailed(error, { wasIdle });
  };
  sent.on("information", ({ statusCode, rawHeaders }: InformationEvent) =>
    listener.onInterim(statusCode, rawHeaders),
  );
  sent.on("response", (response: IncomingMessage) => {
    hasResponse = true;
    const isEnd = hasNoBody(head.method, response);
    listener.onResponse({
      status: response.statusCode ?? 0,
      statusText: response.statusMessage ?? "",
      headers: response.rawHeaders,
      isEnd,
      body: response,
      trailers: () => response.rawTrailers,
      wasCut: () => !response.complete,
    });
    response.on("error", (error) => fail(error));
    response.once("close", () => {
      if (!response.complete) fail(new Error("The connection ended within a response"));
    });
  });
  sent.on("timeout", () => sent.destroy(timedOut(head.authority)));
  sent.on("error", (error) => fail(error, sent.reusedSocket && !hasResponse));
  sent.once("close", () => {
    if (!hasResponse) fail(new Error("The connection ended before a response"));
  });
}

function timedOut(host: string): EgressError {
  return new EgressError(egressTimedOut, `Cannot go on with "${host}": nothing came for too long`);
}

/** RFC 9112 §6.3: what has no body whatever its headers say, and what has one of no length. */
function hasNoBody(method: string, { statusCode, headers }: IncomingMessage): boolean {
  if (method === "HEAD" || statusCode === 204 || statusCode === 304) return true;
  return headers["content-length"] === "0";
}

function toExchange(sent: ClientRequest, { hasBody }: RequestHead): UpstreamExchange {
  // The head goes ahead of the body: the origin may answer it, or say "continue".
  if (hasBody) sent.flushHeaders();
  return {
    body: sent,
    endBody(trailers) {
      if (trailers.length > 0) sent.addTrailers(toPairs(trailers));
      sent.end();
    },
    cancel() {
      sent.destroy();
    },
  };
}
