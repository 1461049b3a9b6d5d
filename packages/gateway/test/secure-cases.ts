/**
 * Cases of MCP servers behind TLS, with HTTP/1.1 and HTTP/2. As in http-cases.ts, the table
 * states no outcome: the official client decides which cases work.
 */

import { once } from "node:events";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  sensitiveHeaders,
} from "node:http2";
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from "node:tls";
import { gzipSync } from "node:zlib";
import { createTestAuthority, rawEvent, type TestAuthority } from "@toolcrib/testing";

/** The authority that both clients trust, and one that nobody trusts. */
export const authority: TestAuthority = createTestAuthority();
const stranger = createTestAuthority();
const trusted = authority.sign({ hosts: ["localhost"] });

/** A running server. */
export interface SecureServer extends AsyncDisposable {
  readonly url: string;
  readonly effects: number;
}

/** One case. */
export interface SecureCase {
  readonly title: string;
  readonly start: () => Promise<SecureServer>;
  /** The server says that it did nothing with the call, but it did (RFC 9113, section 8.7): a repetition is right. */
  readonly isDeceptive?: boolean;
}

interface Rpc {
  readonly id?: number | string;
  readonly method?: string;
}

/** Answers requests in memory, and counts the effects of calls. */
class Answers {
  effects = 0;
  readonly #seen = new Map<string, number>();

  /** Returns the number of earlier requests of this method, and counts this one. */
  earlier({ method = "" }: Rpc): number {
    const count = this.#seen.get(method) ?? 0;
    this.#seen.set(method, count + 1);
    return count;
  }

  /** Returns the answer as JSON text; undefined for a notification. A call has its effect. */
  to({ id, method }: Rpc): string | undefined {
    if (id === undefined) return undefined;
    const serverInfo = { name: "secure", version: "1" };
    const results: { readonly [method: string]: () => object } = {
      initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo }),
      "tools/list": () => ({ tools: [{ name: "act", inputSchema: { type: "object" } }] }),
      "tools/call": () => {
        this.effects += 1;
        return { content: [{ type: "text", text: "done" }] };
      },
    };
    return JSON.stringify({ jsonrpc: "2.0", id, result: results[method ?? ""]?.() ?? {} });
  }
}

function disposeOf(server: Server | Http2SecureServer, sockets: ReadonlySet<Socket>): () => Promise<void> {
  return async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

async function listening(server: Server | Http2SecureServer, answers: Answers): Promise<SecureServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.on("sessionError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/mcp`,
    get effects() {
      return answers.effects;
    },
    [Symbol.asyncDispose]: disposeOf(server, sockets),
  };
}

/** One HTTP/1.1 request on a TLS connection. */
interface TlsExchange {
  readonly socket: TLSSocket;
  readonly method: string;
  readonly rpc: Rpc;
  readonly earlier: number;
  readonly answers: Answers;
  /** Writes a complete response: the answer, 202 to a notification, 405 to GET, 200 to DELETE. */
  respond(headers?: string): void;
}

interface TlsSetting {
  readonly options?: TlsOptions;
  /** Called for each connection after its handshake. */
  readonly connected?: (socket: TLSSocket) => void;
  /** Called for each connection before its handshake. */
  readonly accepted?: (socket: Socket, count: number) => void;
  readonly answer?: (exchange: TlsExchange) => void;
}

async function startTls({ options, connected, accepted, answer }: TlsSetting): Promise<SecureServer> {
  const answers = new Answers();
  const server = createTlsServer({ cert: trusted.certificate, key: trusted.key, ...options }, (socket) => {
    socket.on("error", () => {});
    connected?.(socket);
    readRequests(socket, answers, answer ?? ((exchange) => exchange.respond()));
  });
  let count = 0;
  if (accepted !== undefined)
    server.on("connection", (socket: Socket) => {
      count += 1;
      accepted(socket, count);
    });
  return await listening(server, answers);
}

function readRequests(socket: TLSSocket, answers: Answers, answer: (exchange: TlsExchange) => void): void {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let end = received.indexOf("\r\n\r\n"); end !== -1; end = received.indexOf("\r\n\r\n")) {
      const head = received.subarray(0, end).toString("latin1");
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const body = received.subarray(end + 4, end + 4 + length).toString("utf8");
      received = received.subarray(end + 4 + length);
      const rpc = (body === "" ? {} : JSON.parse(body)) as Rpc;
      const [method = ""] = head.split(" ");
      const respond = (headers = "") => socket.write(responseTo(method, answers.to(rpc), headers));
      answer({ socket, method, rpc, earlier: answers.earlier(rpc), answers, respond });
    }
  });
}

function responseTo(method: string, text: string | undefined, headers: string): string {
  if (text !== undefined) {
    const type = "content-type: application/json\r\n";
    return `HTTP/1.1 200 OK\r\n${type}${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  }
  const status = method === "GET" ? 405 : method === "DELETE" ? 200 : 202;
  return `HTTP/1.1 ${status} Status\r\n${headers}content-length: 0\r\n\r\n`;
}

const isCall = ({ rpc }: { readonly rpc: Rpc }) => rpc.method === "tools/call";

const tlsSettings: { readonly [title: string]: TlsSetting } = {
  "TLS with the defaults": {},
  "TLS 1.2 only": { options: { maxVersion: "TLSv1.2" } },
  "TLS 1.3 only": { options: { minVersion: "TLSv1.3" } },
  "TLS 1.1 only": {
    options: { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
  },
  "TLS 1.2 with AES-128": {
    options: { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" },
  },
  "TLS 1.2 with ChaCha20": {
    options: { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" },
  },
  "TLS 1.3 with one cipher suite": {
    options: { minVersion: "TLSv1.3", ciphers: "TLS_CHACHA20_POLY1305_SHA256" },
  },
  "X25519 only": { options: { ecdhCurve: "X25519" } },
  "P-521 only": { options: { ecdhCurve: "P-521" } },
  "an expired certificate": {
    options: certificateOf(authority.sign({ hosts: ["localhost"], validMs: -1000 })),
  },
  "a certificate of another host": { options: certificateOf(authority.sign({ hosts: ["example.com"] })) },
  "a certificate of a parent domain": { options: certificateOf(authority.sign({ hosts: ["*.localhost"] })) },
  "a certificate with many names": {
    options: certificateOf(
      authority.sign({ hosts: [...Array.from({ length: 100 }, (_, at) => `h${at}.test`), "localhost"] }),
    ),
  },
  "a certificate with an upper-case name": {
    options: certificateOf(authority.sign({ hosts: ["LOCALHOST"] })),
  },
  "a certificate without a name": { options: certificateOf(authority.sign({ hosts: [] })) },
  "a certificate of an unknown authority": {
    options: certificateOf(stranger.sign({ hosts: ["localhost"] })),
  },
  "a certificate with its authority behind it": {
    options: { cert: `${trusted.certificate}\n${authority.certificate}` },
  },
  "a certificate with a stranger behind it": {
    options: { cert: `${trusted.certificate}\n${stranger.certificate}` },
  },
  "an optional client certificate": {
    options: { requestCert: true, rejectUnauthorized: false, ca: authority.certificate },
  },
  "a required client certificate": {
    options: { requestCert: true, rejectUnauthorized: true, ca: authority.certificate },
  },
  "ALPN with HTTP/1.1 only": { options: { ALPNProtocols: ["http/1.1"] } },
  "ALPN with an unknown protocol only": { options: { ALPNProtocols: ["acme-tls/1"] } },
  "ALPN that chooses HTTP/1.1": { options: { ALPNCallback: () => "http/1.1" } },
  "a server name that is required": {
    options: {
      SNICallback: (name, callback) =>
        name === "localhost" ? callback(null) : callback(new Error("unknown name")),
    },
  },
  "records of 512 bytes": { connected: (socket) => socket.setMaxSendFragment(512) },
  "a handshake that is reset once": {
    accepted: (socket, count) => {
      if (count === 1) socket.resetAndDestroy();
    },
  },
  "a handshake that is ended once": {
    accepted: (socket, count) => {
      if (count === 1) socket.end();
    },
  },
  "every other handshake is reset": {
    accepted: (socket, count) => {
      if (count % 2 === 0) socket.resetAndDestroy();
    },
  },
  "connections that are closed after each response": {
    answer: ({ socket, respond }) => {
      respond("connection: close\r\n");
      socket.end();
    },
  },
  "connections that are closed unannounced after each response": {
    answer: ({ socket, respond }) => {
      respond();
      socket.end();
    },
  },
  "connections that are destroyed after each response": {
    answer: ({ socket, respond }) => {
      respond();
      setTimeout(() => socket.destroy(), 20);
    },
  },
  "a body up to the end of the connection": {
    answer: ({ socket, method, rpc, answers }) => {
      const text = answers.to(rpc);
      if (text === undefined) socket.write(responseTo(method, undefined, ""));
      else {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n");
        socket.end(text);
      }
    },
  },
  "a body that is cut off without the end of TLS": {
    answer: ({ socket, respond, rpc, answers, ...exchange }) => {
      if (!isCall({ rpc, ...exchange })) return respond();
      const text = answers.to(rpc) ?? "";
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n");
      socket.write(text.slice(0, 20), () => socket.destroy());
    },
  },
  "a call whose connection is destroyed before it has its effect": {
    answer: ({ socket, respond, earlier, ...exchange }) => {
      if (isCall(exchange) && earlier === 0) socket.destroy();
      else respond();
    },
  },
  "a call whose connection is destroyed after it had its effect": {
    answer: ({ socket, respond, rpc, answers, earlier, ...exchange }) => {
      if (!isCall({ rpc, ...exchange }) || earlier > 0) return respond();
      answers.to(rpc);
      socket.destroy();
    },
  },
  "a call whose connection is ended after it had its effect": {
    answer: ({ socket, respond, rpc, answers, earlier, ...exchange }) => {
      if (!isCall({ rpc, ...exchange }) || earlier > 0) return respond();
      answers.to(rpc);
      socket.end();
    },
  },
};

function certificateOf({
  certificate,
  key,
}: {
  readonly certificate: string;
  readonly key: string;
}): TlsOptions {
  return { cert: certificate, key };
}

/** One HTTP/2 request. */
interface Http2Exchange {
  readonly stream: ServerHttp2Stream;
  readonly method: string;
  readonly rpc: Rpc;
  readonly earlier: number;
  readonly answers: Answers;
  /** Sends a complete response. */
  respond(headers?: OutgoingHttpHeaders): void;
}

interface Http2Setting {
  readonly options?: Parameters<typeof createSecureServer>[0];
  readonly connected?: (session: import("node:http2").ServerHttp2Session) => void;
  readonly answer?: (exchange: Http2Exchange) => void;
}

async function startHttp2({ options, connected, answer }: Http2Setting): Promise<SecureServer> {
  const answers = new Answers();
  const server = createSecureServer({ cert: trusted.certificate, key: trusted.key, ...options });
  server.on("session", (session) => {
    session.on("error", () => {});
    connected?.(session);
  });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const rpc = (body === "" ? {} : JSON.parse(body)) as Rpc;
      const method = String(headers[":method"]);
      const respond = (more: OutgoingHttpHeaders = {}) => respondTo(stream, method, answers.to(rpc), more);
      const exchange = { stream, method, rpc, earlier: answers.earlier(rpc), answers, respond };
      (answer ?? (({ respond: plain }) => plain()))(exchange);
    });
  });
  return await listening(server, answers);
}

function respondTo(
  stream: ServerHttp2Stream,
  method: string,
  text: string | undefined,
  headers: OutgoingHttpHeaders,
): void {
  if (stream.destroyed || stream.closed) return;
  const status = text !== undefined ? 200 : method === "GET" ? 405 : method === "DELETE" ? 200 : 202;
  const type = text === undefined ? undefined : { "content-type": "application/json" };
  stream.respond({ ":status": status, ...type, ...headers });
  stream.end(text);
}

/** Answers calls with `answer`, and other requests as usual. */
const onCall =
  (answer: (exchange: Http2Exchange) => void) =>
  (exchange: Http2Exchange): void => {
    if (isCall(exchange)) answer(exchange);
    else exchange.respond();
  };

/** Answers the first call with `answer`, and other requests as usual. */
const onFirstCall = (answer: (exchange: Http2Exchange) => void) =>
  onCall((exchange) => {
    if (exchange.earlier === 0) answer(exchange);
    else exchange.respond();
  });

/** Answers requests that have a result with `answer`, and others as usual. */
const onRequest =
  (answer: (exchange: Http2Exchange) => void) =>
  (exchange: Http2Exchange): void => {
    if (exchange.rpc.id === undefined) exchange.respond();
    else answer(exchange);
  };

const jsonHead = { ":status": 200, "content-type": "application/json" };
const eventHead = { ":status": 200, "content-type": "text/event-stream" };

const http2Settings: { readonly [title: string]: Http2Setting } = {
  "HTTP/2 only": {},
  "HTTP/2 and HTTP/1.1": {
    // Answers HTTP/1.1 with 505, so that the case fails for clients that choose it.
    options: { allowHTTP1: true },
  },
  "HTTP/2 with one stream at a time": { options: { settings: { maxConcurrentStreams: 1 } } },
  "HTTP/2 with a small window": { options: { settings: { initialWindowSize: 16 } } },
  "HTTP/2 with the smallest header table": { options: { settings: { headerTableSize: 0 } } },
  "HTTP/2 with padded frames": { options: { paddingStrategy: constants.PADDING_STRATEGY_MAX } },
  "HTTP/2 with sensitive headers": {
    answer: ({ respond }) => respond({ "x-key": "value", [sensitiveHeaders]: ["x-key"] }),
  },
  "HTTP/2 with an event": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond(eventHead);
      stream.end(rawEvent(answers.to(rpc) ?? ""));
    }),
  },
  "HTTP/2 with an event on a stream that stays open": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond(eventHead);
      stream.write(rawEvent(answers.to(rpc) ?? ""));
    }),
  },
  "HTTP/2 with an event on a stream that is reset after it": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond(eventHead);
      stream.write(rawEvent(answers.to(rpc) ?? ""), () =>
        setTimeout(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 50),
      );
    }),
  },
  "HTTP/2 with trailers": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond(jsonHead, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-end": "1" }));
      stream.end(answers.to(rpc));
    }),
  },
  "HTTP/2 with an informational response": {
    answer: ({ stream, respond }) => {
      stream.additionalHeaders({ ":status": 103, link: "</x>; rel=preload" });
      respond();
    },
  },
  "HTTP/2 with frames of one byte": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond(jsonHead);
      for (const byte of Buffer.from(answers.to(rpc) ?? "")) stream.write(Buffer.of(byte));
      stream.end();
    }),
  },
  "HTTP/2 with gzip": {
    answer: onRequest(({ stream, rpc, answers }) => {
      stream.respond({ ...jsonHead, "content-encoding": "gzip" });
      stream.end(gzipSync(answers.to(rpc) ?? ""));
    }),
  },
  "HTTP/2 with a length that is right": {
    answer: onRequest(({ stream, rpc, answers }) => {
      const text = answers.to(rpc) ?? "";
      stream.respond({ ...jsonHead, "content-length": String(Buffer.byteLength(text)) });
      stream.end(text);
    }),
  },
  "HTTP/2 with a length that is too large": {
    answer: onCall(({ stream, rpc, answers }) => {
      const text = answers.to(rpc) ?? "";
      stream.respond({ ...jsonHead, "content-length": String(Buffer.byteLength(text) + 10) });
      stream.end(text);
    }),
  },
  "HTTP/2 with large headers": {
    answer: ({ respond }) => respond({ "x-large": "x".repeat(32_000) }),
  },
  "HTTP/2 with many headers": {
    answer: ({ respond }) =>
      respond(Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`x-${at}`, "y".repeat(20)]))),
  },
  "HTTP/2 with a late answer": { answer: ({ respond }) => setTimeout(respond, 300) },
  "HTTP/2 with pings": {
    connected: (session) => {
      for (let count = 0; count < 50; count += 1) session.ping(() => {});
    },
  },
  "HTTP/2 with settings that change": {
    answer: ({ stream, respond }) => {
      stream.session?.settings({ maxConcurrentStreams: 10, initialWindowSize: 100_000 });
      respond();
    },
  },
  "HTTP/2 with an alternative service": {
    answer: ({ stream, respond }) => {
      (stream.session as import("node:http2").ServerHttp2Session).altsvc(
        'h2="other.test:443"',
        stream.id as number,
      );
      respond();
    },
  },
  "HTTP/2 connections that are closed after each response": {
    answer: ({ stream, respond }) => {
      respond();
      stream.session?.close();
    },
  },
  "HTTP/2 connections that go away after each response": {
    answer: ({ stream, respond }) => {
      respond();
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id as number);
    },
  },
  "HTTP/2 connections that are destroyed after each response": {
    answer: ({ stream, respond }) => {
      stream.on("close", () => stream.session?.destroy());
      respond();
    },
  },
  "an HTTP/2 call that is refused before it has its effect": {
    answer: onFirstCall(({ stream }) => stream.close(constants.NGHTTP2_REFUSED_STREAM)),
  },
  "an HTTP/2 call that the server leaves before it has its effect": {
    answer: onFirstCall(({ stream }) => {
      const { session } = stream;
      session?.goaway(constants.NGHTTP2_NO_ERROR, 0);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    }),
  },
  "an HTTP/2 call that is reset before it has its effect": {
    answer: onFirstCall(({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)),
  },
  "an HTTP/2 call that is reset after its effect": {
    answer: onFirstCall(({ stream, rpc, answers }) => {
      answers.to(rpc);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }),
  },
  "an HTTP/2 call whose connection ends after its effect": {
    answer: onFirstCall(({ stream, rpc, answers }) => {
      answers.to(rpc);
      stream.session?.destroy();
    }),
  },
  "an HTTP/2 call whose connection goes away after its effect": {
    answer: onFirstCall(({ stream, rpc, answers }) => {
      const text = answers.to(rpc);
      stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, stream.id as number);
      respondTo(stream, "POST", text, {});
    }),
  },
  "an HTTP/2 answer that is cut off": {
    answer: onFirstCall(({ stream, rpc, answers }) => {
      stream.respond(jsonHead);
      stream.write((answers.to(rpc) ?? "").slice(0, 10), () => stream.close(constants.NGHTTP2_CANCEL));
    }),
  },
  "an HTTP/2 error after the effect": {
    answer: onFirstCall(({ stream, rpc, answers }) => {
      answers.to(rpc);
      stream.respond({ ":status": 500 });
      stream.end("broken");
    }),
  },
  "an HTTP/2 overload before the effect": {
    answer: onFirstCall(({ stream }) => {
      stream.respond({ ":status": 503, "retry-after": "0" });
      stream.end();
    }),
  },
  "an HTTP/2 error with an empty status text": {
    answer: ({ stream, respond, rpc }) => {
      if (rpc.method !== "tools/list") return respond();
      stream.respond({ ":status": 502 });
      stream.end();
    },
  },
};

/** A server that refuses the stream of a call after its effect. */
function startDeceptive(): Promise<SecureServer> {
  return startHttp2({
    answer: onFirstCall(({ stream, rpc, answers }) => {
      answers.to(rpc);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    }),
  });
}

/** A server without TLS at an https address. */
async function startPlain(): Promise<SecureServer> {
  const answers = new Answers();
  return await listening(
    createPlainServer((socket) => {
      socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
    }),
    answers,
  );
}

/** All cases. */
export const secureCases: readonly SecureCase[] = [
  ...Object.entries(tlsSettings).map(([title, setting]) => ({ title, start: () => startTls(setting) })),
  ...Object.entries(http2Settings).map(([title, setting]) => ({ title, start: () => startHttp2(setting) })),
  { title: "an HTTP/2 call that is refused after its effect", start: startDeceptive, isDeceptive: true },
  { title: "no TLS at an https address", start: startPlain },
];
