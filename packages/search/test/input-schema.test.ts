import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch } from "@toolcrib/search";

function check(inputSchema: unknown, query: string, isFound = true): void {
  const search = createToolSearch();
  search.add({ id: "1", name: "tool", namespace: "", inputSchema });
  const isHit = search.search(`${query} `).some(({ why }) => why.some(({ match }) => match === "word"));
  assert.equal(isHit, isFound, query);
}

test("Parameters are found wherever a schema can nest them", () => {
  const inner = { type: "object", properties: { inner: { description: "deep words" } } };
  const places: unknown[] = [
    { properties: { outer: inner } },
    { properties: { list: { type: "array", items: inner } } },
    { properties: { pair: { prefixItems: [{ type: "string" }, inner] } } },
    { properties: { map: { additionalProperties: inner } } },
    { properties: { choice: { anyOf: [{ type: "null" }, inner] } } },
    { properties: { choice: { oneOf: [inner] } } },
    { allOf: [inner] },
    { properties: { ref: { $ref: "#/$defs/Inner" } }, $defs: { Inner: inner } },
    { properties: { ref: { $ref: "#/definitions/Inner" } }, definitions: { Inner: inner } },
    { items: { items: { properties: { a: { items: inner } } } } },
  ];
  for (const schema of places) {
    check(schema, "inner");
    check(schema, "deep");
  }
  check({ $defs: { Hidden: inner } }, "hidden", false);
  check({ properties: { list: { items: { description: "each element" } } } }, "element");
});

test("Values, types and other keywords of a schema are not indexed", () => {
  const schema = {
    type: "object",
    title: "shape",
    properties: { a: { type: "string", enum: ["open"], default: "shut", examples: ["wide"] } },
    required: ["a"],
  };
  for (const word of ["object", "string", "shape", "open", "shut", "wide"]) check(schema, word, false);
});

test("A schema of any other shape has no parameters", () => {
  for (const schema of [
    null,
    7,
    "text",
    [],
    true,
    { properties: 7 },
    { properties: [] },
    { properties: { a: 7 } },
    { items: [null] },
    { anyOf: "x" },
    { properties: { a: { description: 7 } } },
  ]) {
    check(schema, "zzz", false);
    check(schema, "tool");
  }
});

test("Nesting is read to a depth of 10, and cycles end", () => {
  let schema: object = { properties: { tenth: { properties: { eleventh: {} } } } };
  for (let depth = 9; depth >= 1; depth -= 1) schema = { properties: { level: schema } };
  check(schema, "tenth");
  check(schema, "eleventh", false);
  const cycle: { properties: Record<string, unknown>; anyOf?: unknown } = { properties: { again: {} } };
  cycle.properties["again"] = cycle;
  cycle.anyOf = [cycle, cycle, cycle];
  check(cycle, "again");
});

test("At most 500 parameters are read", () => {
  const names = Array.from({ length: 600 }, (_, n) => [
    `param${String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26))}`,
    {},
  ]);
  const schema = { properties: Object.fromEntries(names) };
  check(schema, names[499]![0] as string);
  check(schema, names[500]![0] as string, false);
});

test("At most 16,384 characters of a field are read", () => {
  const search = createToolSearch();
  const filler = "x ".repeat(16_384 / 2 - 3);
  search.add({ id: "1", name: "tool", namespace: "", description: `${filler}inside beyond` });
  assert.equal(search.search("inside ").length, 1);
  assert.equal(search.search("beyond ").length, 0);
});
