/** The official clients, SDK v1 and v2, with the server side: every transport and both eras. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  SSEClientTransport as SseV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { type DemoHttp, startDemoHttp } from "./demo-http.ts";
import { textOf } from "./demo-service.ts";

/** The common interface of the clients. */
interface Peer extends AsyncDisposable {
  call(name: string, given?: JsonObject, options?: PeerOptions): Promise<string>;
  list(): Promise<string[]>;
  setLevel(level: "error"): Promise<unknown>;
  readonly logs: unknown[];
  readonly listChanges: unknown[];
}

interface PeerOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number }) => void;
}

type Place = "http" | "sse" | "stdio";
type Era = "legacy" | "modern";

const info = { name: "peer", version: "9" };
const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const sampled = {
  model: "m",
  role: "assistant" as const,
  content: { type: "text" as const, text: "sampled" },
};
const elicited = { action: "accept" as const, content: { name: "Ann" } };
const roots = { roots: [{ uri: "file:///root" }] };

const stdioCommand = {
  command: process.execPath,
  args: [
    ...process.execArgv.filter((argument) => argument.startsWith("--conditions")),
    fileURLToPath(new URL("./demo-stdio.ts", import.meta.url)),
  ],
  stderr: "ignore" as const,
};

async function connectV1(place: Place, demo: DemoHttp): Promise<Peer> {
  const client = new ClientV1(info, { capabilities });
  const logs: unknown[] = [];
  const listChanges: unknown[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ElicitRequestSchema, () => elicited);
  client.setRequestHandler(ListRootsRequestSchema, () => roots);
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logs.push(params.level),
  );
  client.setNotificationHandler(
    ToolListChangedNotificationSchema,
    ({ method }) => void listChanges.push(method),
  );
  const transport =
    place === "http"
      ? new HttpV1(new URL(demo.url))
      : place === "sse"
        ? new SseV1(new URL(demo.sseUrl))
        : new StdioV1(stdioCommand);
  await client.connect(transport);
  return {
    call: async (name, given = {}, options) =>
      textOf(await client.callTool({ name, arguments: given }, undefined, options)),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    setLevel: (level) => client.setLoggingLevel(level),
    logs,
    listChanges,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectV2(place: Place, demo: DemoHttp, era: Era): Promise<Peer> {
  const client = new ClientV2(info, {
    capabilities,
    versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
  });
  const logs: unknown[] = [];
  const listChanges: unknown[] = [];
  client.setRequestHandler("sampling/createMessage", () => sampled);
  client.setRequestHandler("elicitation/create", () => elicited);
  client.setRequestHandler("roots/list", () => roots);
  client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params.level));
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    ({ method }) => void listChanges.push(method),
  );
  const transport =
    place === "http"
      ? new HttpV2(new URL(demo.url))
      : place === "sse"
        ? new SseV2(new URL(demo.sseUrl))
        : new StdioV2(stdioCommand);
  await client.connect(transport);
  return {
    call: async (name, given = {}, options) =>
      textOf(await client.callTool({ name, arguments: given }, options)),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    setLevel: (level) => client.setLoggingLevel(level),
    logs,
    listChanges,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const peers: [name: string, place: Place, era: Era, connect: (demo: DemoHttp) => Promise<Peer>][] = [
  ["SDK v1 over HTTP", "http", "legacy", (demo) => connectV1("http", demo)],
  ["SDK v1 over SSE", "sse", "legacy", (demo) => connectV1("sse", demo)],
  ["SDK v1 over stdio", "stdio", "legacy", (demo) => connectV1("stdio", demo)],
  ["SDK v2 over HTTP", "http", "legacy", (demo) => connectV2("http", demo, "legacy")],
  ["SDK v2 over SSE", "sse", "legacy", (demo) => connectV2("sse", demo, "legacy")],
  ["SDK v2 over stdio", "stdio", "legacy", (demo) => connectV2("stdio", demo, "legacy")],
  ["SDK v2 of 2026-07-28 over HTTP", "http", "modern", (demo) => connectV2("http", demo, "modern")],
  ["SDK v2 of 2026-07-28 over stdio", "stdio", "modern", (demo) => connectV2("stdio", demo, "modern")],
];

for (const [name, place, era, connect] of peers) {
  test(`${name}: lists, calls, progress, cancellation, log levels and requests to the client`, async () => {
    await using demo = await startDemoHttp();
    await using peer = await connect(demo);

    assert.ok((await peer.list()).includes("echo"));
    assert.equal(await peer.call("echo", { text: "größe 世界" }), "größe 世界");
    const who = JSON.parse(await peer.call("who")) as JsonObject;
    assert.equal(who["era"], era);
    assert.deepEqual(who["clientInfo"], info);
    assert.equal(who["view"], place === "stdio" ? "pipe" : place === "http" ? "mcp" : "sse");
    await assert.rejects(peer.call("refuse", { code: -32602 }), /Refused on purpose/);

    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
    // Both SDKs drop progress that arrives in one chunk with its result, so each step is awaited before the next.
    const reporting = peer.call("wait", { name: "r" }, { onprogress });
    if (place !== "stdio") await waitUntil(() => demo.service.waiting.has("r"));
    for (let step = 1; step <= 5; step += 1) {
      await peer.call("report", { name: "r", step });
      await waitUntil(() => steps.length === step);
    }
    await peer.call("release", { name: "r" });
    assert.equal(await reporting, "released r");
    assert.deepEqual(steps, [1, 2, 3, 4, 5]);

    const controller = new AbortController();
    const waiting = peer.call("wait", { name: "w" }, { signal: controller.signal });
    waiting.catch(() => {});
    if (place === "stdio") await peer.call("echo");
    else await waitUntil(() => demo.service.waiting.has("w"));
    controller.abort("changed my mind");
    await assert.rejects(waiting);
    await waitUntil(async () => (await peer.call("aborted")) !== "");
    assert.match(
      await peer.call("aborted"),
      era === "modern" && place === "http" ? /closed the response/ : /The request was cancelled/,
    );
    assert.equal(demo.endpoint.stats().inFlight, 0);

    if (era === "modern") return;
    await peer.call("log");
    await waitUntil(() => peer.logs.length === 3);
    await peer.setLevel("error");
    await peer.call("log");
    await waitUntil(() => peer.logs.length === 4);
    assert.deepEqual(peer.logs, ["debug", "info", "error", "error"]);

    const messages = [{ role: "user", content: { type: "text", text: "?" } }];
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const questions: [method: string, params: JsonObject, answer: unknown][] = [
      ["sampling/createMessage", { messages, maxTokens: 5 }, sampled],
      ["elicitation/create", { message: "Who?", requestedSchema }, elicited],
      ["roots/list", {}, roots],
    ];
    for (const [method, params, answer] of questions) {
      assert.deepEqual(JSON.parse(await peer.call("ask", { method, params })), answer, method);
    }
    await peer.call("announce");
    await waitUntil(() => peer.listChanges.length === 1);
  });
}

test("Two clients of each kind and hundreds of concurrent calls: no client receives an answer of another", async () => {
  await using demo = await startDemoHttp();
  const connections = await Promise.all(
    peers
      .filter(([, place]) => place !== "stdio")
      .flatMap(([, , , connect]) => [connect(demo), connect(demo)]),
  );
  await Promise.all(
    connections.map(async (peer, who) => {
      for (let round = 0; round < 10; round += 1) {
        const texts = [0, 1, 2].map((n) => `${who}/${round}/${n}`);
        assert.deepEqual(await Promise.all(texts.map((text) => peer.call("echo", { text }))), texts);
      }
    }),
  );
  await Promise.all(connections.map((peer) => peer[Symbol.asyncDispose]()));
});

test("SDK v2 mirrors annotated parameters into headers that are accepted", async () => {
  await using demo = await startDemoHttp();
  const client = new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new HttpV2(new URL(demo.url)));
  await client.listTools();
  const given = { region: " Zürich\n", dry: false, nested: { level: -3 } };
  const result = await client.callTool({ name: "mirror", arguments: given });
  assert.deepEqual(JSON.parse(textOf(result)), given);
  await client.close();
});

for (const place of ["http", "stdio"] as const) {
  test(`SDK v2 of 2026-07-28 receives changes over ${place}, and is notified when the server ends the stream`, async () => {
    await using demo = await startDemoHttp();
    const client = new ClientV2(info, { versionNegotiation: { mode: "auto" } });
    const changes: unknown[] = [];
    client.setNotificationHandler(
      "notifications/tools/list_changed",
      ({ method }) => void changes.push(method),
    );
    await client.connect(place === "http" ? new HttpV2(new URL(demo.url)) : new StdioV2(stdioCommand));
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    const first = await client.listen({ toolsListChanged: true, promptsListChanged: true });
    assert.deepEqual(first.honoredFilter, { toolsListChanged: true });
    await waitUntil(() => changes.length === 1);
    await client.callTool({ name: "announce", arguments: {} });
    await waitUntil(() => changes.length === 2);
    await first.close();
    assert.equal(await first.closed, "local");
    await client.callTool({ name: "announce", arguments: {} });
    assert.equal(changes.length, 2);
    const second = await client.listen({ toolsListChanged: true });
    if (place === "http") {
      await demo.endpoint.drain(5000);
      assert.equal(await second.closed, "graceful");
    }
    await client.close();
  });
}

test("SDK v1 over HTTP resumes a broken stream and receives its answer", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 10 } });
  const client = new ClientV1(info);
  const reconnectionOptions = {
    initialReconnectionDelay: 10,
    maxReconnectionDelay: 20,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 5,
  };
  const broken = new Set<string>();
  // Breaks the response of the call after its first event.
  const breaking: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const isCall = String(init?.body).includes('"wait"');
    if (!isCall || broken.has("call") || response.body === null) return response;
    const reader = response.body.getReader();
    const { value } = await reader.read();
    broken.add("call");
    await reader.cancel();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(value);
        controller.close();
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };
  await client.connect(new HttpV1(new URL(demo.url), { fetch: breaking, reconnectionOptions }));
  const answer = client.callTool({ name: "wait", arguments: { name: "w" } });
  await waitUntil(() => broken.has("call"));
  demo.service.release("w");
  assert.equal(textOf(await answer), "released w");
  await client.close();
});

test("SDK v1 does not reconnect to the stream of a failed or cancelled call", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5 } });
  const client = new ClientV1(info);
  let gets = 0;
  let isStreamed = false;
  const counting: typeof fetch = async (input, init) => {
    if (init?.method === "GET") gets += 1;
    const response = await fetch(input, init);
    if (!String(init?.body).includes('"wait"') || response.body === null) return response;
    const noticing = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        isStreamed = true;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(noticing), {
      status: response.status,
      headers: response.headers,
    });
  };
  const reconnectionOptions = {
    initialReconnectionDelay: 5,
    maxReconnectionDelay: 5,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 2,
  };
  await client.connect(new HttpV1(new URL(demo.url), { fetch: counting, reconnectionOptions }));
  await waitUntil(() => gets === 1);
  const controller = new AbortController();
  const cancelled = client.callTool({ name: "wait", arguments: { name: "w" } }, undefined, {
    signal: controller.signal,
  });
  cancelled.catch(() => {});
  await waitUntil(() => demo.service.waiting.has("w"));
  // The answer is a stream, and its first event, from which it could be resumed, has been read.
  await waitUntil(() => isStreamed);
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await assert.rejects(cancelled);
  const listening = gets;
  await waitUntil(() => gets > listening);
  const before = gets;
  // The client of the SDK starts reconnections by timers of its own, of 5 ms.
  await new Promise((resolve) => setTimeout(resolve, 60));
  // One request for the rest of the stream, which is empty, and no other.
  assert.ok(gets - before <= 1, `${gets - before} further GETs`);
  await client.close();
});
