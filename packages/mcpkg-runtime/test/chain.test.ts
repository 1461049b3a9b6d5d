/** Chains with tools that the test defines: mappings, defaults, and the number of calls and lookups of a run. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { createChainRunner } from "@toolcrib/mcpkg-runtime";
import { clientCall } from "@toolcrib/testing";

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
    tools: () => ({ find: () => ({ inputSchema: {} }), chainOf: () => undefined }),
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

test("the mappings of all steps share limits of steps, nodes and time", async () => {
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
        return { inputSchema: {} };
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
