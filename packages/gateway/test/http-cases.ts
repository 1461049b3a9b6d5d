/**
 * Cases of misbehaving HTTP servers: what a server sends for each message. The
 * table states no outcome: the official client decides which cases work.
 */

import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type RawExchange, rawEvent } from "@toolcrib/testing";

/** One case; `answer` returns false for the default answer. */
export interface HttpCase {
  readonly title: string;
  readonly answer: (exchange: RawExchange) => unknown;
  /** @default "streamable_http" */
  readonly kind?: "streamable_http" | "sse";
}

type Answer = (exchange: RawExchange) => unknown;

const methods = ["initialize", "tools/list", "tools/call"] as const;

/** Answers requests of `method` with `answer`, and others by default. */
function on(method: string, answer: Answer): Answer {
  return (exchange) => (exchange.rpc.method === method ? answer(exchange) : false);
}

/** As `on`, but only once. */
function once(method: string, answer: Answer): Answer {
  return on(method, (exchange) => (exchange.earlier === 0 ? answer(exchange) : false));
}

/** Counts the effect of a call, for an answer that does not contain its result. */
function effect(exchange: RawExchange): void {
  if (exchange.rpc.method === "tools/call") exchange.act();
}

/** An HTTP error after the effect of a call. */
const status =
  (code: number, headers = {}, body = ""): Answer =>
  (exchange) => {
    if (exchange.rpc.method === "tools/call") exchange.act();
    return exchange.respond(code, headers, body);
  };

const errorText = (id: unknown, code = -32000, message = "The session is not valid") =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

/** Forms of a valid answer. */
const forms: { readonly [title: string]: Answer } = {
  "a JSON body": (exchange) => exchange.json(),
  "JSON with a charset": (exchange) =>
    exchange.json(undefined, { "content-type": "application/json; charset=utf-8" }),
  "JSON with a malformed parameter": (exchange) =>
    exchange.json(undefined, { "content-type": "application/json; charset=" }),
  "JSON with an upper-case type": (exchange) =>
    exchange.json(undefined, { "content-type": "Application/JSON" }),
  "JSON after a byte order mark": (exchange) => exchange.json(`\ufeff${exchange.answer()}`),
  "JSON with white space around it": (exchange) => exchange.json(`\r\n ${exchange.answer()}\n\n`),
  "JSON in a batch": (exchange) => exchange.json(`[${exchange.answer()}]`),
  "JSON in chunks of one byte": (exchange) => {
    exchange.begin({ "content-type": "application/json" });
    for (const byte of Buffer.from(exchange.answer())) exchange.chunk(Buffer.of(byte));
    exchange.finish();
  },
  "JSON up to the end of the connection": (exchange) => {
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n");
    exchange.socket.end(exchange.answer());
  },
  "JSON from an HTTP/1.0 server": (exchange) => {
    exchange.write("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n");
    exchange.socket.end(exchange.answer());
  },
  "JSON after an informational response": (exchange) => {
    exchange.write("HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n");
    exchange.json();
  },
  "JSON with chunk extensions and trailers": (exchange) => {
    const text = exchange.answer();
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
    exchange.write(`${Buffer.byteLength(text).toString(16)};a=b\r\n${text}\r\n0\r\nx-end: 1\r\n\r\n`);
  },
  "JSON with the id as a string": (exchange) =>
    exchange.json(exchange.answer().replace(/"id":(\d+)/, '"id":"$1"')),
  "JSON in gzip": (exchange) =>
    exchange.respond(200, coded("application/json", "gzip"), gzipSync(exchange.answer())),
  "JSON in x-gzip": (exchange) =>
    exchange.respond(200, coded("application/json", "x-gzip"), gzipSync(exchange.answer())),
  "JSON in deflate": (exchange) =>
    exchange.respond(200, coded("application/json", "deflate"), deflateSync(exchange.answer())),
  "JSON in Brotli": (exchange) =>
    exchange.respond(200, coded("application/json", "br"), brotliCompressSync(exchange.answer())),
  "JSON in two codings": (exchange) =>
    exchange.respond(
      200,
      coded("application/json", "gzip, br"),
      brotliCompressSync(gzipSync(exchange.answer())),
    ),
  "JSON with a coding that is not used": (exchange) =>
    exchange.json(undefined, { "content-encoding": "utf-8" }),
  "JSON with status 201": (exchange) =>
    exchange.respond(201, { "content-type": "application/json" }, exchange.answer()),
  "one event": (exchange) => exchange.events(rawEvent(exchange.answer())),
  "an event with a name": (exchange) => exchange.events(rawEvent(exchange.answer(), { event: "message" })),
  "an event after one of another name": (exchange) =>
    exchange.events(rawEvent('{"id":1}', { event: "ping" }), rawEvent(exchange.answer())),
  "an event after comments": (exchange) => exchange.events(": ok\n\n:\n\n", rawEvent(exchange.answer())),
  "an event with CR line breaks": (exchange) =>
    exchange.events(rawEvent(exchange.answer()).replaceAll("\n", "\r")),
  "an event with CRLF line breaks": (exchange) =>
    exchange.events(rawEvent(exchange.answer()).replaceAll("\n", "\r\n")),
  "an event in chunks of one byte": (exchange) => {
    exchange.begin();
    for (const byte of Buffer.from(rawEvent(exchange.answer()))) exchange.chunk(Buffer.of(byte));
    exchange.finish();
  },
  "an event after a byte order mark": (exchange) => exchange.events(`\ufeff${rawEvent(exchange.answer())}`),
  "an event on a stream that stays open": (exchange) => {
    exchange.begin();
    exchange.chunk(rawEvent(exchange.answer()));
  },
  "an event on a stream that is reset after it": (exchange) => {
    exchange.begin();
    exchange.chunk(rawEvent(exchange.answer()));
    setTimeout(() => exchange.socket.resetAndDestroy(), 50);
  },
  "an event in gzip": (exchange) => {
    exchange.begin(coded("text/event-stream", "gzip"));
    exchange.chunk(gzipSync(rawEvent(exchange.answer())));
    exchange.finish();
  },
  "an event with a type with a charset": (exchange) => {
    exchange.begin({ "content-type": "text/event-stream; charset=utf-8" });
    exchange.chunk(rawEvent(exchange.answer()));
    exchange.finish();
  },
  "an event after invalid JSON": (exchange) =>
    exchange.events(rawEvent("{nonsense"), rawEvent("null"), rawEvent(exchange.answer())),
  "an event after a notification": (exchange) =>
    exchange.events(
      rawEvent('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'),
      rawEvent(exchange.answer()),
    ),
  "an answer of two data lines": (exchange) => {
    const text = exchange.answer();
    const middle = text.indexOf(",") + 1;
    exchange.events(`data: ${text.slice(0, middle)}\ndata: ${text.slice(middle)}\n\n`);
  },
  "an answer after half a second": (exchange) => setTimeout(() => exchange.json(), 500),
  "a stream whose event comes after half a second": (exchange) => {
    exchange.begin();
    setTimeout(() => exchange.chunk(rawEvent(exchange.answer())), 500);
  },
  "an answer after a redirect with 307": redirected(307),
  "an answer after a redirect with 308": redirected(308),
};

function coded(type: string, coding: string) {
  return { "content-type": type, "content-encoding": coding };
}

function redirected(code: number): Answer {
  return (exchange) =>
    exchange.target === "/mcp" ? exchange.respond(code, { location: "/moved" }) : exchange.json();
}

/** Failures of a request, whose effect has happened. */
const failures: { readonly [title: string]: Answer } = {
  "a redirect with 302": status(302, { location: "/moved" }),
  "a redirect to another origin": status(307, { location: "http://127.0.0.2:1/mcp" }),
  "a redirect loop": (exchange) => exchange.respond(307, { location: "/mcp" }),
  "400": status(400, {}, "Bad Request"),
  "400 about a session under its id": (exchange) => status(400, {}, errorText(exchange.rpc.id))(exchange),
  "400 about a session without an id": status(400, {}, errorText(null)),
  "400 about a session as text": status(400, {}, "No valid session ID provided"),
  "403": status(403),
  "404 under its id": (exchange) => status(404, {}, errorText(exchange.rpc.id, -32601))(exchange),
  "405": status(405),
  "406": status(406),
  "408": status(408),
  "409": status(409),
  "410": status(410),
  "415": status(415),
  "422 with a JSON-RPC error": (exchange) => status(422, {}, errorText(exchange.rpc.id, -32602))(exchange),
  "429 with a wait": status(429, { "retry-after": "1" }),
  "500": status(500, {}, "x".repeat(100_000)),
  "502": status(502, { "content-type": "text/html" }, "<h1>Bad gateway</h1>"),
  "503 with a wait": status(503, { "retry-after": "1" }, errorText(null)),
  "504": status(504),
  "200 with HTML": (exchange) => {
    effect(exchange);
    exchange.respond(200, { "content-type": "text/html" }, "<h1>Sign in</h1>");
  },
  "200 without a body": (exchange) => {
    effect(exchange);
    exchange.respond(200, { "content-type": "application/json" });
  },
  "200 with another id": (exchange) => exchange.json(exchange.answer().replace(/"id":\d+/, '"id":777')),
  "a closed connection": (exchange) => {
    effect(exchange);
    exchange.socket.end();
  },
  "a reset connection": (exchange) => {
    effect(exchange);
    exchange.socket.resetAndDestroy();
  },
  "a body that is too short": (exchange) => {
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n");
    exchange.socket.end(exchange.answer());
  },
  "two content lengths": (exchange) => {
    exchange.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n");
    exchange.write(exchange.answer());
  },
  "a broken chunk": (exchange) => {
    exchange.begin({ "content-type": "application/json" });
    exchange.chunk(exchange.answer().slice(0, 10));
    exchange.write("zz\r\n");
  },
  "headers of 200 kB": (exchange) => exchange.json(undefined, { "x-long": "x".repeat(200_000) }),
  "a stream that ends without an answer": (exchange) => {
    effect(exchange);
    exchange.events(": nothing\n\n");
  },
  "a response that stalls in its header": (exchange) => {
    effect(exchange);
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: ");
  },
  "a response that stalls in its body": (exchange) => {
    exchange.begin({ "content-type": "application/json" });
    exchange.chunk(exchange.answer().slice(0, 20));
  },
  "a stream that stalls": (exchange) => {
    effect(exchange);
    exchange.begin();
    exchange.chunk(": wait\n\n");
  },
  "no response": (exchange) => effect(exchange),
  "gzip that is not gzip": (exchange) =>
    exchange.respond(200, coded("application/json", "gzip"), exchange.answer()),
  "a response that is not HTTP": (exchange) => {
    effect(exchange);
    exchange.write("SSH-2.0-OpenSSH\r\n\r\n");
  },
};

/** Answers to GET and DELETE, and to notifications. */
const others: { readonly [title: string]: Answer } = {
  "GET answered with 404": (exchange) => exchange.method === "GET" && exchange.respond(404, {}, "Cannot GET"),
  "GET answered with 400": (exchange) => exchange.method === "GET" && exchange.respond(400, {}, "No session"),
  "GET answered with 401": (exchange) => exchange.method === "GET" && exchange.respond(401),
  "GET answered with 500": (exchange) => exchange.method === "GET" && exchange.respond(500),
  "GET answered with HTML": (exchange) =>
    exchange.method === "GET" && exchange.respond(200, { "content-type": "text/html" }, "<h1>"),
  "GET without an answer": (exchange) => exchange.method === "GET",
  "GET reset": (exchange) => exchange.method === "GET" && exchange.socket.resetAndDestroy(),
  "GET that ends at once, with retry: 0": (exchange) =>
    exchange.method === "GET" && exchange.events("retry: 0\nid: 1\ndata:\n\n"),
  "GET open once, then 404": (exchange) =>
    exchange.method === "GET" &&
    (exchange.earlier === 0 ? exchange.events("retry: 1\n\n") : exchange.respond(404)),
  "GET redirected": (exchange) =>
    exchange.method === "GET" && exchange.target === "/mcp" && exchange.respond(302, { location: "/stream" }),
  "DELETE answered with 500": (exchange) => exchange.method === "DELETE" && exchange.respond(500),
  "DELETE without an answer": (exchange) => exchange.method === "DELETE",
  "a notification answered with 200 and JSON": (exchange) =>
    exchange.rpc.method === "notifications/initialized" && exchange.json("{}"),
  "a notification answered with 204": (exchange) =>
    exchange.rpc.method === "notifications/initialized" && exchange.respond(204),
  "a session id of 8,000 characters": on("initialize", (exchange) =>
    exchange.json(undefined, { "mcp-session-id": "s".repeat(8000) }),
  ),
  "a session id with spaces": on("initialize", (exchange) =>
    exchange.json(undefined, { "mcp-session-id": "a session: 1" }),
  ),
  "no session id": on("initialize", (exchange) => exchange.json()),
  "a new session id with each response": (exchange) =>
    exchange.rpc.id !== undefined &&
    exchange.json(undefined, { "mcp-session-id": `${exchange.rpc.method}-${exchange.earlier}` }),
  "a call accepted with 202 and answered on the GET stream": (() => {
    const streams = new Map<number | undefined, RawExchange>();
    const answer: Answer = (exchange) => {
      const { localPort } = exchange.socket;
      if (exchange.method === "GET") {
        streams.set(localPort, exchange);
        return exchange.begin();
      }
      if (exchange.rpc.method !== "tools/call") return false;
      exchange.respond(202);
      return streams.get(localPort)?.chunk(rawEvent(exchange.answer()));
    };
    return answer;
  })(),
  "a stream that is resumed": (exchange) => {
    if (exchange.method === "GET" && exchange.headers["last-event-id"]?.startsWith("call-") === true) {
      const id = Number(exchange.headers["last-event-id"].slice(5));
      return exchange.events(rawEvent(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })));
    }
    if (exchange.rpc.method !== "tools/call") return false;
    exchange.act();
    return exchange.events(`id: call-${exchange.rpc.id}\nretry: 1\ndata:\n\n`);
  },
};

/** Servers of HTTP with SSE. */
function overSse(answer: Answer): Answer {
  const streams = new Map<number | undefined, RawExchange>();
  return (exchange) => {
    const { localPort } = exchange.socket;
    if (exchange.method === "GET") {
      streams.set(localPort, exchange);
      exchange.begin();
      return exchange.chunk(rawEvent("/mcp?s=1", { event: "endpoint" }));
    }
    if (answer(exchange) !== false) return undefined;
    exchange.respond(202, {}, "Accepted");
    if (exchange.rpc.id === undefined || exchange.rpc.method === undefined) return undefined;
    return streams.get(localPort)?.chunk(rawEvent(exchange.answer()));
  };
}

const sse: { readonly [title: string]: Answer } = {
  "valid answers": () => false,
  "404 under the id of the call": once("tools/call", failures["404 under its id"] as Answer),
  "500 for a call": once("tools/call", status(500)),
  "a reset connection for a call": once("tools/call", failures["a reset connection"] as Answer),
  "a redirected POST": (exchange) =>
    exchange.target === "/mcp?s=1" && exchange.respond(307, { location: "/moved" }),
  "200 for every POST": (exchange) =>
    exchange.rpc.id === undefined && exchange.respond(200, { "content-type": "text/plain" }, "ok"),
};

/** All cases. */
export const httpCases: readonly HttpCase[] = [
  ...methods.flatMap((method) =>
    Object.entries(forms).map(([title, answer]) => ({
      title: `${method}: ${title}`,
      answer: on(method, answer),
    })),
  ),
  ...methods.flatMap((method) =>
    Object.entries(failures).map(([title, answer]) => ({
      title: `${method}: ${title}`,
      answer: on(method, answer),
    })),
  ),
  ...Object.entries(others).map(([title, answer]) => ({ title, answer })),
  ...Object.entries(sse).map(([title, answer]) => ({
    title: `SSE: ${title}`,
    answer: overSse(answer),
    kind: "sse" as const,
  })),
];
