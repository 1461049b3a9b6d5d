import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toolDialect, type Value } from "@toolcrib/starlark";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { execute } from "../execute.ts";

/** The globals of a program with the predeclared names of `values`. */
async function globalsOf(
  text: string,
  values: Readonly<Record<string, Value>>,
): Promise<Record<string, unknown>> {
  const predeclared = new Map(Object.entries(values));
  const outcome = await execute({ name: "search.star", text }, { dialect: toolDialect, predeclared });
  if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  return Object.fromEntries(outcome.module.members);
}

/** Needles and haystacks of the same few pieces, with many partial matches. */
const texts = fc
  .record({
    unit: fc.string({ unit: fc.constantFrom("a", "b", "世"), minLength: 1, maxLength: 30 }),
    repeats: fc.integer({ min: 1, max: 60 }),
    head: fc.constantFrom("", "", "", "a", "b", "aab"),
    tail: fc.constantFrom("", "", "", "a", "b", "baa"),
    pieces: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: 1,
      maxLength: 40,
    }),
    copies: fc.constantFrom(1, 50, 50),
  })
  .map(({ unit, repeats, head, tail, pieces, copies }) => {
    const needle = head + unit.repeat(repeats) + tail;
    const piece = ([kind, share]: [number, number]): string => {
      const cut = Math.floor(share * needle.length);
      return [needle, needle.slice(0, cut), needle.slice(cut), unit, "ab"][kind]!;
    };
    return { needle, haystack: pieces.map(piece).join("").repeat(copies) };
  });

describe("substring search", () => {
  test("has the results of the search of JavaScript, for all sizes", async () => {
    const program = [
      "first = h.find(n)",
      "later = h.find(n, len(h) // 2)",
      "last = h.rfind(n)",
      "earlier = h.rfind(n, 0, len(h) // 2)",
      "found = n in h",
      "count = h.count(n)",
      "parts = len(h.split(n))",
      "replaced = h.replace(n, '<>')",
      "restored = n.join(h.split(n)) == h and n.join(h.rsplit(n)) == h",
    ].join("\n");
    await fc.assert(
      fc.asyncProperty(texts, async ({ needle, haystack }) => {
        const middle = Math.floor(haystack.length / 2);
        assert.deepEqual(await globalsOf(program, { n: needle, h: haystack }), {
          first: haystack.indexOf(needle),
          later: haystack.indexOf(needle, middle),
          last: haystack.lastIndexOf(needle),
          earlier: haystack.slice(0, middle).lastIndexOf(needle),
          found: haystack.includes(needle),
          count: haystack.split(needle).length - 1,
          parts: haystack.split(needle).length,
          replaced: haystack.split(needle).join("<>"),
          restored: true,
        });
      }),
      { numRuns: runCount(400) },
    );
  });

  test("finds matches beyond the window of the search of JavaScript", async () => {
    const far = "x".repeat(700_000);
    const program = "a = h.find(n)\nb = h.rfind(n)\nc = h.count(n)\nd = len(h.split(n))\ne = h.find('no')";
    const haystack = `${far}needle${far}needle${far}`;
    assert.deepEqual(await globalsOf(program, { h: haystack, n: "needle" }), {
      a: 700_000,
      b: 1_400_006,
      c: 2,
      d: 3,
      e: -1,
    });
  });
});
