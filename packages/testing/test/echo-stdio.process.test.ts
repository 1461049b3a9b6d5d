import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioClientTransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  canFindProcesses,
  echoStdioPath,
  findProcessesByEnvironment,
  fixtureCommand,
  isProcessAlive,
  makeTemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { startRaw } from "./raw-stdio.ts";

const info = { name: "test", version: "1.0.0" };
const allCapabilities = { capabilities: { sampling: {}, elicitation: {}, roots: {} } };

async function connect(...flags: string[]) {
  const client = new Client(info, allCapabilities);
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "sampled" },
  }));
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///tmp" }] }));
  const transport = new StdioClientTransport({
    ...fixtureCommand(echoStdioPath, ...flags),
    stderr: "ignore",
  });
  await client.connect(transport);
  return { client, transport, [Symbol.asyncDispose]: () => client.close() };
}

function textOf(result: object): string {
  const [first] = (result as { content: { text: string }[] }).content;
  return first!.text;
}

test("the echo server returns every kind of result to SDK v2 over stdio", async () => {
  await using server = await connect();
  const call = (name: string, given = {}) => server.client.callTool({ name, arguments: given });
  assert.equal(textOf(await call("echo", { text: "ä\u2028😀" })), "ä\u2028😀");
  assert.deepEqual((await call("structured", { value: 2 })).structuredContent, { value: 2, doubled: 4 });
  assert.equal((await call("fail")).isError, true);
  await assert.rejects(call("rpc_error", { code: -32042, message: "no" }), { code: -32042 });
  assert.equal(textOf(await call("sleep", { ms: 1 })), "slept 1 ms");
  assert.equal(textOf(await call("large", { bytes: 3_000_000 })).length, 3_000_000);
  assert.match(textOf(await call("env", { name: "PATH" })), /\//);
  assert.match(textOf(await call("ask_sampling")), /"sampled"/);
  assert.match(textOf(await call("ask_elicitation")), /"Ada"/);
  assert.match(textOf(await call("ask_roots")), /file:\/\/\/tmp/);
});

test("the echo server works with SDK v1 over stdio", async () => {
  const client = new ClientV1(info);
  await client.connect(new StdioClientTransportV1(fixtureCommand(echoStdioPath, "--name", "old")));
  try {
    assert.equal(client.getServerVersion()?.name, "old");
    assert.ok((await client.listTools()).tools.some((tool) => tool.name === "echo"));
    assert.equal(textOf(await client.callTool({ name: "progress", arguments: { steps: 2 } })), "2 steps");
    await assert.rejects(client.callTool({ name: "bad_structured" }), /structured content/i);
  } finally {
    await client.close();
  }
});

test("the echo server serves resources, templates, subscriptions, prompts and completion", async () => {
  await using server = await connect();
  const { client } = server;
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri);
  });
  assert.equal((await client.listResources()).resources.length, 3);
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
  const { contents } = await client.readResource({ uri: "echo://greeting/Ada" });
  assert.equal((contents[0] as { text: string }).text, "Hello, Ada");
  await assert.rejects(client.readResource({ uri: "echo://nothing" }), /Resource not found/);
  await client.callTool({ name: "update_resource", arguments: { uri: "echo://watched" } });
  await client.subscribeResource({ uri: "echo://watched" });
  await client.callTool({ name: "update_resource", arguments: { uri: "echo://watched", text: "new" } });
  assert.deepEqual(updated, ["echo://watched"]);
  const prompt = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
  assert.deepEqual(prompt.messages[0]?.content, { type: "text", text: "Greet Ada" });
  const completion = await client.complete({
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "name", value: "a" },
  });
  assert.deepEqual(completion.completion.values, ["Ada", "Alan"]);
});

test("the echo server reports changed tools and respects the log level", async () => {
  await using server = await connect("--builtin", "change_tools,log");
  const { client } = server;
  let changes = 0;
  const logs: unknown[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changes += 1;
  });
  client.setNotificationHandler("notifications/message", ({ params }) => {
    logs.push(params.data);
  });
  await client.callTool({ name: "change_tools", arguments: { add: "fresh", redefine: "log" } });
  assert.equal(changes, 1);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["log", "change_tools", "fresh"],
  );
  assert.match(tools[0]?.description ?? "", /redefined/);
  await client.callTool({ name: "change_tools", arguments: { remove: "fresh", silent: true } });
  assert.equal(changes, 1);
  await client.setLoggingLevel("error");
  await client.callTool({ name: "log", arguments: { level: "info", message: "quiet" } });
  await client.callTool({ name: "log", arguments: { level: "error", message: "loud" } });
  assert.deepEqual(logs, ["loud"]);
});

test("the echo server pages its lists, without end if configured", async () => {
  await using server = await connect("--builtin", "", "--tools", "250", "--page-size", "100");
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await server.client.request({ method: "tools/list", params: { cursor } });
    for (const tool of page.tools) seen.add(tool.name);
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  assert.deepEqual([pages, seen.size], [3, 250]);
  await assert.rejects(server.client.request({ method: "tools/list", params: { cursor: "from:999" } }), {
    code: -32602,
  });

  await using endless = startRaw(echoStdioPath, "--endless-cursor", "--page-size", "10", "--builtin", "echo");
  endless.send({ id: 1, method: "tools/list", params: { cursor: "from:0" } });
  await waitUntil(() => endless.lines.length === 1);
  assert.match(endless.lines[0]!, /"nextCursor":"from:0"/);
});

test("the echo server speaks the configured version", async () => {
  const rows: [flags: string[], requested: string, answered: string][] = [
    [[], "2025-03-26", "2025-03-26"],
    [[], "2099-01-01", "2025-11-25"],
    [["--protocol", "2024-11-05"], "2025-11-25", "2024-11-05"],
    [["--protocol", "2025-06-18", "--only"], "2024-11-05", "2025-06-18"],
  ];
  for (const [flags, protocolVersion, expected] of rows) {
    await using server = startRaw(echoStdioPath, ...flags);
    server.send({ id: 0, method: "initialize", params: { protocolVersion } });
    await waitUntil(() => server.lines.length > 0);
    assert.equal(JSON.parse(server.lines[0]!).result.protocolVersion, expected);
  }
});

test("the echo server speaks 2026-07-28 over stdio", async () => {
  const client = new Client(info, {
    ...allCapabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
  await client.connect(
    new StdioClientTransport(fixtureCommand(echoStdioPath, "--protocol", "2026-07-28", "--only")),
  );
  try {
    assert.equal(client.getProtocolEra(), "modern");
    assert.equal(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } })), "hi");
    assert.match(textOf(await client.callTool({ name: "ask_elicitation" })), /"Ada"/);
    await assert.rejects(client.readResource({ uri: "echo://nothing" }), { code: -32602 });
    let changes = 0;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      changes += 1;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: "change_tools", arguments: { add: "fresh" } });
    await waitUntil(() => changes === 1);
    await subscription.close();
  } finally {
    await client.close();
  }
});

test("a call whose client lacks the required capability is refused with -32021 in 2026-07-28", async () => {
  await using server = startRaw(echoStdioPath, "--protocol", "2026-07-28");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  server.send({ id: 1, method: "tools/call", params: { name: "ask_sampling", _meta } });
  server.send({ id: 2, method: "ping", params: { _meta } });
  const later = { ..._meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  server.send({ id: 3, method: "tools/list", params: { _meta: later } });
  server.send({ id: 4, method: "server/discover" });
  await waitUntil(() => server.lines.length === 4);
  const answers = server.lines.map((line) => JSON.parse(line)).sort((a, b) => a.id - b.id);
  assert.deepEqual(
    answers.map((answer) => answer.error.code),
    [-32021, -32601, -32022, -32602],
  );
});

test("a cancelled call gets no response", async () => {
  await using server = startRaw(echoStdioPath);
  server.send({ id: 1, method: "tools/call", params: { name: "hang" } });
  server.send({ id: 2, method: "tools/call", params: { name: "sleep", arguments: { ms: 10_000 } } });
  for (const requestId of [1, 2]) server.send({ method: "notifications/cancelled", params: { requestId } });
  const [line] = await server.call("received", { method: "notifications/cancelled" });
  assert.equal(server.lines.length, 1);
  assert.equal(JSON.parse(JSON.parse(line!).result.content[0].text).length, 2);
  assert.match((await server.call("cancelled"))[0]!, /"text":"2"/);
});

test("the echo server misbehaves on demand", async () => {
  await using server = startRaw(echoStdioPath);
  assert.equal((await server.call("invalid_message"))[0], "this is {not JSON");
  assert.equal((await server.call("twice")).length, 2);
  assert.match((await server.call("unknown_answer"))[0]!, /"nobody-asked-this"/);
  await server.call("stderr_noise", { lines: 2 });
  await waitUntil(() => server.stderr() === "noise\nnoise\n");
  const progress = await server.call("progress", { steps: 2 });
  assert.deepEqual(
    progress.map((line) => JSON.parse(line).method),
    ["notifications/progress", "notifications/progress", undefined],
  );
  server.child.stdin!.write("{not JSON\n[]\n");
  await waitUntil(() => server.lines.at(-1)?.includes("-32600"));
  assert.match(server.lines.at(-2)!, /-32700/);
  server.send({ id: 9, method: "tools/call", params: { name: "crash", arguments: { code: 7 } } });
  assert.deepEqual(await once(server.child, "exit"), [7, null]);
});

test("the echo server closes its output and keeps running after break_off", async () => {
  await using server = startRaw(echoStdioPath);
  const ended = once(server.child.stdout!, "end");
  server.send({ id: 1, method: "tools/call", params: { name: "break_off" } });
  await ended;
  assert.equal(server.child.exitCode, null);
  server.send({ id: 2, method: "tools/call", params: { name: "crash", arguments: { code: 7 } } });
  await waitUntil(() => server.child.exitCode === 7);
});

test("the echo server exits, hangs or ignores signals from the start if configured", async () => {
  await using directory = await makeTemporaryDirectory();
  await using dead = startRaw(echoStdioPath, "--die", "--start-log", directory.join("starts"));
  assert.deepEqual(await once(dead.child, "exit"), [3, null]);
  assert.equal(readFileSync(directory.join("starts"), "utf8"), `${dead.child.pid}\n`);

  await using mortal = startRaw(echoStdioPath, "--die-after", "1");
  mortal.send({ id: 1, method: "ping" });
  mortal.send({ id: 2, method: "ping" });
  assert.deepEqual(await once(mortal.child, "exit"), [4, null]);

  await using hanging = startRaw(echoStdioPath, "--hang-initialize");
  hanging.send({ id: 1, method: "initialize", params: {} });
  hanging.send({ id: 2, method: "ping" });
  await waitUntil(() => hanging.lines.length > 0);
  assert.deepEqual(hanging.lines, ['{"jsonrpc":"2.0","id":2,"result":{}}']);
  hanging.child.stdin!.end();
  assert.deepEqual(await once(hanging.child, "exit"), [0, null]);

  await using stubborn = startRaw(echoStdioPath, "--stubborn");
  await stubborn.call("echo");
  stubborn.child.kill("SIGTERM");
  await stubborn.call("echo");
  assert.equal(isProcessAlive(stubborn.child.pid!), true);
});

test("spawn_child leaves a process behind that is found by its environment", {
  skip: !canFindProcesses,
}, async () => {
  const marker = `TOOLCRIB_TEST_MARKER=echo-${process.pid}`;
  const [name, value] = marker.split("=") as [string, string];
  process.env[name] = value;
  await using server = startRaw(echoStdioPath);
  delete process.env[name];
  const [line] = await server.call("spawn_child", { detached: true });
  const pid = Number(JSON.parse(line!).result.content[0].text);
  server.child.stdin!.end();
  await once(server.child, "exit");
  try {
    process.kill(pid, "SIGTERM");
    assert.deepEqual(
      findProcessesByEnvironment(marker).map((found) => found.pid),
      [pid],
    );
  } finally {
    process.kill(pid, "SIGKILL");
  }
  await waitUntil(() => !isProcessAlive(pid));
  assert.deepEqual(findProcessesByEnvironment(marker), []);
});
