/** Another configuration in a running gateway: what holds for calls, clients, approvals and pins before and after it. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  configOf,
  dataOf,
  onHttp,
  type ScriptedServer,
  somebody,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const serve = { listen: "127.0.0.1:0", auth: "none" };

/** Applies a configuration. @returns the changed paths */
async function apply(test: TestGateway, document: JsonObject): Promise<readonly string[]> {
  const own = (document["serve"] ?? {}) as JsonObject;
  const config = configOf({ ...document, serve: { ...serve, ...own } });
  const { applied, error } = await test.gateway.applyConfig(config, ["toolcrib.json"]);
  assert.equal(error, undefined);
  return applied;
}

/** A server whose tool answers with `text` and keeps the last `_meta`; calls of `hold` end when the test says so. */
async function startTextServer(text: string, description = "a tool") {
  const held: (() => void)[] = [];
  const server = await startScriptedServer({
    tools: () => [toolNamed("say", { description }), toolNamed("hold", { description })],
    async call(_request, name) {
      if (name === "hold") await new Promise<void>((resolve) => held.push(resolve));
      return { content: [{ type: "text", text }] };
    },
  });
  return Object.assign(server, { held });
}

async function called(test: TestGateway, name: string, identity = somebody): Promise<string> {
  const outcome = await test.gateway.call(identity, name, {});
  if (outcome.kind === "result") return textOf(outcome.result);
  if (outcome.kind === "denied") return `denied ${outcome.rule}`;
  return `failed ${(outcome.error as { readonly code?: string }).code}`;
}

test("policy, limits, changes of tools and lists apply without touching servers", async () => {
  await using server = await startTextServer("hello");
  const tool_servers = [onHttp("s", server.url, { trust_state: "certified" })];
  await using gateway = await startTestGateway({ tool_servers });
  const connections = () =>
    gateway.gateway.status().servers.map(({ restarts, health }) => [restarts, health.state]);
  const client = await gateway.connect();
  assert.equal(await called(gateway, "s:say"), "hello");

  assert.deepEqual(await apply(gateway, { tool_servers, policy: { deny: ["s:say"] } }), ["policy.deny"]);
  assert.equal(await called(gateway, "s:say"), "denied policy.deny[0]");
  assert.deepEqual(await apply(gateway, { tool_servers, tools: { "s:say": { name: "speak" } } }), [
    "policy.deny",
    "tools",
  ]);
  const names = async () =>
    (await client.listTools()).tools.map(({ name }) => name).filter((one) => one.startsWith("s_"));
  assert.deepEqual(await names(), ["s__speak", "s__hold"]);
  assert.equal(await called(gateway, "s__speak"), "hello");
  const guards = { limits: [{ name: "few", tools: ["s:*"], rate: "1/hour" }] };
  assert.deepEqual(await apply(gateway, { tool_servers, guards }), ["guards", "tools"]);
  assert.deepEqual(await names(), ["s__say", "s__hold"]);
  assert.deepEqual(
    [await called(gateway, "s:say"), await called(gateway, "s:say")],
    ["hello", "failed RATE_LIMITED"],
  );
  // What was used of a limit does not begin anew with a change of something else, and not with one of another limit.
  const other = { name: "other", tools: ["s:hold"], rate: "5/minute" };
  for (const limits of [[other, ...guards.limits], guards.limits]) {
    await apply(gateway, { tool_servers, guards: { limits } });
    assert.equal(await called(gateway, "s:say"), "failed RATE_LIMITED");
  }
  await apply(gateway, { tool_servers, guards, serve: { mode: "search" } });
  assert.equal(await called(gateway, "s:say"), "failed RATE_LIMITED");
  assert.deepEqual(await names(), []);
  await apply(gateway, { tool_servers });
  assert.equal(await called(gateway, "s:say"), "hello");
  assert.deepEqual(connections(), [[0, "ready"]]);
  await gateway.stop();
  const changes = dataOf(gateway.audit(), "config.changed");
  assert.deepEqual(
    changes.map(({ changed }) => changed),
    [
      undefined,
      ["policy.deny"],
      ["policy.deny", "tools"],
      ["guards", "tools"],
      ["guards"],
      ["guards"],
      ["serve.mode"],
      ["guards", "serve.mode"],
    ],
  );
  for (const [at, { previousDigest }] of changes.entries())
    assert.equal(previousDigest, changes[at - 1]?.digest);
});

test("what was used of a budget counts after a change of the limits", async () => {
  await using server = await startTextServer("hello");
  const tool_servers = [onHttp("s", server.url, { trust_state: "certified" })];
  const few = { name: "few", tools: ["s:*"], budget: { calls: 2 }, every: "day" };
  const other = (count: number) => ({ name: "other", tools: ["s:hold"], rate: `${count}/minute` });
  await using gateway = await startTestGateway({ tool_servers, guards: { limits: [few, other(1)] } });
  // Budgets are stored once a second: what was used since then must not be free.
  for (let count = 2; count < 4; count += 1) {
    assert.equal(await called(gateway, "s__say"), "hello");
    await apply(gateway, { tool_servers, guards: { limits: [few, other(count)] } });
  }
  assert.equal(await called(gateway, "s__say"), "failed BUDGET_EXCEEDED");
});

test("a client is notified once of a change of several servers, and not of one that it does not see", async () => {
  await using one = await startTextServer("1");
  await using two = await startTextServer("2");
  const declared = (id: string, server: ScriptedServer, more: JsonObject = {}) =>
    onHttp(id, server.url, { trust_state: "certified", ...more });
  const policy = { clients: { blind: { allow: ["a:*"] } } };
  await using gateway = await startTestGateway(
    { tool_servers: [declared("a", one), declared("b", two)], policy, serve: { auth: "token" } },
    { clients: ["seeing", "blind"] },
  );
  const counts: { [name: string]: number } = { seeing: 0, blind: 0 };
  for (const as of ["seeing", "blind"]) {
    const client = await gateway.connect({ as });
    await client.listTools();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      counts[as] = (counts[as] ?? 0) + 1;
    });
  }
  const others = [declared("a", one), declared("c", two), declared("d", one), declared("e", two)];
  const applied = await apply(gateway, { tool_servers: others, policy, serve: { auth: "token" } });
  assert.deepEqual(applied, ["tool_servers.b", "tool_servers.c", "tool_servers.d", "tool_servers.e"]);
  await waitUntil(() => counts["seeing"] === 1);
  // Declared in another order, and with facts that no list shows.
  const labelled = others
    .toReversed()
    .map((server) => ({ ...(server as JsonObject), labels: { team: "x" } }));
  await apply(gateway, { tool_servers: labelled, policy, serve: { auth: "token" } });
  await waitUntil(() => counts["seeing"] === 2);
  await gateway.gateway.prepared();
  assert.deepEqual(counts, { seeing: 2, blind: 0 });
});

test("calls in flight of a server that leaves end with their results, and later ones are refused", async () => {
  await using server = await startTextServer("late");
  await using other = await startTextServer("other");
  const tool_servers = [onHttp("s", server.url, { trust_state: "certified" })];
  await using gateway = await startTestGateway({ tool_servers });
  const call = called(gateway, "s:hold");
  await waitUntil(() => server.held.length === 1);
  await apply(gateway, { tool_servers: [onHttp("s", other.url, { trust_state: "certified" })] });
  await waitUntil(async () => (await called(gateway, "s:say")) === "other");
  server.held[0]?.();
  assert.equal(await call, "late");
  await apply(gateway, { tool_servers: [] });
  assert.equal(await called(gateway, "s:say"), "failed TOOL_NOT_FOUND");
});

test("what is read at the start only is reported and the rest applies, and a refused change changes nothing", async () => {
  await using server = await startTextServer("hello");
  const tool_servers = [onHttp("s", server.url, { trust_state: "certified" })];
  await using gateway = await startTestGateway({ tool_servers });
  const before = gateway.gateway.status().configuration;
  const next = configOf({
    tool_servers,
    policy: { deny: ["s:say"] },
    audit: { retention_days: 3 },
    serve: { ...serve, listen: "127.0.0.1:1" },
  });
  const outcome = await gateway.gateway.applyConfig(next, ["toolcrib.json"]);
  assert.deepEqual([outcome.applied, outcome.needsRestart], [["policy.deny"], ["audit", "serve.listen"]]);
  assert.deepEqual(gateway.gateway.status().configuration?.pendingRestart, ["audit", "serve.listen"]);
  const again = await gateway.gateway.applyConfig(next, ["toolcrib.json"]);
  assert.deepEqual([again.applied, again.needsRestart], [[], ["audit", "serve.listen"]]);
  const refused = gateway.gateway.refuseConfig("toolcrib.json:1:1: error");
  assert.equal(refused.digest, outcome.digest);
  assert.notEqual(refused.digest, before?.digest);
  assert.equal(gateway.gateway.status().configuration?.lastError?.message, "toolcrib.json:1:1: error");
  assert.equal(await called(gateway, "s:say"), "denied policy.deny[0]");
  await gateway.stop();
  const [rejected] = dataOf(gateway.audit(), "config.rejected");
  assert.deepEqual(rejected, {
    files: ["toolcrib.json"],
    digest: outcome.digest,
    problem: "toolcrib.json:1:1: error",
  });
  assert.deepEqual(dataOf(gateway.audit(), "config.changed").at(-1)?.needsRestart, ["audit", "serve.listen"]);
});

test("a server that comes back waits for approval as after a start: pins that are damaged or gone count", async () => {
  await using server = await startTextServer("hello");
  const asks = [onHttp("s", server.url, { trust_state: "verified", first_contact: "pin" })];
  await using gateway = await startTestGateway({ tool_servers: asks });
  assert.equal(await called(gateway, "s:say"), "hello");
  const folder = join(gateway.home, "pins");
  await waitUntil(() => existsSync(folder) && readdirSync(folder).length > 0);
  await apply(gateway, { tool_servers: [] });
  for (const name of readdirSync(folder)) {
    if (name.endsWith(".json")) writeFileSync(join(folder, name), "damaged", { mode: 0o600 });
  }
  await apply(gateway, { tool_servers: asks });
  await waitUntil(() => gateway.gateway.status().servers[0]?.health.state === "ready");
  assert.match(await called(gateway, "s:say"), /^failed TOOL_(?:UNAVAILABLE|NOT_FOUND|NOT_APPROVED)$/);
  assert.equal(gateway.gateway.status().servers[0]?.tools, 0);
});

test("the rules of first contact apply to what is listed already, and approvals of calls end with the policy", async () => {
  await using server = await startTextServer("hello");
  const declared = (more: JsonObject) => [onHttp("s", server.url, { trust_state: "verified", ...more })];
  await using gateway = await startTestGateway({ tool_servers: declared({}) });
  assert.equal(await called(gateway, "s:say"), "hello");
  assert.deepEqual(await apply(gateway, { tool_servers: declared({ first_contact: "ask" }) }), [
    "tool_servers.s",
  ]);
  assert.equal(gateway.gateway.status().servers[0]?.waitingTools, 2);
  assert.notEqual(await called(gateway, "s:say"), "hello");

  await apply(gateway, { tool_servers: declared({ trust_state: "unverified", first_contact: "pin" }) });
  assert.equal(await called(gateway, "s:say", localIdentity("token", "agent")), "failed APPROVAL_REQUIRED");
  const { calls } = await gateway.gateway.approvals.waiting();
  assert.equal(calls.length, 1);
  await apply(gateway, {
    tool_servers: declared({ trust_state: "unverified", first_contact: "pin" }),
    policy: { deny: ["s:other"] },
  });
  const outdated = await gateway.gateway.approvals.waiting();
  assert.match(JSON.stringify(outdated.calls), /the policy changed after it was requested/);
  assert.equal(gateway.gateway.status().servers[0]?.restarts, 0);
});
