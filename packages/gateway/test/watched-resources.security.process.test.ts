/** Subscriptions to resources: those that a server refuses, and the share that each client has of a server. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startEchoHttpServer, startRawServer, waitUntil } from "@toolcrib/testing";
import { onHttp, startTestGateway } from "./gateway-harness.ts";

const uris = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => `echo://${prefix}/${at}`);

async function subscribeAll(client: Client, all: readonly string[]): Promise<void> {
  for (const uri of all) await client.subscribeResource({ uri });
}

/** Ends the session of a client, which a closed connection alone does not. */
async function leave(client: Client): Promise<void> {
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  await client.close();
}

test("one client cannot watch all resources that can be watched at a server, with any number of sessions", async () => {
  await using echo = await startEchoHttpServer();
  await using gateway = await startTestGateway(
    { tool_servers: [onHttp("notes", echo.url)] },
    { clients: ["ada", "bob"], upstreamLimits: { maxWatchedUris: 8 } },
  );
  const [first, second] = [await gateway.connect({ as: "ada" }), await gateway.connect({ as: "ada" })];
  const bob = await gateway.connect({ as: "bob" });
  await subscribeAll(first, uris("ada", 3));
  await subscribeAll(second, uris("ada", 4));
  const refused = /This client watches 4 resources, its share of 8 for all clients/;
  for (const client of [first, second])
    await assert.rejects(client.subscribeResource({ uri: "echo://ada/more" }), refused);
  // Others have a share, too, and what somebody watches takes no place.
  await bob.subscribeResource({ uri: "echo://ada/0" });
  await subscribeAll(bob, uris("bob", 1));
  await assert.rejects(first.subscribeResource({ uri: "echo://ada/more" }), refused);
  // A URI that another session of the client watches keeps its place.
  await first.unsubscribeResource({ uri: "echo://ada/1" });
  await assert.rejects(second.subscribeResource({ uri: "echo://ada/more" }), refused);
  for (const uri of uris("ada", 4).slice(1)) await second.unsubscribeResource({ uri });
  await second.subscribeResource({ uri: "echo://ada/more" });
  // The places of a session that ends are free.
  await Promise.all([leave(first), leave(second)]);
  const rest = uris("bob", 3);
  await waitUntil(() =>
    subscribeAll(bob, rest).then(
      () => true,
      () => false,
    ),
  );
});

test("a subscription that a server refuses is not kept: the client can try again, and leaves nothing", async () => {
  let refuses = true;
  const watched: string[] = [];
  await using raw = await startRawServer((exchange) => {
    const { rpc } = exchange;
    if (rpc.method === "initialize") {
      const capabilities = { tools: {}, resources: { subscribe: true } };
      const serverInfo = { name: "raw", version: "1" };
      exchange.json(exchange.answer({ protocolVersion: "2025-11-25", capabilities, serverInfo }));
      return true;
    }
    if (rpc.method === "resources/list") {
      exchange.json(exchange.answer({ resources: [{ uri: "note://1", name: "one" }] }));
      return true;
    }
    if (rpc.method === "resources/templates/list") {
      exchange.json(exchange.answer({ resourceTemplates: [] }));
      return true;
    }
    if (rpc.method?.startsWith("resources/") !== true) return false;
    watched.push(rpc.method);
    if (refuses) {
      const error = { code: -32_000, message: "not now" };
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error }));
    } else exchange.json(exchange.answer({}));
    return true;
  });
  await using gateway = await startTestGateway(
    { tool_servers: [onHttp("notes", raw.url)] },
    { clients: ["ada"], upstreamLimits: { maxWatchedUris: 2 } },
  );
  const ada = await gateway.connect({ as: "ada" });
  for (let at = 0; at < 3; at += 1)
    await assert.rejects(ada.subscribeResource({ uri: "note://1" }), /not now/);
  assert.deepEqual(watched.splice(0), Array(3).fill("resources/subscribe"));
  // A refused one takes no place, and its client that leaves has nothing to end.
  await leave(ada);
  refuses = false;
  const next = await gateway.connect({ as: "ada" });
  await next.subscribeResource({ uri: "note://1" });
  assert.deepEqual(watched.splice(0), ["resources/subscribe"]);
  await leave(next);
  await waitUntil(
    () => watched.join() === "resources/unsubscribe" || gateway.gateway.status().sessions === 0,
  );
});
