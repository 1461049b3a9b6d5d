/**
 * Clients of several issuers. An identity is its issuer and its subject: two
 * identities whose names, subjects or joined texts are equal share nothing.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import { type Identity, localIdentity } from "@toolcrib/tool";
import {
  dataOf,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

/** Pairs of identities that a comparison of one text would confuse. */
const pairs: readonly (readonly [title: string, restricted: Identity, free: Identity])[] = [
  ["issuers and subjects that join to the same text", identity("a", "b:c"), identity("a:b", "c")],
  [
    "the same name and issuer",
    identity("https://id.example.com", "17"),
    identity("https://id.example.com", "18"),
  ],
  [
    "the same name and subject",
    identity("https://id.example.com", "17"),
    identity("https://id.example.org", "17"),
  ],
  ["a token of that name", localIdentity("token", "same"), identity("https://id.example.com", "same")],
];

function identity(issuer: string, subject: string): Identity {
  return { issuer, subject, name: "same", roles: [] };
}

function startServer(): Promise<ScriptedServer> {
  return startScriptedServer({
    tools: () => [toolNamed("get"), toolNamed("put")],
    call: (_request, name) => ({ content: [], structuredContent: { name } }),
  });
}

/** Starts a gateway whose clients `restricted` and `free` are a pair; only the first may not use `s:put`. */
function startPair(server: ScriptedServer, restricted: Identity, free: Identity, serve: JsonObject = {}) {
  const { issuer, subject } = restricted;
  const isToken = issuer === "toolcrib:token";
  const rules = { deny: ["s:put"], ...(isToken ? {} : { identity: { issuer, subject } }) };
  const identities = new Map([
    ["Bearer restricted", restricted],
    ["Bearer free", free],
  ]);
  return startTestGateway(
    {
      tool_servers: [onHttp("s", server.url)],
      policy: { clients: { same: rules } },
      serve,
    },
    { authenticate: async (authorization) => identities.get(authorization ?? "") },
  );
}

async function evaluate(client: Client, code: string): Promise<unknown> {
  const { structuredContent } = await client.callTool({ name: "eval_starlark", arguments: { code } });
  const answer = structuredContent as JsonObject;
  return answer["result"] ?? (answer["error"] as JsonObject)["type"];
}

/** Sends one message with `fetch`; the session of `session`, if any. */
async function post(test: TestGateway, as: string, message: JsonObject, session?: string) {
  const response = await fetch(await test.endpoint(), {
    method: "POST",
    headers: {
      authorization: `Bearer ${as}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  await response.text();
  return { status: response.status, session: response.headers.get("mcp-session-id") ?? "" };
}

const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const ping = { method: "ping" };

for (const [title, restricted, free] of pairs) {
  describe(`Two identities with ${title}`, () => {
    it("share no list, search result, decision or catalogue", async () => {
      await using server = await startServer();
      await using test = await startPair(server, restricted, free);
      const clients = {
        restricted: await test.connect({ as: "restricted" }),
        free: await test.connect({ as: "free" }),
      };
      // Each is asked before and after the other, so that a shared cache would show.
      for (const as of ["restricted", "free", "restricted", "free"] as const) {
        const client = clients[as];
        const isFree = as === "free";
        const { tools } = await client.listTools();
        assert.equal(
          tools.some(({ name }) => name === "s__put"),
          isFree,
          as,
        );
        const found = await client.callTool({ name: "search_tools", arguments: { query: "put" } });
        assert.equal(JSON.stringify(found.structuredContent).includes("s__put"), isFree, as);
        const called = await client.callTool({ name: "s__put", arguments: {} }).catch(String);
        assert.equal(String(called).includes('Unknown tool: "s__put"'), !isFree, as);
        assert.equal(await evaluate(client, 'return s.get()["name"]'), "get", as);
        assert.equal((await evaluate(client, 'return tools["s__put"]()["name"]')) === "put", isFree, as);
      }
    });

    it("share no session", async () => {
      await using server = await startServer();
      await using test = await startPair(server, restricted, free);
      for (const [owner, other] of [
        ["restricted", "free"],
        ["free", "restricted"],
      ] as const) {
        const { session } = await post(test, owner, initialize);
        assert.equal((await post(test, owner, ping, session)).status, 200);
        assert.equal((await post(test, other, ping, session)).status, 404);
        assert.equal((await post(test, owner, ping, session)).status, 200);
      }
    });

    it("do not end each other's sessions by opening many", async () => {
      await using server = await startServer();
      await using test = await startPair(server, restricted, free, { limits: { max_sessions: 4 } });
      const { session } = await post(test, "free", initialize);
      for (let count = 0; count < 6; count += 1) await post(test, "restricted", initialize);
      assert.equal((await post(test, "free", ping, session)).status, 200);
    });

    it("are distinguished in the audit trail, as callers and as authors of saved tools", async () => {
      await using server = await startServer();
      await using test = await startPair(server, restricted, free);
      for (const as of ["restricted", "free"] as const) {
        const client = await test.connect({ as });
        await client.callTool({ name: "s__get", arguments: {} });
        const saved = await client.callTool({
          name: "save_tool",
          arguments: { name: `of_${as}`, description: "Gets", inputSchema: {}, code: "return s.get()" },
        });
        assert.ok(saved.isError !== true, textOf(saved));
      }
      await test.stop();
      const records = test.audit();
      const shown = (clients: readonly ({ issuer?: string; subject?: string; name: string } | undefined)[]) =>
        clients.map((client) => [client?.issuer, client?.subject, client?.name]);
      const expected = [restricted, free].map(({ issuer, subject, name }) => [issuer, subject, name]);
      for (const type of ["call.intent", "call.completed"] as const) {
        const calls = dataOf(records, type).filter(({ tool }) => tool === "s:get");
        assert.deepEqual(shown(calls.map(({ client }) => client)), expected);
      }
      assert.deepEqual(shown(dataOf(records, "tool.saved").map(({ client }) => client)), expected);
    });
  });
}

it("A token that the authenticate hook refuses is refused, although the home has that token", async () => {
  await using server = await startServer();
  await using test = await startPair(server, localIdentity("token", "same"), identity("i", "s"));
  assert.equal((await post(test, "unknown", initialize)).status, 401);
});
