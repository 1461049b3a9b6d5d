/** The client side with servers of the official SDKs, v1 and v2. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { conformanceHttpPath, fixtureCommand, startServerProcess, waitUntil } from "@toolcrib/testing";
import { openHttp, openSse, type Upstream } from "./upstreams.ts";

/** A server of SDK v1 with a few tools. */
function createV1Server(aborted: string[]): McpServer {
  const server = new McpServer({ name: "v1", version: "1.0.0" }, { capabilities: { logging: {} } });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool("steps", {}, async ({ _meta, sendNotification }) => {
    for (let progress = 1; progress <= 5; progress += 1) {
      const progressToken = _meta?.progressToken ?? 0;
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress } });
    }
    return text("done");
  });
  server.registerTool("hang", {}, ({ signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        aborted.push(String(signal.reason));
        reject(new Error("aborted"));
      });
    });
  });
  server.registerTool("ask", {}, async () => text(JSON.stringify(await server.server.listRoots())));
  server.registerTool("change", {}, () => {
    server.sendToolListChanged();
    return text("changed");
  });
  return server;
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function startV1Http(aborted: string[], enableJsonResponse: boolean) {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const running = await listen(async (request, response) => {
    const known = transports.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await createV1Server(aborted).connect(transport);
    await transport.handleRequest(request, response);
  });
  return { ...running, transports, url: `${running.origin}/mcp` };
}

async function startV1Sse(aborted: string[]) {
  const transports = new Map<string, SSEServerTransport>();
  const running = await listen(async (request, response) => {
    if (request.method === "GET") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      await createV1Server(aborted).connect(transport);
      return;
    }
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId") ?? "";
    await transports.get(id)?.handlePostMessage(request, response);
  });
  return { ...running, transports, url: `${running.origin}/sse` };
}

const options = {
  connection: { capabilities: { roots: {} } },
  request: async () => ({ roots: [{ uri: "file:///r" }] }),
};

async function checkV1(upstream: Upstream, aborted: string[], isStreaming: boolean): Promise<void> {
  const { connection } = upstream;
  const { tools } = await connection.request("tools/list", {});
  assert.equal((tools as unknown[]).length, 4);
  const steps: unknown[] = [];
  assert.equal(
    await upstream.call("steps", {}, { onProgress: ({ progress }) => steps.push(progress) }),
    "done",
  );
  if (isStreaming) {
    assert.deepEqual(steps, [1, 2, 3, 4, 5]);
    assert.equal(await upstream.call("ask"), '{"roots":[{"uri":"file:///r"}]}');
  }
  const controller = new AbortController();
  const hanging = upstream.call("hang", {}, { signal: controller.signal });
  await connection.request("ping", {});
  controller.abort(new Error("enough"));
  await assert.rejects(hanging, /enough/);
  await waitUntil(() => aborted.length === 1);
  assert.match(aborted[0] ?? "", /enough/);
  await assert.rejects(connection.request("no/such", {}), { rpcCode: -32601 });
  await upstream.call("change");
  await waitUntil(() =>
    upstream.notifications.some(({ method }) => method === "notifications/tools/list_changed"),
  );
}

test("Servers of SDK v1 over Streamable HTTP, with streams and with JSON", async () => {
  for (const isJson of [false, true]) {
    const aborted: string[] = [];
    await using server = await startV1Http(aborted, isJson);
    await using upstream = await openHttp(server.url, options);
    assert.equal(upstream.connection.protocolVersion, "2025-11-25");
    await checkV1(upstream, aborted, !isJson);
    // Disposal ended the session at the server.
    const ended = Promise.withResolvers<void>();
    const [transport] = server.transports.values();
    assert.ok(transport !== undefined);
    transport.onclose = () => ended.resolve();
    await upstream[Symbol.asyncDispose]();
    await ended.promise;
  }
});

test("Servers of SDK v1 over SSE", async () => {
  const aborted: string[] = [];
  await using server = await startV1Sse(aborted);
  await using upstream = await openSse(server.url, options);
  await checkV1(upstream, aborted, true);
});

test("A server of SDK v2 that supports both eras, in both of them", async () => {
  const { command, args } = fixtureCommand(conformanceHttpPath);
  await using server = await startServerProcess(command, args);
  for (const era of ["legacy", "modern"] as const) {
    await using upstream = await openHttp(server.url, {
      connection: { era, capabilities: { elicitation: {} } },
    });
    assert.equal(upstream.connection.era, era);
    const { connection } = upstream;
    const { tools } = await connection.request("tools/list", {});
    assert.ok((tools as unknown[]).length > 10);
    assert.match(await upstream.call("test_simple_text"), /simple text/);
    const steps: unknown[] = [];
    await upstream.call(
      "test_tool_with_progress",
      {},
      { onProgress: ({ progress }) => steps.push(progress) },
    );
    assert.equal(steps.length, 3);
    const { contents } = await connection.request("resources/read", { uri: "test://static-text" });
    assert.equal((contents as unknown[]).length, 1);
    const controller = new AbortController();
    if (era === "modern") {
      const received: string[] = [];
      const listening = connection.request(
        "subscriptions/listen",
        { notifications: { toolsListChanged: true } },
        { signal: controller.signal, onNotification: (method) => received.push(method) },
      );
      await waitUntil(() => received.length === 1);
      await upstream.call("test_trigger_tool_change");
      await waitUntil(() => received.length === 2);
      assert.equal(received[1], "notifications/tools/list_changed");
      controller.abort(new Error("received enough"));
      await assert.rejects(listening, /received enough/);
    } else {
      await upstream.call("test_trigger_tool_change");
      await waitUntil(() => upstream.notifications.length === 1);
    }
  }
});
