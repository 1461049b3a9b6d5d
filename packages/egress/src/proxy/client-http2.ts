/** HTTP/2 with a client, through `node:http2`: each stream is one exchange. Server push and extended CONNECT are off. */

import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from "node:http2";
import type { Duplex } from "node:stream";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import type { OnRequest } from "./client-http1-server.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toHeaderObject } from "./raw-headers.ts";

/** Serves `connection`, whose TLS is terminated, and passes its requests to `onRequest`. */
export function serveHttp2(
  connection: Duplex,
  limits: ProxyLimits,
  onRequest: OnRequest,
): ServerHttp2Session {
  const session = performServerHandshake(connection, {
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      maxConcurrentStreams: limits.streamsMaxCount,
      initialWindowSize: limits.windowBytes,
      maxHeaderListSize: limits.headersMaxBytes,
    },
    maxSessionMemory: limits.sessionMaxMegabytes,
  });
  session.once("connect", () => session.setLocalWindowSize(limits.windowBytes * 2));
  session.setTimeout(limits.idleTimeoutMs, () => session.destroy());
  // An error of a session ends its streams, which report it to their exchanges.
  session.on("error", () => session.destroy());
  session.on(
    "stream",
    (stream: ServerHttp2Stream, _headers: IncomingHttpHeaders, _flags: number, raw: string[]) =>
      onRequest(toExchange(stream, raw)),
  );
  return session;
}

interface Head {
  readonly pseudo: Map<string, string>;
  readonly authorities: string[];
  readonly headers: string[];
}

function readHead(raw: RawHeaders): Head {
  const pseudo = new Map<string, string>();
  const authorities: string[] = [];
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    if (name === ":authority" || name === "host") authorities.push(value);
    else if (name.startsWith(":")) pseudo.set(name, value);
    else headers.push(name, value);
  }
  return { pseudo, authorities, headers };
}

function toExchange(stream: ServerHttp2Stream, raw: RawHeaders): ClientExchange {
  const { pseudo, authorities, headers } = readHead(raw);
  let trailers: RawHeaders = [];
  let sentTrailers: RawHeaders = [];
  stream.once("trailers", (_fields: IncomingHttpHeaders, _flags: number, fields?: string[]) => {
    trailers = fields ?? [];
  });
  // The "close" event reports every end of a stream; an error without a listener would end the process.
  stream.on("error", () => {});
  stream.once("wantTrailers", () => {
    if (!stream.destroyed) stream.sendTrailers(toHeaderObject(sentTrailers));
  });
  return {
    // An extended CONNECT has the method CONNECT, which is refused.
    method: pseudo.get(":method") ?? "",
    target: pseudo.get(":path") ?? "",
    scheme: pseudo.get(":scheme") ?? "",
    authorities,
    headers,
    hasBody: !stream.endAfterHeaders,
    body: stream,
    trailers: () => trailers,
    wasCut: () => stream.rstCode !== constants.NGHTTP2_NO_ERROR,
    onGone(listener) {
      stream.once("close", () => {
        if (!stream.writableFinished || stream.rstCode !== constants.NGHTTP2_NO_ERROR) listener();
      });
    },
    inform(status, interim) {
      if (!stream.destroyed && !stream.headersSent) {
        stream.additionalHeaders({ ...toHeaderObject(interim), ":status": status });
      }
    },
    respond({ status, headers: sent, isEnd }) {
      const fields: OutgoingHttpHeaders = toHeaderObject(sent);
      fields[":status"] = status;
      // The client gets the Date of the origin, or none. The declared type lacks this option.
      const options: ServerStreamResponseOptions & { readonly sendDate: boolean } = {
        endStream: isEnd,
        waitForTrailers: !isEnd,
        sendDate: false,
      };
      if (!stream.destroyed) stream.respond(fields, options);
      return stream;
    },
    end(fields) {
      sentTrailers = fields;
      if (!stream.writableEnded) stream.end();
    },
    reset(errorCode = constants.NGHTTP2_INTERNAL_ERROR) {
      if (!stream.closed) stream.close(errorCode);
    },
  };
}
