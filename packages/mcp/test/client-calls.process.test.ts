/** Calls on the client side over every transport: progress, cancellation, server requests, exits, limits. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import {
  type Connection,
  type InboundRequest,
  type McpError,
  openConnection,
  StdioTransport,
} from "@toolcrib/mcp";
import { startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";
import type { StdioTransportOptions } from "./option-types.ts";
import {
  initialized,
  openHttp,
  openSse,
  openStdio,
  startScripted,
  type Upstream,
  type UpstreamOptions,
} from "./upstreams.ts";

/** Every transport to the echo server, with its era. */
const ways: [
  name: string,
  open: (options?: UpstreamOptions) => Promise<{ upstream: Upstream } & AsyncDisposable>,
][] = [
  ["stdio", (options) => together(openStdio([], options))],
  ["stdio of 2026-07-28", (options) => together(openStdio(["--protocol", "2026-07-28", "--only"], options))],
  ["HTTP with streams", (options) => overHttp({ answers: "sse" }, options)],
  ["HTTP with JSON", (options) => overHttp({ answers: "json" }, options)],
  ["HTTP without sessions", (options) => overHttp({ sessions: false, answers: "auto" }, options)],
  ["HTTP with resumable streams", (options) => overHttp({ resumable: true }, options)],
  [
    "HTTP of 2026-07-28",
    (options) => overHttp({ protocol: "2026-07-28", only: true, answers: "auto" }, options),
  ],
  [
    "SSE",
    async (options) => {
      const server = await startEchoSseServer();
      return together(openSse(server.url, options), server);
    },
  ],
];

async function overHttp(settings: Parameters<typeof startEchoHttpServer>[0], options?: UpstreamOptions) {
  const server = await startEchoHttpServer(settings);
  return together(openHttp(server.url, options), server);
}

async function together(opening: Promise<Upstream>, server?: AsyncDisposable) {
  const upstream = await opening;
  return {
    upstream,
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    },
  };
}

const capabilities: JsonObject = { sampling: {}, elicitation: {}, roots: {} };

for (const [name, open] of ways) {
  test(`${name}: calls, errors, progress, logs, server requests and cancellation`, async () => {
    const asked: InboundRequest[] = [];
    const request = async (question: InboundRequest) => {
      asked.push(question);
      return { answer: question.method };
    };
    await using way = await open({ request, connection: { capabilities } });
    const { upstream } = way;
    const { connection } = upstream;
    const isModern = connection.era === "modern";
    const isPlainJson = name === "HTTP with JSON" || name === "HTTP without sessions";

    const texts = Array.from({ length: 50 }, (_, n) => `${n} größe 🛠`);
    assert.deepEqual(await Promise.all(texts.map((text) => upstream.call("echo", { text }))), texts);
    await assert.rejects(upstream.call("rpc_error", { code: -7, message: "no" }), {
      code: "MCP_REMOTE_ERROR",
      rpcCode: -7,
      message: "no",
      rpcData: { tool: "rpc_error" },
    });
    const result = await connection.request("tools/call", { name: "fail", arguments: {} });
    assert.equal(result["isError"], true);
    assert.equal("resultType" in result, false);

    const steps: unknown[] = [];
    await upstream.call("progress", { steps: 20 }, { onProgress: ({ progress }) => steps.push(progress) });
    const all = Array.from({ length: 20 }, (_, index) => index + 1);
    // With JSON answers, progress arrives on another stream and may be late.
    if (!isPlainJson) assert.deepEqual(steps, all);

    const own: string[] = [];
    await upstream.call(
      "log",
      { message: "m" },
      { logLevel: "info", onNotification: (method) => own.push(method) },
    );
    if (name.startsWith("stdio") || name === "SSE")
      await waitUntil(() => upstream.notifications.length === 1);
    else if (!isPlainJson) assert.deepEqual(own, ["notifications/message"]);

    if (isModern) {
      await assert.rejects(upstream.call("ask_roots"), { code: "MCP_CLIENT_CAPABILITY_MISSING" });
    } else if (!isPlainJson) {
      for (const [tool, method] of [
        ["ask_sampling", "sampling/createMessage"],
        ["ask_elicitation", "elicitation/create"],
        ["ask_roots", "roots/list"],
      ] as const) {
        let id: unknown;
        assert.equal(
          await upstream.call(tool, {}, { onId: (given) => (id = given) }),
          JSON.stringify({ answer: method }),
        );
        if (name.startsWith("HTTP")) assert.equal(asked.at(-1)?.relatedTo, id);
      }
    }

    const controller = new AbortController();
    const hanging = upstream.call("hang", {}, { signal: controller.signal });
    await upstream.call("echo");
    assert.equal(connection.inFlight, 1);
    controller.abort(new Error("enough"));
    await assert.rejects(hanging, /enough/);
    await assert.rejects(upstream.call("hang", {}, { timeoutMs: 20 }), { code: "MCP_TIMEOUT" });
    assert.equal(connection.inFlight, 0);
    if (!(isModern && name.startsWith("HTTP"))) {
      await waitUntil(async () => (await received(upstream, "notifications/cancelled")).length === 2);
      assert.match(
        JSON.stringify(await received(upstream, "notifications/cancelled")),
        /enough.*within 20 ms/,
      );
    }
    assert.equal(await upstream.call("echo", { text: "fine" }), "fine");
    assert.equal(connection.closed.aborted, false);
  });
}

async function received(upstream: Upstream, method: string): Promise<unknown[]> {
  return JSON.parse(await upstream.call("received", { method })) as unknown[];
}

test("Repeated responses, responses to no request and invalid messages do not affect other calls", async () => {
  await using way = await together(openStdio());
  const { upstream } = way;
  assert.equal(await upstream.call("twice"), "first");
  assert.equal(await upstream.call("unknown_answer", { id: "forged" }), "for the caller");
  assert.equal(
    await upstream.call("invalid_message", { text: "Listening on port 80" }),
    "after an invalid message",
  );
  assert.equal(await upstream.call("echo", { text: "x" }), "x");
  assert.equal(upstream.unexpected.length, 3);
  assert.match(upstream.unexpected[0] ?? "", /unknown or used id/);
  assert.match(upstream.unexpected[2] ?? "", /standard output: .*: Listening on port 80/);
});

test("A server request without a handler gets -32601, and ping is always answered", async () => {
  await using way = await together(openStdio());
  await assert.rejects(way.upstream.call("ask_roots"), { message: /Method not found: "roots\/list"/ });

  const pair = pipes();
  const opening = openConnection(pair.transport, {}, { clientInfo: { name: "t", version: "0" } });
  pair.answer(await pair.next(), initialized);
  await using connection = await opening;
  await pair.next();
  pair.say({ jsonrpc: "2.0", id: "p", method: "ping" });
  assert.deepEqual(await pair.next(), { jsonrpc: "2.0", id: "p", result: {} });
  assert.equal(connection.era, "legacy");
});

/** A transport with the test as its server. */
function pipes(options?: StdioTransportOptions) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const lines: string[] = [];
  let rest = "";
  stdin.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  const say = (value: unknown) => stdout.write(`${JSON.stringify(value)}\n`);
  return {
    stdin,
    stdout,
    transport: new StdioTransport({ stdin, stdout }, options),
    say,
    next: async () =>
      JSON.parse(await waitUntil(() => lines.shift())) as { id?: unknown; params?: JsonObject },
    answer: ({ id }: { id?: unknown }, result: JsonObject) => say({ jsonrpc: "2.0", id, result }),
  };
}

async function openPipes(options?: StdioTransportOptions) {
  const pair = pipes(options);
  const notifications: JsonObject[] = [];
  const opening = openConnection(
    pair.transport,
    { notification: (_method, params) => void notifications.push(params) },
    { clientInfo: { name: "t", version: "0" } },
  );
  pair.answer(await pair.next(), initialized);
  const connection: Connection = await opening;
  await pair.next();
  return { ...pair, connection, notifications };
}

test("Responses in a batch, which servers up to 2025-03-26 may send, are processed one by one", async () => {
  const { connection, next, say, notifications } = await openPipes();
  const answers = Promise.all([connection.request("a", {}), connection.request("b", {})]);
  const [first, second] = [await next(), await next()];
  say([
    { jsonrpc: "2.0", id: second.id, result: { of: "b" } },
    { jsonrpc: "2.0", method: "notifications/message", params: { n: 1 } },
    { jsonrpc: "2.0", id: first.id, result: { of: "a" } },
  ]);
  assert.deepEqual(await answers, [{ of: "a" }, { of: "b" }]);
  assert.deepEqual(notifications, [{ n: 1 }]);
  await connection[Symbol.asyncDispose]();
});

test("On a pipe, notifications of a subscription are delivered to the request that opened it", async () => {
  await using upstream = await openStdio(["--protocol", "2026-07-28", "--only"]);
  const received: string[] = [];
  const controller = new AbortController();
  const listening = upstream.connection.request(
    "subscriptions/listen",
    { notifications: { toolsListChanged: true } },
    { signal: controller.signal, onNotification: (method) => received.push(method) },
  );
  await waitUntil(() => received.length === 1);
  await upstream.call("change_tools", { add: "new" });
  await waitUntil(() => received.length === 2);
  assert.deepEqual(received, [
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
  ]);
  assert.deepEqual(upstream.notifications, []);
  controller.abort(new Error("received enough"));
  await assert.rejects(listening, /received enough/);
});

test("A result of an unknown type is invalid, and one without a type is complete", async () => {
  await using server = await startScripted(({ body, result }) => {
    if (body.method === "server/discover")
      return result({ supportedVersions: ["2026-07-28"], capabilities: {} });
    if (body.method === "tools/call") return result(body.params?.["arguments"] as JsonObject);
    return result({ resultType: "complete", ttlMs: 5 });
  });
  await using upstream = await openHttp(server.url, { connection: { era: "modern" } });
  const call = (given: JsonObject) =>
    upstream.connection.request("tools/call", { name: "x", arguments: given });
  assert.deepEqual(await call({ a: 1 }), { a: 1 });
  await assert.rejects(call({ resultType: "task" }), {
    code: "MCP_INVALID_MESSAGE",
    message: /unknown result type "task"/,
  });
});

test("A server that exits fails the calls in flight and closes the connection", async () => {
  const upstream = await openStdio();
  const calls = [upstream.call("hang"), upstream.call("hang")];
  await upstream.call("echo");
  upstream.kill();
  for (const call of calls) await assert.rejects(call, { code: "MCP_CONNECTION_CLOSED" });
  await waitUntil(() => upstream.connection.closed.aborted);
  assert.equal((upstream.connection.closed.reason as McpError).code, "MCP_CONNECTION_CLOSED");
  await assert.rejects(upstream.call("echo"), { code: "MCP_CONNECTION_CLOSED" });
  await upstream[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

test("A server that closes its output during a call ends the call", async () => {
  await using upstream = await openStdio();
  await assert.rejects(upstream.call("break_off"), {
    code: "MCP_CONNECTION_CLOSED",
    message: /closed its output/,
  });
});

test("Disposal fails calls in flight, is safe to repeat and closes the server's input", async () => {
  const { connection, stdin } = await openPipes();
  const waiting = connection.request("a", {});
  const failed = assert.rejects(waiting, { code: "MCP_CONNECTION_CLOSED" });
  await connection[Symbol.asyncDispose]();
  await connection[Symbol.asyncDispose]();
  await failed;
  assert.ok(connection.closed.aborted);
  assert.ok(stdin.writableEnded);
});

test("Requests to a server that does not read its input fail instead of filling memory", async () => {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const transport = new StdioTransport({ stdin, stdout }, { unreadMaxBytes: 100_000 });
  const unexpected: string[] = [];
  const opening = openConnection(
    transport,
    { unexpected: (reason) => unexpected.push(reason) },
    { clientInfo: { name: "t", version: "0" } },
  );
  await waitUntil(() => stdin.readableLength > 0);
  stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, result: initialized })}\n`);
  const connection = await opening;
  const failures: unknown[] = [];
  for (let count = 0; count < 100; count += 1) {
    connection.request("a", { text: "x".repeat(10_000) }).catch((error: unknown) => failures.push(error));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(stdin.writableLength < 150_000, `${stdin.writableLength} bytes wait`);
  assert.ok(failures.length > 80);
  assert.equal((failures[0] as McpError).code, "MCP_OVERLOADED");
  connection.notify("notifications/x", {});
  assert.match(unexpected.at(-1) ?? "", /does not read its input/);
  await connection[Symbol.asyncDispose]();
});

test("A response over the limit fails its call, and the connection stays usable", async () => {
  const transport = { lineMaxBytes: 100_000, messageMaxBytes: 100_000 };
  await using http = await startEchoHttpServer({ answers: "json" });
  await using streaming = await startEchoHttpServer({ answers: "sse", resumable: true });
  for (const server of [http, streaming]) {
    await using upstream = await openHttp(server.url, { transport });
    assert.equal((await upstream.call("large", { bytes: 90_000 })).length, 90_000);
    await assert.rejects(upstream.call("large", { bytes: 200_000 }), { code: "MCP_MESSAGE_TOO_LARGE" });
    assert.equal(await upstream.call("echo", { text: "x" }), "x");
  }
  await using pipe = await openStdio([], { transport });
  const large = pipe.call("large", { bytes: 5 << 20 }, { timeoutMs: 2000 });
  large.catch(() => {});
  await waitUntil(() => pipe.unexpected.length > 0);
  assert.match(pipe.unexpected[0] ?? "", /a line is longer than 100000 bytes/);
  assert.equal(await pipe.call("echo", { text: "x" }), "x");
});

test("Large arguments and results are transferred completely", async () => {
  const text = "ü🛠".repeat(1 << 19);
  for (const [name, open] of ways) {
    if (name.includes("sessions") || name.includes("resumable")) continue;
    await using way = await open();
    assert.equal((await way.upstream.call("echo", { text })) === text, true, name);
  }
});
