/** `toolcrib bridge`: what is kept of a client is bounded, and what it sent last is answered. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { type Received, type Rpc, startBridge, startFakeGateway } from "./bridge-harness.ts";

/** A gateway that answers calls when the test says so. */
async function setUp() {
  const directory = await makeTemporaryDirectory();
  const calls: Received[] = [];
  let isOpen = false;
  const gateway = await startFakeGateway((message) => {
    calls.push(message);
    if (isOpen) message.answer({ content: [] });
  });
  gateway.announce(directory.path);
  const bridge = startBridge(directory.path);
  return {
    gateway,
    bridge,
    calls,
    /** Answers all calls, and those that follow. */
    open() {
      isOpen = true;
      for (const call of calls) call.answer({ content: [] });
    },
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const call = (id: number | string, text = "") => ({
  id,
  method: "tools/call",
  params: { name: "t", arguments: { text } },
});
const isRefused = ({ error }: Rpc) => error?.data?.code === "MCP_OVERLOADED";

test("a flood of requests is held back, then refused, and each accepted one is sent once", async () => {
  await using user = await setUp();
  const { bridge, calls } = user;
  await bridge.initialize();
  const count = 3000;
  for (let id = 0; id < count; id += 1) bridge.send(call(id));
  const answers = Array.from({ length: count }, (_, id) => bridge.answerTo(id));
  // The last one is refused only after all others were read.
  const last = await (answers.at(-1) as Promise<Rpc>);
  assert.ok(isRefused(last), JSON.stringify(last));
  assert.match(last.error?.message ?? "", /More than 1280 requests have no answer \(wait for answers/);
  assert.equal(calls.length, 256);
  // A cancellation is read all the same: one that waits is not sent any more.
  bridge.send({ method: "notifications/cancelled", params: { requestId: 1000 } });
  bridge.send({ method: "notifications/cancelled", params: { requestId: 0 } });
  await waitUntil(() => user.gateway.received.some(({ method }) => method === "notifications/cancelled"));
  user.open();
  const expected = answers.filter((_, id) => id !== 0 && id !== 1000);
  const refused = (await Promise.all(expected)).filter(isRefused);
  assert.equal(refused.length, count - 1280);
  const ids = calls.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(ids.length, 1279);
  assert.equal(ids.includes(1000), false);
  assert.equal(await bridge.end(), 0);
});

test("requests without an answer have a limit of characters together", async () => {
  await using user = await setUp();
  const { bridge } = user;
  await bridge.initialize();
  const text = "x".repeat(8 * 1024 * 1024);
  const answers = Array.from({ length: 4 }, (_, id) => bridge.answerTo(id));
  for (let id = 0; id < 4; id += 1) bridge.send(call(id, text));
  const refused = await (answers[3] as Promise<Rpc>);
  assert.ok(isRefused(refused));
  assert.match(refused.error?.message ?? "", /more than 33554432 characters/);
  user.open();
  const results = await Promise.all(answers.slice(0, 3));
  assert.deepEqual(
    results.map(({ error }) => error),
    [undefined, undefined, undefined],
  );
  // There is room again.
  assert.equal((await bridge.request(4, "tools/call", { name: "t", arguments: { text } })).error, undefined);
});

test("a line that is too long, a batch that is too large and an id in use are errors", async () => {
  await using user = await setUp();
  const { bridge } = user;
  await bridge.initialize();
  bridge.child.stdin.write(`${JSON.stringify(Array.from({ length: 300 }, (_, id) => call(id)))}\n`);
  bridge.child.stdin.write(`"${"x".repeat(17 * 1024 * 1024)}"\n`);
  bridge.send({ id: 6, method: 6 });
  bridge.send({ id: 7 });
  // These two are headers of the request to the gateway.
  for (const [id, method, version] of [
    ["m", "ping\r\nX: 1", "2026-07-28"],
    ["v", "ping", "2026-07-28\u2603"],
  ] as const)
    bridge.send({ id, method, params: { _meta: { "io.modelcontextprotocol/protocolVersion": version } } });
  bridge.send(call(8));
  const again = await bridge.request(8, "tools/call");
  assert.match(again.error?.message ?? "", /id 8 is already in use/);
  const refused = bridge.messages.filter(({ id, error }) => id !== "init" && error !== undefined);
  assert.deepEqual(
    refused.map(({ id, error }) => [id, error?.code]),
    [
      [null, -32600],
      [null, -32700],
      [6, -32600],
      [7, -32600],
      ["m", -32600],
      ["v", -32600],
      [8, -32600],
    ],
  );
});

test("the last request is answered although no line feed follows, and so are those in flight", async () => {
  await using user = await setUp();
  const { bridge, calls } = user;
  await bridge.initialize();
  bridge.send(call("first"));
  const ended = bridge.end(JSON.stringify({ jsonrpc: "2.0", ...call("last") }));
  await waitUntil(() => calls.length === 2);
  user.open();
  assert.equal(await ended, 0);
  assert.deepEqual(
    bridge.messages
      .map(({ id }) => id)
      .slice(-2)
      .sort(),
    ["first", "last"],
  );
});

test("parameters of any form are passed on, and the client keeps its bridge", async () => {
  await using user = await setUp();
  const { bridge } = user;
  user.open();
  await bridge.initialize();
  const odd = [{ toString: 1 }, { toString: { toString: 1 } }, [{ valueOf: 1 }], null, 5, ""];
  for (const method of ["resources/subscribe", "resources/unsubscribe", "logging/setLevel", "tools/call"])
    for (const [at, uri] of odd.entries())
      bridge.send({ id: `${method} ${at}`, method, params: { uri, level: uri, name: uri, _meta: uri } });
  assert.equal(await bridge.end(), 0);
  assert.equal(user.calls.length, 4 * odd.length);
});
