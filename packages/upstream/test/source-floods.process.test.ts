/** Servers over HTTP and SSE that send messages or comments without end: they are read slowly, named, and still answer. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { type RawExchange, type RawScript, rawEvent, startRawServer, waitUntil } from "@toolcrib/testing";
import { startSource, textOf } from "./source-harness.ts";

const unasked = rawEvent(
  JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", data: "x".repeat(200) },
  }),
);
const comment = `: ${"x".repeat(1000)}\n`;

/** Sends `piece` on a response that has begun, as fast as it is read. */
async function flood(exchange: RawExchange, piece: string): Promise<void> {
  const { socket } = exchange;
  const pieces = piece.repeat(100);
  while (!socket.destroyed) {
    exchange.chunk(pieces);
    if (socket.writableNeedDrain) await once(socket, "drain");
    else await new Promise(setImmediate);
  }
}

/** Begins an event stream that floods. */
function floods(exchange: RawExchange, piece: string): void {
  exchange.begin();
  // Writing fails when the client is gone.
  flood(exchange, piece).catch(() => {});
}

const isCall = ({ rpc }: RawExchange) => rpc.method === "tools/call";
const servers: readonly (readonly [title: string, script: RawScript])[] = [
  ["a GET stream", (exchange) => exchange.method === "GET" && floods(exchange, unasked)],
  ["comments on a GET stream", (exchange) => exchange.method === "GET" && floods(exchange, comment)],
  [
    "the response to another call",
    (exchange) => {
      const { name } = exchange.rpc.params ?? {};
      return isCall(exchange) && exchange.earlier === 0 && name === "act" && floods(exchange, unasked);
    },
  ],
];

test("a server over SSE that floods its stream is read slowly, named, and answers calls", async () => {
  let stream: RawExchange | undefined;
  await using server = await startRawServer((exchange) => {
    if (exchange.method !== "GET") {
      exchange.respond(202);
      if (exchange.rpc.id !== undefined) stream?.chunk(rawEvent(exchange.answer()));
      if (exchange.rpc.method === "notifications/initialized" && stream !== undefined)
        flood(stream, unasked).catch(() => {});
      return;
    }
    stream = exchange;
    exchange.begin();
    exchange.chunk(rawEvent("/messages", { event: "endpoint" }));
  });
  await using source = await startSource({ transport: { kind: "sse", url: server.url, headers: {} } });
  await waitUntil(() => /sends more messages than can be read/.test(source.server.health().reason ?? ""));
  assert.equal(textOf(await source.call("act")), "done");
});

for (const [title, script] of servers) {
  test(`a server that floods ${title} is read slowly, named, and answers calls`, async () => {
    await using server = await startRawServer(script);
    const transport = { kind: "streamable_http", url: server.url, headers: {} } as const;
    await using source = await startSource({ transport, limits: { messageMaxBytes: 1024 * 1024 } });
    const flooded = source.call("act").catch(() => undefined);
    await waitUntil(() => /sends more messages than can be read/.test(source.server.health().reason ?? ""));
    assert.equal(textOf(await source.call("act")), "done");
    void flooded;
  });
}
