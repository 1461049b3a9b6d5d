/**
 * Responses of HTTP servers that can be misread: as a lost session, or as a server
 * that was not reached. Each call has its effect at most once.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type RawExchange, rawEvent, startRawServer, waitUntil } from "@toolcrib/testing";
import { failureOf, startSource, textOf } from "./source-harness.ts";

const isCall = ({ rpc }: RawExchange) => rpc.method === "tools/call";

/** A JSON-RPC error under `id`. */
const errorOf = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } });

function startHttp(url: string, kind: "streamable_http" | "sse" = "streamable_http") {
  return startSource({ transport: { kind, url, headers: {} } });
}

test("a GET that is answered with 404 means that there is no stream", async () => {
  await using server = await startRawServer(
    (exchange) => exchange.method === "GET" && exchange.respond(404, {}, "Cannot GET /mcp"),
  );
  await using source = await startHttp(server.url);
  await waitUntil(() => server.log.includes("GET"));
  for (let round = 0; round < 3; round += 1) assert.equal(textOf(await source.call("act")), "done");
  assert.equal(source.server.facts().restarts, 0);
  assert.equal(server.effects, 3);
  assert.deepEqual(
    server.log.filter((entry) => entry === "GET" || entry === "POST ping"),
    ["GET"],
  );
});

test("an application error in a 404, or in a 400 about a session, is the answer and ends no session", async () => {
  const answers: readonly (readonly [status: number, text: (id: unknown) => string, message: RegExp])[] = [
    [404, (id) => errorOf(id, "No such page"), /No such page/],
    [400, (id) => errorOf(id, "The session of the user is over"), /session of the user/],
    [400, () => errorOf(null, "The session of the user is over"), /session of the user/],
    [400, () => "Your session is over", /Your session is over/],
  ];
  for (const [status, text, message] of answers) {
    await using server = await startRawServer((exchange) => {
      if (!isCall(exchange)) return false;
      exchange.act();
      return exchange.earlier === 0 ? exchange.respond(status, {}, text(exchange.rpc.id)) : exchange.json();
    });
    await using source = await startHttp(server.url);
    const error = await failureOf(source.call("act"));
    assert.match(error.message, message);
    assert.equal(server.effects, 1, "it is not repeated");
    await waitUntil(() => server.log.includes("POST ping"));
    await source.call("act");
    assert.equal(source.server.facts().restarts, 0);
    assert.equal(server.log.filter((entry) => entry === "POST initialize").length, 1);
  }
});

test("a server that answers 400 for a forgotten session gets a new session, and no call twice", async () => {
  let isForgotten = false;
  await using server = await startRawServer((exchange) => {
    if (exchange.rpc.method === "initialize") isForgotten = false;
    if (!isForgotten || exchange.method !== "POST") return false;
    return exchange.respond(400, {}, "Bad Request: No valid session ID provided");
  });
  await using source = await startHttp(server.url);
  isForgotten = true;
  assert.match((await failureOf(source.call("act"))).message, /No valid session ID/);
  await waitUntil(() => source.server.facts().restarts === 1);
  assert.equal(textOf(await source.call("act")), "done");
  assert.equal(server.effects, 1);
});

test("a 404 without an error of the application means a lost session, and the call is made once", async () => {
  let isForgotten = false;
  await using server = await startRawServer((exchange) => {
    if (exchange.rpc.method === "initialize") isForgotten = false;
    return isForgotten && exchange.method === "POST"
      ? exchange.respond(404, {}, errorOf("server-error", "Session not found"))
      : false;
  });
  await using source = await startHttp(server.url);
  isForgotten = true;
  assert.equal(textOf(await source.call("act")), "done");
  assert.equal(server.effects, 1);
});

test("SSE: an application error in a 404 is the answer and ends no session", async () => {
  let stream: RawExchange | undefined;
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET") {
      stream = exchange;
      exchange.begin();
      return exchange.chunk(rawEvent("/mcp", { event: "endpoint" }));
    }
    if (isCall(exchange) && exchange.earlier === 0) {
      exchange.act();
      return exchange.respond(404, {}, errorOf(exchange.rpc.id, "No such page"));
    }
    if (exchange.rpc.id !== undefined) stream?.chunk(rawEvent(exchange.answer()));
    return exchange.respond(202);
  });
  await using source = await startHttp(server.url, "sse");
  assert.match((await failureOf(source.call("act"))).message, /No such page/);
  assert.equal(textOf(await source.call("act")), "done");
  assert.deepEqual([server.effects, source.server.facts().restarts], [2, 0]);
});

/** Ends of a call that the server can have processed. */
const lost: { readonly [what: string]: (exchange: RawExchange) => void } = {
  "a closed connection": ({ socket }) => void socket.end(),
  "a reset connection": ({ socket }) => void socket.resetAndDestroy(),
  "a broken chunk": (exchange) => {
    exchange.begin({ "content-type": "application/json" });
    exchange.write("zz\r\nnonsense\r\n");
  },
  "a chunk that ends early": (exchange) => {
    exchange.begin({ "content-type": "application/json" });
    exchange.write("ff\r\n{");
    exchange.socket.end();
  },
  "headers over the limit": (exchange) => exchange.json("{}", { "x-long": "x".repeat(200_000) }),
  "a header without end": ({ socket }) => void socket.end("HTTP/1.1 200 OK\r\nx-long: "),
  "a body that is shorter than its length": (exchange) => {
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{}");
    exchange.socket.end();
  },
  "a body that is longer than its length": (exchange) =>
    exchange.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: -1\r\n\r\n{}"),
  "a response that is not HTTP": (exchange) => exchange.write("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
  "a stream that ends before the answer": (exchange) => exchange.events(": nothing\n\n"),
};

for (const [what, end] of Object.entries(lost)) {
  test(`a call that ends with ${what} may have had an effect, and is not repeated`, async () => {
    await using server = await startRawServer((exchange) => {
      if (!isCall(exchange) || exchange.earlier > 0) return false;
      exchange.act();
      return end(exchange);
    });
    await using source = await startHttp(server.url);
    const error = await failureOf(source.call("act"));
    assert.equal(error.code, "UPSTREAM_CLOSED", error.message);
    assert.match(error.message, /the call may have had an effect$/);
    assert.equal(server.effects, 1);
    assert.equal(textOf(await source.call("act")), "done");
  });
}
