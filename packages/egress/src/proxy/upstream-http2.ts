/** HTTP/2 with the origin, through `node:http2`, on a given connection. Server push is off. */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  sensitiveHeaders,
} from "node:http2";
import type { Duplex } from "node:stream";
import { fromReadable } from "./body-source.ts";
import type { RawHeaders } from "./client-exchange.ts";
import { limitSession, sessionOptions } from "./http2-session.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { fromHeaderObject, toHeaderObject } from "./raw-headers.ts";
import type { RequestHead, UpstreamExchange, UpstreamLease, UpstreamListener } from "./upstream-exchange.ts";

/** An HTTP/2 session with the origin. Disposing destroys it. */
export class Http2Upstream implements Disposable {
  readonly #session: ClientHttp2Session;
  /** For any number of requests. */
  readonly lease: UpstreamLease;

  /** Starts a session on `connection`, whose TLS handshake is complete; all requests are for `authority`. */
  constructor(connection: Duplex, authority: string, limits: ProxyLimits) {
    const session = connect(`https://${authority}`, {
      ...sessionOptions(limits),
      createConnection: () => connection,
    });
    limitSession(session, limits);
    this.#session = session;
    this.lease = { send: (head, listener) => send(session, head, listener), release() {} };
  }

  /** Whether it accepts further requests. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

function send(session: ClientHttp2Session, head: RequestHead, listener: UpstreamListener): UpstreamExchange {
  const stream = session.request(
    {
      ...toHeaderObject(head.headers),
      ...(head.takesTrailers ? { te: "trailers" } : {}),
      ":method": head.method,
      ":scheme": "https",
      ":authority": head.authority,
      ":path": head.path,
      [sensitiveHeaders]: [...head.secretHeaders],
    },
    { endStream: !head.hasBody, waitForTrailers: head.hasBody },
  );
  let sentTrailers: RawHeaders = [];
  stream.once("wantTrailers", () => {
    if (!stream.destroyed) stream.sendTrailers(toHeaderObject(sentTrailers));
  });
  listen(stream, listener);
  return {
    body: stream,
    endBody(trailers) {
      sentTrailers = trailers;
      stream.end();
    },
    cancel() {
      if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}

function listen(stream: ClientHttp2Stream, listener: UpstreamListener): void {
  let isOver = false;
  let trailers: RawHeaders = [];
  let hasEnded = false;
  let failure: Error | undefined;
  stream.on("headers", (fields: IncomingHttpHeaders, _flags: number, raw?: string[]) =>
    listener.onInterim(Number(fields[":status"]), raw ?? fromHeaderObject(fields)),
  );
  stream.on("trailers", (fields: IncomingHttpHeaders, _flags: number, raw?: string[]) => {
    trailers = raw ?? fromHeaderObject(fields);
  });
  stream.on("response", (fields: IncomingHttpHeaders, flags: number, raw?: string[]) => {
    listener.onResponse({
      status: Number(fields[":status"]),
      statusText: "",
      headers: raw ?? fromHeaderObject(fields),
      isEnd: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
      body: fromReadable(stream),
      trailers: () => trailers,
      wasCut: () => stream.rstCode !== constants.NGHTTP2_NO_ERROR,
    });
  });
  stream.once("end", () => {
    hasEnded = true;
  });
  stream.on("error", (error) => {
    failure = error;
  });
  stream.once("close", () => {
    const { rstCode } = stream;
    if (isOver || (hasEnded && rstCode === constants.NGHTTP2_NO_ERROR)) return;
    isOver = true;
    const error = failure ?? new Error(`The origin reset the stream (${rstCode})`);
    listener.onFailed(error, rstCode === constants.NGHTTP2_NO_ERROR ? {} : { errorCode: rstCode });
  });
}
