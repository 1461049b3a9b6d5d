import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePolicies } from "@toolcrib/cedar";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";

/** Ways to nest an expression, each with the expression inside. */
const nestings: readonly ((inner: string) => string)[] = [
  (inner) => `(${inner})`,
  (inner) => `!${inner}`,
  (inner) => `1 + ${inner}`,
  (inner) => `${inner} - 1`,
  (inner) => `if true then ${inner} else false`,
  (inner) => `if ${inner} then true else false`,
  (inner) => `[${inner}]`,
  (inner) => `{a: ${inner}}`,
  (inner) => `${inner}.a`,
  (inner) => `${inner}["a"]`,
  (inner) => `${inner}.contains(1)`,
  (inner) => `[1].contains(${inner})`,
  (inner) => `${inner} && true`,
  (inner) => `false || ${inner}`,
  (inner) => `-${inner}`,
  (inner) => `${inner} like "x"`,
  (inner) => `decimal(${inner})`,
];

async function codesOf(body: string): Promise<ReadonlySet<string>> {
  const text = `permit(principal, action, resource) when { ${body} };`;
  const { diagnostics } = await parsePolicies([{ name: "main.cedar", text }]);
  return new Set(diagnostics.map(({ code }) => code));
}

/** The engine still works: an instance whose memory was damaged refuses everything. */
async function isEngineSound(): Promise<boolean> {
  return (
    (await parsePolicies([{ name: "a.cedar", text: "permit(principal, action, resource);" }])).value !==
    undefined
  );
}

test("parsePolicies() refuses any nesting before the engine runs out of stack", async () => {
  for (const nest of nestings) {
    for (const depth of [2000, 20_000]) {
      let body = "context";
      for (let level = 0; level < depth && body.length < 200_000; level += 1) body = nest(body);
      const codes = await codesOf(body);
      assert.ok(!codes.has("CEDAR_UNAVAILABLE"), nest("…"));
    }
  }
  assert.ok(await isEngineSound());
});

test("parsePolicies() ends within its limits for random nestings", async () => {
  const steps = fc.array(fc.integer({ min: 0, max: nestings.length - 1 }), { minLength: 20, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      const body = chosen.reduce(
        (inner, at) => (nestings[at] as (inner: string) => string)(inner),
        "context",
      );
      assert.ok(!(await codesOf(body)).has("CEDAR_UNAVAILABLE"));
    }),
    { numRuns: runCount(300) },
  );
  assert.ok(await isEngineSound());
});
