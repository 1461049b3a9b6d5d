/** Lists, searches and calls while servers make first contact. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  callsIn,
  echoStdio,
  somebody,
  startTestGateway,
  type TestGateway,
  textOf,
} from "./gateway-harness.ts";

const quick = echoStdio("quick", "--builtin", "echo", "--prompts", "greet");
const late = echoStdio(
  "late",
  "--builtin",
  "echo,ask_roots",
  "--prompts",
  "welcome",
  "--start-delay",
  "1500",
);
const hanging = echoStdio("hanging", "--hang-initialize");

/** Starts a gateway and does not wait for its servers. */
function startEarly(document: Parameters<typeof startTestGateway>[0]): Promise<TestGateway> {
  return startTestGateway(document, { isAwaited: false });
}

describe("the first list of a client", () => {
  test("has the tools, prompts and resources of every server, in both eras", async () => {
    await using test = await startEarly({ tool_servers: [quick, late], serve: { list_wait_seconds: 60 } });
    const clients = await Promise.all([test.connect(), test.connectModern()]);
    for (const [tools, prompts, resources] of await Promise.all(
      clients.map((client) =>
        Promise.all([client.listTools(), client.listPrompts(), client.listResources()]),
      ),
    )) {
      const names = tools.tools.map(({ name }) => name);
      assert.deepEqual([names.includes("quick__echo"), names.includes("late__echo")], [true, true]);
      assert.ok(prompts.prompts.some(({ name }) => name === "late__welcome"));
      assert.ok(resources.resources.length > 0);
    }
  });

  test("waits only for the server of its endpoint", async () => {
    await using test = await startEarly({ tool_servers: [quick, hanging], serve: { list_wait_seconds: 60 } });
    const client = await test.connect({ server: "quick" });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["echo"],
    );
  });

  test("waits up to the limit where it would be empty, and only once", async () => {
    await using test = await startEarly({ tool_servers: [hanging], serve: { list_wait_seconds: 2 } });
    const client = await test.connect();
    const startedAt = performance.now();
    await client.listTools();
    const firstMs = performance.now() - startedAt;
    assert.ok(firstMs >= 1000, `${firstMs} ms`);
    // With a limit of two seconds each, a hundred further waits would take longer than the test may.
    for (let time = 0; time < 100; time += 1) await client.listTools();
    const found = await client.callTool({ name: "search_tools", arguments: { query: "echo" } });
    assert.match(textOf(found), /No tool matches/);
  });

  test("leaves out servers that do not answer, and announces each once when it does", async () => {
    await using folder = await makeTemporaryDirectory();
    const gate = folder.join("gate");
    const gated = echoStdio("gated", "--builtin", "echo", "--start-when", gate);
    await using test = await startEarly({ tool_servers: [quick, gated] });
    const clients = await Promise.all([test.connect(), test.connectModern()]);
    const [first] = test.gateway.status().servers;
    assert.equal(first?.id, "quick");
    await waitUntil(() => test.gateway.status().servers[0]?.health.state === "ready");
    const lists = async () =>
      Promise.all(
        clients.map(async (client) =>
          (await client.listTools()).tools.map((tool: { name: string }) => tool.name),
        ),
      );
    for (const names of await lists()) {
      assert.deepEqual([names.includes("quick__echo"), names.includes("gated__echo")], [true, false]);
    }
    let announcements = 0;
    clients[0].fallbackNotificationHandler = async ({ method }) => {
      if (method === "notifications/tools/list_changed") announcements += 1;
    };
    writeFileSync(gate, "");
    await waitUntil(() => announcements > 0);
    for (const names of await lists()) assert.ok(names.includes("gated__echo"), names.join());
    // Answers that came later than a second announcement would.
    for (let time = 0; time < 20; time += 1) await clients[0].listTools();
    assert.equal(announcements, 1);
  });

  test("is followed by a notification when a server gets ready later", async () => {
    await using folder = await makeTemporaryDirectory();
    const gate = folder.join("gate");
    const gated = echoStdio("gated", "--builtin", "echo", "--start-when", gate);
    await using test = await startEarly({ tool_servers: [gated], serve: { list_wait_seconds: 0 } });
    const client = await test.connect();
    const { promise, resolve } = Promise.withResolvers<void>();
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === "notifications/tools/list_changed") resolve();
    };
    const { tools } = await client.listTools();
    assert.ok(!tools.some(({ name }) => name.startsWith("gated__")));
    writeFileSync(gate, "");
    await promise;
    const after = await client.listTools();
    assert.ok(after.tools.some(({ name }) => name === "gated__echo"));
  });

  test("does not wait for a server that failed", async () => {
    const dead = echoStdio("dead", "--die");
    await using test = await startEarly({ tool_servers: [quick, dead], serve: { list_wait_seconds: 60 } });
    const client = await test.connect();
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "quick__echo"));
  });
});

test("the first search and the first program of a client find the tools of every server", async () => {
  await using test = await startEarly({ tool_servers: [quick, late], serve: { list_wait_seconds: 60 } });
  const [searching, programming] = await Promise.all([test.connect(), test.connect()]);
  const [found, evaluated] = await Promise.all([
    searching.callTool({ name: "search_tools", arguments: { query: "asks the client for its roots" } }),
    programming.callTool({
      name: "eval_starlark",
      arguments: { code: 'return [tool for tool in dir(tools) if "late" in tool or True]' },
    }),
  ]);
  assert.match(textOf(found), /late__ask_roots/);
  assert.equal(evaluated.isError ?? false, false, textOf(evaluated));
});

describe("a call of a tool whose server is starting", () => {
  test("waits for the server, and is recorded once", async () => {
    const test = await startEarly({ tool_servers: [late], serve: { list_wait_seconds: 0 } });
    await using stack = new AsyncDisposableStack();
    stack.use(test);
    const own = await test.connect({ server: "late" });
    const all = await test.connectModern();
    const [first, second, third] = await Promise.all([
      own.callTool({ name: "echo", arguments: { text: "own" } }),
      all.callTool({ name: "late__echo", arguments: { text: "all" } }),
      test.gateway.call(somebody, "late:echo", { text: "id" }),
    ]);
    assert.equal(textOf(first), "own");
    assert.equal(textOf(second), "all");
    assert.equal(third.kind === "result" && textOf(third.result), "id");
    const prompt = await all.getPrompt({ name: "late__welcome" });
    assert.ok(prompt.messages.length > 0);
    await test.stop();
    const calls = callsIn(test.audit()).filter((line) => line.startsWith("late:echo"));
    assert.deepEqual(calls, Array(3).fill("late:echo intent, completed ok"));
  });

  test("ends with the time limit of the call", async () => {
    const limited = { ...hanging, containment: { max_execution_seconds: 1 } };
    await using test = await startEarly({ tool_servers: [limited] });
    const outcome = await test.gateway.call(somebody, "hanging:echo", {});
    assert.equal(outcome.kind, "failed");
    assert.match(
      String(outcome.kind === "failed" && outcome.error.message),
      /the server "hanging" is starting; try again/,
    );
  });

  test("does not wait for a server of which its caller may use nothing", async () => {
    await using test = await startEarly({
      tool_servers: [hanging],
      policy: { deny: ["hanging:*"] },
    });
    const outcome = await test.gateway.call(localIdentity("cli", "cli"), "hanging__echo", {});
    assert.equal(outcome.kind, "failed");
  });

  test("is one of the calls in flight, of which there is a limit", async () => {
    await using test = await startEarly({
      tool_servers: [hanging],
      serve: { limits: { max_concurrent_calls: 1 } },
    });
    const stopping = new AbortController();
    const waiting = test.gateway.call(somebody, "hanging:echo", {}, { signal: stopping.signal });
    await waitUntil(() => test.gateway.status().callsInFlight === 1);
    assert.equal((await test.gateway.call(somebody, "hanging:echo", {})).kind, "failed");
    stopping.abort(new Error("stop"));
    await waiting;
    assert.equal(test.gateway.status().callsInFlight, 0);
  });

  test("takes a place of its client's share, and leaves places for other clients", async () => {
    await using test = await startEarly({
      tool_servers: [hanging],
      serve: { limits: { max_concurrent_calls: 4 } },
    });
    const { gateway } = test;
    const stopping = new AbortController();
    const wait = (name: string) =>
      gateway.call(localIdentity("token", name), "hanging:echo", {}, { signal: stopping.signal });
    const waiting = [wait("greedy"), wait("greedy")];
    await waitUntil(() => gateway.status().callsInFlight === 2);
    const refused = await wait("greedy");
    assert.equal(
      refused.kind === "failed" && (refused.error as { code?: string }).code,
      "CALLS_SHARE_EXCEEDED",
    );
    waiting.push(wait("other"));
    await waitUntil(() => gateway.status().callsInFlight === 3);
    stopping.abort(new Error("stop"));
    await Promise.all(waiting);
    assert.equal(gateway.status().callsInFlight, 0);
  });
});
