/** Servers with `start: lazy`: listed from memory, started by a call, and stopped when they are idle. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  fixtureCommand,
  makeTemporaryDirectory,
  type TemporaryDirectory,
  trackerStdioPath,
  waitUntil,
} from "@toolcrib/testing";
import {
  dataOf,
  echoStdio,
  somebody,
  startTestGateway,
  type TestGateway,
  textOf,
} from "./gateway-harness.ts";

/** Returns a configuration with a lazy server that logs each of its starts. */
function lazyConfig(directory: TemporaryDirectory, idleSeconds: number) {
  const log = directory.join("starts.log");
  const server = { ...echoStdio("lazy", "--start-log", log), start: "lazy", idle_seconds: idleSeconds };
  return {
    document: { tool_servers: [server] },
    starts: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0),
  };
}

function stateOf({ gateway }: TestGateway, id = "lazy"): string | undefined {
  return gateway.status().servers.find((server) => server.id === id)?.health.state;
}

async function echo({ gateway }: TestGateway, text: string): Promise<string> {
  const outcome = await gateway.call(somebody, "lazy:echo", { text });
  return outcome.kind === "result" ? textOf(outcome.result) : outcome.kind;
}

test("a lazy server starts once to be listed, stops when it is idle, and starts again at a call", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const { document, starts } = lazyConfig(directory, 1);
  const test = await startTestGateway(document, { home });
  await using stack = new AsyncDisposableStack();
  stack.use(test);
  await waitUntil(() => stateOf(test) === "idle");
  assert.equal(starts(), 1);
  const client = await test.connect();
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "lazy__echo"));
  // A call that runs longer than the idle time keeps the server running.
  const slow = test.gateway.call(somebody, "lazy:sleep", { ms: 2000 });
  const answers = await Promise.all(["a", "b", "c"].map((text) => echo(test, text)));
  assert.deepEqual(answers, ["a", "b", "c"]);
  assert.equal((await slow).kind, "result");
  assert.equal(starts(), 2);
  await waitUntil(() => stateOf(test) === "idle");
  assert.equal(await echo(test, "again"), "again");
  assert.equal(starts(), 3);
});

test("a lazy server that is remembered does not start before its first call, and is never counted as down", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const { document, starts } = lazyConfig(directory, 600);
  {
    await using _first = await startTestGateway(document, { home });
  }
  assert.equal(starts(), 1);
  const test = await startTestGateway(document, { home });
  await using stack = new AsyncDisposableStack();
  stack.use(test);
  const { origin } = await test.endpoint();
  assert.equal((await fetch(`${origin}/readyz`)).status, 200);
  assert.match(await (await fetch(`${origin}/metrics`)).text(), /toolcrib_upstream_up\{server="lazy"\} 1/);
  assert.equal(stateOf(test), "idle");
  const client = await test.connect();
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(names.includes("lazy__echo"));
  assert.equal(starts(), 1);
  const composite = await client.callTool({
    name: "call_tool",
    arguments: { name: "lazy__echo", arguments: { text: "by name" } },
  });
  assert.equal(textOf(composite), "by name");
  assert.deepEqual([stateOf(test), starts()], ["ready", 2]);
  await test.stop();
  assert.equal(dataOf(test.audit(), "server.started").length, 2, "once in each of the two runs");
});

test("a lazy server runs while one of its resources is watched", async () => {
  await using directory = await makeTemporaryDirectory();
  const { document, starts } = lazyConfig(directory, 1);
  const other = {
    id: "other",
    transport: { kind: "stdio", ...fixtureCommand(trackerStdioPath, "github") },
    trust_state: "certified",
    start: "lazy",
    idle_seconds: 1,
  };
  await using test = await startTestGateway(
    { tool_servers: [...document.tool_servers, other] },
    { home: directory.join("home") },
  );
  const client = await test.connect();
  await client.subscribeResource({ uri: "echo://watched" });
  // The other server was used last, so the watched one would be stopped before it.
  const used = await client.callTool({ name: "other__searchIssues", arguments: { query: "" } });
  assert.ok(!used.isError, textOf(used));
  await waitUntil(() => stateOf(test, "other") === "idle");
  assert.deepEqual([stateOf(test), starts()], ["ready", 1]);
  await client.unsubscribeResource({ uri: "echo://watched" });
  await waitUntil(() => stateOf(test) === "idle");
});

test("a server that is remembered starts once, by itself or for a call that comes first", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const log = directory.join("starts.log");
  const document = { tool_servers: [echoStdio("known", "--start-log", log)] };
  const starts = () => readFileSync(log, "utf8").trim().split("\n").length;
  const call = async ({ gateway }: TestGateway) => {
    const outcome = await gateway.call(somebody, "known:echo", { text: "first" });
    return outcome.kind === "result" ? textOf(outcome.result) : outcome.kind;
  };
  {
    await using _first = await startTestGateway(document, { home });
  }
  {
    await using test = await startTestGateway(document, { home, isAwaited: false });
    assert.equal(stateOf(test, "known"), "starting");
    assert.equal(await call(test), "first");
    await test.gateway.ready();
    assert.deepEqual([stateOf(test, "known"), starts()], ["ready", 2]);
  }
  {
    await using test = await startTestGateway(document, { home });
    assert.deepEqual([stateOf(test, "known"), starts()], ["ready", 3]);
  }
});

test("a gateway that ends at once does not start the servers that it remembers", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const log = directory.join("starts.log");
  const document = { tool_servers: [echoStdio("known", "--start-log", log)] };
  {
    await using _first = await startTestGateway(document, { home });
  }
  const test = await startTestGateway(document, { home, isAwaited: false });
  await test[Symbol.asyncDispose]();
  await test.gateway.ready();
  assert.equal(readFileSync(log, "utf8").trim().split("\n").length, 1);
});
