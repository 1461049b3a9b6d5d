/**
 * The door for other processes: an HTTP proxy on a port of 127.0.0.1, one for
 * each source, so that who sends is known by where it sends. It takes CONNECT
 * and nothing else. The authority of CONNECT is brought into its one form and
 * held to the source's policy before the client hears "200"; from then on the
 * tunnel leads there and nowhere else.
 *
 * It answers 403 with JSON for what is not allowed, and never asks who a client
 * is (407): a process that can reach the port has no more by it than the hosts
 * of the source, and no secret without its placeholder.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@toolcrib/diagnostics";
import { type Authority, authorise, parseAuthority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { EgressProxy, EgressSource } from "../egress-types.ts";
import type { Asker, Pipeline } from "../pipeline.ts";
import { passExchange } from "./exchange.ts";
import type { LeafCache } from "./leaf-cache.ts";
import type { OpenAuthority } from "./open-local-authority.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toPairs, valuesOf } from "./raw-headers.ts";
import { toRefusal, toRefusalBytes } from "./refusal.ts";
import { createTunnels } from "./tunnels.ts";
import { createUpstream } from "./upstream.ts";

/** What every proxy of an egress shares. */
export interface ProxyDeps {
  readonly pipeline: Pipeline;
  readonly files: Pick<OpenAuthority, "caFile" | "caBundleFile">;
  readonly leaves: LeafCache;
  readonly limits: ProxyLimits;
  readonly now: () => number;
}

/** A host may be written here, a port has to be. */
const connectPattern = /:[0-9]+$/;

/**
 * Listen for the processes of `source`.
 *
 * @throws {EgressError} `EGRESS_LISTEN_FAILED`
 */
export async function openProxy(source: EgressSource, deps: ProxyDeps): Promise<EgressProxy> {
  const { pipeline, limits, files } = deps;
  const asker: Asker = { source };
  pipeline.learn(source);
  const connections = new Set<Duplex>();
  const tunnels = createTunnels({
    leaves: deps.leaves,
    limits,
    now: deps.now,
    onConnection(authority, connection) {
      const protocol = "alpnProtocol" in connection && connection.alpnProtocol === "h2" ? "h2" : "http/1.1";
      const ending = new AbortController();
      const upstream = createUpstream(authority, protocol, limits, (protocols, onRead) =>
        pipeline.dial(authority, { protocols, onRead, signal: ending.signal }),
      );
      connection.once("close", () => {
        ending.abort(new EgressError("EGRESS_CLOSED", "The client went away"));
        upstream[Symbol.dispose]();
      });
      return (exchange) => void passExchange(exchange, { asker, authority, pipeline, upstream });
    },
  });
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: limits.connectHeadMaxBytes,
    headersTimeout: limits.requestHeadTimeoutMs,
    requestTimeout: limits.requestHeadTimeoutMs,
    keepAliveTimeout: limits.requestHeadTimeoutMs,
    connectionsCheckingInterval: Math.min(5000, limits.requestHeadTimeoutMs),
    noDelay: true,
  });
  server.maxConnections = limits.connectionsMaxCount;
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex, ahead: Buffer) => {
    socket.on("error", () => socket.destroy());
    let named = request.url ?? "";
    try {
      const authority = readConnect(request);
      named = authority.host;
      authorise(source, authority);
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (ahead.length > 0) socket.unshift(ahead);
      tunnels.serve(socket, authority);
    } catch (error) {
      pipeline.refused(asker, named, error, toPairs(request.rawHeaders));
      endWith(socket, toRefusalBytes(error), limits);
    }
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const error = plainRefusal(request.url ?? "");
    pipeline.refused(asker, request.url ?? "", error, toPairs(request.rawHeaders));
    const { status, statusText, contentType, body } = toRefusal(error);
    const headers = { "content-type": contentType, "content-length": body.length, connection: "close" };
    response.writeHead(status, statusText, headers).end(body);
  });
  server.on("clientError", (_error, socket) => {
    if (!socket.writable) return void socket.destroy();
    const error = new EgressError("EGRESS_REQUEST_INVALID", "Cannot read the request: it is not HTTP/1.1");
    endWith(socket, toRefusalBytes(error), limits);
  });

  server.listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const message = `Cannot listen on 127.0.0.1: ${messageOf(error)}`;
    throw new EgressError("EGRESS_LISTEN_FAILED", message, { cause: error });
  }
  let closed: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...files,
    [Symbol.asyncDispose]: () => {
      closed ??= close();
      return closed;
    },
  };

  async function close(): Promise<void> {
    const ended = once(server, "close");
    server.close();
    tunnels[Symbol.dispose]();
    await Promise.all([
      ended,
      ...[...connections].map(async (connection) => {
        const gone = connection.closed ? undefined : once(connection, "close");
        connection.destroy();
        await gone;
      }),
    ]);
  }
}

/** The authority that CONNECT asks for. */
function readConnect(request: IncomingMessage): Authority {
  const asked = request.url ?? "";
  if (!connectPattern.test(asked)) throw invalid("CONNECT needs a host and a port");
  const authority = parseAuthority(asked);
  const { rawHeaders } = request;
  const hasBody = ["content-length", "transfer-encoding"].some(
    (name) => valuesOf(rawHeaders, name).length > 0,
  );
  if (hasBody) throw invalid("CONNECT has no body");
  for (const host of valuesOf(rawHeaders, "host")) {
    // Clients leave the port out of Host, or do not.
    const isSame = connectPattern.test(host)
      ? parseAuthority(host).text === authority.text
      : parseAuthority(host).host === authority.host;
    if (!isSame) {
      throw new EgressError(
        "EGRESS_AUTHORITY_MISMATCH",
        "Cannot connect: CONNECT and its Host are not the same",
      );
    }
  }
  return authority;
}

function plainRefusal(url: string): EgressError {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return invalid("it is a proxy, which takes CONNECT only");
  return new EgressError("EGRESS_PLAIN_HTTP", "Cannot pass on a request in plain HTTP", {
    hint: "use https:// URLs; what is sent in the clear can be read and changed on the way",
  });
}

function invalid(state: string): EgressError {
  return new EgressError("EGRESS_REQUEST_INVALID", `Cannot serve the request: ${state}`);
}

/** Write the last bytes of a connection, and let the client read them. */
function endWith(socket: Duplex, bytes: Buffer, limits: ProxyLimits): void {
  socket.end(bytes);
  // Unread bytes would turn the end into a reset, which takes the answer with it.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), limits.requestHeadTimeoutMs);
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
}
