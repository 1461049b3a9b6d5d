/** Calls whose answer is lost: which of them are made again, how often, and what their callers get. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { waitUntil } from "@toolcrib/testing";
import {
  createCall,
  echoStdio,
  failureOf,
  type ResolvedTransport,
  startSource,
  textOf,
} from "./source-harness.ts";

/** The rule of the gateway for a verified server. */
const isTrusted = ({ readOnlyHint, idempotentHint }: { readOnlyHint?: boolean; idempotentHint?: boolean }) =>
  readOnlyHint === true || idempotentHint === true;

/** A server of SDK v1 that counts executions, and breaks connections while they run. */
async function startBreakingServer() {
  const executions = new Map<string, number>();
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const subscribed: string[] = [];
  let listCount = 0;
  /** The losses at the next executions, in their order. */
  const breaks: ("connection" | "connection and session" | "answer")[] = [];
  let current: IncomingMessage | undefined;
  const executed = (key: string) => {
    executions.set(key, (executions.get(key) ?? 0) + 1);
    const next = breaks.shift() ?? "answer";
    if (next === "connection and session") transports.clear();
    if (next !== "answer") {
      current?.socket.destroy();
      return new Promise<never>(() => {});
    }
    return undefined;
  };
  const create = () => {
    const server = new Server(
      { name: "breaking", version: "1" },
      { capabilities: { tools: {}, resources: { subscribe: true } } },
    );
    const inputSchema = { type: "object" as const };
    server.setRequestHandler(ListToolsRequestSchema, () => {
      listCount += 1;
      return {
        tools: [
          { name: "read", inputSchema, annotations: { readOnlyHint: true } },
          { name: "put", inputSchema, annotations: { idempotentHint: true } },
          { name: "post", inputSchema },
        ],
      };
    });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({
      resources: [{ uri: "test://a", name: "a" }],
    }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      subscribed.push(params.uri);
      return {};
    });
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
      await executed("resource");
      return { contents: [{ uri, text: "content" }] };
    });
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
      await executed(name);
      return { content: [{ type: "text", text: name }] };
    });
    return server;
  };
  const http = createServer(async (request, response) => {
    if (request.method === "POST") current = request;
    const id = request.headers["mcp-session-id"];
    const known = transports.get(String(id));
    if (known !== undefined) return known.handleRequest(request, response);
    if (id !== undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (opened) => void transports.set(opened, transport),
    });
    await create().connect(transport);
    return transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return {
    transport: { kind: "streamable_http", url, headers: {} } satisfies ResolvedTransport,
    executions,
    subscribed,
    breaks,
    lists: () => listCount,
    async [Symbol.asyncDispose]() {
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

test("A call whose answer is lost is made again once where its declaration is trusted, and else fails with the reason", async () => {
  await using server = await startBreakingServer();
  const { breaks, executions, transport } = server;
  const cases = [
    // A verified server.
    { isRepeatable: isTrusted, tool: "read", lost: 1, executed: 2, fails: false },
    { isRepeatable: isTrusted, tool: "put", lost: 1, executed: 2, fails: false },
    { isRepeatable: isTrusted, tool: "post", lost: 1, executed: 1, fails: true },
    { isRepeatable: isTrusted, tool: "read", lost: 2, executed: 2, fails: true },
    // An unverified one.
    { isRepeatable: () => false, tool: "read", lost: 1, executed: 1, fails: true },
  ];
  for (const kind of ["connection", "connection and session"] as const) {
    for (const { isRepeatable, tool, lost, executed, fails } of cases) {
      await using source = await startSource({ transport, isRepeatable, protocol: "legacy" });
      executions.clear();
      breaks.push(...Array<typeof kind>(lost).fill(kind));
      const call = source.call(tool);
      const shown = `${kind}: ${tool} ${lost}`;
      if (fails) {
        const error = await failureOf(call);
        assert.equal(error.code, "UPSTREAM_CLOSED", shown);
        assert.match(error.message, /the call may have had an effect/);
      } else assert.equal(textOf(await call), tool, shown);
      assert.equal(executions.get(tool), executed, shown);
      // What is lost is opened again, and the next call works.
      assert.equal(await source.text("post"), "post", shown);
    }
  }
});

test("Reading a resource is repeated for a trusted server; a lost session is opened at once, with its lists and subscriptions", async () => {
  await using server = await startBreakingServer();
  let now = 1_000_000;
  const { breaks, executions, transport } = server;
  await using source = await startSource({
    transport,
    isRepeatable: isTrusted,
    protocol: "legacy",
    now: () => now,
    // A pause would end the test.
    limits: { reconnectMinMs: 3_600_000 },
  });
  const updates: string[] = [];
  const watcher = { updated: (uri: string) => updates.push(uri) };
  await source.server.features.watch("test://a", watcher);
  const lists = server.lists();
  now += 60_000;
  breaks.push("connection and session");
  const read = source.server.features.request("resources/read", { uri: "test://a" }, createCall());
  assert.deepEqual(await read, { contents: [{ uri: "test://a", text: "content" }] });
  assert.equal(executions.get("resource"), 2);
  await waitUntil(() => server.subscribed.length === 2);
  await waitUntil(() => updates.length === 1);
  assert.equal(server.lists(), lists + 1);
});

test("A process that a trusted call ends is started again at once, and the call is made once more and not again", async () => {
  let now = 1_000_000;
  let starts = 0;
  await using source = await startSource({
    async transport() {
      starts += 1;
      return echoStdio();
    },
    isRepeatable: () => true,
    now: () => now,
  });
  now += 60_000;
  const error = await failureOf(source.call("crash", { code: 5 }));
  assert.equal(error.code, "UPSTREAM_CLOSED");
  assert.equal(await source.text("echo", { text: "next" }), "next");
  assert.equal(starts, 3);
  const [record] = source.records.filter(({ event }) => event === "server is not available");
  assert.match(String(record?.["reason"]), /^The server exited with code 5/);
});
