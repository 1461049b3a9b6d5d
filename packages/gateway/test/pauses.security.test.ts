/** The kill switch: what is paused is not called on any way, calls in flight end, and the state outlasts the gateway. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Pauses } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import { createPauseStore, openStore } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  callsIn,
  createTestLogger,
  dataOf,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const operator = localIdentity("cli", "cli");

interface Server extends ScriptedServer {
  readonly received: string[];
  /** Calls of the tool `wait` that were cancelled. */
  readonly cancelled: string[];
}

async function startServer(): Promise<Server> {
  const received: string[] = [];
  const cancelled: string[] = [];
  const server = await startScriptedServer({
    tools: () => [toolNamed("read"), toolNamed("wait")],
    resources: () => [{ uri: "note://1", name: "note" }],
    prompts: () => [{ name: "ask" }],
    call({ signal }, name) {
      received.push(name);
      if (name !== "wait") return { content: [{ type: "text", text: "done" }] };
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          cancelled.push(name);
          reject(signal.reason);
        });
      });
    },
    other({ method }) {
      if (method === "resources/read") return { contents: [{ uri: "note://1", text: "read" }] };
      if (method === "prompts/get") return { messages: [] };
      if (method === "completion/complete") return { completion: { values: ["a"] } };
      return method === "resources/subscribe" ? {} : undefined;
    },
  });
  return Object.assign(server, { received, cancelled });
}

async function withServers(
  run: (setting: { readonly test: TestGateway; readonly a: Server; readonly b: Server }) => Promise<void>,
  home?: string,
): Promise<void> {
  await using a = await startServer();
  await using b = await startServer();
  const document: JsonObject = {
    tool_servers: [onHttp("a", a.url), onHttp("b", b.url)],
    execution: { enabled: true },
  };
  await using test = await startTestGateway(document, { clients: ["agent", "other"], home });
  await run({ test, a, b });
}

/** Every way by which a client reaches a server. Each returns the text of its answer. */
const ways: { readonly [way: string]: (client: Client, tool: string) => Promise<unknown> } = {
  tool: (client, tool) => client.callTool({ name: tool, arguments: {} }),
  call_tool: (client, tool) =>
    client.callTool({ name: "call_tool", arguments: { name: tool, arguments: {} } }),
  Starlark: (client, tool) =>
    client.callTool({ name: "eval_starlark", arguments: { code: `return ${tool.replace("__", ".")}()` } }),
};

const featureWays: { readonly [way: string]: (client: Client) => Promise<unknown> } = {
  resource: (client) => client.readResource({ uri: "note://1" }),
  prompt: (client) => client.getPrompt({ name: "ask" }),
  completion: (client) =>
    client.complete({ ref: { type: "ref/prompt", name: "ask" }, argument: { name: "x", value: "" } }),
  subscription: (client) => client.subscribeResource({ uri: "note://1" }),
};

async function answerOf(calling: Promise<unknown>): Promise<string> {
  return await calling.then(
    (answer) => JSON.stringify(answer),
    (error: Error) => error.message,
  );
}

test("a paused server is not reached in any way, and all others are", () =>
  withServers(async ({ test, a, b }) => {
    const { pauses } = test.gateway;
    const everywhere = await test.connect({ as: "agent" });
    const atA = await test.connect({ as: "agent", server: "a" });
    const { cancelledCalls } = await pauses.pause(
      { kind: "server", name: "a", reason: "key leaked" },
      operator,
    );
    assert.equal(cancelledCalls, 0);
    const expected = /server \\*"a\\*" is paused \(key leaked\)/;
    for (const [way, call] of Object.entries(ways)) {
      assert.match(await answerOf(call(everywhere, "a__read")), expected, way);
      assert.doesNotMatch(await answerOf(call(everywhere, "b__read")), /paused/, way);
    }
    assert.match(await answerOf(atA.callTool({ name: "read" })), expected);
    for (const [way, call] of Object.entries(featureWays))
      assert.match(await answerOf(call(atA)), expected, way);
    const modern = await test.connectModern({ as: "other" });
    assert.match(await answerOf(modern.callTool({ name: "a__read", arguments: {} })), expected);
    const outcome = await test.gateway.call(operator, "a:read", {});
    assert.equal(outcome.kind === "failed" && (outcome.error as { code?: string }).code, "CALL_PAUSED");
    assert.deepEqual(a.received, []);
    assert.deepEqual(b.received, ["read", "read", "read"]);
    // The lists stay: a client that lost tools would plan without them after a short pause.
    assert.ok((await everywhere.listTools()).tools.some(({ name }) => name === "a__read"));

    assert.equal(await pauses.resume({ kind: "server", name: "a" }, operator), true);
    assert.equal(await pauses.resume({ kind: "server", name: "a" }, operator), false);
    for (const call of Object.values(featureWays)) await call(atA);
    assert.equal(textOf(await everywhere.callTool({ name: "a__read" })), "done");
    await test.stop();
    const records = test.audit();
    const paused = dataOf(records, "guard.paused");
    assert.deepEqual(
      paused.map(({ kind, name, reason, by }) => [kind, name, reason, by.name]),
      [["server", "a", "key leaked", "cli"]],
    );
    assert.equal(dataOf(records, "guard.resumed").length, 1);
    assert.deepEqual(
      [...new Set(dataOf(records, "call.denied").map(({ rule, code }) => `${rule} ${code}`))],
      ["pause.server a CALL_PAUSED"],
    );
  }));

interface Case {
  readonly kind: string;
  readonly name: string;
  /** Calls that are refused, of `CLIENT TOOL`. */
  readonly stops: readonly string[];
}

const all = [
  "agent a__read",
  "agent b__read",
  "other a__read",
  "other b__read",
  "cli a__read",
  "cli b__read",
];
const cases: readonly Case[] = [
  { kind: "all", name: "", stops: all },
  { kind: "server", name: "b", stops: all.filter((one) => one.includes(" b__")) },
  { kind: "server", name: "missing", stops: [] },
  { kind: "tool", name: "a:read", stops: all.filter((one) => one.includes(" a__")) },
  { kind: "tool", name: "a__read", stops: all.filter((one) => one.includes(" a__")) },
  { kind: "tool", name: "*:r?ad", stops: all },
  { kind: "tool", name: "read", stops: [] },
  { kind: "client", name: "agent", stops: all.filter((one) => one.startsWith("agent ")) },
  { kind: "client", name: "cli", stops: all.filter((one) => one.startsWith("cli ")) },
];

test("a pause stops exactly what it names", () =>
  withServers(async ({ test }) => {
    for (const { kind, name, stops } of cases) {
      await test.gateway.pauses.pause({ kind, name }, operator);
      const stopped: string[] = [];
      for (const one of all) {
        const [client = "", tool = ""] = one.split(" ");
        const identity = localIdentity(client === "cli" ? "cli" : "token", client);
        const outcome = await test.gateway.call(identity, tool, {});
        if (outcome.kind === "failed") stopped.push(one);
      }
      assert.deepEqual(stopped, stops, `${kind} ${name}`);
      await test.gateway.pauses.resume({ kind, name }, operator);
    }
  }));

test("calls in flight are cancelled at their server, inner calls too", () =>
  withServers(async ({ test, a, b }) => {
    const client = await test.connect({ as: "agent" });
    const answers = [
      client.callTool({ name: "a__wait" }),
      ways["Starlark"]?.(client, "a__wait") ?? assert.fail(),
      client.callTool({ name: "b__wait" }),
    ].map(answerOf);
    await waitUntil(() => a.received.length === 2 && b.received.length === 1);
    const { cancelledCalls } = await test.gateway.pauses.pause({ kind: "tool", name: "a:*" }, operator);
    assert.equal(cancelledCalls, 2);
    for (const answer of [answers[0], answers[1]]) assert.match(String(await answer), /was cancelled: tool/);
    await waitUntil(() => a.cancelled.length === 2);
    assert.deepEqual(b.cancelled, []);
    await test.gateway.pauses.pause({ kind: "all", name: "" }, operator);
    assert.match(String(await answers[2]), /was cancelled: everything is paused/);
    await waitUntil(() => b.cancelled.length === 1);
    await test.stop();
    const ended = callsIn(test.audit()).filter((line) => line.includes("wait"));
    assert.deepEqual(ended.sort(), [
      "a:wait intent, completed cancelled CALL_PAUSED",
      "a:wait intent, completed cancelled CALL_PAUSED",
      "b:wait intent, completed cancelled CALL_PAUSED",
    ]);
  }));

test("pauses outlast the gateway, end at their time, and hold for all gateways of a home", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await withServers(async ({ test }) => {
    await test.gateway.pauses.pause({ kind: "server", name: "a" }, operator);
    await test.gateway.pauses.pause({ kind: "server", name: "b", forMs: 1000 }, operator);
  }, home);
  await withServers(async ({ test: first }) => {
    const read = async (gateway: TestGateway, tool: string) =>
      (await gateway.gateway.call(operator, tool, {})).kind;
    assert.equal(await read(first, "a__read"), "failed");
    await waitUntil(async () => (await read(first, "b__read")) === "result");
    assert.deepEqual(
      first.gateway.status().pauses.map(({ kind, name }) => [kind, name]),
      [["server", "a"]],
    );
    await withServers(async ({ test: second }) => {
      assert.equal(await read(second, "a__read"), "failed");
      await second.gateway.pauses.resume({ kind: "server", name: "a" }, operator);
      await second.gateway.pauses.pause({ kind: "tool", name: "b:read" }, operator);
      await waitUntil(async () => (await read(first, "b__read")) === "failed");
      assert.equal(await read(first, "a__read"), "result");
    }, home);
  }, home);
});

test("pauses without a gateway are written to the home and recorded", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  {
    await using store = createPauseStore(home, { randomBytes });
    await using trail = await openStore({ home }, { now: Date.now });
    const deps = { store, audit: trail.audit, logger: createTestLogger(), now: Date.now, resumeCommand: "" };
    await new Pauses({ ...deps, clientKeys: () => [] }).pause({ kind: "all", name: "" }, operator);
  }
  await withServers(async ({ test }) => {
    const client = await test.connect({ as: "agent" });
    assert.match(
      await answerOf(client.callTool({ name: "search_tools", arguments: { query: "x" } })),
      /paused/,
    );
    assert.equal(dataOf(test.audit(), "guard.paused").length, 1);
  }, home);
});

test("pauses that cannot be read refuse every call, and what they say is never replaced", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const path = join(home, "guards", "pauses.json");
  await withServers(async ({ test, a }) => {
    const client = await test.connect({ as: "agent" });
    await test.gateway.pauses.pause({ kind: "server", name: "missing" }, operator);
    assert.equal(textOf(await client.callTool({ name: "a__read" })), "done");
    writeFileSync(path, "{}");
    await waitUntil(() => test.gateway.status().pausesProblem !== undefined);
    const answer = await client.callTool({ name: "a__read" });
    assert.match(textOf(answer), /what the operator paused cannot be read/);
    assert.equal(a.received.length, 1);
    await assert.rejects(test.gateway.pauses.pause({ kind: "all", name: "" }, operator), {
      code: "STORE_UNREADABLE",
    });
    assert.ok(test.logger.records.some(({ level, message }) => level === "error" && /refused/.test(message)));
    writeFileSync(path, '{"format":1,"records":[]}');
    await waitUntil(async () => (await client.callTool({ name: "a__read" })).isError !== true);
    writeFileSync(path, "{}");
  }, home);
  await withServers(async ({ test }) => {
    const outcome = await test.gateway.call(operator, "a__read", {});
    assert.equal(outcome.kind === "failed" && (outcome.error as { code?: string }).code, "PAUSES_UNREADABLE");
  }, home);
});

test("only the operator pauses over HTTP, and other clients see what concerns them", () =>
  withServers(async ({ test }) => {
    const { origin } = await test.endpoint();
    const { readToken } = await import("@toolcrib/auth");
    const headers = { authorization: `Bearer ${readToken(test.home, "agent")}` };
    for (const path of ["pauses/pause?kind=all", "pauses/resume?kind=all"]) {
      const { status } = await fetch(`${origin}/api/v1/${path}`, { method: "POST", headers });
      assert.equal(status, 403, path);
    }
    assert.equal((await fetch(`${origin}/api/v1/pauses`, { headers })).status, 403);
    await test.gateway.pauses.pause({ kind: "client", name: "other" }, operator);
    await test.gateway.pauses.pause({ kind: "server", name: "a" }, operator);
    const status = await (await fetch(`${origin}/api/v1/status`, { headers })).json();
    assert.deepEqual(
      (status as { pauses: { kind: string }[] }).pauses.map(({ kind }) => kind),
      ["server"],
    );
    const metrics = await (await fetch(`${origin}/metrics`, { headers })).text();
    assert.match(metrics, /toolcrib_paused\{kind="server"\} 1\n/);
    for (const [request, message] of [
      [{ kind: "all", name: "x" }, /all takes no name/],
      [{ kind: "server", name: " " }, /server needs a name/],
      [{ kind: "disk", name: "x" }, /none of server, tool, client, all/],
      [{ kind: "all", name: "", forMs: 1 }, /between a second and a year/],
      [{ kind: "all", name: "", reason: "x".repeat(501) }, /more than 500/],
    ] as const) {
      await assert.rejects(test.gateway.pauses.pause(request, operator), { code: "PAUSE_INVALID", message });
    }
  }));
