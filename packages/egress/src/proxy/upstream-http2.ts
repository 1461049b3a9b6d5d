/** HTTP/2 with the origin, by `node:http2`, over a connection that is handed in. The origin may not push. */

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
import type { ProxyLimits } from "./proxy-limits.ts";
import { fromHeaderObject, toHeaderObject } from "./raw-headers.ts";
import type { Passage, RequestHead, UpstreamExchange, UpstreamListener } from "./upstream-exchange.ts";

/** A session with the origin. */
export interface Http2Upstream extends Disposable {
  /** Whether it takes further requests. */
  readonly isOpen: boolean;
  /** For as many requests as come. */
  readonly passage: Passage;
}

/** Start a session on `connection`, on which TLS is done; `authority` is that of all its requests. */
export function openHttp2Upstream(connection: Duplex, authority: string, limits: ProxyLimits): Http2Upstream {
  const session = connect(`https://${authority}`, {
    createConnection: () => connection,
    settings: {
      enablePush: false,
      initialWindowSize: limits.windowBytes,
      maxHeaderListSize: limits.headersMaxBytes,
    },
    maxSessionMemory: limits.sessionMaxMegabytes,
  });
  session.once("connect", () => session.setLocalWindowSize(limits.windowBytes * 2));
  session.setTimeout(limits.idleTimeoutMs, () => session.destroy());
  // What breaks a session breaks its streams, which tell their exchanges.
  session.on("error", () => session.destroy());
  return {
    get isOpen() {
      return !session.closed && !session.destroyed;
    },
    passage: { send: (head, listener) => send(session, head, listener), leave() {} },
    [Symbol.dispose]() {
      session.destroy();
    },
  };
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
    const error = failure ?? new Error(`The origin broke the stream off (${rstCode})`);
    listener.onFailed(error, rstCode === constants.NGHTTP2_NO_ERROR ? {} : { errorCode: rstCode });
  });
}
