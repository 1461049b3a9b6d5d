/** Approvals of chains and of programs with several calls: what is asked, what an approval is for, and that no call is made twice. */

import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { configOf, dataOf, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";
import {
  type LoopbackServer,
  type PackageContent,
  putPackages,
  startLoopbackServer,
} from "./package-harness.ts";

const operator = localIdentity("cli", "cli");

function tool(toolId: string, more: JsonObject = {}): PackageContent {
  const manifest = {
    toolId,
    name: toolId,
    version: "1.0.0",
    description: `The tool ${toolId}.`,
    capabilities: [],
    endpoint: { type: "http", method: "POST", url: `https://example.com/${toolId}` },
    input_schema: { type: "object" },
    output_schema: {},
    ...more,
  };
  return { manifest };
}

function chain(
  toolId: string,
  steps: readonly (readonly [tool: string, mapping: JsonObject])[],
): PackageContent {
  const { endpoint: _endpoint, ...manifest } = tool(toolId).manifest;
  return {
    manifest: {
      ...manifest,
      chain: steps.map(([called, inputMapping], at) => ({
        step: `step${at}`,
        tool: called,
        inputMapping,
        outputKey: `out${at}`,
      })),
    } as PackageContent["manifest"],
  };
}

const make = "test.apr.make";
const send = "test.apr.send";
const flow = "test.apr.flow";
const known = "test.apr.known";
const packages = [
  tool(make),
  tool(send),
  chain(flow, [
    [make, { name: "$.input.name" }],
    [send, { to: "$.out0.id", text: "fixed" }],
  ]),
  chain(known, [
    [make, { name: "$.input.name" }],
    [send, { to: "$.input.name" }],
  ]),
  chain("test.apr.outer", [
    [make, { name: "outer" }],
    [flow, { name: "$.input.name" }],
  ]),
];

interface Setting {
  readonly gateway: TestGateway;
  /** The configuration without `more`. */
  readonly document: JsonObject;
  /** Calls that were made: the last part of the toolId, and the arguments. */
  readonly made: () => readonly string[];
  /** Calls a tool as a client. */
  readonly call: (
    name: string,
    args: JsonObject,
    as?: string,
  ) => Promise<{ readonly text: string; readonly isError: boolean; readonly code: unknown }>;
  /** Approves the call that a text names. */
  readonly approve: (text: string) => Promise<void>;
}

async function withPackages(
  run: (setting: Setting) => Promise<void>,
  settings: { readonly [toolId: string]: JsonObject } = {},
  more: JsonObject = {},
  files: { readonly [path: string]: string } = {},
): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  let count = 0;
  await using server: LoopbackServer = await startLoopbackServer(() => {
    count += 1;
    return { body: JSON.stringify({ id: `made-${count}` }) };
  });
  const home = join(directory.path, "home");
  putPackages(home, packages);
  const urls = [make, send].map((toolId) => [
    toolId,
    { endpoint: { url: `${server.url}/${toolId.slice(9)}` }, ...settings[toolId] },
  ]);
  const document = { packages: { ...settings, ...Object.fromEntries(urls) } };
  await using gateway = await startTestGateway(
    { ...document, ...more },
    { home, clients: ["agent", "other"], files },
  );
  await gateway.gateway.prepared();
  const clients = new Map([
    ["agent", await gateway.connect({ as: "agent" })],
    ["other", await gateway.connect({ as: "other" })],
  ]);
  await run({
    gateway,
    document,
    made: () => server.requests.map(({ url, body }) => `${url.slice(1)} ${body}`),
    async call(name, args, as = "agent") {
      const result = await clients.get(as)?.callTool({ name, arguments: args });
      const code = result?._meta?.["toolcrib/code"];
      return { text: textOf(result), isError: result?.isError === true, code };
    },
    async approve(text) {
      assert.ok(await gateway.gateway.approvals.decideCall(idOf(text), "approved", operator));
    },
  });
}

const idOf = (text: string) => /call:[0-9a-f]{16}/.exec(text)?.[0] ?? assert.fail(text);

test("one approval shows a chain with its steps and is for those whose arguments are known; a later step is asked once, and no step is repeated", () =>
  withPackages(async ({ gateway, made, call, approve }) => {
    const first = await call(flow, { name: "a" });
    assert.match(
      first.text,
      /"test\.apr\.flow" was not called: .*it calls other such tools: "test\.apr\.make", "test\.apr\.send"/,
    );
    const shown = await gateway.gateway.approvals.call(idOf(first.text));
    assert.deepEqual(shown?.steps, [
      { step: "step0", tool: "test.apr.make:make", approval: "this", arguments: { name: "a" } },
      {
        step: "step1",
        tool: "test.apr.send:send",
        approval: "later",
        mapping: { to: "$.out0.id", text: "fixed" },
      },
    ]);
    await approve(first.text);
    const second = await call(flow, { name: "a" });
    assert.match(second.text, /failed at step "step1".*toolcrib approve call:/s);
    assert.match(second.text, /repeat this call with the same arguments within an hour: it continues/);
    assert.notEqual(idOf(second.text), idOf(first.text));
    assert.deepEqual(made(), ['make {"name":"a"}']);
    // Without the approval nothing changes, however often it is repeated.
    assert.equal(idOf((await call(flow, { name: "a" })).text), idOf(second.text));
    assert.deepEqual((await gateway.gateway.approvals.waiting()).calls[0]?.arguments, {
      to: "made-1",
      text: "fixed",
    });
    await approve(second.text);
    const third = await call(flow, { name: "a" });
    assert.equal(third.isError, false, third.text);
    assert.deepEqual(made(), ['make {"name":"a"}', 'send {"to":"made-1","text":"fixed"}']);
    // The approval is used up.
    assert.equal(idOf((await call(flow, { name: "a" })).text), idOf(first.text));
    assert.equal(made().length, 2);
    await gateway.stop();
    const intents = dataOf(gateway.audit(), "call.intent").filter(
      ({ tool: called }) => called !== `${flow}:flow`,
    );
    assert.deepEqual(
      intents.map(({ tool: called, approval, isRepeated }) => [called, approval, isRepeated]),
      [
        ["test.apr.make:make", idOf(first.text), undefined],
        ["test.apr.make:make", undefined, true],
        ["test.apr.make:make", undefined, true],
        ["test.apr.send:send", idOf(second.text), undefined],
      ],
    );
  }));

test("a chain whose arguments are all known needs one approval, which is for no other call", () =>
  withPackages(async ({ made, call, approve }) => {
    const first = await call(known, { name: "b" });
    await approve(first.text);
    assert.equal((await call(known, { name: "c" })).isError, true);
    assert.equal((await call(known, { name: "b" }, "other")).isError, true);
    assert.equal((await call(make, { name: "b" })).isError, true);
    assert.deepEqual(made(), []);
    const second = await call(known, { name: "b" });
    assert.equal(second.isError, false, second.text);
    assert.deepEqual(made(), ['make {"name":"b"}', 'send {"to":"b"}']);
    assert.equal((await call(known, { name: "b" })).isError, true);
    assert.equal(made().length, 2);
  }));

test("a chain that needs no approval itself asks for its steps before the first one", () =>
  withPackages(
    async ({ made, call, approve }) => {
      const first = await call(flow, { name: "d" });
      assert.match(
        first.text,
        /"test\.apr\.flow" was not called: .*because it calls tools of unverified sources: "test\.apr\.send"/,
      );
      assert.match(first.text, /policy\.waive_approval: \["test\.apr\.send"\]/);
      // That would not end the approvals of the sources that it calls.
      assert.doesNotMatch(first.text, /mutability_class/);
      assert.deepEqual(made(), []);
      await approve(first.text);
      const second = await call(flow, { name: "d" });
      await approve(second.text);
      assert.equal((await call(flow, { name: "d" })).isError, false);
      assert.deepEqual(made(), ['make {"name":"d"}', 'send {"to":"made-1","text":"fixed"}']);
    },
    { [flow]: { trust_state: "verified" }, [make]: { trust_state: "verified" } },
  ));

test("a step whose approval a policy file waives is shown as one that needs none", () => {
  const text = `permit(principal, action in Action::"use", resource);
@approval("waived") permit(principal, action == Action::"call", resource == Tool::"test.apr.make:make");`;
  return withPackages(
    async ({ gateway, made, call, approve }) => {
      const first = await call(known, { name: "d" });
      assert.match(first.text, /it calls other such tools: "test\.apr\.send"\n/);
      const shown = await gateway.gateway.approvals.call(idOf(first.text));
      assert.deepEqual(
        shown?.steps?.map(({ approval }) => approval),
        ["none", "this"],
      );
      await approve(first.text);
      assert.equal((await call(known, { name: "d" })).isError, false);
      assert.deepEqual(made(), ['make {"name":"d"}', 'send {"to":"d"}']);
    },
    {},
    { policy: { files: ["main.cedar"] } },
    { "main.cedar": text },
  );
});

test("a step is shown, approved and made with the arguments that the operator sets", () => {
  const set = { arguments: { owner: { fixed: "acme" } } };
  return withPackages(
    async ({ gateway, made, call, approve }) => {
      const first = await call(flow, { name: "d" });
      const shown = await gateway.gateway.approvals.call(idOf(first.text));
      assert.deepEqual(
        shown?.steps?.map(({ approval, arguments: args, mapping }) => [approval, args ?? mapping]),
        [
          ["this", { name: "d", owner: "acme" }],
          ["later", { to: "$.out0.id", text: "fixed" }],
        ],
      );
      await approve(first.text);
      await approve((await call(flow, { name: "d" })).text);
      assert.equal((await call(flow, { name: "d" })).isError, false);
      assert.deepEqual(made(), [
        'make {"name":"d","owner":"acme"}',
        'send {"to":"made-1","text":"fixed","owner":"acme"}',
      ]);
    },
    {},
    { tools: { "test.apr.make:make": set, "test.apr.send:send": set } },
  );
});

test("a form shows one call, and no chain", () =>
  withPackages(
    async ({ gateway, made }) => {
      const client = await gateway.connect({ as: "agent", capabilities: { elicitation: {} } });
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, () => {
        asked += 1;
        return { action: "accept", content: { approve: true } };
      });
      const answer = await client.callTool({ name: known, arguments: { name: "d" } });
      assert.match(textOf(answer), /toolcrib approve call:/);
      assert.deepEqual([asked, made()], [0, []]);
      assert.equal((await client.callTool({ name: make, arguments: {} })).isError, undefined);
      assert.equal(asked, 1);
    },
    {},
    { policy: { clients: { agent: { approvals: { elicitation: true } } } } },
  ));

test("only the client that began a chain continues it, once, and with the same arguments", () =>
  withPackages(async ({ made, call, approve }) => {
    await approve((await call(flow, { name: "e" })).text);
    const waiting = await call(flow, { name: "e" });
    assert.equal(made().length, 1);
    const ofOther = await call(flow, { name: "e" }, "other");
    assert.match(ofOther.text, /"test\.apr\.flow" was not called/);
    assert.match((await call(flow, { name: "f" })).text, /"test\.apr\.flow" was not called/);
    await approve(waiting.text);
    const both = await Promise.all([call(flow, { name: "e" }), call(flow, { name: "e" })]);
    assert.equal(both.filter(({ isError }) => isError).length, 1, JSON.stringify(both));
    assert.match(both.find(({ isError }) => isError)?.text ?? "", /"test\.apr\.flow" was not called/);
    assert.deepEqual(made(), ['make {"name":"e"}', 'send {"to":"made-1","text":"fixed"}']);
  }));

test("a chain that a limit stops after its approval keeps what it made, and continues without repeating it", () => {
  const limits = [{ name: "flows", tools: ["test.apr.flow:*"], budget: { calls: 1 }, every: "day" }];
  return withPackages(
    async ({ gateway, document, made, call, approve }) => {
      await approve((await call(flow, { name: "g" })).text);
      const waiting = await call(flow, { name: "g" });
      assert.deepEqual(made(), ['make {"name":"g"}']);
      await approve(waiting.text);
      const refused = await call(flow, { name: "g" });
      assert.match(refused.text, /limit "flows"/);
      const serve = { listen: "127.0.0.1:0", auth: "token" };
      const { applied } = await gateway.gateway.applyConfig(configOf({ ...document, serve }), [
        "toolcrib.json",
      ]);
      assert.deepEqual(applied, ["guards"]);
      const again = await call(flow, { name: "g" });
      if (again.isError) {
        await approve(again.text);
        assert.equal((await call(flow, { name: "g" })).isError, false);
      }
      assert.deepEqual(made(), ['make {"name":"g"}', 'send {"to":"made-1","text":"fixed"}']);
    },
    {},
    { guards: { limits } },
  );
});

test("the record of a step that a limit refuses does not say that the approval of its chain is valid again", async () => {
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The step is not over the limit when it is checked; while its hook runs, another call uses the budget up.
  await using server = await startLoopbackServer(async ({ body }) => {
    if (body.includes('"k"')) {
      begun.resolve();
      await go.promise;
    }
    return { body: JSON.stringify({ decision: "allow" }) };
  });
  const hook = { name: "slow", url: server.url, tools: [`${send}:*`] };
  const limits = [{ name: "sends", tools: [`${send}:*`], budget: { calls: 1 }, every: "day" }];
  await withPackages(
    async ({ gateway, made, call, approve }) => {
      await approve((await call(send, { to: "other" })).text);
      await approve((await call(known, { name: "k" })).text);
      const waiting = call(known, { name: "k" });
      await begun.promise;
      assert.equal((await call(send, { to: "other" })).isError, false);
      go.resolve();
      assert.match((await waiting).text, /limit "sends"/);
      assert.deepEqual(made(), ['make {"name":"k"}', 'send {"to":"other"}']);
      assert.match((await call(known, { name: "k" })).text, /"test\.apr\.known" was not called/);
      await gateway.stop();
      const refused = dataOf(gateway.audit(), "call.denied").find(({ code }) => code === "BUDGET_EXCEEDED");
      assert.equal(refused?.tool, `${send}:send`);
      assert.deepEqual([refused?.approval, refused?.isApprovalReturned], [undefined, undefined]);
    },
    {},
    { guards: { limits }, hooks: { before_call: [hook] } },
  );
});

test("a chain that cannot be recorded after its approval keeps what it made, and continues without repeating it", () =>
  withPackages(async ({ gateway, made, call, approve }) => {
    await approve((await call(flow, { name: "h" })).text);
    const waiting = await call(flow, { name: "h" });
    assert.deepEqual(made(), ['make {"name":"h"}']);
    await approve(waiting.text);
    // A file at the path of the audit folder fails like a missing disk. The store checks for its segment every second.
    const folder = join(gateway.home, "audit");
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, "");
    const search = () => call("search_tools", { query: "flow" }, "other");
    await waitUntil(async () => (await search()).isError, { intervalMs: 100 });
    const refused = await call(flow, { name: "h" });
    assert.equal(refused.code, "AUDIT_UNAVAILABLE");
    assert.match(refused.text, /not made because it could not be recorded.*\nHint: /s);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await waitUntil(async () => !(await search()).isError, { intervalMs: 100 });
    const again = await call(flow, { name: "h" });
    assert.equal(again.isError, false, again.text);
    assert.deepEqual(made(), ['make {"name":"h"}', 'send {"to":"made-1","text":"fixed"}']);
  }));

test("repeating a call does not prolong the time in which it continues", async () => {
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  try {
    await withPackages(async ({ made, call, approve }) => {
      await approve((await call(flow, { name: "i" })).text);
      assert.match((await call(flow, { name: "i" })).text, /"test\.apr\.send" was not called/);
      mock.timers.tick(40 * 60_000);
      assert.match((await call(flow, { name: "i" })).text, /"test\.apr\.send" was not called/);
      mock.timers.tick(40 * 60_000);
      // The approval of the chain was for a call that continues within an hour.
      assert.match((await call(flow, { name: "i" })).text, /"test\.apr\.flow" was not called/);
      assert.deepEqual(made(), ['make {"name":"i"}']);
    });
  } finally {
    mock.timers.reset();
  }
});

test("a step of a chain within a chain prolongs the outer one, as its own steps do, and a repetition does not", async () => {
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  try {
    await withPackages(async ({ made, call, approve }) => {
      const outer = "test.apr.outer";
      const args = { name: "j" };
      await approve((await call(outer, args)).text);
      const inner = await call(outer, args);
      assert.match(inner.text, /"test\.apr\.flow" was not called/);
      mock.timers.tick(40 * 60_000);
      await approve((await call(outer, args)).text);
      // The first step of the inner chain is made now.
      assert.match((await call(outer, args)).text, /"test\.apr\.send" was not called/);
      assert.deepEqual(made(), ['make {"name":"outer"}', 'make {"name":"j"}']);
      mock.timers.tick(40 * 60_000);
      const waiting = await call(outer, args);
      assert.match(waiting.text, /"test\.apr\.send" was not called/);
      mock.timers.tick(20 * 60_000);
      await approve((await call(outer, args)).text);
      assert.equal((await call(outer, args)).isError, false);
      assert.deepEqual(made().slice(2), ['send {"to":"made-2","text":"fixed"}']);
    });
  } finally {
    mock.timers.reset();
  }
});

test("a chain within a chain is asked for itself, and nothing before it is repeated", () =>
  withPackages(async ({ made, call, approve }) => {
    const outer = "test.apr.outer";
    const args = { name: "g" };
    let answer = await call(outer, args);
    const asked: string[] = [];
    while (answer.isError && asked.length < 10) {
      asked.push(idOf(answer.text));
      await approve(answer.text);
      answer = await call(outer, args);
    }
    assert.equal(answer.isError, false, answer.text);
    // The outer chain with its first step, the inner one with its first step, and the step whose arguments were not known.
    assert.equal(new Set(asked).size, 3);
    assert.deepEqual(made(), [
      'make {"name":"outer"}',
      'make {"name":"g"}',
      'send {"to":"made-2","text":"fixed"}',
    ]);
  }));

test("a program of several calls continues after each approval, too", () =>
  withPackages(async ({ made, call, approve }) => {
    const code = 'made = test_apr_make.make(name="h")\nreturn test_apr_send.send(to=made["id"])';
    let answer = await call("eval_starlark", { code });
    const asked: string[] = [];
    while (asked.length < 10 && /call:[0-9a-f]{16}/.test(answer.text)) {
      asked.push(idOf(answer.text));
      await approve(answer.text);
      answer = await call("eval_starlark", { code });
    }
    assert.equal(answer.isError, false, answer.text);
    assert.equal(asked.length, 2);
    assert.deepEqual(made(), ['make {"name":"h"}', 'send {"to":"made-1"}']);
  }));
