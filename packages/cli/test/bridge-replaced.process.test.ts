/** `toolcrib bridge`: calls in flight at a gateway that ends or forgets the session, while others go to the next one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { type Received, startBridge, startFakeGateway } from "./bridge-harness.ts";

/** The refusal of a gateway that ends, before it begins with a request. */
const retryAfter = { "retry-after": "1" };
const ending = {
  code: -32603,
  message: "Any text",
  data: { code: "MCP_SHUTTING_DOWN", hint: "try again later" },
};

/** A bridge at a gateway that keeps its calls, and another gateway that can take its place. */
async function setUp() {
  const directory = await makeTemporaryDirectory();
  const calls: Received[] = [];
  let isEnding = false;
  const first = await startFakeGateway((message) => {
    if (isEnding) message.refuse(503, ending, retryAfter);
    else calls.push(message);
  });
  const second = await startFakeGateway((message) => message.answer({ content: [], tools: [] }));
  first.announce(directory.path);
  const bridge = startBridge(directory.path);
  await bridge.initialize({ roots: {} });
  return {
    bridge,
    first,
    second,
    /** Those that the first gateway has. */
    calls,
    /** Calls a tool. @returns its answer, when the first gateway has the call */
    async call(id: number) {
      const answer = bridge.request(id, "tools/call", { name: "t" });
      await waitUntil(() => calls.some((one) => one.id === id));
      return { answer };
    },
    /** From now on, the first gateway refuses requests, and the second one runs. */
    replace() {
      isEnding = true;
      second.announce(directory.path);
    },
    /** Ids of the calls that a gateway received. */
    callsOf: ({ received }: { readonly received: readonly Received[] }) =>
      received.filter(({ method }) => method === "tools/call").map(({ id }) => id),
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

test("what a gateway that ends still answers is delivered, and its connection is closed after that", async () => {
  await using user = await setUp();
  const { bridge, first, second, calls } = user;
  const { answer } = await user.call(1);
  user.replace();
  // It is refused by the first gateway, and made by the second one.
  assert.deepEqual((await bridge.request(2, "tools/call", { name: "t" })).error, undefined);
  assert.equal(first.endedCount, 0);
  calls[0]?.answer({ content: [{ type: "text", text: "late" }] });
  assert.deepEqual((await answer).result, { content: [{ type: "text", text: "late" }] });
  await waitUntil(() => first.endedCount === 1);
  assert.deepEqual([user.callsOf(first), user.callsOf(second)], [[1, 2], [2]]);
  assert.equal(await bridge.end(), 0);
});

test("progress, questions and cancellations of calls at a gateway that ends reach the other side", async () => {
  await using user = await setUp();
  const { bridge, first, second, calls } = user;
  const { answer } = await user.call(1);
  await user.call(2);
  user.replace();
  await bridge.request(3, "tools/list");
  const { response } = calls[0] as Received;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const params = { progressToken: 1, progress: 1 };
  response.write(event({ method: "notifications/progress", params }));
  response.write(event({ id: "q", method: "roots/list" }));
  await waitUntil(() => bridge.messages.some(({ id }) => id === "q"));
  assert.ok(bridge.messages.some(({ method }) => method === "notifications/progress"));
  bridge.send({ id: "q", result: { roots: [] } });
  bridge.send({ method: "notifications/cancelled", params: { requestId: 2 } });
  const has = (method: string | undefined, id?: string) =>
    first.received.some((message) => message.method === method && message.id === id);
  await waitUntil(() => has(undefined, "q") && has("notifications/cancelled"));
  response.end(event({ id: 1, result: { content: [] } }));
  assert.deepEqual((await answer).result, { content: [] });
  await waitUntil(() => first.endedCount === 1);
  const sent = second.received.map(({ method }) => method);
  assert.deepEqual(sent, ["initialize", "notifications/initialized", "tools/list"]);
});

test("a call that a gateway gave up is not made again, and a list is", async () => {
  await using user = await setUp();
  const { bridge, second, calls } = user;
  const { answer: made } = await user.call(1);
  const list = bridge.request(2, "tools/list");
  await waitUntil(() => calls.length === 2);
  user.replace();
  for (const one of calls) one.refuse(503, ending);
  assert.deepEqual((await made).error, ending);
  assert.deepEqual((await list).result, { content: [], tools: [] });
  assert.deepEqual(user.callsOf(second), []);
});

test("a gateway without room is an error of the call, in the words of the gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  const full = { code: -32603, message: "No room", data: { code: "MCP_SHARE_EXCEEDED" } };
  await using gateway = await startFakeGateway((message) => message.refuse(503, full, retryAfter));
  gateway.announce(directory.path);
  await using bridge = startBridge(directory.path);
  await bridge.initialize();
  assert.deepEqual((await bridge.request(1, "tools/call", { name: "t" })).error, full);
  assert.equal(gateway.received.filter(({ method }) => method === "tools/call").length, 1);
});

test("calls in flight fail when the gateway forgets the session, and the next request opens another", async () => {
  await using user = await setUp();
  const { bridge, first, calls } = user;
  const { answer: streamed } = await user.call(1);
  const { answer: silent } = await user.call(2);
  calls[0]?.response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  const list = bridge.request(3, "tools/list");
  await waitUntil(() => calls.length === 3);
  calls[2]?.response.writeHead(404).end();
  // The list is sent again, in another session.
  await waitUntil(() => calls.length === 4);
  calls[3]?.answer({ tools: [] });
  assert.deepEqual((await list).result, { tools: [] });
  for (const { error } of await Promise.all([streamed, silent])) {
    assert.equal(error?.data?.code, "MCP_CONNECTION_CLOSED");
    assert.match(error?.message ?? "", /The session ended before its answer/);
  }
  assert.deepEqual(user.callsOf(first), [1, 2]);
  assert.equal(await bridge.end(), 0);
});
