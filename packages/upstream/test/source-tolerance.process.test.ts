/** Unusual but usable HTTP servers: long session ids, encodings, redirects, waits, and streams that are resumed in a loop. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type RawExchange, rawEvent, startRawServer, waitUntil } from "@toolcrib/testing";
import { createSource, failureOf, never, startSource, textOf } from "./source-harness.ts";

const isCall = ({ rpc }: RawExchange) => rpc.method === "tools/call";
const toHttp = (url: string) => ({ transport: { kind: "streamable_http", url, headers: {} } as const });

test("a session id of 8,192 characters is used, and a longer one fails with its reason", async () => {
  const seen = new Set<string | undefined>();
  for (const length of [8192, 8193]) {
    const sessionId = "s".repeat(length);
    await using server = await startRawServer(
      (exchange) => {
        if (isCall(exchange)) seen.add(exchange.headers["mcp-session-id"]);
        return false;
      },
      { sessionId },
    );
    await using source = createSource(toHttp(server.url));
    await source.server.start(never);
    if (length === 8192) {
      assert.equal(textOf(await source.call("act")), "done");
      assert.deepEqual([...seen], [sessionId]);
    } else assert.match(String(source.server.health().reason), /8193 characters; at most 8192/);
  }
});

test("the reason of a server whose lists cannot be read says what to do", async () => {
  await using server = await startRawServer((exchange) =>
    exchange.rpc.method === "tools/list" ? exchange.respond(401) : false,
  );
  await using source = createSource({ ...toHttp(server.url), limits: { reconnectMinMs: 60_000 } });
  await source.server.start(never);
  assert.match(
    String(source.server.health().reason),
    /refused the credentials .*\(check the headers of this server's/,
  );
});

test("the session id of the last response is used", async () => {
  let current = "session-1";
  await using server = await startRawServer((exchange) => {
    if (!isCall(exchange)) return false;
    if (exchange.headers["mcp-session-id"] !== current) return exchange.respond(403);
    current = `session-${exchange.earlier + 2}`;
    return exchange.json(exchange.answer(), { "mcp-session-id": current });
  });
  await using source = await startSource(toHttp(server.url));
  for (let round = 0; round < 3; round += 1) assert.equal(textOf(await source.call("act")), "done");
});

test("gzip and Brotli are offered and decoded, also event by event", async () => {
  const forms: readonly ((exchange: RawExchange) => void)[] = [
    (exchange) => {
      assert.equal(exchange.headers["accept-encoding"], "gzip, br");
      const body = gzipSync(exchange.answer());
      exchange.respond(200, { "content-type": "application/json", "content-encoding": "gzip" }, body);
    },
    (exchange) => {
      const body = brotliCompressSync(exchange.answer());
      exchange.respond(200, { "content-type": "application/json", "content-encoding": "br" }, body);
    },
    (exchange) => {
      const body = gzipSync(brotliCompressSync(exchange.answer()));
      exchange.respond(200, { "content-type": "application/json", "content-encoding": "br, gzip" }, body);
    },
    // The stream stays open after the event, so the event has to be decoded before the end.
    (exchange) => {
      exchange.begin({ "content-type": "text/event-stream", "content-encoding": "gzip" });
      const whole = gzipSync(rawEvent(exchange.answer()) + ": ".padEnd(100_000, "x"));
      exchange.chunk(whole.subarray(0, whole.length - 12));
    },
    (exchange) => exchange.json(exchange.answer(), { "content-encoding": "utf-8" }),
    (exchange) => exchange.json(`\ufeff${exchange.answer()}`),
    (exchange) => exchange.events(`\ufeff${rawEvent(exchange.answer())}`),
    (exchange) => exchange.json(exchange.answer().replace(/"id":(\d+)/, '"id":"$1"')),
    (exchange) => exchange.events(rawEvent(exchange.answer().replace(/"id":(\d+)/, '"id":"$1"'))),
  ];
  await using server = await startRawServer((exchange) => {
    if (!isCall(exchange)) return false;
    return forms[exchange.earlier]?.(exchange);
  });
  await using source = await startSource(toHttp(server.url));
  for (const form of forms) assert.equal(textOf(await source.call("act")), "done", String(form));
  assert.equal(server.effects, forms.length);
});

test("a compressed response is limited by its decoded size", async () => {
  const bomb = gzipSync(Buffer.alloc(80 << 20, " "));
  assert.ok(bomb.length < 100_000);
  await using server = await startRawServer((exchange) =>
    isCall(exchange)
      ? exchange.respond(200, { "content-type": "application/json", "content-encoding": "gzip" }, bomb)
      : false,
  );
  await using source = await startSource(toHttp(server.url));
  const error = await failureOf(source.call("act"));
  assert.equal(error.code, "MCP_MESSAGE_TOO_LARGE");
});

test("redirects within the origin are followed, and no other", async () => {
  const elsewhere: string[] = [];
  await using other = await startRawServer((exchange) => void elsewhere.push(exchange.target));
  let location = "/moved?x=1";
  await using server = await startRawServer((exchange) => {
    if (exchange.method !== "POST" || exchange.target === "/moved?x=1") return false;
    return exchange.respond(307, { location });
  });
  await using source = await startSource(toHttp(server.url));
  assert.equal(textOf(await source.call("act")), "done");
  assert.equal(server.effects, 1);
  location = `${other.origin}/moved?x=1`;
  assert.match((await failureOf(source.call("act"))).message, /HTTP 307/);
  assert.deepEqual([server.effects, elsewhere], [1, []]);
});

test("Retry-After of a call is passed on, and of a handshake is obeyed", async () => {
  const at: number[] = [];
  await using server = await startRawServer((exchange) => {
    if (isCall(exchange)) {
      const date = "Sun, 06 Nov 1994 08:49:37 GMT";
      const headers: { readonly [name: string]: string } =
        exchange.earlier === 0
          ? { "retry-after": "30" }
          : { date, "retry-after": "Sun, 06 Nov 1994 08:50:07 GMT" };
      return exchange.respond(429, headers, '{"error":"slow down"}');
    }
    if (exchange.rpc.method !== "initialize") return false;
    at.push(performance.now());
    return exchange.earlier === 0 ? exchange.respond(503, { "retry-after": "1" }) : false;
  });
  await using source = createSource(toHttp(server.url));
  await source.server.start(never);
  await waitUntil(() => source.server.health().state === "ready");
  assert.ok((at[1] ?? 0) - (at[0] ?? 0) >= 990, String(at));
  for (let round = 0; round < 2; round += 1) {
    const error = await failureOf(source.call("act"));
    assert.match(error.message, /answered HTTP 429, and asks to wait 30 s: \{"error":"slow down"\}$/);
    assert.equal(error.data["retryAfterMs"], 30_000);
  }
});

test("a stream that is resumed with empty events and retry: 0 is resumed after growing pauses", async () => {
  const at: number[] = [];
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET" && exchange.headers["last-event-id"] !== undefined) {
      at.push(performance.now());
      return exchange.events(`retry: 0\nid: ${at.length}\ndata:\n\n`);
    }
    return isCall(exchange) ? exchange.events("retry: 0\nid: a\ndata:\n\n") : false;
  });
  await using source = await startSource(toHttp(server.url));
  void source.call("act").catch(() => {});
  await waitUntil(() => at.length >= 3);
  // The pauses are at least 100, 200 and 400 ms.
  const [first = 0, second = 0, third = 0] = at;
  assert.ok(second - first >= 190 && third - second >= 390, String(at));
});

test("a resumption that is refused for a while is tried again", async () => {
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET" && exchange.headers["last-event-id"] !== undefined) {
      return exchange.earlier < 2
        ? exchange.respond(503)
        : exchange.events(
            rawEvent('{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'.replace("3", String(id))),
          );
    }
    if (!isCall(exchange)) return false;
    id = exchange.rpc.id;
    return exchange.events("id: a\nretry: 1\ndata:\n\n");
  });
  let id: unknown;
  await using source = await startSource(toHttp(server.url));
  assert.deepEqual((await source.call("act")).content, []);
});

test("a response that arrives on the GET stream answers a call that was accepted with 202", async () => {
  let stream: RawExchange | undefined;
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET") {
      stream = exchange;
      return exchange.begin();
    }
    if (!isCall(exchange)) return false;
    exchange.respond(202);
    return stream?.chunk(rawEvent(exchange.answer()));
  });
  await using source = await startSource(toHttp(server.url));
  await waitUntil(() => stream !== undefined);
  assert.equal(textOf(await source.call("act")), "done");
});

test("a GET stream that opens late, or again without events to resume from, may have missed changes", async () => {
  const streams: RawExchange[] = [];
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET") {
      streams.push(exchange);
      // The first one opens when the session is already in use.
      return streams.length === 1 ? undefined : exchange.begin();
    }
    return exchange.rpc.method === "resources/subscribe" ? exchange.json(exchange.answer({})) : false;
  });
  await using source = await startSource(toHttp(server.url));
  const updates: string[] = [];
  await source.server.features.watch("test://a", { updated: (uri) => void updates.push(uri) });
  assert.deepEqual(updates, []);
  streams[0]?.begin();
  await waitUntil(() => updates.length === 1);
  streams[0]?.finish();
  await waitUntil(() => updates.length === 2);
  assert.deepEqual([streams.length, updates], [2, ["test://a", "test://a"]]);
});
