/** The router alone: two connected routers, or one with the test as its peer. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { type InboundRequest, McpError, MessageRouter, metaOf, type RpcId } from "@toolcrib/mcp";
import fc from "fast-check";
import type { RouterHandlers, RouterOptions, RpcMessage } from "./option-types.ts";

interface Probe {
  readonly router: MessageRouter;
  readonly sent: RpcMessage[];
  readonly unexpected: string[];
  readonly notified: { method: string; params: JsonObject }[];
  readonly cancelled: RpcId[];
}

/** A router with the test as its peer. */
function probe(handle?: RouterHandlers["request"], options?: RouterOptions): Probe {
  const sent: RpcMessage[] = [];
  const unexpected: string[] = [];
  const notified: Probe["notified"] = [];
  const cancelled: RpcId[] = [];
  const router = new MessageRouter(
    (message) => sent.push(message),
    {
      request: handle ?? (async ({ params }) => params),
      notification: (method, params) => notified.push({ method, params }),
      cancelled: (id) => cancelled.push(id),
      unexpected: (reason) => unexpected.push(reason),
    },
    options,
  );
  return { router, sent, unexpected, notified, cancelled };
}

/** Two connected routers; messages pass as JSON text. */
function pair(
  handle: RouterHandlers["request"],
  handleBack: RouterHandlers["request"] = async () => ({}),
): { near: MessageRouter; far: MessageRouter } {
  const near: MessageRouter = new MessageRouter(
    (message) => far.receive(JSON.parse(JSON.stringify(message))),
    { request: handleBack, notification: () => {} },
  );
  const far: MessageRouter = new MessageRouter(
    (message) => near.receive(JSON.parse(JSON.stringify(message))),
    { request: handle, notification: () => {} },
  );
  return { near, far };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

function untilAborted({ signal }: InboundRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

test("Each inbound request is answered exactly once with its own id, string or number", async () => {
  const ids: RpcId[] = [0, 1, "1", "", -7, 1.5, Number.MAX_SAFE_INTEGER, "x".repeat(10_000), "null", "ü\n"];
  const { router, sent } = probe();
  for (const id of ids) router.receive({ jsonrpc: "2.0", id, method: "echo", params: { id } });
  await turn();
  assert.deepEqual(
    sent,
    ids.map((id) => ({ jsonrpc: "2.0", id, result: { id } })),
  );
  assert.equal(router.inboundCount, 0);
});

test("Requests with the ids 1 and “1” are different requests with different answers", async () => {
  const gates = new Map<RpcId, (result: JsonObject) => void>();
  const { router, sent } = probe(({ id }) => new Promise((resolve) => gates.set(id, resolve)));
  router.receive({ jsonrpc: "2.0", id: 1, method: "a" });
  router.receive({ jsonrpc: "2.0", id: "1", method: "b" });
  gates.get("1")?.({ of: "text" });
  await turn();
  gates.get(1)?.({ of: "number" });
  await turn();
  assert.deepEqual(sent, [
    { jsonrpc: "2.0", id: "1", result: { of: "text" } },
    { jsonrpc: "2.0", id: 1, result: { of: "number" } },
  ]);
});

test("A request whose id is in use is refused without that id, and the first is answered", async () => {
  const gates: ((result: JsonObject) => void)[] = [];
  const { router, sent } = probe(() => new Promise((resolve) => gates.push(resolve)));
  router.receive({ jsonrpc: "2.0", id: 5, method: "first" });
  router.receive({ jsonrpc: "2.0", id: 5, method: "second" });
  router.receive({ jsonrpc: "2.0", id: 5, method: 7 });
  assert.equal(gates.length, 1);
  gates[0]?.({ from: "first" });
  await turn();
  assert.deepEqual(
    sent.map((message) => ("id" in message ? message.id : undefined)),
    [null, null, 5],
  );
  assert.match(JSON.stringify(sent[0]), /Request id 5 is already in use/);
});

test("An id may be used again once it has been answered", async () => {
  const { router, sent } = probe();
  for (let round = 0; round < 3; round += 1) {
    router.receive({ jsonrpc: "2.0", id: 0, method: "echo", params: { round } });
    await turn();
  }
  assert.deepEqual(
    sent.map((message) => ("result" in message ? message.result : undefined)),
    [{ round: 0 }, { round: 1 }, { round: 2 }],
  );
});

/** Invalid messages, and their answers. */
const invalidMessages: [value: unknown, answerId: RpcId | null | undefined][] = [
  [null, null],
  [42, null],
  ["text", null],
  [[], null],
  [[{ jsonrpc: "2.0", id: 1, method: "ping" }], null],
  [{ id: 1, method: "ping" }, 1],
  [{ jsonrpc: "1.0", id: 1, method: "ping" }, 1],
  [{ jsonrpc: 2.0, id: "a", method: "ping" }, "a"],
  [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
  [{ jsonrpc: "2.0", id: true, method: "ping" }, null],
  [{ jsonrpc: "2.0", id: {}, method: "ping" }, null],
  [{ jsonrpc: "2.0", id: 2 ** 53, method: "ping" }, null],
  [{ jsonrpc: "2.0", id: 3, method: 4 }, 3],
  [{ jsonrpc: "2.0", method: null }, null],
  [{ jsonrpc: "2.0", id: 3, method: "ping", params: [] }, 3],
  [{ jsonrpc: "2.0", id: 3, method: "ping", params: null }, 3],
  [{ jsonrpc: "2.0" }, undefined],
  [{ jsonrpc: "2.0", id: 3 }, undefined],
  [{ jsonrpc: "2.0", id: 3, result: 4 }, undefined],
  [{ jsonrpc: "2.0", id: 3, error: "text" }, undefined],
  [{ jsonrpc: "2.0", result: {} }, undefined],
];

test("An invalid request is refused with -32600, and an invalid response is not answered", () => {
  for (const [value, answerId] of invalidMessages) {
    const { router, sent, unexpected } = probe();
    router.receive(value);
    assert.equal(unexpected.length, 1, JSON.stringify(value));
    if (answerId === undefined) {
      assert.deepEqual(sent, [], JSON.stringify(value));
      continue;
    }
    assert.equal(sent.length, 1, JSON.stringify(value));
    const [answer] = sent;
    assert.ok(answer !== undefined && "error" in answer);
    assert.equal(answer.id, answerId, JSON.stringify(value));
    assert.equal(answer.error.code, -32600);
  }
});

test("Any JSON value is received without a crash and answered at most once", () => {
  const member = fc.oneof(fc.constant("2.0"), fc.jsonValue({ maxDepth: 1 }));
  const message = fc.record(
    {
      jsonrpc: member,
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
      method: fc.oneof(fc.constant("echo"), fc.jsonValue({ maxDepth: 1 })),
      params: fc.jsonValue({ maxDepth: 2 }),
      result: fc.jsonValue({ maxDepth: 1 }),
      error: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.asyncProperty(fc.oneof(message, fc.jsonValue()), async (value) => {
      const { router, sent } = probe();
      router.receive(value);
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
      assert.ok(sent.length <= 1);
    }),
  );
});

test("An answer with an unknown or used id changes nothing and is reported", async () => {
  const { router, sent, unexpected } = probe();
  const first = router.request("a", {});
  const second = router.request("b", {});
  const [one, two] = sent.map((message) => ("id" in message ? message.id : undefined));
  router.receive({ jsonrpc: "2.0", id: String(one), result: { forged: "text id" } });
  router.receive({ jsonrpc: "2.0", id: 999, result: { forged: true } });
  router.receive({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
  router.receive({ jsonrpc: "2.0", error: { code: -32700, message: "Parse error" } });
  router.receive({ jsonrpc: "2.0", id: one, result: { of: "a" } });
  router.receive({ jsonrpc: "2.0", id: one, result: { of: "a again" } });
  router.receive({ jsonrpc: "2.0", id: two, error: { code: 1, message: "no" } });
  router.receive({ jsonrpc: "2.0", id: two, result: {} });
  assert.deepEqual(await first, { of: "a" });
  await assert.rejects(second, { code: "MCP_REMOTE_ERROR", rpcCode: 1, message: "no" });
  assert.equal(unexpected.length, 6);
  assert.match(unexpected[0] ?? "", /unknown or used id "1"/);
  assert.equal(router.outboundCount, 0);
});

test("A malformed answer fails its request before the deadline", async () => {
  for (const members of [
    { result: null },
    { result: "text" },
    { error: "text" },
    { result: [], error: null },
  ]) {
    const { router } = probe();
    const answer = router.request("a", {});
    router.receive({ jsonrpc: "2.0", id: 1, ...members });
    await assert.rejects(answer, { code: "MCP_INVALID_MESSAGE" }, JSON.stringify(members));
  }
});

test("In an answer with result and error, the member that is an object decides", async () => {
  const { router } = probe();
  const failed = router.request("a", {});
  router.receive({ jsonrpc: "2.0", id: 1, result: null, error: { code: -5, message: "no" } });
  await assert.rejects(failed, { rpcCode: -5 });
  const good = router.request("b", {});
  router.receive({ jsonrpc: "2.0", id: 2, result: { fine: true }, error: null });
  assert.deepEqual(await good, { fine: true });
});

test("A thrown error becomes a JSON-RPC error: with code and hint if it is coded, otherwise without details", async () => {
  const thrown: unknown[] = [
    new McpError("MCP_OVERLOADED", "Too much", { rpcCode: -1, hint: "wait", cause: new Error("secret") }),
    new McpError("MCP_REMOTE_ERROR", "theirs", { rpcCode: -7, rpcData: { their: "data" } }),
    new Error("password is hunter2"),
    "text",
  ];
  const { router, sent } = probe(async ({ params }) => Promise.reject(thrown[params["at"] as number]));
  for (const [at] of thrown.entries())
    router.receive({ jsonrpc: "2.0", id: at, method: "m", params: { at } });
  await turn();
  assert.deepEqual(
    sent.map((message) => ("error" in message ? message.error : undefined)),
    [
      { code: -1, message: "Too much (wait)", data: { code: "MCP_OVERLOADED", hint: "wait" } },
      { code: -7, message: "theirs", data: { their: "data" } },
      { code: -32603, message: "Internal error" },
      { code: -32603, message: "Internal error" },
    ],
  );
});

test("A result that is not JSON is answered with an error", async () => {
  const answers: string[] = [];
  const router = new MessageRouter((message) => answers.push(JSON.stringify(message)), {
    request: async () => ({ big: 1n }) as unknown as JsonObject,
    notification: () => {},
  });
  router.receive({ jsonrpc: "2.0", id: 1, method: "m" });
  await turn();
  assert.deepEqual(answers, ['{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}']);
  await assert.rejects(router.request("m", { big: 1n } as unknown as JsonObject), TypeError);
  assert.equal(router.outboundCount, 0);
});

test("Aborting a request cancels it at the peer, which then sends no answer", async () => {
  const aborted: unknown[] = [];
  const { near, far } = pair((request) => {
    request.signal.addEventListener("abort", () => aborted.push(request.signal.reason));
    return untilAborted(request);
  });
  const controller = new AbortController();
  const answer = near.request("wait", {}, { signal: controller.signal });
  await turn();
  assert.equal(far.inboundCount, 1);
  const reason = new Error("changed my mind");
  controller.abort(reason);
  await assert.rejects(answer, reason);
  await turn();
  assert.equal(far.inboundCount, 0);
  assert.equal(near.outboundCount, 0);
  assert.equal(aborted.length, 1);
  assert.ok(isCodedError(aborted[0]) && aborted[0].code === "MCP_CANCELLED");
  assert.match(aborted[0].message, /changed my mind/);
});

test("A cancelled request gets no answer, even if its handler finishes", async () => {
  const gates: ((result: JsonObject) => void)[] = [];
  const { router, sent, cancelled } = probe(() => new Promise((resolve) => gates.push(resolve)));
  router.receive({ jsonrpc: "2.0", id: 3, method: "slow" });
  router.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
  router.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
  router.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "unknown" } });
  router.receive({ jsonrpc: "2.0", method: "notifications/cancelled" });
  // The id is free, and the old handler does not affect its new request.
  router.receive({ jsonrpc: "2.0", id: 3, method: "slow" });
  gates[0]?.({ from: "cancelled" });
  await turn();
  assert.deepEqual(sent, []);
  gates[1]?.({ from: "second" });
  await turn();
  assert.deepEqual(sent, [{ jsonrpc: "2.0", id: 3, result: { from: "second" } }]);
  assert.deepEqual(cancelled, [3]);
});

test("The initialize request is never cancelled at the peer", async () => {
  const { router, sent } = probe();
  const controller = new AbortController();
  const answer = router.request("initialize", {}, { signal: controller.signal });
  controller.abort(new Error("stop"));
  await assert.rejects(answer, /stop/);
  assert.equal(sent.length, 1);
});

test("A request with an aborted signal is not sent", async () => {
  const { router, sent } = probe();
  await assert.rejects(router.request("m", {}, { signal: AbortSignal.abort(new Error("before")) }), /before/);
  assert.deepEqual(sent, []);
});

test("A request that is not answered in time fails with MCP_TIMEOUT and is cancelled", async () => {
  const { router, sent } = probe();
  await assert.rejects(router.request("slow", {}, { timeoutMs: 5 }), {
    code: "MCP_TIMEOUT",
    message: '"slow" was not answered within 5 ms',
  });
  assert.match(JSON.stringify(sent[1]), /notifications\/cancelled.*"requestId":1/);
  // Longer than the longest delay of a timer, which would fire at once.
  const long = router.request("slow", {}, { timeoutMs: 2 ** 40 });
  await turn();
  await turn();
  router.receive({ jsonrpc: "2.0", id: 2, result: { in: "time" } });
  assert.deepEqual(await long, { in: "time" });
});

test("Progress that arrives in one chunk with its result is delivered in order, 200 of 200 times", async () => {
  const { router, sent } = probe();
  for (let round = 0; round < 200; round += 1) {
    const seen: unknown[] = [];
    const answer = router
      .request("m", {}, { onProgress: (params) => seen.push(params["progress"]) })
      .then(() => seen.push("result"));
    const request = sent.at(-1);
    assert.ok(request !== undefined && "method" in request && "id" in request);
    const token = metaOf(request.params ?? {})?.["progressToken"];
    for (const progress of [1, 2, 3]) {
      router.receive({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: token, progress },
      });
    }
    router.receive({ jsonrpc: "2.0", id: request.id, result: {} });
    await answer;
    assert.deepEqual(seen, [1, 2, 3, "result"]);
  }
});

test("Progress is delivered to the request with its token, and to no other", async () => {
  const { router, sent, unexpected, notified } = probe();
  const first: JsonObject[] = [];
  const second: JsonObject[] = [];
  void router.request("a", {}, { onProgress: (params) => first.push(params) });
  void router.request("b", {}, { onProgress: (params) => second.push(params) });
  void router.request("c", { _meta: { progressToken: 1, keep: true } });
  const progress = (progressToken: unknown) =>
    router.receive({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: 0.5, total: 1 },
    });
  progress(2);
  progress("1");
  progress(3);
  progress(undefined);
  assert.deepEqual(first, []);
  assert.deepEqual(second, [{ progress: 0.5, total: 1 }]);
  assert.equal(unexpected.length, 3);
  assert.deepEqual(notified, []);
  // A token of another hop would assign the progress of "c" to "a".
  assert.deepEqual("params" in sent[2]! ? sent[2].params : undefined, { _meta: { keep: true } });
});

test("Notifications are delivered to the request that the transport names, otherwise to the owner", () => {
  const { router, notified } = probe();
  const own: string[] = [];
  void router.request("a", {}, { onNotification: (method) => own.push(method) });
  void router.request("b", {});
  const message = { jsonrpc: "2.0", method: "notifications/message", params: {} };
  router.receive(message, 1);
  router.receive(message, 2);
  router.receive(message, 77);
  router.receive(message);
  assert.deepEqual(own, ["notifications/message"]);
  assert.equal(notified.length, 3);
});

test("close() fails pending requests, aborts inbound ones, and ignores later messages", async () => {
  const { router, sent } = probe(untilAborted);
  const waiting = router.request("a", {});
  router.receive({ jsonrpc: "2.0", id: 1, method: "b" });
  const count = sent.length;
  router.close();
  router.close();
  await assert.rejects(waiting, { code: "MCP_CONNECTION_CLOSED" });
  await assert.rejects(router.request("c", {}), { code: "MCP_CONNECTION_CLOSED" });
  router.notify("n", {});
  router.receive({ jsonrpc: "2.0", id: 2, method: "d" });
  router.receive(42);
  await router.whenIdle();
  await turn();
  assert.equal(sent.length, count);
  assert.equal(router.inboundCount, 0);
});

test("Requests over the limit are refused; cancellation does not bypass the limit while handlers run", async () => {
  const gates: ((result: JsonObject) => void)[] = [];
  const { router, sent } = probe(() => new Promise((resolve) => gates.push(resolve)), { maxInbound: 2 });
  for (const id of [1, 2, 3]) router.receive({ jsonrpc: "2.0", id, method: "m" });
  router.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  router.receive({ jsonrpc: "2.0", id: 4, method: "m" });
  assert.deepEqual(
    sent.map((message) => ("error" in message ? message.id : undefined)),
    [3, 4],
  );
  assert.match(JSON.stringify(sent[0]), /More than 2 requests are in flight/);
  gates[0]?.({});
  await turn();
  router.receive({ jsonrpc: "2.0", id: 5, method: "m" });
  assert.equal(gates.length, 3);
});

test("whenIdle() resolves after every request in flight is answered", async () => {
  const gates: ((result: JsonObject) => void)[] = [];
  const { router, sent } = probe(() => new Promise((resolve) => gates.push(resolve)));
  for (const id of [1, 2]) router.receive({ jsonrpc: "2.0", id, method: "m" });
  let sentWhenIdle: number | undefined;
  const idle = router.whenIdle().then(() => {
    sentWhenIdle = sent.length;
  });
  gates[0]?.({});
  await turn();
  assert.equal(sentWhenIdle, undefined);
  gates[1]?.({});
  await idle;
  assert.equal(sentWhenIdle, 2);
});

test("Concurrent requests in both directions with the same ids are never confused", async () => {
  const { near, far } = pair(
    async ({ params }) => ({ far: params["n"] as number }),
    async ({ params }) => ({ near: params["n"] as number }),
  );
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const fromNear = Promise.all(numbers.map((n) => near.request("m", { n })));
  const fromFar = Promise.all(numbers.map((n) => far.request("m", { n })));
  assert.deepEqual(
    await fromNear,
    numbers.map((n) => ({ far: n })),
  );
  assert.deepEqual(
    await fromFar,
    numbers.map((n) => ({ near: n })),
  );
});
