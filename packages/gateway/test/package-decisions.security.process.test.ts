/** One decision about a call of a package, whichever way it is made; and no way around it by a chain. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { dataOf, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";
import { localPackage, type PackageContent, putPackages } from "./package-harness.ts";

const agent = localIdentity("token", "agent");
const script = { "a.mjs": "console.log(JSON.stringify({ ran: JSON.parse(process.argv.at(-1)) }))" };

/** A chain of one call of `test.gov.tool`. */
const chain: PackageContent = {
  manifest: {
    toolId: "test.gov.chain",
    name: "Chain",
    version: "1.0.0",
    description: "Calls another tool.",
    capabilities: [],
    chain: [
      { step: "only", tool: "test.gov.tool", inputMapping: { mode: "$.input.mode" }, outputKey: "result" },
    ],
    input_schema: { type: "object", properties: { mode: { type: "string" } } },
    output_schema: {},
  },
};

interface Way {
  readonly name: string;
  call(mode: string): Promise<string>;
}

/** Every way in which `agent` can call the package; each returns the text or the error of the call. */
async function waysOf(gateway: TestGateway): Promise<readonly Way[]> {
  const legacy = await gateway.connect({ as: "agent" });
  const modern = await gateway.connectModern({ as: "agent" });
  const own = await gateway.connect({ as: "agent", server: "test.gov.tool" });
  const text = (result: Promise<unknown>) =>
    result.then(
      (one) => textOf(one),
      (error: Error) => error.message,
    );
  const by = (client: typeof legacy, name: string, args: JsonObject) =>
    text(client.callTool({ name, arguments: args }));
  return [
    { name: "client", call: (mode) => by(legacy, "test.gov.tool", { mode }) },
    { name: "by id", call: (mode) => by(legacy, "test.gov.tool:tool", { mode }) },
    { name: "own endpoint", call: (mode) => by(own, "tool", { mode }) },
    { name: "modern", call: (mode) => text(modern.callTool({ name: "test.gov.tool", arguments: { mode } })) },
    {
      name: "call_tool",
      call: (mode) => by(legacy, "call_tool", { name: "test.gov.tool", arguments: { mode } }),
    },
    {
      name: "Starlark",
      call: (mode) => by(legacy, "eval_starlark", { code: `return test_gov_tool.tool(mode="${mode}")` }),
    },
    { name: "chain", call: (mode) => by(legacy, "test.gov.chain", { mode }) },
    {
      name: "program",
      async call(mode) {
        const outcome = await gateway.gateway.call(agent, "test.gov.tool", { mode });
        if (outcome.kind === "result") return textOf(outcome.result);
        return outcome.kind === "denied" ? outcome.reason : outcome.error.message;
      },
    },
  ];
}

const policy = `
@id("packages") permit(principal, action, resource in ToolServer::"test.gov.tool");
@id("chains") permit(principal, action, resource in ToolServer::"test.gov.chain");
@id("own") permit(principal, action, resource in ToolServer::"toolcrib");
@id("no-forbidden-mode")
forbid(principal, action == Action::"call", resource == Tool::"test.gov.tool:tool")
  when { resource.origin == "package" && context.arguments.hasTag("mode") && context.arguments.getTag("mode") == "forbidden" };
`;

test("a policy in Cedar decides about a package in the same way on every way to call it", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [localPackage("test.gov.tool", "node a.mjs", script), chain]);
  const verified = { trust_state: "verified" };
  await using gateway = await startTestGateway(
    {
      policy: { files: ["main.cedar"] },
      packages: { "test.gov.tool": verified, "test.gov.chain": verified },
    },
    { home, clients: ["agent"], files: { "main.cedar": policy } },
  );
  await gateway.gateway.prepared();
  const ways = await waysOf(gateway);
  for (const { name, call } of ways) {
    assert.match(await call("open"), /"?mode\\?"?: ?\\?"open/, name);
    assert.doesNotMatch(await call("forbidden"), /"ran"/, name);
  }
  await gateway.stop();
  const denied = dataOf(gateway.audit(), "call.denied").filter(({ tool }) => tool === "test.gov.tool:tool");
  assert.deepEqual(
    denied.map(({ rule, client }) => [rule?.replace(/^.*#/, ""), client.name]),
    ways.map(() => ["no-forbidden-mode", "agent"]),
  );
});

test("a call of an unverified package needs an approval on every way, and its chain too", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [localPackage("test.gov.tool", "node a.mjs", script), chain]);
  const packages = { "test.gov.chain": { trust_state: "verified" } };
  await using gateway = await startTestGateway({ packages }, { home, clients: ["agent"] });
  await gateway.gateway.prepared();
  const ways = await waysOf(gateway);
  for (const { name, call } of ways) {
    assert.match(await call("open"), /was not called: each call needs the operator's approval/, name);
  }
  await gateway.stop();
  assert.deepEqual(
    dataOf(gateway.audit(), "call.intent").filter(({ tool }) => tool === "test.gov.tool:tool"),
    [],
  );
});

test("a chain reaches no tool that its caller could not call, and does not say that it exists", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [localPackage("test.gov.tool", "node a.mjs", script), chain]);
  const verified = { trust_state: "verified" };
  await using gateway = await startTestGateway(
    {
      policy: { clients: { agent: { deny: ["test.gov.tool:*"] } } },
      packages: { "test.gov.tool": verified, "test.gov.chain": verified },
    },
    { home, clients: ["agent", "other"] },
  );
  const call = async (as: string) => {
    const client = await gateway.connect({ as });
    return textOf(await client.callTool({ name: "test.gov.chain", arguments: { mode: "x" } }));
  };
  assert.match(
    await call("agent"),
    /needs a tool that does not exist here: "test\.gov\.tool" \(step "only"\)/,
  );
  assert.match(await call("other"), /"ran"/);
});

test("a chain with an unknown tool, a cycle or a mapping without a match says so before or at its step", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const chainOf = (
    name: string,
    steps: readonly (readonly [tool: string, mapping: JsonObject])[],
  ): PackageContent => ({
    manifest: {
      ...chain.manifest,
      toolId: `test.chains.${name}`,
      chain: steps.map(([tool, inputMapping], at) => ({
        step: `step${at}`,
        tool,
        inputMapping,
        outputKey: `out${at}`,
      })),
    },
  });
  const run = "test.gov.tool";
  const failing = localPackage("test.gov.fail", "node a.mjs", { "a.mjs": "throw new Error('a cause')" });
  const packages = [
    localPackage(run, "node a.mjs", script),
    failing,
    chainOf("unknown", [
      [run, {}],
      ["test.none.tool", {}],
    ]),
    chainOf("a", [["test.chains.b", {}]]),
    chainOf("b", [["test.chains.a", {}]]),
    chainOf("unmapped", [
      [run, {}],
      [run, { x: "$.out0.none" }],
    ]),
    chainOf("fails", [
      [run, {}],
      ["test.gov.fail", {}],
      [run, {}],
    ]),
    chainOf("own", [["toolcrib:delete_saved_tool", {}]]),
  ];
  putPackages(home, packages);
  await using gateway = await startTestGateway({ policy: { waive_approval: ["*"] } }, { home });
  const client = await gateway.connect();
  const call = async (name: string) => {
    const result = await client.callTool({ name: `test.chains.${name}`, arguments: {} });
    assert.equal(result.isError, true, name);
    return textOf(result);
  };
  assert.match(
    await call("unknown"),
    /not started: it needs a tool that does not exist here: "test\.none\.tool"/,
  );
  assert.match(await call("a"), /leads back to itself: test\.chains\.a → test\.chains\.b → test\.chains\.a/);
  assert.match(
    await call("unmapped"),
    /failed at step "step1".*"\$\.out0\.none" matches nothing[\s\S]*ran before it: step0/,
  );
  assert.match(
    await call("fails"),
    /failed at step "step1" \(test\.gov\.fail\): .*a cause[\s\S]*ran before it: step0 \(test\.gov\.tool\)/,
  );
  assert.match(await call("own"), /does not exist here/);
  await gateway.stop();
  const ran = dataOf(gateway.audit(), "call.intent").filter(({ tool }) => tool === "test.gov.tool:tool");
  // One call of "unmapped", one of "fails"; none of the chains that were not started.
  assert.equal(ran.length, 2);
});
