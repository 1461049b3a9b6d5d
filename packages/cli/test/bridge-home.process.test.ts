/** `toolcrib bridge`: a gateway of another version, a home that cannot be written, and questions without a client. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { type Received, startBridge, startFakeGateway } from "./bridge-harness.ts";

test("a gateway of another version is used, and a line on standard error names both", async () => {
  await using directory = await makeTemporaryDirectory();
  await using gateway = await startFakeGateway((message) => message.answer({ tools: [] }));
  gateway.announce(directory.path, "99.0.0");
  await using bridge = startBridge(directory.path);
  await bridge.initialize();
  assert.deepEqual((await bridge.request(1, "tools/list")).result, { tools: [] });
  assert.equal(await bridge.end(), 0);
  assert.match(bridge.stderr, /the gateway has version 99\.0\.0, this bridge \d+\.\d+\.\d+/);
});

test("a home that cannot be written serves clients that have a token, and refuses others with the reason", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-home-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true });
  });
  if (mounted.status !== 0) return t.skip("a tmpfs cannot be mounted here");
  const authorizations: unknown[] = [];
  await using gateway = await startFakeGateway(({ answer, headers }) => {
    authorizations.push(headers.authorization);
    answer({ tools: [] });
  });
  gateway.announce(directory, "0.1.0", "token");
  const token = `tcb_${"a".repeat(43)}`;
  mkdirSync(join(directory, ".toolcrib/tokens"), { mode: 0o700 });
  writeFileSync(join(directory, ".toolcrib/tokens/known"), `${token}\n`, { mode: 0o600 });
  execFileSync("mount", ["-o", "remount,ro", directory]);
  {
    await using bridge = startBridge(directory, "--as", "known");
    await bridge.initialize();
    assert.deepEqual((await bridge.request(1, "tools/list")).result, { tools: [] });
    assert.equal(await bridge.end(), 0);
    assert.deepEqual(authorizations, [`Bearer ${token}`]);
  }
  await using bridge = startBridge(directory, "--as", "unknown");
  const { error } = await bridge.request(1, "ping");
  assert.match(error?.message ?? "", /tokens\/unknown.*read-only/i);
  assert.match(error?.data?.code ?? "", /^FILE_UNWRITABLE$/);
  assert.equal(await bridge.end(), 0);
});

test("questions fail when their client has closed its end, and the call is still answered", async () => {
  await using directory = await makeTemporaryDirectory();
  const answers: Received[] = [];
  let call: Received | undefined;
  await using gateway = await startFakeGateway((message) => {
    call = message;
    const { response } = message;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const ask = (id: string) =>
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "roots/list" })}\n\n`);
    ask("q1");
  });
  gateway.announce(directory.path);
  await using bridge = startBridge(directory.path);
  await bridge.initialize({ roots: {} });
  bridge.send({ id: 1, method: "tools/call", params: { name: "t" } });
  await waitUntil(() => bridge.messages.some(({ id }) => id === "q1"));
  const ended = bridge.end();
  await waitUntil(() => {
    answers.splice(0, answers.length, ...gateway.received.filter(({ id }) => id === "q1"));
    return answers.length > 0;
  });
  assert.match(answers[0]?.error?.message ?? "", /does not answer any more/);
  call?.response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [] } })}\n\n`);
  assert.equal(await ended, 0);
  assert.deepEqual(bridge.messages.at(-1), { jsonrpc: "2.0", id: 1, result: { content: [] } });
});

test("a call that an ending gateway still answers is answered, while later requests use the next one", async () => {
  await using home = await makeTemporaryDirectory();
  let slow: Received | undefined;
  await using first = await startFakeGateway((message) => {
    if (message.method === "tools/call") slow = message;
    else {
      const text = "Any text";
      message.refuse(503, { code: -32000, message: text, data: { code: "MCP_SHUTTING_DOWN" } });
    }
  });
  await using second = await startFakeGateway((message) => message.answer({ tools: [] }));
  first.announce(home.path);
  await using bridge = startBridge(home.path);
  await bridge.initialize();
  const called = bridge.request(1, "tools/call", { name: "slow" });
  await waitUntil(() => slow !== undefined);
  second.announce(home.path);
  const listed = await bridge.request(2, "tools/list");
  assert.deepEqual(listed.result, { tools: [] });
  slow?.answer({ content: [] });
  assert.deepEqual((await called).result, { content: [] });
  // Nothing keeps the bridge from its end.
  assert.equal(await bridge.end(), 0);
  assert.equal(second.received.filter(({ method }) => method === "tools/call").length, 0);
});
