/** Streamable HTTP of revision 2026-07-28 on the server side, with raw clients. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { metaKeys } from "@toolcrib/mcp";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  modernHeaders,
  modernMeta,
  openRawSession,
  send,
  sendModern,
  startDemoHttp,
  until,
} from "./demo-http.ts";
import { textOf } from "./demo-service.ts";

const both = "application/json, text/event-stream";

test("server/discover returns versions, capabilities, instructions and server info", async () => {
  await using demo = await startDemoHttp();
  const answer = await sendModern(demo.url, "server/discover", {}, { id: "d" });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.messages, [
    {
      jsonrpc: "2.0",
      id: "d",
      result: {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        capabilities: demo.service.capabilities("mcp", localIdentity("token", "local")),
        instructions: "Instructions of mcp",
        _meta: { [metaKeys.serverInfo]: { name: "demo", version: "1.2.3" } },
      },
    },
  ]);
  assert.equal(answer.headers.get("mcp-session-id"), null);
});

test("Each request is self-contained: identity, view and capabilities come with it", async () => {
  await using demo = await startDemoHttp();
  const meta = { [metaKeys.clientCapabilities]: { sampling: {} } };
  const answer = await sendModern(
    demo.url,
    "tools/call",
    { name: "who", arguments: {} },
    { meta, headers: { "x-user": "ann" } },
  );
  assert.deepEqual(JSON.parse(textOf(answer.messages[0]?.result)), {
    identity: "ann",
    view: "mcp",
    era: "modern",
    clientInfo: { name: "raw", version: "0" },
    clientCapabilities: { sampling: {} },
  });
  assert.deepEqual(demo.endpoint.stats(), { sessions: 0, inFlight: 0, listeners: 0 });
});

test("Lists and reads carry private cache hints, calls carry none", async () => {
  await using demo = await startDemoHttp();
  for (const [method, params, isCacheable] of [
    ["tools/list", {}, true],
    ["resources/read", { uri: "file:///a b/ü" }, true],
    ["tools/call", { name: "echo" }, false],
  ] as const) {
    const headers: { [name: string]: string } =
      method === "resources/read" ? { "mcp-name": "=?base64?ZmlsZTovLy9hIGIvw7w=?=" } : {};
    const { messages } = await sendModern(demo.url, method, params, { headers });
    const result = messages[0]?.result ?? {};
    assert.equal(result["resultType"], "complete", method);
    assert.equal(result["cacheScope"], isCacheable ? "private" : undefined);
    assert.equal(result["ttlMs"], isCacheable ? 0 : undefined);
  }
});

test("A result that a service passes on from elsewhere is complete, and only this client may keep it", async () => {
  await using demo = await startDemoHttp();
  const foreign = { resultType: "task", ttlMs: 60_000, cacheScope: "public", contents: [] };
  demo.service.handle = async () => foreign;
  const headers = { "mcp-name": "x://a" };
  const { messages } = await sendModern(demo.url, "resources/read", { uri: "x://a" }, { headers });
  const { _meta, ...result } = messages[0]?.result ?? {};
  assert.deepEqual(result, { resultType: "complete", ttlMs: 0, cacheScope: "private", contents: [] });
});

test("Questions of a service are a result of their own, where a request can get them", async () => {
  await using demo = await startDemoHttp();
  const questions = { resultType: "input_required", inputRequests: {}, requestState: "s" };
  demo.service.handle = async () => ({ ...questions, ttlMs: 60_000, cacheScope: "public" });
  const headers = { "mcp-name": "x://a" };
  const read = await sendModern(demo.url, "resources/read", { uri: "x://a" }, { headers });
  const { _meta, ...result } = read.messages[0]?.result ?? {};
  assert.deepEqual(result, questions);
  const listed = await sendModern(demo.url, "tools/list", {});
  assert.equal(listed.messages[0]?.result?.["resultType"], "complete");
});

/** A tools/call of `mirror` with changed headers or `_meta`, and its error. */
const refusals: {
  readonly name: string;
  readonly body?: JsonObject;
  readonly meta?: JsonObject | null;
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly status: number;
  readonly code: number;
}[] = [
  { name: "no version header", headers: { "mcp-protocol-version": undefined }, status: 400, code: -32020 },
  { name: "no method header", headers: { "mcp-method": undefined }, status: 400, code: -32020 },
  { name: "no name header", headers: { "mcp-name": undefined }, status: 400, code: -32020 },
  { name: "another method", headers: { "mcp-method": "tools/list" }, status: 400, code: -32020 },
  { name: "the method in capitals", headers: { "mcp-method": "TOOLS/CALL" }, status: 400, code: -32020 },
  { name: "another name", headers: { "mcp-name": "echo" }, status: 400, code: -32020 },
  {
    name: "another version in the header",
    headers: { "mcp-protocol-version": "2025-11-25" },
    status: 400,
    code: -32020,
  },
  {
    name: "a later version in the header",
    headers: { "mcp-protocol-version": "2099-01-01" },
    status: 400,
    code: -32020,
  },
  {
    name: "a name in broken Base64",
    headers: { "mcp-name": "=?base64?bWlycm9y=?=" },
    status: 400,
    code: -32020,
  },
  { name: "a name that is no UTF-8", headers: { "mcp-name": "=?base64?//4=?=" }, status: 400, code: -32020 },
  {
    name: "an unknown version on both sides",
    headers: { "mcp-protocol-version": "2099-01-01" },
    meta: { [metaKeys.protocolVersion]: "2099-01-01" },
    status: 400,
    code: -32022,
  },
  {
    name: "an old version on both sides",
    headers: { "mcp-protocol-version": "1900-01-01" },
    meta: { [metaKeys.protocolVersion]: "1900-01-01" },
    status: 400,
    code: -32022,
  },
  { name: "no _meta", meta: null, status: 400, code: -32602 },
  {
    name: "no version in _meta",
    meta: { [metaKeys.protocolVersion]: undefined } as unknown as JsonObject,
    status: 400,
    code: -32602,
  },
  {
    name: "no capabilities in _meta",
    meta: { [metaKeys.clientCapabilities]: null },
    status: 400,
    code: -32602,
  },
  { name: "an unknown log level", meta: { [metaKeys.logLevel]: "loud" }, status: 400, code: -32602 },
];

test("Requests whose headers or _meta are wrong are refused with 400, their code and their id", async () => {
  await using demo = await startDemoHttp();
  for (const { name, meta, headers, status, code } of refusals) {
    const params = { name: "mirror", arguments: {}, ...(meta === null ? {} : { _meta: modernMeta(meta) }) };
    const all = { ...modernHeaders("tools/call", "mirror"), ...headers };
    const given = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const answer = await send(
      "POST",
      demo.url,
      { jsonrpc: "2.0", id: "r", method: "tools/call", params },
      given,
    );
    assert.equal(answer.status, status, name);
    assert.equal(answer.messages[0]?.error?.code, code, name);
    assert.equal(answer.messages[0]?.id, "r", name);
    if (code === -32022) {
      const { supported, requested } = answer.messages[0]?.error?.data ?? {};
      assert.deepEqual(supported, ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
      assert.equal(requested, given["mcp-protocol-version"]);
    }
  }
  assert.equal(demo.service.count, 0);
});

test("Methods outside the modern era are answered with 404 and -32601", async () => {
  await using demo = await startDemoHttp();
  for (const method of [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "no/such",
    "__proto__",
  ]) {
    const answer = await sendModern(demo.url, method, {});
    assert.equal(answer.status, 404, method);
    assert.equal(answer.messages[0]?.error?.code, -32601);
    assert.equal(answer.messages[0]?.id, 1);
  }
  assert.equal(demo.service.count, 0);
});

test("Batches, answers and scalars are refused; notifications are accepted and dropped", async () => {
  await using demo = await startDemoHttp();
  const headers = modernHeaders("ping");
  for (const body of [
    [{ jsonrpc: "2.0", id: 1, method: "ping" }],
    { jsonrpc: "2.0", id: 1, result: {} },
    "3",
    { jsonrpc: "2.0", id: null, method: "x" },
  ]) {
    const answer = await send("POST", demo.url, body, headers);
    assert.equal(answer.status, 400);
    assert.equal(answer.messages[0]?.error?.code, -32600);
  }
  const params = { requestId: 1, _meta: modernMeta() };
  const accepted = await send(
    "POST",
    demo.url,
    { jsonrpc: "2.0", method: "notifications/cancelled", params },
    headers,
  );
  assert.equal(accepted.status, 202);
});

/** Arguments of `mirror`, headers for them, and whether they match. */
const mirrored: [given: JsonObject, headers: { [name: string]: string }, agrees: boolean][] = [
  [{}, {}, true],
  [{ region: null, nested: null }, {}, true],
  [{ region: "us-west1" }, { "mcp-param-region": "us-west1" }, true],
  [{ region: "us-west1" }, { "MCP-PARAM-REGION": "us-west1" }, true],
  [{ region: "us-west1" }, {}, false],
  [{ region: "us-west1" }, { "mcp-param-region": "eu" }, false],
  [{ region: "us-west1" }, { "mcp-param-region": "US-WEST1" }, false],
  [{ region: "Hello, 世界" }, { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" }, true],
  [{ region: " padded " }, { "mcp-param-region": "=?base64?IHBhZGRlZCA=?=" }, true],
  [{ region: "line1\nline2" }, { "mcp-param-region": "=?base64?bGluZTEKbGluZTI=?=" }, true],
  [{ region: "=?base64?literal?=" }, { "mcp-param-region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" }, true],
  [{ region: "plain" }, { "mcp-param-region": "=?base64?cGxhaW4=?=" }, true],
  [{ region: "plain" }, { "mcp-param-region": "=?base64?cGxhaW4?=" }, false],
  [{ region: "plain" }, { "mcp-param-region": "=?base64?!!!!?=" }, false],
  [{ region: "plain" }, { "mcp-param-region": "=?BASE64?cGxhaW4=?=" }, false],
  [{ region: "" }, { "mcp-param-region": "" }, true],
  [{ region: "" }, { "mcp-param-region": "=?base64??=" }, true],
  // Latin-1 arrives undecoded, and its characters are not allowed in a value.
  [{ region: "caf\u00e9" }, { "mcp-param-region": "caf\u00e9" }, false],
  [{ nested: { level: 42 } }, { "mcp-param-level": "42" }, true],
  [{ nested: { level: 42 } }, { "mcp-param-level": "42.0" }, true],
  [{ nested: { level: -7 } }, { "mcp-param-level": "-7" }, true],
  [{ nested: { level: 42 } }, { "mcp-param-level": "43" }, false],
  [{ nested: { level: 42 } }, { "mcp-param-level": "0x2A" }, false],
  [{ nested: { level: 42 } }, { "mcp-param-level": "4.2e1" }, false],
  [{ nested: { level: 0 } }, { "mcp-param-level": "" }, false],
  [{ dry: false }, { "mcp-param-dry-run": "false" }, true],
  [{ dry: false }, { "mcp-param-dry-run": "False" }, false],
  [{ dry: true }, {}, false],
  [
    { region: "a", nested: { level: 1 }, dry: true },
    { "mcp-param-region": "a", "mcp-param-level": "1", "mcp-param-dry-run": "true" },
    true,
  ],
  [{ region: "a" }, { "mcp-param-region": "a", "mcp-param-unknown": "ignored" }, true],
  // A proxy that routes by such a header would use a value that the call does not have.
  [{}, { "mcp-param-region": "us-west1" }, false],
  [{ region: null }, { "mcp-param-region": "null" }, false],
];

test("Parameters that are mirrored into headers must match the body", async () => {
  await using demo = await startDemoHttp();
  for (const [given, headers, agrees] of mirrored) {
    const answer = await sendModern(
      demo.url,
      "tools/call",
      { name: "mirror", arguments: given },
      { headers },
    );
    const what = `${JSON.stringify(given)} ${JSON.stringify(headers)}`;
    if (agrees) assert.deepEqual(JSON.parse(textOf(answer.messages[0]?.result)), given, what);
    else assert.equal(answer.messages[0]?.error?.code, -32020, what);
    assert.equal(answer.status, agrees ? 200 : 400);
  }
});

test("Requested progress and log messages precede the answer, and no others are sent", async () => {
  await using demo = await startDemoHttp();
  const call = async (name: string, meta: JsonObject) => {
    const answer = await sendModern(demo.url, "tools/call", { name, arguments: {} }, { meta });
    await answer.ended;
    return answer.messages.map(({ params, result }) =>
      result === undefined ? (params?.["progress"] ?? params?.["level"]) : textOf(result),
    );
  };
  assert.deepEqual(await call("progress", { progressToken: 0 }), [1, 2, 3, "3 steps"]);
  assert.deepEqual(await call("progress", {}), ["3 steps"]);
  assert.deepEqual(await call("log", {}), ["logged"]);
  assert.deepEqual(await call("log", { [metaKeys.logLevel]: "info" }), ["info", "error", "logged"]);
  assert.deepEqual(await call("log", { [metaKeys.logLevel]: "emergency" }), ["logged"]);
  assert.deepEqual(await call("late", { progressToken: "t" }), ["done"]);
  // Messages after the answer are dropped; they throw no error either.
  demo.service.sendLate();
});

test("Events have no ids: streams of this era cannot be resumed", async () => {
  await using demo = await startDemoHttp();
  const answer = await sendModern(
    demo.url,
    "tools/call",
    { name: "progress" },
    { meta: { progressToken: 1 } },
  );
  await answer.ended;
  assert.ok(answer.events.length > 0 && answer.events.every(({ id }) => id === undefined));
  assert.equal(answer.headers.get("x-accel-buffering"), "no");
});

test("Closing the response cancels the request, streamed or not", async () => {
  await using demo = await startDemoHttp();
  const controller = new AbortController();
  const plain = fetch(demo.url, {
    method: "POST",
    headers: { ...modernHeaders("tools/call", "wait"), "content-type": "application/json", accept: both },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "wait", arguments: { name: "plain" }, _meta: modernMeta() },
    }),
    signal: controller.signal,
  });
  await waitUntil(() => demo.service.waiting.has("plain"));
  controller.abort();
  await assert.rejects(plain);
  await waitUntil(() => demo.service.aborted.length === 1);

  const sent = sendModern(
    demo.url,
    "tools/call",
    { name: "wait", arguments: { name: "streamed" } },
    { meta: { progressToken: 1 } },
  );
  await waitUntil(() => demo.service.waiting.has("streamed"));
  demo.service.waiting.get("streamed")?.progress({ progress: 1 });
  const streamed = await sent;
  await until(streamed, 1);
  streamed.close();
  await waitUntil(() => demo.service.aborted.length === 2);
  assert.ok(demo.service.aborted.every((reason) => /closed the response/.test(String(reason))));
  await waitUntil(() => demo.endpoint.stats().inFlight === 0);
});

test("A request that was answered is not cancelled by the end of its connection", async () => {
  await using demo = await startDemoHttp();
  const sent = sendModern(demo.url, "tools/call", { name: "wait", arguments: { name: "a" } });
  await waitUntil(() => demo.service.waiting.has("a"));
  const { signal } = demo.service.waiting.get("a") ?? {};
  demo.service.release("a");
  await sent;
  await waitUntil(() => demo.responses.size === 0);
  assert.equal(signal?.aborted, false);
});

test("subscriptions/listen is acknowledged first, its notifications are tagged, and it ends with a result", async () => {
  await using demo = await startDemoHttp();
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ["file:///a"],
  };
  const stream = await sendModern(demo.url, "subscriptions/listen", { notifications }, { id: "sub" });
  await until(stream, 2);
  const other = await sendModern(demo.url, "subscriptions/listen", { notifications: {} }, { id: 2 });
  await until(other, 1);
  for (const listener of demo.service.listeners) {
    if (listener.filter.toolsListChanged)
      listener.notify("notifications/tools/list_changed", { _meta: { keep: 1 } });
  }
  await until(stream, 3);
  const _meta = { [metaKeys.subscriptionId]: "sub" };
  await demo.endpoint.drain(5000);
  await stream.ended;
  assert.deepEqual(stream.messages, [
    {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] }, _meta },
    },
    { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { early: true, _meta } },
    { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta: { keep: 1, ..._meta } } },
    {
      jsonrpc: "2.0",
      id: "sub",
      result: {
        resultType: "complete",
        _meta: { ..._meta, [metaKeys.serverInfo]: { name: "demo", version: "1.2.3" } },
      },
    },
  ]);
  assert.equal(other.messages[0]?.params?.["_meta"] !== undefined, true);
  assert.deepEqual(demo.service.listeners.size, 0);
});

test("A change stream ends with its connection, and is kept alive until then", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5 } });
  const stream = await sendModern(demo.url, "subscriptions/listen", {
    notifications: { toolsListChanged: true },
  });
  await until(stream, 2);
  const [listener] = demo.service.listeners;
  await waitUntil(() => stream.raw().includes(": keep-alive\n\n"));
  assert.equal(stream.events.length, 2);
  stream.close();
  await waitUntil(() => listener?.closed.aborted);
  listener?.notify("notifications/tools/list_changed", {});
  assert.equal(demo.service.listeners.size, 0);
});

test("Change streams have a separate limit and do not displace calls", async () => {
  await using demo = await startDemoHttp({ http: { maxInFlight: 1, maxListeners: 4 } });
  const listen = (id: number) => sendModern(demo.url, "subscriptions/listen", { notifications: {} }, { id });
  const streams = [await listen(1), await listen(2)];
  assert.deepEqual(demo.endpoint.stats(), { sessions: 0, inFlight: 0, listeners: 2 });
  const refused = await listen(3);
  assert.equal(refused.status, 503);
  assert.equal(refused.messages[0]?.id, 3);
  const asOther = { id: 4, headers: { "x-user": "other" } };
  streams.push(await sendModern(demo.url, "subscriptions/listen", { notifications: {} }, asOther));
  assert.equal(streams.at(-1)?.status, 200);
  assert.equal((await sendModern(demo.url, "tools/list", {})).status, 200);
  for (const stream of streams) stream.close();
  await waitUntil(() => demo.endpoint.stats().listeners === 0);
});

test("An invalid filter is refused with -32602", async () => {
  await using demo = await startDemoHttp();
  for (const notifications of [
    undefined,
    [],
    { toolsListChanged: "yes" },
    { resourceSubscriptions: "file:///a" },
    { resourceSubscriptions: [1] },
    { resourceSubscriptions: Array.from({ length: 10_001 }, () => "a") },
  ]) {
    const answer = await sendModern(demo.url, "subscriptions/listen", {
      notifications,
    } as unknown as JsonObject);
    assert.equal(answer.status, 400, JSON.stringify(notifications)?.slice(0, 50));
    assert.equal(answer.messages[0]?.error?.code, -32602);
  }
});

test("A client without a required capability gets -32021 with its name", async () => {
  await using demo = await startDemoHttp();
  const ask = (meta: JsonObject) =>
    sendModern(
      demo.url,
      "tools/call",
      { name: "ask", arguments: { method: "sampling/createMessage" } },
      { meta },
    );
  const missing = await ask({});
  assert.equal(missing.status, 400);
  assert.equal(missing.messages[0]?.error?.code, -32021);
  assert.deepEqual(missing.messages[0]?.error?.data?.["requiredCapabilities"], { sampling: {} });
  const declared = await ask({ [metaKeys.clientCapabilities]: { sampling: {} } });
  assert.equal(declared.messages[0]?.error?.data?.["code"], "MCP_CLIENT_CAPABILITY_MISSING");
});

test("A slow answer becomes a stream if the client accepts one", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5 } });
  const params = { name: "wait", arguments: { name: "a" } };
  const answer = await sendModern(demo.url, "tools/call", params);
  assert.equal(answer.type, "text/event-stream");
  demo.service.release("a");
  await answer.ended;
  assert.equal(textOf(answer.messages[0]?.result), "released a");
  const json = sendModern(demo.url, "tools/call", params, { headers: { accept: "application/json" } });
  await waitUntil(() => demo.service.waiting.has("a"));
  // When a later answer has become a stream, the endpoint has passed over this one.
  const later = await sendModern(demo.url, "tools/call", { name: "wait", arguments: { name: "b" } });
  assert.equal(later.type, "text/event-stream");
  demo.service.release("b");
  await later.ended;
  demo.service.release("a");
  assert.equal((await json).type, "application/json");
  const events = await sendModern(demo.url, "tools/list", {}, { headers: { accept: "text/event-stream" } });
  await events.ended;
  assert.equal(events.messages.length, 1);
});

test("Both eras are served at once on one URL, with the same ids", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  await Promise.all(
    Array.from({ length: 50 }, async (_, round) => {
      const [legacy, modern] = await Promise.all([
        session.call(round, "echo", { text: `legacy ${round}` }),
        // A session header does not make a modern request a legacy one.
        sendModern(
          demo.url,
          "tools/call",
          { name: "echo", arguments: { text: `modern ${round}` } },
          { id: round, headers: { "mcp-session-id": session.id } },
        ),
      ]);
      assert.equal(textOf(legacy.messages[0]?.result), `legacy ${round}`);
      assert.equal(textOf(modern.messages[0]?.result), `modern ${round}`);
    }),
  );
});

test("Requests over the limit and while draining are refused with 503 and their id", async () => {
  await using demo = await startDemoHttp({ http: { maxInFlight: 1 } });
  const waiting = sendModern(demo.url, "tools/call", { name: "wait", arguments: { name: "a" } });
  await waitUntil(() => demo.service.waiting.has("a"));
  const refused = await sendModern(demo.url, "tools/list", {}, { id: "x" });
  assert.equal(refused.status, 503);
  assert.equal(refused.messages[0]?.id, "x");
  // Disposal does not wait forever: requests in flight are aborted and answered.
  await demo.endpoint[Symbol.asyncDispose]();
  const answer = await waiting;
  assert.match(answer.messages[0]?.error?.message ?? "", /shutting down/);
});
