/**
 * Ids of requests, of clients over HTTP and stdio and of servers over HTTP: they come back as they were sent, or are
 * refused under no id.
 */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { startStdioServer } from "@toolcrib/mcp";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { openRawSession, startDemoHttp } from "./demo-http.ts";
import { createDemoService } from "./demo-service.ts";
import { openHttp, startScripted } from "./upstreams.ts";

/** Texts of ids that come back byte for byte. */
const exact = [
  ...["0", "-1", "1.5", "0.1", "9007199254740991", "-9007199254740991"],
  ...['""', '"1"', '"9007199254740993"', '"\\"\\\\\\n"', '"ü 😀"', '"\\ud800"', `"${"x".repeat(200_000)}"`],
];
/** Texts of ids that JavaScript writes differently, or that are equal to others after parsing. */
const inexact = [
  ...["9007199254740992", "9007199254740993", "-9007199254740993", "1e400", "123456789012345678901234567890"],
  ...["1.0", "1e2", "1E0", "-0", "0.0", "1.00000000000000001", "0.10000000000000000001", "1.0   "],
  `${" ".repeat(1200)}1.0`,
];
const requestOf = (id: string, member = '"id"') => `{"jsonrpc":"2.0",${member}: ${id},"method":"ping"}`;
const nested = '{"jsonrpc":"2.0","method":"ping","params":{"id":1.0,"a":["\\"id\\": 1.0",{"id":-0}]},"id":7}';
/** A request whose id is no UTF-8. */
const latin1 = Buffer.from(requestOf('"a\xff"'), "latin1");
const refusal = /"id" must be a string, or a number up to 9007199254740991 in its shortest form/;

test("ids over HTTP come back byte for byte, or are refused", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": session.id,
  };
  const post = async (body: string) => {
    const response = await fetch(demo.url, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  for (const id of exact)
    assert.ok((await post(requestOf(id))).text.includes(`"id":${id},`), id.slice(0, 50));
  assert.match((await post(nested)).text, /"id":7,/);
  const notUtf8 = await fetch(demo.url, { method: "POST", headers, body: latin1 });
  assert.equal(notUtf8.status, 400);
  assert.match(await notUtf8.text(), /"id":null.*-32700.*not valid UTF-8/);
  for (const id of inexact) {
    for (const member of ['"id"', '"\\u0069d"']) {
      const { status, text } = await post(requestOf(id, member));
      assert.equal(status, 400, id);
      const { id: answered, error } = JSON.parse(text) as { id: unknown; error: { message: string } };
      assert.equal(answered, null, id);
      assert.match(error.message, refusal);
    }
  }
});

test("ids on standard streams come back byte for byte, or are refused, in batches too", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  await using _server = startStdioServer(
    createDemoService(),
    { input, output },
    { view: "pipe", identity: localIdentity("stdio", "local"), sessionId: "s" },
  );
  let written = "";
  output.setEncoding("utf8").on("data", (text: string) => (written += text));
  const info = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: "init", method: "initialize", params: info })}\n`);
  await waitUntil(() => written.includes('"init"'));
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  for (const id of exact) input.write(`${requestOf(id)}\n`);
  for (const id of exact) await waitUntil(() => written.includes(`"id":${id},`));
  // In pieces, and together with another line.
  for (const chunk of [[latin1, "\n"], [Buffer.concat([latin1, Buffer.from(`\n${requestOf('"b"')}\n`)])]])
    for (const piece of chunk) input.write(piece);
  await waitUntil(() => written.split("not valid UTF-8").length === 3 && written.includes('"id":"b"'));
  assert.ok(!written.includes("\ufffd"), written);
  written = "";
  for (const id of inexact) input.write(`${requestOf(id)}\n`);
  await waitUntil(() => written.split('"id":null').length - 1 === inexact.length);
  written = "";
  input.write(`[${requestOf("20")},${requestOf("21.0")},${requestOf("22")},${nested}]\n`);
  await waitUntil(
    () => [20, 22, 7].every((id) => written.includes(`"id":${id},`)) && written.includes('"id":null'),
  );
  assert.ok(!written.includes('"id":21'), written);
});

test("ids of requests of a server over HTTP come back byte for byte, or are refused, in an event and in a body", async () => {
  const answered: unknown[] = [];
  let asStream = true;
  await using server = await startScripted((given) => {
    if (given.body.method === undefined && given.request.method === "POST") {
      answered.push(given.body.id);
      return false;
    }
    if (given.body.method !== "tools/call") return false;
    const { id } = given.body;
    const result = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`;
    const messages = [...inexact, "7", '"1.0"'].map((one) => requestOf(one));
    if (asStream) {
      given.stream([...messages, result].map((one) => `data: ${one}\n\n`).join(""));
      return given.response.end();
    }
    given.response.writeHead(200, { "content-type": "application/json" });
    return given.response.end(`[${[...messages, result].join(",")}]`);
  });
  for (const isStream of [true, false]) {
    asStream = isStream;
    answered.length = 0;
    await using upstream = await openHttp(server.url);
    await upstream.connection.request("tools/call", { name: "x" });
    await waitUntil(() => answered.filter((id) => id === 7 || id === "1.0").length === 2);
    await waitUntil(() => answered.length === inexact.length + 2);
    assert.ok(
      answered.every((id) => id === 7 || id === "1.0" || id === null),
      JSON.stringify(answered),
    );
    assert.equal(upstream.unexpected.filter((reason) => refusal.test(reason)).length, inexact.length);
  }
});

test("a request over a limit is refused under its id, if that comes back as it was sent", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  await using _server = startStdioServer(
    createDemoService(),
    { input, output },
    { view: "pipe", identity: localIdentity("stdio", "local"), sessionId: "s", lineMaxBytes: 4_000_000 },
  );
  let written = "";
  output.setEncoding("utf8").on("data", (text: string) => (written += text));
  const ofValues = `[${"0,".repeat(1_000_000)}0]`;
  const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
  for (const [large, reason] of [
    [ofValues, /values/],
    [deep, /deep|nest/],
    [`"${"x".repeat(4_000_000)}"`, /longer than 4000000 bytes/],
  ] as const) {
    const params = `"params":{"id":"no","large":${large}}`;
    for (const [line, id] of [
      [`{"jsonrpc":"2.0","id":"first","method":"ping",${params}}`, '"first"'],
      [`{${params},"id":9,"method":"ping","id":10}`, "10"],
      [`{"id":1.0,"method":"ping",${params}}`, "null"],
      [`{"id":1,"method":"ping",${params},"id":{}}`, "null"],
      [`{"id":9007199254740993,"method":"ping",${params}}`, "null"],
      [`{"id":1,${params}}`, "null"],
      [`[{"id":1,"method":"ping",${params}}]`, "null"],
    ] as const) {
      written = "";
      input.write(`${line}\n`);
      await waitUntil(() => written.endsWith("\n"));
      assert.ok(
        written.startsWith(`{"jsonrpc":"2.0","id":${id},"error":`),
        `${line.slice(0, 50)}: ${written}`,
      );
      assert.match(written, reason);
    }
  }
});
