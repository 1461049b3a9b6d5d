import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance } from "@toolcrib/diagnostics";
import fc from "fast-check";

/** The whole table, without limit and budget. */
function reference(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_row, i) =>
    Array.from({ length: b.length + 1 }, (_cell, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => table[i]![j]!;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      let cost = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(i - 2, j - 2) + 1);
      table[i]![j] = cost;
    }
  }
  return at(a.length, b.length);
}

test("editDistance() is that of the whole table below its limit, and the limit otherwise", () => {
  const text = fc.string({ unit: fc.constantFrom(..."abc"), maxLength: 12 });
  fc.assert(
    fc.property(text, text, fc.nat({ max: 14 }), (a, b, limit) => {
      assert.equal(editDistance(a, b, limit, { left: 1_000_000 }), Math.min(limit, reference(a, b)));
    }),
    { numRuns: 2000 },
  );
});

test("editDistance() spends its budget, and finds nothing near without it", () => {
  const budget = { left: 1000 };
  assert.equal(editDistance("policy", "polcy", 3, budget), 1);
  const spent = 1000 - budget.left;
  assert.ok(spent > 5 && spent < 100, String(spent));
  assert.equal(editDistance("a".repeat(200), "b".repeat(200), 3, budget), 3);
  budget.left = 0;
  assert.equal(editDistance("policy", "policy", 3, budget), 3);
});
