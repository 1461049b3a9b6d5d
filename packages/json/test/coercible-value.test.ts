import assert from "node:assert/strict";
import { test } from "node:test";
import { isCoercible, type JsonObject, SchemaValidator } from "@toolcrib/json";

const schema: JsonObject = {
  type: "object",
  properties: {
    count: { type: "integer", minimum: 1 },
    ratio: { type: ["number", "null"] },
    dry: { type: "boolean" },
    title: { type: "string", maxLength: 5 },
    tags: { type: "array", items: { type: "integer" } },
    filter: { type: "object", properties: { "a/b~c": { type: "number" } }, additionalProperties: false },
    either: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
  },
  required: ["count"],
  additionalProperties: false,
};

const rows: readonly [title: string, value: JsonObject, expected: boolean][] = [
  ["numbers in texts", { count: "3", ratio: " -1.5e3 " }, true],
  ["booleans in texts, in any case", { count: 1, dry: "True" }, true],
  ["texts for numbers and booleans", { count: 1, title: 12 }, true],
  ["JSON in texts, whose parts are converted in turn", { count: "1", tags: '["1", 2]' }, true],
  ["a member whose name is escaped in pointers", { count: 1, filter: { "a/b~c": "7" } }, true],
  ["one of several types", { count: 1, either: "true" }, true],
  ["a number that violates another rule", { count: "0" }, false],
  ["a fraction for an integer", { count: "1.5" }, false],
  ["a text that is no number", { count: "3 apples" }, false],
  ["a hexadecimal number", { count: "0x10" }, false],
  ["an empty text", { count: "" }, false],
  ["a number that is too large for JSON", { count: "1e999" }, false],
  ["a text that becomes too long", { count: 1, title: 123_456 }, false],
  ["a missing property", { title: 1 }, false],
  ["an unknown property", { count: "1", other: 1 }, false],
  ["JSON that is not complete", { count: 1, tags: "[1" }, false],
  ["null", { count: null }, false],
  ["an unknown member in JSON", { count: 1, filter: '{"__proto__": {"x": 1}}' }, false],
];

for (const [title, value, expected] of rows) {
  test(`A value ${expected ? "is" : "is not"} coercible: ${title}`, () => {
    const before = structuredClone(value);
    assert.equal(isCoercible(new SchemaValidator(), schema, value), expected);
    assert.deepEqual(value, before);
  });
}
