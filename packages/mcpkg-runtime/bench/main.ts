/** Time that a chain adds to the calls of its steps: chains of steps that cost nothing. Run it with npm run bench -w packages/mcpkg-runtime. */

import { SchemaValidator } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { createChainRunner } from "@toolcrib/mcpkg-runtime";
import { clientCall } from "@toolcrib/testing";

type Chain = NonNullable<Manifest["chain"]>;

const rounds = 500;

for (const length of [1, 8, 64]) {
  const chain: Chain = Array.from({ length }, (_one, at): Chain[number] => ({
    step: `step${at}`,
    tool: "test.tools.none",
    inputMapping: { text: at === 0 ? "$.input.text" : `$.out${at - 1}.text`, kind: "literal" },
    outputKey: `out${at}`,
  }));
  const manifest: Manifest = {
    toolId: "test.chain.run",
    name: "Chain",
    version: "1.0.0",
    description: "A chain.",
    capabilities: [],
    chain,
    input_schema: { type: "object", properties: { text: { type: "string" } } },
    output_schema: {},
  };
  const runner = createChainRunner(manifest, chain, {
    tools: () => ({ find: () => ({ source: "bench.tool", inputSchema: {} }), chainOf: () => undefined }),
    callTool: async (_context, _name, args) => ({ content: [], structuredContent: args }),
    validator: new SchemaValidator(),
    monotonicMs: () => performance.now(),
  });
  const text = "x".repeat(10_000);
  for (let round = 0; round < 50; round += 1) await runner.run({ text }, clientCall());
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) await runner.run({ text }, clientCall());
  const stepMs = (performance.now() - startedAt) / (rounds * length);
  process.stdout.write(`${length} steps: ${stepMs.toFixed(4)} ms for each step\n`);
}
