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
  });
  const result = await runner.run({}, clientCall());
  assert.deepEqual(result.structuredContent, { count: 16 });
  assert.equal(calls.length, 16);
  assert.equal(lookups, 16);
  assert.deepEqual(calls[0], { mode: "fast", count: 0, literal: { kept: ["$.not.a.path"] } });
  assert.deepEqual(calls[15], { mode: "fast", count: 15, before: 15 });
});
