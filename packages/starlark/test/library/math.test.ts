import assert from "node:assert/strict";
import { test } from "node:test";
import { mathModule, StarlarkFloat, toolDialect, type Value } from "@toolcrib/starlark";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { execute } from "../execute.ts";

/** The result of `expression` for x and y, as a double. */
async function evaluate(expression: string, x: number, y: number): Promise<number> {
  const predeclared = new Map<string, Value>([
    ["math", mathModule],
    ["x", new StarlarkFloat(x)],
    ["y", new StarlarkFloat(y)],
  ]);
  const outcome = await execute(
    { name: "law.star", text: `return ${expression}` },
    { dialect: toolDialect, predeclared },
  );
  if (outcome.kind !== "done" || !(outcome.value instanceof StarlarkFloat)) throw new Error(outcome.kind);
  return outcome.value.value;
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

test("the IEEE remainder is at most half of the divisor, and differs from x by a multiple of it", async () => {
  const law = fc.asyncProperty(finite, finite, async (x, y) => {
    fc.pre(y !== 0);
    const rest = await evaluate("math.remainder(x, y)", x, y);
    assert.ok(Math.abs(rest) <= Math.abs(y) - Math.abs(rest), `${rest}`);
    const modulus = await evaluate("math.mod(x, y)", x, y);
    // This is exact: the two differ by nothing or by one divisor.
    const difference = Math.abs(modulus - rest);
    assert.ok(
      difference === 0 || difference === Math.abs(y) || Math.abs(modulus) + Math.abs(rest) === Math.abs(y),
    );
  });
  await fc.assert(law, { numRuns: runCount(300) });
});

test("rounding returns an integer at a distance of at most one half", async () => {
  const law = fc.asyncProperty(finite, async (x) => {
    const rounded = await evaluate("math.round(x)", x, 0);
    assert.ok(Number.isInteger(rounded) && Math.abs(rounded - x) <= 0.5);
    assert.equal(Object.is(rounded, -0) || rounded < 0, Object.is(rounded, -0) || x < 0);
  });
  await fc.assert(law, { numRuns: runCount(300) });
});

test("gamma(x + 1) equals x * gamma(x)", async () => {
  const law = fc.asyncProperty(fc.double({ min: -30, max: 160, noNaN: true }), async (x) => {
    fc.pre(Math.abs(x - Math.round(x)) > 1e-6);
    const next = await evaluate("math.gamma(x + 1)", x, 0);
    const expected = x * (await evaluate("math.gamma(x)", x, 0));
    // The rounding error of x + 1 is amplified by the slope of the function.
    assert.ok(Math.abs(next - expected) <= Math.abs(expected) * 1e-8, `${next} and ${expected}`);
  });
  await fc.assert(law, { numRuns: runCount(300) });
});
