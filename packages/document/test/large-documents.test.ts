import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson, readLargeYaml, type TreeBuilder } from "@toolcrib/document";
import { runCount, slowTest } from "@toolcrib/testing";
import fc from "fast-check";

type Value = string | number | boolean | null | Value[] | Map<string, Value>;

/** Builds plain values; the last of repeated fields counts. */
const builder: TreeBuilder<Value, Map<string, Value>, Value[]> = {
  scalar: (value) => value,
  openMap: () => new Map(),
  addField: (map, key, _start, _end, value) => void map.set(key, value),
  merge(map, from) {
    if (!(from instanceof Map)) return;
    for (const [key, value] of from) if (!map.has(key)) map.set(key, value);
  },
  closeMap: (map) => map,
  openList: () => [],
  addItem: (list, item) => void list.push(item),
  closeList: (list) => list,
};
const limits = { noun: "sample", maxDepth: 20, maxNodes: 1000 };

function toJson(value: Value | undefined): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, toJson(one)]));
  return Array.isArray(value) ? value.map(toJson) : value;
}

/** Returns the value, or the fault as one line. */
function outcome(reading: ReturnType<typeof readLargeYaml<Value, Map<string, Value>, Value[]>>): unknown {
  if (reading.kind === "read") return toJson(reading.root);
  const { kind, message, hint, span } = reading.fault;
  return `${span.start} ${kind}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}

function checkYaml(text: string, expected: unknown): void {
  assert.deepEqual(outcome(readLargeYaml(text, builder, limits)), expected);
}

test("readLargeYaml() reads every form that occurs in API descriptions", () => {
  checkYaml("", undefined);
  checkYaml("%YAML 1.2\n---\na: 1\n...\n", { a: 1 });
  checkYaml("a: [1,\n  {b: c,\n  d}, e: f]\n", { a: [1, { b: "c", d: null }, { e: "f" }] });
  checkYaml("a: &x {b: 1}\nc: *x\nd: {<<: *x}\ne:\n  <<: *x\n  b: 2\n", {
    a: { b: 1 },
    c: { b: 1 },
    d: { "<<": { b: 1 } },
    e: { b: 2 },
  });
  checkYaml('? a\n: b\n? "c"\n: - d\n', { a: "b", c: ["d"] });
  checkYaml("a: 1\na: 2\n", { a: 2 });
  checkYaml('a: "b\n  c\\\n  d"\n', { a: "b cd" });
  checkYaml("a:\n- b\n-\n  c\n- |2\n    d\n", { a: ["b", "c", "  d\n"] });
});

test("readLargeYaml() reports faults with their places", () => {
  checkYaml(
    "a: !x b\n",
    "3 syntax: Tags are not supported (remove the tag, or quote a text that begins with !)",
  );
  checkYaml("a: 1\n---\nb: 2\n", "5 syntax: A second YAML document begins here");
  checkYaml("a: [1\n", "4 syntax: A bracket is not closed");
  checkYaml("a: *b\n", "3 syntax: No anchor precedes the alias *b (quote a text that begins with *)");
  checkYaml(`a: ${"[".repeat(30)}`, "22 tooComplex: Cannot read the sample: it nests deeper than 20 levels");
  checkYaml("- x\n".repeat(1001), "3998 tooComplex: Cannot read the sample: it has more than 1,000 values");
});

test("readJson() accepts and refuses the same texts as JSON.parse", () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc
      .tuple(
        fc.json({ maxDepth: 3 }),
        fc.nat(60),
        fc.constantFrom("", ",", "]", "}", '"', "\\", ":", "1", " ", "-", "e"),
      )
      .map(
        ([json, at, piece]) =>
          json.slice(0, at % (json.length + 1)) + piece + json.slice((at % (json.length + 1)) + 1),
      ),
  );
  fc.assert(
    fc.property(text, (json) => {
      const reading = readJson(json, builder, limits);
      let expected: unknown;
      try {
        expected = JSON.parse(json);
      } catch {
        assert.ok(reading.kind === "unreadable" || reading.root === undefined, json);
        return;
      }
      assert.ok(reading.kind === "read", json);
      assert.deepEqual(
        JSON.parse(JSON.stringify(toJson(reading.root))),
        JSON.parse(JSON.stringify(expected)),
      );
    }),
    { numRuns: runCount(1000) },
  );
});

test("readJson() reads a string of millions of escapes", slowTest, () => {
  const text = JSON.stringify("\n".repeat(15_000_000));
  assert.equal(readJson(text, builder, limits).kind, "read");
});

test("readLargeYaml() returns for every text", () => {
  const seed = "a: [1, {b: c}]\nd: |\n  e\nf: &x\n  - g: 'h'\n  - *x\n? i\n: j\n";
  const pieces = [
    "\n",
    "  ",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    "|",
    ">",
    "&a",
    "*a",
    "#",
    "? ",
    "\t",
    "---\n",
  ];
  const edit = fc.record({ at: fc.nat(100), cut: fc.nat(4), piece: fc.constantFrom("", ...pieces) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), (edits) => {
      let text = seed;
      for (const { at, cut, piece } of edits)
        text = text.slice(0, at % text.length) + piece + text.slice((at % text.length) + cut) || " ";
      assert.match(readLargeYaml(text, builder, limits).kind, /^(?:read|unreadable)$/);
    }),
    { numRuns: runCount(1000) },
  );
});
