/** Preparation of arguments: defaults, coercion, and problems. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { prepareArguments } from "@toolcrib/metatool";

const validator = new SchemaValidator();

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties, ...more };
}

/** Returns the prepared `args`; for invalid ones `path message | hint` of each problem. */
function check(schema: JsonObject, args: JsonObject, expected: JsonValue): void {
  const before = JSON.stringify(args);
  const prepared = prepareArguments(validator, schema, args);
  const got =
    prepared.kind === "valid"
      ? prepared.params
      : prepared.problems.map(
          ({ path, message, hint }) => `${path} ${message}${hint === undefined ? "" : ` | ${hint}`}`,
        );
  assert.deepEqual(JSON.parse(JSON.stringify(got)), expected, JSON.stringify(schema));
  assert.equal(JSON.stringify(args), before, "the arguments given are left as they were");
}

/** Returns `value` coerced by `schema`; "refused" when it is invalid. */
function checkValue(schema: JsonValue, value: JsonValue, expected: JsonValue): void {
  const prepared = prepareArguments(validator, object({ v: schema }, { required: ["v"] }), { v: value });
  assert.deepEqual(
    prepared.kind === "valid" ? prepared.params["v"] : "refused",
    expected,
    JSON.stringify([schema, value]),
  );
}

test("prepareArguments() applies defaults, also nested ones", () => {
  const schema = object(
    {
      a: { type: "integer", default: 5 },
      b: object({ c: { default: "x" }, d: { type: "array", items: object({ e: { default: null } }) } }),
      f: { $ref: "#/$defs/f" },
      g: object({ h: { default: 1 } }, { default: {} }),
    },
    { $defs: { f: { type: "string", default: "F" } } },
  );
  check(schema, {}, { a: 5, f: "F", g: { h: 1 } });
  check(
    schema,
    { a: 1, b: { d: [{}, { e: 2 }] }, f: "" },
    {
      a: 1,
      b: { d: [{ e: null }, { e: 2 }], c: "x" },
      f: "",
      g: { h: 1 },
    },
  );
  check(
    { type: "object", allOf: [object({ a: { default: 1 } }), object({ b: { default: 2 } })] },
    {},
    { a: 1, b: 2 },
  );
  check({ type: "object", additionalProperties: object({ n: { default: 0 } }) }, { x: {} }, { x: { n: 0 } });
});

test("prepareArguments() coerces where that is lossless and unambiguous", () => {
  const rows: readonly [schema: JsonValue, value: JsonValue, expected: JsonValue][] = [
    [{ type: "integer" }, "5", 5],
    [{ type: "integer" }, "-5", -5],
    [{ type: "integer" }, "5.0", 5],
    [{ type: "integer" }, "1e3", 1000],
    [{ type: "integer" }, "5.5", "refused"],
    [{ type: "integer" }, "05", "refused"],
    [{ type: "integer" }, " 5", "refused"],
    [{ type: "integer" }, "0x10", "refused"],
    [{ type: "integer" }, "", "refused"],
    [{ type: "integer" }, "9007199254740993", "refused"],
    [{ type: "integer" }, true, "refused"],
    [{ type: "number" }, "5.50", 5.5],
    [{ type: "number" }, "12345678901234567890", "refused"],
    [{ type: "number" }, "1e999", "refused"],
    [{ type: "number" }, "1e-999", "refused"],
    [{ type: "number" }, "NaN", "refused"],
    [{ type: "number" }, "0.0", 0],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "false", false],
    [{ type: "boolean" }, "yes", "refused"],
    [{ type: "boolean" }, 1, "refused"],
    [{ type: "string" }, 5, "5"],
    [{ type: "string" }, 5.5, "5.5"],
    [{ type: "string" }, true, "refused"],
    [{ type: "string" }, "5", "5"],
    [{ type: "array" }, "[1, 2]", [1, 2]],
    [{ type: "array", items: { type: "integer" } }, '["1", 2]', [1, 2]],
    [{ type: "array" }, '{"a": 1}', "refused"],
    [{ type: "array" }, "a,b", "refused"],
    [{ type: "object" }, '{"a": 1}', { a: 1 }],
    [{ type: "object" }, "{a: 1}", "refused"],
    [{ type: ["integer", "null"] }, "5", 5],
    [{ type: ["integer", "string"] }, "5", "5"],
    [{ type: ["integer", "boolean"] }, "5", 5],
    [{ type: ["array", "object"] }, "[]", []],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "5", 5],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "5", "5"],
    [{ oneOf: [{ type: "array", items: { type: "integer" } }, { type: "null" }] }, ["5"], [5]],
    [{ enum: [1, 2, true] }, "2", 2],
    [{ enum: [1, 2, true] }, "true", true],
    [{ enum: [1, 2, "2"] }, "2", "2"],
    [{ enum: [1] }, "3", "refused"],
    [{}, "5", "5"],
    [true, "5", "5"],
    [{ $ref: "#/properties/v" }, "5", "refused"],
  ];
  for (const [schema, value, expected] of rows) checkValue(schema, value, expected);
});

test("null is an absent property where it has no other meaning", () => {
  const schema = object({
    a: { type: "string" },
    b: { type: "integer", default: 3 },
    c: { type: ["string", "null"] },
    d: { anyOf: [{ type: "string" }, { type: "null" }], default: "d" },
    e: {},
  });
  check(schema, { a: null, b: null, c: null, d: null, e: null }, { b: 3, c: null, d: null, e: null });
  check(object({ a: { type: "string" } }, { required: ["a"] }), { a: null }, ["/a must be string, got null"]);
});

test("a problem has its place, the allowed values and a hint", () => {
  const schema = object(
    {
      title: { type: "string", description: "Title of the issue" },
      limit: { type: "integer", minimum: 1, default: 10 },
      state: { enum: ["open", "closed"] },
      items: { type: "array", items: object({ n: { type: "integer" } }) },
    },
    { required: ["title"], additionalProperties: false },
  );
  check(schema, {}, [` must have required property 'title' | add "title": string, Title of the issue`]);
  check(schema, { title: "x", limt: 1 }, [` must not have the property 'limt' | did you mean "limit"?`]);
  check(schema, { title: "x", zzz: 1 }, [
    ` must not have the property 'zzz' | leave it out; there are "title", "limit", "state", "items"`,
  ]);
  check(schema, { title: ["x"], limit: "many", state: "gone", items: [{ n: 1 }, { n: {} }] }, [
    "/title must be string, got an array of 1",
    '/limit must be integer, got the string "many" | omit it to use the default 10',
    '/state must be one of "open", "closed", got the string "gone"',
    "/items/1/n must be integer, got an object with 0 members",
  ]);
  check(schema, { title: "x", limit: 0 }, ["/limit must be >= 1, got 0"]);
});

test("an invalid schema refuses every call with the reason", () => {
  const prepared = prepareArguments(validator, { type: "nonsense" }, {});
  assert.equal(prepared.kind, "invalid");
  assert.match(
    prepared.problems[0]?.message ?? "",
    /^cannot be checked, because the tool's input schema cannot be used/,
  );
});

test("prepareArguments() handles hostile schemas and arguments", () => {
  const circular = { type: "object", allOf: [{ $ref: "#" }], properties: { a: { $ref: "#" } } };
  assert.equal(prepareArguments(validator, circular, { a: {} }).kind, "invalid");
  const loop = {
    type: "object",
    properties: { a: { $ref: "#/$defs/x" } },
    $defs: { x: { $ref: "#/$defs/x" } },
  };
  assert.equal(prepareArguments(validator, loop, { a: 1 }).kind, "invalid");
  const deep = JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`);
  assert.equal(prepareArguments(validator, object({ a: { $ref: "#" } }), deep).kind, "invalid");
  const named = JSON.parse('{"__proto__": {"default": 1}, "constructor": {"type": "integer"}}');
  check(object(named), JSON.parse('{"constructor": "5"}'), JSON.parse('{"constructor": 5, "__proto__": 1}'));
  assert.equal(({} as { default?: number }).default, undefined);
});
