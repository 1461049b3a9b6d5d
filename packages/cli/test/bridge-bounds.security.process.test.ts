/** `toolcrib bridge`: what is kept of a client is bounded, and what it sent last is answered. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
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
/** Resident memory of a process in MiB, and the most that it had; undefined where the system does not say it. */
function memoryOf(pid: number | undefined): { readonly now: number; readonly most: number } | undefined {
  if (process.platform !== "linux") return undefined;
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
  return { now: of("VmRSS"), most: of("VmHWM") };
}
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
  // Each of their connections is checked before anything is sent on it.
  await waitUntil(() => calls.length >= 256);
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

test("requests without an answer have a limit of bytes together", async () => {
  await using user = await setUp();
  const { bridge } = user;
  await bridge.initialize();
  const text = "x".repeat(8 * 1024 * 1024);
  const answers = Array.from({ length: 4 }, (_, id) => bridge.answerTo(id));
  for (let id = 0; id < 4; id += 1) bridge.send(call(id, text));
  const refused = await (answers[3] as Promise<Rpc>);
  assert.ok(isRefused(refused));
  assert.match(refused.error?.message ?? "", /more than 33554432 bytes/);
  user.open();
  const results = await Promise.all(answers.slice(0, 3));
  assert.deepEqual(
    results.map(({ error }) => error),
    [undefined, undefined, undefined],
  );
  // There is room again.
  assert.equal((await bridge.request(4, "tools/call", { name: "t", arguments: { text } })).error, undefined);
});

test("the id and the method of a request count as what is kept of it", async () => {
  await using user = await setUp();
  const { bridge } = user;
  await bridge.initialize();
  // Each is kept as bytes and as a text of one or two bytes for each character: the third passes 32 MiB.
  const long = "x".repeat(4 * 1024 * 1024);
  const ids = [`a${long}`, "b", `c${long}`];
  const answers = ids.map((id) => bridge.answerTo(id));
  for (const id of ids) bridge.send(id === "b" ? { id, method: `tools/${long}` } : call(id));
  const refused = await (answers[2] as Promise<Rpc>);
  assert.ok(isRefused(refused));
  assert.match(refused.error?.message ?? "", /more than 33554432 bytes/);
});

test("a line that is too long, a batch that is too large and an id in use are errors", async () => {
  await using user = await setUp();
  const { bridge } = user;
  await bridge.initialize();
  bridge.child.stdin.write(`${JSON.stringify(Array.from({ length: 300 }, (_, id) => call(id)))}\n`);
  bridge.child.stdin.write("[]\n [ ]\n");
  const inexact = '{"_meta":{"progressToken":1.00000000000000001}}';
  bridge.child.stdin.write(`[{"jsonrpc":"2.0","id":"token","method":"ping","params":${inexact}}]\n`);
  bridge.child.stdin.write(`"${"x".repeat(17 * 1024 * 1024)}"\n`);
  bridge.send({ ...call("long"), params: { text: "x".repeat(17 * 1024 * 1024) } });
  bridge.send({ ...call("many"), params: { values: new Array(1_000_001).fill(0) } });
  bridge.child.stdin.write(Buffer.from('{"jsonrpc":"2.0","id":"a\xff","method":"ping"}\n', "latin1"));
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
      [null, -32600],
      [null, -32600],
      ["token", -32602],
      [null, -32700],
      ["long", -32700],
      ["many", -32700],
      [null, -32700],
      [6, -32600],
      [7, -32600],
      ["m", -32600],
      ["v", -32600],
      [8, -32600],
    ],
  );
  const token = refused.find(({ id }) => id === "token");
  assert.equal(
    token?.error?.message,
    '"progressToken" in "_meta" must be a string, or a number up to 9007199254740991 with at most 17 digits',
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

test("a flood of large requests takes little more memory than the requests without an answer", async () => {
  await using user = await setUp();
  const { bridge, gateway } = user;
  user.open();
  await bridge.initialize();
  const before = memoryOf(bridge.child.pid)?.now ?? 0;
  const text = "x".repeat(100_000);
  const count = 2000;
  for (let id = 0; id < count; id += 1) {
    const answer = bridge.answerTo(id);
    bridge.send(call(id, text));
    if (id % 20 === 19) await answer;
  }
  await bridge.answerTo(count - 1);
  assert.equal(gateway.received.filter(({ method }) => method === "tools/call").length, count);
  const most = memoryOf(bridge.child.pid)?.most ?? 0;
  assert.ok(most - before < 90, `${before} MiB before, ${most} MiB at most`);
});

test("a client that reads late gets every large answer, and they wait in the gateway until then", async () => {
  const directory = await makeTemporaryDirectory();
  let endedCount = 0;
  await using gateway = await startFakeGateway((message) => {
    message.response.once("finish", () => (endedCount += 1));
    message.answer({ content: [{ type: "text", text: "x".repeat(4_000_000) }] });
  });
  gateway.announce(directory.path);
  await using bridge = startBridge(directory.path);
  await bridge.initialize();
  const before = memoryOf(bridge.child.pid)?.now ?? 0;
  bridge.child.stdout.pause();
  const count = 40;
  const answers = Array.from({ length: count }, (_, id) => bridge.answerTo(id));
  for (let id = 0; id < count; id += 1) bridge.send(call(id));
  await waitUntil(() => gateway.received.length >= count);
  // Until nothing more of them is read.
  for (let last = -1; last < endedCount; await delay(1000)) last = endedCount;
  const most = memoryOf(bridge.child.pid)?.most ?? 0;
  bridge.child.stdout.resume();
  await Promise.all(answers);
  assert.ok(most - before < 120, `${before} MiB before, ${most} MiB at most`);
  assert.equal(await bridge.end(), 0);
  assert.equal(bridge.stderr, "");
  await directory[Symbol.asyncDispose]();
});

test("ids come back byte for byte, or are refused", async () => {
  await using user = await setUp();
  const { bridge, calls } = user;
  user.open();
  await bridge.initialize();
  let written = "";
  bridge.child.stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
  const sendWith = (id: string) => bridge.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
  const exact = [
    "0",
    "-1",
    "1.5",
    "9007199254740991",
    '"\\n"',
    '"9007199254740993"',
    `"${"x".repeat(200_000)}"`,
  ];
  const inexact = [
    "9007199254740992",
    "9007199254740993",
    "1e400",
    "1.0",
    "1e2",
    "-0",
    "1.00000000000000001",
  ];
  for (const id of [...exact, ...inexact]) sendWith(id);
  assert.equal(await bridge.end(), 0);
  for (const id of exact) assert.ok(written.includes(`"id":${id},`), id.slice(0, 50));
  const refused = bridge.messages.filter(({ id }) => id === null);
  assert.equal(refused.length, inexact.length);
  for (const { error } of refused) assert.match(error?.message ?? "", /"id" is a text, or a number up to/);
  assert.equal(calls.length, exact.length);
});
