/** Chains with tools that the test defines: mappings, defaults, and the number of calls and lookups of a run. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { createChainRunner } from "@toolcrib/mcpkg-runtime";
import { clientCall, slowTest } from "@toolcrib/testing";

type Chain = NonNullable<Manifest["chain"]>;

function manifestOf(chain: Chain): Manifest {
  return {
    toolId: "test.chain.run",
    name: "Chain",
    version: "1.0.0",
    description: "A chain.",
    capabilities: [],
    chain,
    input_schema: { type: "object", properties: { mode: { type: "string", default: "fast" } } },
    output_schema: {},
  };
}

/** Runs a chain of `steps` with `paths` each, over an input of 300 items. */
async function runHeavy(path: string, monotonicMs: () => number): Promise<{ calls: number; text: string }> {
  const inputMapping = Object.fromEntries(Array.from({ length: 10 }, (_one, at) => [`argument${at}`, path]));
  const chain: Chain = Array.from({ length: 8 }, (_one, at) => ({
    step: `step${at}`,
    tool: "test.tools.count",
    inputMapping,
    outputKey: `out${at}`,
  }));
  let calls = 0;
  const runner = createChainRunner(manifestOf(chain), chain, {
    tools: () => ({
      find: () => ({ source: "test.tools.count", inputSchema: {} }),
      chainOf: () => undefined,
    }),
    async callTool() {
      calls += 1;
      return { content: [], structuredContent: {} };
    },
    validator: new SchemaValidator(),
    monotonicMs,
  });
  const items = Array.from({ length: 300 }, (_one, at) => ({ id: at }));
  const result = await runner.run({ items }, clientCall());
  assert.equal(result.isError, true);
  return { calls, text: JSON.stringify(result.content) };
}

test("the mappings of all steps share limits of steps, nodes and time", slowTest, async () => {
  // Each path alone is within the limits: about 270,000 steps, and about 3,000 nodes.
  const steps = await runHeavy("$.input.items[?count($.input.items[*].id) == 0 || @.id == 1].id", () => 0);
  assert.match(steps.text, /needs more than 5000000 steps/);
  assert.ok(steps.calls > 0 && steps.calls < 8, `${steps.calls} calls`);
  const nodes = await runHeavy("$.input.items[*,*,*,*,*,*,*,*,*,*]", () => 0);
  assert.match(nodes.text, /needs more than 100000 nodes/);
  assert.ok(nodes.calls > 0 && nodes.calls < 8, `${nodes.calls} calls`);
  let now = 0;
  const time = await runHeavy("$.input.items[?count($.input.items[*].id) == 0 || @.id == 1].id", () => {
    now += 20;
    return now;
  });
  assert.match(time.text, /needs more than 2000 ms/);
});

test("a run makes one call and one lookup for each step, and passes defaults, literals and earlier outputs", async () => {
  const chain: Chain = Array.from({ length: 16 }, (_one, at): Chain[number] => ({
    step: `step${at}`,
    tool: "test.tools.count",
    inputMapping:
      at === 0
        ? { mode: "$.input.mode", count: 0, literal: { kept: ["$.not.a.path"] } }
        : { mode: "$.input.mode", count: `$.out${at - 1}.count`, before: `$.step${at - 1}.count` },
    outputKey: `out${at}`,
  }));
  const calls: JsonObject[] = [];
  let lookups = 0;
  const runner = createChainRunner(manifestOf(chain), chain, {
    tools: () => ({
      find() {
        lookups += 1;
        return { source: "test.tools.count", inputSchema: {} };
      },
      chainOf: () => undefined,
    }),
    async callTool(_context, _name, args) {
      calls.push(args);
      return { content: [], structuredContent: { count: Number(args["count"]) + 1 } };
    },
    validator: new SchemaValidator(),
    monotonicMs: () => 0,
  });
  const result = await runner.run({}, clientCall());
  assert.deepEqual(result.structuredContent, { count: 16 });
  assert.equal(calls.length, 16);
  assert.equal(lookups, 16);
  assert.deepEqual(calls[0], { mode: "fast", count: 0, literal: { kept: ["$.not.a.path"] } });
  assert.deepEqual(calls[15], { mode: "fast", count: 15, before: 15 });
});

/** Runs a chain over tools with these names; each answers with `answer`. */
async function runChain(
  chain: Chain,
  answer: JsonObject,
  {
    sources,
    chains,
  }: {
    readonly sources: { readonly [name: string]: string };
    readonly chains: { readonly [id: string]: Chain };
  },
) {
  let calls = 0;
  const runner = createChainRunner(manifestOf(chain), chain, {
    tools: () => ({
      find: (name) => ({ source: sources[name] ?? name, inputSchema: {} }),
      chainOf: (source) => chains[source],
    }),
    async callTool() {
      calls += 1;
      return { content: [], structuredContent: answer };
    },
    validator: new SchemaValidator(),
    monotonicMs: () => 0,
  });
  const result = await runner.run({}, clientCall());
  return { calls, isError: result.isError, text: JSON.stringify(result.content) };
}

const stepOf = (tool: string, inputMapping: Chain[number]["inputMapping"] = {}, at = 0): Chain[number] => ({
  step: `step${at}`,
  tool,
  inputMapping,
  outputKey: `out${at}`,
});

test("a chain does not start that leads back to itself by another name of its tool, or is too long by such names", async () => {
  const own = await runChain(
    [stepOf("test.chain.run:run")],
    {},
    {
      sources: { "test.chain.run:run": "test.chain.run" },
      chains: {},
    },
  );
  assert.match(own.text, /it leads back to itself: test\.chain\.run → test\.chain\.run/);
  const many = (tool: string) => Array.from({ length: 64 }, (_one, at) => stepOf(tool, {}, at));
  const long = await runChain(
    many("b.b:b"),
    {},
    {
      sources: { "b.b:b": "b.b", "c.c:c": "c.c" },
      chains: { "b.b": many("c.c:c") },
    },
  );
  assert.match(long.text, /it has more than 256 steps/);
  assert.deepEqual([own.calls, long.calls], [0, 0]);
});

test("a step whose mappings repeat a result beyond the limit is not called", async () => {
  const repeated = Object.fromEntries(Array.from({ length: 200 }, (_one, at) => [`k${at}`, "$.out0.list"]));
  const chain = [stepOf("a.values"), stepOf("a.sink", repeated, 1)];
  const list = Array.from({ length: 100_000 }, () => 0);
  const { calls, isError, text } = await runChain(chain, { list }, { sources: {}, chains: {} });
  assert.equal(isError, true);
  assert.match(text, /step \\"step1\\".*its mapped arguments are larger than 8388608 bytes/);
  assert.equal(calls, 1);
});
