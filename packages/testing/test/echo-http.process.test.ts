import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SSEClientTransportV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  type EchoHttpServer,
  echoHttpPath,
  fixtureCommand,
  isProcessAlive,
  startEchoHttpServer,
  startEchoSseServer,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";

const info = { name: "test", version: "1.0.0" };

function textOf(result: object): string {
  const [first] = (result as { content: { text: string }[] }).content;
  return first!.text;
}

async function connect(server: { url: string }, pin?: string) {
  const client = new Client(info, {
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
    ...(pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }),
  });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 5,
    },
  });
  await client.connect(transport);
  const call = (name: string, given = {}) => client.callTool({ name, arguments: given });
  return { client, transport, call, [Symbol.asyncDispose]: () => client.close() };
}

/** Posts one message and returns the response. */
function post(
  server: { url: string },
  message: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(server.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

const initialize = { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };

test("the echo server works with SDK v2 over streamable HTTP in every response form", async () => {
  for (const answers of ["json", "sse", "auto"] as const) {
    await using server = await startEchoHttpServer({ answers });
    await using peer = await connect(server);
    assert.equal(textOf(await peer.call("echo", { text: "hi" })), "hi");
    assert.equal(textOf(await peer.call("progress", { steps: 3 })), "3 steps");
    if (answers !== "json") assert.match(textOf(await peer.call("ask_elicitation")), /"Ada"/);
    assert.equal(server.sessionCount, 1);
    await peer.transport.terminateSession();
    assert.equal(server.sessionCount, 0);
  }
});

test("responses have the configured form", async () => {
  const rows: [answers: "json" | "sse" | "auto", tool: string, type: string][] = [
    ["json", "progress", "application/json"],
    ["auto", "echo", "application/json"],
    ["auto", "progress", "text/event-stream"],
    ["sse", "echo", "text/event-stream"],
  ];
  for (const [answers, name, expected] of rows) {
    await using server = await startEchoHttpServer({ answers, sessions: false });
    const params = { name, _meta: { progressToken: 1 } };
    const response = await post(server, { id: 1, method: "tools/call", params });
    assert.equal(response.headers.get("content-type"), expected, `${answers} ${name}`);
    assert.match(await response.text(), /"id":1,"result"/);
    assert.equal(response.headers.get("mcp-session-id"), null);
  }
});

test("the echo server works with SDK v1 over streamable HTTP, and sends notifications on the GET stream", async () => {
  await using server = await startEchoHttpServer();
  const client = new ClientV1(info);
  await client.connect(new StreamableHTTPClientTransportV1(new URL(server.url)));
  try {
    let changes = 0;
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === "notifications/tools/list_changed") changes += 1;
    };
    // The GET stream opens in the background after connect().
    await waitUntil(() => server.requestCount >= 3);
    await client.callTool({ name: "change_tools", arguments: { add: "fresh" } });
    await waitUntil(() => changes === 1);
  } finally {
    await client.close();
  }
});

test("a session is required, can be ended, and expires on demand", async () => {
  await using server = await startEchoHttpServer();
  const ping = { id: 1, method: "ping" };
  assert.equal((await post(server, ping)).status, 400);
  assert.equal((await post(server, ping, { "mcp-session-id": "unknown" })).status, 404);
  const opened = await post(server, initialize);
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
  assert.equal((await post(server, ping, session)).status, 200);
  const expire = { id: 2, method: "tools/call", params: { name: "expire_session" } };
  assert.equal((await post(server, expire, session)).status, 200);
  assert.equal((await post(server, ping, session)).status, 404);

  const again = { "mcp-session-id": (await post(server, initialize)).headers.get("mcp-session-id")! };
  server.expireSessions();
  assert.equal((await post(server, ping, again)).status, 404);
  assert.equal((await post(server, { method: "notifications/initialized" }, again)).status, 404);
});

test("without sessions there is no GET stream and no session id", async () => {
  await using server = await startEchoHttpServer({ sessions: false });
  assert.equal((await fetch(server.url)).status, 405);
  await using peer = await connect(server);
  assert.equal(peer.transport.sessionId, undefined);
  assert.equal(textOf(await peer.call("echo", { text: "hi" })), "hi");
});

test("a bearer token is required, and requests are refused on demand", async () => {
  await using server = await startEchoHttpServer({ token: "s3cret" });
  const refused = await post(server, initialize);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate")!, /^Bearer /);
  const authorization = "Bearer s3cret";
  assert.equal((await post(server, initialize, { authorization })).status, 200);
  server.refuseNext(2, 503);
  assert.equal((await post(server, initialize, { authorization })).status, 503);
  assert.equal((await post(server, initialize, { authorization })).status, 503);
  assert.equal((await post(server, initialize, { authorization })).status, 200);
});

test("a test and a tool can break connections", async () => {
  await using server = await startEchoHttpServer({ sessions: false });
  const call = (name: string) => post(server, { id: 1, method: "tools/call", params: { name } });
  const text = async (response: Promise<Response>) => (await response).text();
  await assert.rejects(text(call("break_off")));
  await assert.rejects(text(call("crash")));
  const hanging = text(call("hang"));
  await waitUntil(() => server.requestCount === 3);
  server.dropConnections();
  await assert.rejects(hanging);
  assert.match(await text(call("echo")), /"result"/);
});

test("a broken stream is resumed with the id of its last event", async () => {
  await using server = await startEchoHttpServer({ resumable: true });
  await using peer = await connect(server);
  assert.equal(textOf(await peer.call("break_stream", { ms: 30 })), "answered after the stream broke");
  assert.equal(textOf(await peer.call("break_stream", { ms: 300 })), "answered after the stream broke");
});

test("2026-07-28 over HTTP: calls, input requests, subscriptions, and mirrored arguments", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28", only: true });
  await using peer = await connect(server, "2026-07-28");
  assert.equal(textOf(await peer.call("echo", { text: "hi" })), "hi");
  assert.match(textOf(await peer.call("ask_elicitation")), /"Ada"/);
  await peer.client.listTools();
  const mirrored = textOf(await peer.call("mirror", { region: "Zürich", nested: { level: 3 } }));
  assert.deepEqual(JSON.parse(mirrored), {
    "mcp-param-region": "=?base64?WsO8cmljaA==?=",
    "mcp-param-level": "3",
  });
  const uris: string[] = [];
  peer.client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    uris.push(params.uri);
  });
  const subscription = await peer.client.listen({ resourceSubscriptions: ["echo://watched"] });
  await peer.call("update_resource", { uri: "echo://note" });
  await peer.call("update_resource", { uri: "echo://watched" });
  await waitUntil(() => uris.length > 0);
  assert.deepEqual(uris, ["echo://watched"]);
  await subscription.close();
  assert.equal(server.sessionCount, 0);
});

test("2026-07-28 over HTTP: a wrong header, an unknown method and a missing field get the required status", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28" });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headersOf = (method: string, name?: string) => ({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
  });
  const rows: [
    method: string,
    params: object,
    headers: Record<string, string>,
    status: number,
    code: number,
  ][] = [
    ["tools/list", { _meta }, headersOf("tools/call"), 400, -32020],
    ["tools/call", { _meta, name: "echo" }, headersOf("tools/call", "fail"), 400, -32020],
    ["tools/call", { _meta, name: "ask_roots" }, headersOf("tools/call", "ask_roots"), 400, -32021],
    ["nothing/here", { _meta }, headersOf("nothing/here"), 404, -32601],
    ["server/discover", {}, headersOf("server/discover"), 400, -32602],
  ];
  for (const [method, params, headers, status, code] of rows) {
    const response = await post(server, { id: 1, method, params }, headers);
    const body = (await response.json()) as { error: { code: number } };
    assert.deepEqual([response.status, body.error.code], [status, code], `${method} ${code}`);
  }
  // The same endpoint serves the versions with sessions.
  assert.equal((await post(server, initialize)).status, 200);
});

test("closing the response cancels a call of 2026-07-28", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28" });
  await using peer = await connect(server, "2026-07-28");
  const controller = new AbortController();
  const hanging = peer.client.callTool({ name: "hang" }, { signal: controller.signal });
  const before = server.requestCount;
  await waitUntil(() => server.requestCount > before);
  assert.equal(server.cancelledCount, 0);
  controller.abort();
  await assert.rejects(hanging);
  await waitUntil(() => server.cancelledCount === 1);
  assert.equal(textOf(await peer.call("echo", { text: "on" })), "on");
});

test("the echo server works with both SDKs over HTTP with SSE", async () => {
  await using server = await startEchoSseServer({ token: "s3cret" });
  const requestInit = { headers: { authorization: "Bearer s3cret" } };
  const fetchWithToken = (url: string | URL, init?: RequestInit) =>
    fetch(url, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), ...requestInit.headers },
    });
  assert.equal((await fetch(server.url)).status, 401);

  const client = new Client(info, { capabilities: { roots: {} } });
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///tmp" }] }));
  await client.connect(new SSEClientTransport(new URL(server.url), { requestInit, fetch: fetchWithToken }));
  assert.equal(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } })), "hi");
  assert.match(textOf(await client.callTool({ name: "ask_roots" })), /file:/);
  assert.equal(server.sessionCount, 1);
  await client.close();
  await waitUntil(() => server.sessionCount === 0);

  const old = new ClientV1(info);
  const options = { requestInit, fetch: fetchWithToken, eventSourceInit: { fetch: fetchWithToken } };
  await old.connect(new SSEClientTransportV1(new URL(server.url), options));
  assert.equal(textOf(await old.callTool({ name: "echo", arguments: { text: "hi" } })), "hi");
  const hanging = old.callTool({ name: "hang" });
  await waitUntil(() => server.sessionCount === 1);
  const ended = assert.rejects(hanging);
  await old.close();
  await ended;
});

test("the HTTP servers run as processes that end on SIGTERM", async () => {
  for (const flags of [
    ["--token", "t", "--answers", "json"],
    ["--transport", "sse"],
  ]) {
    const { command, args } = fixtureCommand(echoHttpPath, ...flags);
    await using server = await startServerProcess(command, args);
    assert.match(server.url, flags.includes("sse") ? /\/sse$/ : /\/mcp$/);
    assert.equal((await fetch(server.url, { method: "DELETE" })).status, flags.includes("sse") ? 405 : 401);
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
  }
});

test("disposing an HTTP server ends the processes that its tools started", async () => {
  let pid = 0;
  {
    await using server: EchoHttpServer = await startEchoHttpServer({ answers: "json" });
    await using peer = await connect(server);
    pid = Number(textOf(await peer.call("spawn_child")));
    assert.equal(isProcessAlive(pid), true);
  }
  await waitUntil(() => !isProcessAlive(pid));
});
