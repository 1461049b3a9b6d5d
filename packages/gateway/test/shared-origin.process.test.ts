/** Upstream servers that share one origin, and clients that declare `roots` and so have sessions of their own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RawExchange } from "@toolcrib/testing";
import { runsAll, startRawServer } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";

/** `npm run verify` uses the numbers of the guarantee; `npm test` still opens more streams than one pool of 256 has. */
const [serverCount, clientCount] = runsAll ? [20, 100] : [20, 20];

test(`${serverCount} servers of one origin lose no call of ${clientCount} clients that declare roots`, async () => {
  const streams = new Set<RawExchange>();
  let sessions = 0;
  await using server = await startRawServer((exchange) => {
    if (exchange.method === "GET") {
      streams.add(exchange);
      exchange.socket.on("close", () => streams.delete(exchange));
      return exchange.begin();
    }
    if (exchange.rpc.method !== "initialize") return false;
    sessions += 1;
    return exchange.json(exchange.answer(), { "mcp-session-id": `session-${sessions}` });
  });
  const tool_servers = Array.from({ length: serverCount }, (_, index) => ({
    id: `s${index}`,
    trust_state: "certified",
    interactive: true,
    transport: { kind: "streamable_http", url: `${server.origin}/${index}` },
  }));
  await using gateway = await startTestGateway({ tool_servers });
  const clients = await Promise.all(
    Array.from({ length: clientCount }, async () => {
      const client = await gateway.connect({ capabilities: { roots: {} } });
      return client;
    }),
  );
  const calls = clients.map(async (client) => {
    for (const { id } of tool_servers) {
      const result = await client.callTool({ name: `${id}__act`, arguments: {} });
      assert.deepEqual(result["content"], [{ type: "text", text: "done" }], JSON.stringify(result));
    }
  });
  await Promise.all(calls);
  assert.equal(server.effects, serverCount * clientCount);
  assert.ok(streams.size > 256, `${streams.size} streams were open`);
});
