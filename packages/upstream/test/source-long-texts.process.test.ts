/** The texts that a server chooses are kept only up to a length: about itself, and in its errors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startRawServer } from "@toolcrib/testing";
import { createCall, createSource, failureOf, never, startSource } from "./source-harness.ts";

const huge = "a".repeat(2_000_000);
const limits = { reconnectMinMs: 60_000 };
const at = (url: string) => ({ kind: "streamable_http", url, headers: {} }) as const;

const secret = `s3cr3t-${"0123456789abcdef".repeat(512)}`;
const scrub = (text: string) => text.replaceAll(secret, "[secret]");

test("no text of a server is cut within a secret, however long", async () => {
  const before = (length: number) => `${"w".repeat(length - 1)} ${secret}`;
  const answers: [method: string, status: number, answer: string | object][] = [
    ["initialize", 400, before(150)],
    ["initialize", 200, { error: { code: 1, message: before(4000) } }],
    ["initialize", 200, { result: { protocolVersion: before(30), capabilities: {} } }],
    [
      "initialize",
      200,
      { result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: before(290) } } },
    ],
    ["tools/list", 500, before(150)],
    ["tools/list", 200, { result: { tools: [{ name: before(70), inputSchema: { type: "object" } }] } }],
  ];
  for (const [method, status, answer] of answers) {
    await using raw = await startRawServer((exchange) => {
      const { rpc } = exchange;
      if (rpc.method === "server/discover") exchange.respond(404);
      else if (rpc.method !== method) return false;
      else if (typeof answer === "string") exchange.respond(status, {}, answer);
      else exchange.json(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, ...answer }));
      return true;
    });
    await using source = createSource({ transport: at(raw.url), limits, scrub });
    await source.server.start(never);
    const read = source.server.features.request("resources/read", {}, createCall());
    const outcome = await read.then(
      () => "read",
      (error: Error) => error.message,
    );
    const { serverInfo } = source.server.facts();
    const shown = JSON.stringify([source.server.health(), outcome, serverInfo, source.records]);
    assert.match(shown, /www/);
    assert.doesNotMatch(shown, /s3cr/, `${method}: ${shown.slice(0, 2000)}`);
  }
});

test("no line that a process prints is cut within a secret", async () => {
  const lines = [
    `console.log("w".repeat(190) + " " + process.env.KEY)`,
    `console.error("w".repeat(8100) + process.env.KEY)`,
  ];
  const args = ["-e", `${lines.join(";")};process.exitCode = 1`];
  const transport = {
    kind: "stdio",
    command: process.execPath,
    args,
    env: { KEY: secret },
    cwd: undefined,
  } as const;
  await using source = createSource({ transport, limits, scrub });
  await source.server.start(never);
  const shown = JSON.stringify([source.server.health(), source.records]);
  assert.match(shown, /www/);
  assert.doesNotMatch(shown, /s3cr/);
});

test("what a server says about itself is cut where it is received", async () => {
  const icons = [{ src: huge }];
  const serverInfo = { name: huge, title: "Notes", version: huge, more: huge, icons };
  await using raw = await startRawServer((exchange) => {
    if (exchange.rpc.method !== "initialize") return false;
    const capabilities = { tools: {} };
    exchange.json(exchange.answer({ protocolVersion: "2025-11-25", capabilities, serverInfo }));
    return true;
  });
  await using source = await startSource({ transport: at(raw.url), limits });
  const cut = `${"a".repeat(300)}…`;
  assert.deepEqual(source.server.facts().serverInfo, { name: cut, title: "Notes", version: cut });
});

test("the reason why a server cannot be used has a limited length", async () => {
  const error = { code: -32_000, message: `Broken ${huge}` };
  const cases: [method: string, answer: object][] = [
    ["initialize", { error }],
    ["initialize", { result: { protocolVersion: huge, capabilities: {} } }],
    ["tools/list", { error }],
  ];
  for (const [method, answer] of cases) {
    await using raw = await startRawServer((exchange) => {
      const { rpc } = exchange;
      if (rpc.method === "server/discover") exchange.respond(404);
      else if (rpc.method !== method) return false;
      else exchange.json(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, ...answer }));
      return true;
    });
    await using source = createSource({ transport: at(raw.url), limits });
    await source.server.start(never);
    const { state, reason = "" } = source.server.health();
    assert.equal(state, "unavailable", method);
    assert.ok(reason.length > 50 && reason.length < 5000, `${method}: ${reason.length}`);
    const failure = await failureOf(source.server.features.request("resources/read", {}, createCall()));
    assert.ok(failure.message.length < 5000, `${method}: ${failure.message.length}`);
    for (const record of source.records)
      assert.ok(JSON.stringify(record).length < 8000, `${method}: ${record.event}`);
  }
});

test("a call fails with the beginning of a long message, and without data that is too large", async () => {
  // The cut falls into the secret.
  const message = `${"word ".repeat(12_900)}${secret}${huge}`;
  let data: object = { hint: huge };
  await using raw = await startRawServer((exchange) => {
    const { rpc } = exchange;
    if (rpc.method !== "tools/call") return false;
    exchange.json(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error: { code: -32_000, message, data } }));
    return true;
  });
  await using source = await startSource({ transport: at(raw.url), limits, scrub });
  const large = await failureOf(source.call("act"));
  assert.ok(large.message.length <= 65_536, String(large.message.length));
  assert.match(large.message, /^word word .*… \[\d{7} more characters are left out\] \[its data is left out/);
  assert.doesNotMatch(large.message, /s3cr/);
  assert.deepEqual(large.data, { server: "s", rpcCode: -32_000 });
  data = { detail: "small" };
  const small = await failureOf(source.call("act"));
  assert.deepEqual(small.data, { server: "s", rpcCode: -32_000, rpcData: data });
});

test("nothing is left of a secret at the end of what is read of a long answer or line", async () => {
  // Blanks and secrets before it move the end to the front.
  const answer = `<p>${" ".repeat(1024 * 1024 - 60)}${secret}`;
  await using raw = await startRawServer((exchange) => {
    const { rpc } = exchange;
    if (rpc.method === "server/discover") exchange.respond(404);
    else if (rpc.method === "initialize") exchange.respond(500, {}, answer);
    else return false;
    return true;
  });
  const env = { KEY: secret };
  const print = "process.stdout.write('some words ' + Array(200).fill(process.env.KEY).join(' ') + '\\n')";
  const stdio = {
    kind: "stdio",
    command: process.execPath,
    args: ["-e", print],
    env,
    cwd: undefined,
  } as const;
  const removed = (text: string) => text.replaceAll(secret, "-");
  for (const transport of [at(raw.url), stdio]) {
    await using source = createSource({ transport, limits, scrub: removed });
    await source.server.start(never);
    const shown = JSON.stringify([source.server.health(), source.records]);
    assert.match(shown, /"unavailable"/);
    assert.doesNotMatch(shown, /s3cr/, shown.slice(0, 2000));
  }
});
