/** `toolcrib chains suggest` finds workflows in the audit trail, and writes chains that do the same. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { mapInputs } from "@toolcrib/mcpkg";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";
import { outputOf, workflows, workflowTools, writeWorkflowTrail } from "./workflow-trail.ts";

interface Step {
  readonly tool: string;
  readonly inputMapping: JsonObject;
  readonly outputKey: string;
}

test("chains suggest finds three workflows in ten thousand calls, as chains whose mappings work", async () => {
  await using directory = await makeTemporaryDirectory();
  await writeWorkflowTrail(directory.join(".toolcrib"));
  const setting = { directory: directory.path, timeoutMs: 110_000 };
  const { code, stdout, stderr } = await runToolcrib(
    ["chains", "suggest", "--out", "chains", "--json"],
    setting,
  );
  assert.equal(code, 0, stderr);
  const found = JSON.parse(stdout) as {
    readonly calls: number;
    readonly suggestions: readonly {
      readonly tools: readonly string[];
      readonly toolId: string;
      readonly clients: number;
      readonly support: number;
    }[];
    readonly unmapped: readonly { readonly tools: readonly string[] }[];
  };
  assert.equal(found.calls, 10_000);
  const expected = workflows.map((workflow) => callsOf(workflow, "other input"));
  const planted = expected.map((calls) => found.suggestions.find(({ tools }) => sameTools(tools, calls)));
  assert.deepEqual(
    planted.map((one) => one !== undefined),
    [true, true, true],
    stdout,
  );
  assert.ok(found.suggestions.length <= 5, `too many: ${stdout}`);
  assert.deepEqual(
    readdirSync(directory.join("chains")).toSorted(),
    found.suggestions.map(({ toolId }) => toolId).toSorted(),
  );
  assert.ok(
    found.unmapped.some(({ tools }) => tools.join() === "search:query,search:open"),
    stdout,
  );
  // No value is shown.
  assert.doesNotMatch(stdout, /cust-|inv-|commit-|example\.com|text-embedding/);

  for (const [at, calls] of expected.entries()) {
    const { toolId, support, clients } = planted[at] as NonNullable<(typeof planted)[number]>;
    assert.ok(support >= 40 && clients >= 2, `${toolId}: ${support} ${clients}`);
    const file = directory.join(`chains/${toolId}/manifest.json`);
    const manifest = JSON.parse(readFileSync(file, "utf8")) as {
      readonly chain: readonly Step[];
      readonly input_schema: { readonly required: readonly string[] };
    };
    const given = Object.fromEntries(calls.flatMap(([, args]) => Object.entries(args)));
    const input = Object.fromEntries(
      manifest.input_schema.required.map((name) => [name, given[name] ?? given["to"]]),
    );
    assert.deepEqual(runChain(manifest.chain, input as JsonObject), calls);
    const checked = await runToolcrib(["validate", `chains/${toolId}`], setting);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  }
  // Without a threshold, values of a small pool make no chains either.
  const any = await runToolcrib(["chains", "suggest", "--min-confidence", "0", "--json"], setting);
  const { suggestions } = JSON.parse(any.stdout) as typeof found;
  assert.ok(suggestions.length <= 5, suggestions.map(({ tools }) => tools.join(" → ")).join("\n"));
  const again = await runToolcrib(["chains", "suggest", "--out", "chains"], setting);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /exists/);
});

test("chains suggest explains that a trail has no chains", async () => {
  await using directory = await makeTemporaryDirectory();
  const { code, stdout, stderr } = await runToolcrib(["chains", "suggest"], { directory: directory.path });
  assert.equal(code, 0);
  assert.match(stdout, /No chain was found in 0 calls/);
  assert.match(stderr, /--min-support/);
});

function sameTools(tools: readonly string[], calls: readonly (readonly [string, JsonObject])[]): boolean {
  return tools.join() === calls.map(([tool]) => tool).join();
}

/** The calls that a workflow makes. */
function callsOf(workflow: (typeof workflows)[number], input: string): [string, JsonObject][] {
  const calls: [string, JsonObject][] = [];
  workflow(input, (tool, args) => {
    calls.push([tool, args]);
    return outputOf(workflowTools[tool]?.(args) ?? { text: "" });
  });
  return calls;
}

/** The calls that a chain makes, with arguments of its mappings. */
function runChain(chain: readonly Step[], input: JsonObject): [string, JsonValue][] {
  const calls: [string, JsonValue][] = [];
  let scope: JsonObject = { input };
  for (const { tool, inputMapping, outputKey } of chain) {
    const mapped = mapInputs(inputMapping, scope);
    assert.ok(mapped.kind === "mapped", JSON.stringify(mapped));
    calls.push([tool, mapped.args]);
    scope = { ...scope, [outputKey]: outputOf(workflowTools[tool]?.(mapped.args) ?? { text: "" }) };
  }
  return calls;
}
