/** Limits of calls: they hold on every way to make a call, outlast the gateway, and are shared by the gateways of a home. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, slowTest, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  configOf,
  dataOf,
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const operator = localIdentity("cli", "cli");

async function withServer(
  guards: JsonObject,
  run: (test: TestGateway, received: readonly string[], document: JsonObject) => Promise<void>,
  more: { readonly home?: string; readonly declaration?: JsonObject } = {},
): Promise<void> {
  const received: string[] = [];
  await using server = await startScriptedServer({
    tools: () => [toolNamed("read"), toolNamed("pay"), toolNamed("large")],
    resources: () => [{ uri: "note://1", name: "note" }],
    call(_request, name) {
      received.push(name);
      return { content: [{ type: "text", text: name === "large" ? "x".repeat(2000) : "done" }] };
    },
    other: ({ method }) =>
      method === "resources/read" ? { contents: [{ uri: "note://1", text: "read" }] } : undefined,
  });
  const document = {
    tool_servers: [onHttp("s", server.url, more.declaration)],
    execution: { enabled: true },
    guards,
  };
  await using test = await startTestGateway(document, { clients: ["agent", "other"], home: more.home });
  await run(test, received, document);
}

/** Returns "ok", or the code of the refusal. */
async function callAs(test: TestGateway, client: string, tool: string): Promise<string> {
  const identity = localIdentity(client === "cli" ? "cli" : "token", client);
  const outcome = await test.gateway.call(identity, tool, {});
  return outcome.kind === "failed" ? String((outcome.error as { readonly code?: string }).code) : "ok";
}

test("the operator asks whether a limit would refuse a call, and nothing is kept of the question", () =>
  withServer(
    { limits: [{ name: "daily", tools: ["s:read"], budget: { calls: 1 }, every: "day" }] },
    async (test) => {
      const { gateway } = test;
      const ask = (target: string, name: string) =>
        gateway.policySituation({ target, identity: localIdentity("token", name) });
      const usage = () => gateway.status().limits.map(({ refused, top }) => [refused, top.length]);
      assert.equal("limit" in gateway.policySituation(), false, "without a question there is no answer");
      assert.equal("limit" in ask("s:gone", "agent"), false, "nothing is said about what does not exist");
      for (const name of ["nobody", "no-one", "agent"]) assert.equal(ask("s:read", name).limit, null);
      assert.deepEqual(usage(), [[0, 0]]);
      assert.equal(await callAs(test, "agent", "s:read"), "ok");
      const { limit } = ask("s:read", "agent");
      assert.deepEqual([limit?.code, limit?.rule], ["BUDGET_EXCEEDED", "limit.daily"]);
      assert.match(limit?.message ?? "", /^"s__read" was not called \(limit "daily"\)/);
      assert.deepEqual([ask("s:read", "other").limit, ask("s:pay", "agent").limit], [null, null]);
      assert.deepEqual(usage(), [[0, 1]]);
      assert.equal(await callAs(test, "other", "s:read"), "ok");
    },
  ));

test("no limit is reported for a tool of the gateway where it names no tools", () =>
  withServer({ limits: [{ name: "all", budget: { calls: 1 }, every: "day" }] }, async (test) => {
    const identity = localIdentity("token", "agent");
    assert.equal(await callAs(test, "agent", "s:read"), "ok");
    const limitOf = (target: string) => test.gateway.policySituation({ target, identity }).limit;
    assert.equal(limitOf("s:pay")?.rule, "limit.all");
    assert.equal(limitOf("toolcrib:search_tools"), null);
  }));

test("calls of one client are counted together, however they are made", () =>
  withServer({ limits: [{ name: "few", rate: "5/hour" }] }, async (test, received) => {
    const client = await test.connect({ as: "agent" });
    const modern = await test.connectModern({ as: "agent" });
    const atServer = await test.connect({ as: "agent", server: "s" });
    await client.callTool({ name: "s__read" });
    await modern.callTool({ name: "s__read", arguments: {} });
    await atServer.callTool({ name: "read" });
    await client.callTool({ name: "call_tool", arguments: { name: "s__read", arguments: {} } });
    await client.callTool({ name: "eval_starlark", arguments: { code: "return s.read()" } });
    const refusals = await Promise.all([
      client.callTool({ name: "s__read" }),
      modern.callTool({ name: "s__read", arguments: {} }),
      atServer.callTool({ name: "read" }),
      client.callTool({ name: "call_tool", arguments: { name: "s__read", arguments: {} } }),
      client.callTool({ name: "eval_starlark", arguments: { code: "return s.read()" } }),
    ]);
    for (const refusal of refusals) {
      assert.match(textOf(refusal), /\(limit \\?"few\\?"\): at most 5 calls an hour are allowed/);
    }
    assert.match(textOf(refusals[0]), /possible again in 1[23] min, at 20/);
    await assert.rejects(client.readResource({ uri: "note://1" }), /limit "few"/);
    assert.equal(await callAs(test, "agent", "s:read"), "RATE_LIMITED");
    assert.equal(await callAs(test, "other", "s:read"), "ok");
    assert.equal(received.length, 6);
    const [usage] = test.gateway.status().limits;
    assert.deepEqual([usage?.name, usage?.refused, usage?.top[0]?.of], ["few", 7, "agent"]);
    const { origin } = await test.endpoint();
    const { readToken } = await import("@toolcrib/auth");
    const headers = { authorization: `Bearer ${readToken(test.home, "agent")}` };
    const metrics = await (await fetch(`${origin}/metrics`, { headers })).text();
    assert.match(metrics, /toolcrib_limit_refused_total\{limit="few"\} 7\n/);
    // A client does not learn what others used.
    const status = await (await fetch(`${origin}/api/v1/status`, { headers })).json();
    assert.deepEqual((status as { limits: { top: unknown[] }[] }).limits[0]?.top, []);
    await test.stop();
    const denied = dataOf(test.audit(), "call.denied");
    assert.deepEqual(
      [...new Set(denied.map(({ rule, code }) => `${rule} ${code}`))],
      ["limit.few RATE_LIMITED"],
    );
  }));

test("a call that waits for its approval counts once it is made", () =>
  withServer(
    { limits: [{ name: "one", budget: { calls: 1 }, every: "day" }] },
    async (test, received) => {
      assert.deepEqual(
        [await callAs(test, "agent", "s:read"), await callAs(test, "agent", "s:read")],
        ["APPROVAL_REQUIRED", "APPROVAL_REQUIRED"],
      );
      const [call] = (await test.gateway.approvals.waiting()).calls;
      await test.gateway.approvals.decideCall(call?.id ?? "", "approved", operator);
      assert.deepEqual(
        [await callAs(test, "agent", "s:read"), await callAs(test, "agent", "s:read")],
        ["ok", "BUDGET_EXCEEDED"],
      );
      assert.deepEqual(received, ["read"]);
    },
    { declaration: { trust_state: "unverified", first_contact: "pin" } },
  ));

test("a call that a limit refuses does not use its approval up", () =>
  withServer(
    { limits: [{ name: "one", budget: { calls: 1 }, every: "day" }] },
    async (test, received, { guards: _guards, ...unlimited }) => {
      const { gateway } = test;
      const tools = ["s:read", "s:pay"];
      const callBoth = () => Promise.all(tools.map((tool) => callAs(test, "agent", tool)));
      assert.deepEqual(await callBoth(), ["APPROVAL_REQUIRED", "APPROVAL_REQUIRED"]);
      const waiting = (await gateway.approvals.waiting()).calls;
      for (const { id } of waiting) await gateway.approvals.decideCall(id, "approved", operator);
      // Neither is over the limit when it is checked, and the first that is counted uses the budget up.
      assert.deepEqual((await callBoth()).toSorted(), ["BUDGET_EXCEEDED", "ok"]);
      const [made] = received;
      const file = readFileSync(join(test.home, "approvals", "calls.json"), "utf8");
      const { records } = JSON.parse(file) as { records: { tool: string; state: string }[] };
      const kept = made === "read" ? "s:pay" : "s:read";
      const states = Object.fromEntries(records.map(({ tool, state }) => [tool, state]));
      assert.deepEqual(states, { [`s:${made}`]: "used", [kept]: "approved" });
      // Without the limit, it is good for one call.
      const next = configOf({ ...unlimited, serve: { listen: "127.0.0.1:0", auth: "token" } });
      assert.deepEqual((await gateway.applyConfig(next, ["toolcrib.json"])).applied, ["guards"]);
      assert.deepEqual(
        [await callAs(test, "agent", kept), await callAs(test, "agent", kept)],
        ["ok", "APPROVAL_REQUIRED"],
      );
      await test.stop();
      const refused = dataOf(test.audit(), "call.denied").find(({ code }) => code === "BUDGET_EXCEEDED");
      const approval = waiting.find(({ tool }) => tool === kept)?.id;
      assert.deepEqual(
        [refused?.tool, refused?.approval, refused?.isApprovalReturned],
        [kept, approval, true],
      );
    },
    { declaration: { trust_state: "unverified", first_contact: "pin" } },
  ));

test("budgets of bytes and cost refuse the call after the one that used them up", () =>
  withServer(
    {
      limits: [
        { name: "size", tools: ["s:large"], per: "all", budget: { bytes: "3KB" }, every: "day" },
        { name: "money", tools: ["s:pay"], per: "all", budget: { cost: 2.5 }, every: "day" },
        { name: "never", tools: ["s:read"], windows: [{ days: ["mon"], from: "00:00", to: "00:01" }] },
      ],
      costs: { "s:pay": 1.25 },
    },
    async (test) => {
      const three = async (tool: string) => [
        await callAs(test, "agent", tool),
        await callAs(test, "cli", tool),
        await callAs(test, "agent", tool),
      ];
      assert.deepEqual(await three("s:large"), ["ok", "ok", "BUDGET_EXCEEDED"]);
      assert.deepEqual(await three("s:pay"), ["ok", "ok", "BUDGET_EXCEEDED"]);
      assert.equal(await callAs(test, "agent", "s:read"), "OUTSIDE_WINDOW");
    },
  ));

test(
  "budgets outlast the gateway and are shared; a file that cannot be read refuses calls",
  slowTest,
  async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const guards = { limits: [{ name: "day", tools: ["s:*"], budget: { calls: 100 }, every: "day" }] };
    const used = (test: TestGateway) => test.gateway.status().limits[0]?.top[0]?.used?.calls;
    await withServer(
      guards,
      async (first) => {
        for (let count = 0; count < 3; count += 1) assert.equal(await callAs(first, "agent", "s:read"), "ok");
        const path = join(home, "guards", "budgets.json");
        await waitUntil(() => /"calls":3/.test(tryRead(path)));
        await withServer(
          guards,
          async (second) => {
            // What the first may use until its next exchange counts here.
            assert.ok(Number(used(second)) >= 3);
            assert.equal(await callAs(second, "agent", "s:read"), "ok");
            await waitUntil(() => /"calls":4/.test(tryRead(path)));
            await callAs(first, "agent", "s:read");
            await waitUntil(() => Number(used(first)) >= 5);
          },
          { home },
        );
      },
      { home },
    );
    await withServer(guards, async (test) => assert.equal(used(test), 5), { home });
    mkdirSync(join(home, "guards"), { recursive: true });
    writeFileSync(join(home, "guards", "budgets.json"), "{}");
    await withServer(
      guards,
      async (test, received) => {
        assert.equal(await callAs(test, "agent", "s:read"), "BUDGETS_UNREADABLE");
        assert.deepEqual(received, []);
        assert.equal(readFileSync(join(home, "guards", "budgets.json"), "utf8"), "{}");
        // Without a restart, the gateway reads the file again after its repair.
        rmSync(join(home, "guards", "budgets.json"));
        await waitUntil(async () => (await callAs(test, "agent", "s:read")) === "ok");
      },
      { home },
    );
  },
);

function tryRead(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
