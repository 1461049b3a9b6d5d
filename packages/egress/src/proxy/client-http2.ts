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
import type { ClientExchange, RawHeaders, ResponseHead } from "./client-exchange.ts";
import type { OnRequest } from "./client-http1-server.ts";
import { limitSession, sessionOptions } from "./http2-session.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toHeaderObject } from "./raw-headers.ts";

/** Serves `connection`, whose TLS is terminated, and passes its requests to `onRequest`. */
export function serveHttp2(
  connection: Duplex,
  limits: ProxyLimits,
  onRequest: OnRequest,
): ServerHttp2Session {
  const options = sessionOptions(limits);
  const session = performServerHandshake(connection, {
    ...options,
    settings: {
      ...options.settings,
      enableConnectProtocol: false,
      maxConcurrentStreams: limits.streamsMaxCount,
    },
  });
  limitSession(session, limits);
  session.on(
    "stream",
    (stream: ServerHttp2Stream, _headers: IncomingHttpHeaders, _flags: number, raw: string[]) =>
      onRequest(new Http2Exchange(stream, raw)),
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

/** One stream. */
class Http2Exchange implements ClientExchange {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly authorities: readonly string[];
  readonly headers: RawHeaders;
  readonly hasBody: boolean;
  readonly body: ServerHttp2Stream;
  readonly #stream: ServerHttp2Stream;
  #trailers: RawHeaders = [];
  #sentTrailers: RawHeaders = [];

  constructor(stream: ServerHttp2Stream, raw: RawHeaders) {
    const { pseudo, authorities, headers } = readHead(raw);
    // An extended CONNECT has the method CONNECT, which is refused.
    this.method = pseudo.get(":method") ?? "";
    this.target = pseudo.get(":path") ?? "";
    this.scheme = pseudo.get(":scheme") ?? "";
    this.authorities = authorities;
    this.headers = headers;
    this.hasBody = !stream.endAfterHeaders;
    this.body = stream;
    this.#stream = stream;
    stream.once("trailers", (_fields: IncomingHttpHeaders, _flags: number, fields?: string[]) => {
      this.#trailers = fields ?? [];
    });
    // The "close" event reports every end of a stream; an error without a listener would end the process.
    stream.on("error", () => {});
    stream.once("wantTrailers", () => {
      if (!stream.destroyed) stream.sendTrailers(toHeaderObject(this.#sentTrailers));
    });
  }

  trailers(): RawHeaders {
    return this.#trailers;
  }

  wasCut(): boolean {
    return this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR;
  }

  onGone(listener: () => void): void {
    this.#stream.once("close", () => {
      if (!this.#stream.writableFinished || this.wasCut()) listener();
    });
  }

  inform(status: number, headers: RawHeaders): void {
    if (!this.#stream.destroyed && !this.#stream.headersSent) {
      this.#stream.additionalHeaders({ ...toHeaderObject(headers), ":status": status });
    }
  }

  respond({ status, headers, isEnd }: ResponseHead): ServerHttp2Stream {
    const fields: OutgoingHttpHeaders = toHeaderObject(headers);
    fields[":status"] = status;
    // The client gets the Date of the origin, or none. The declared type lacks this option.
    const options: ServerStreamResponseOptions & { readonly sendDate: boolean } = {
      endStream: isEnd,
      waitForTrailers: !isEnd,
      sendDate: false,
    };
    if (!this.#stream.destroyed) this.#stream.respond(fields, options);
    return this.#stream;
  }

  end(trailers: RawHeaders): void {
    this.#sentTrailers = trailers;
    if (!this.#stream.writableEnded) this.#stream.end();
  }

  reset(errorCode: number = constants.NGHTTP2_INTERNAL_ERROR): void {
    if (!this.#stream.closed) this.#stream.close(errorCode);
  }
}
