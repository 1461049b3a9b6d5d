/** Schemas and values that try to exhaust a validator or to bypass it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { slowTest } from "@toolcrib/testing";

const maxSteps = 200_000;
const validator = new SchemaValidator({ maxSteps });

/** Checks that the validation of `value` stops because its steps are used up. */
function runsOut(schema: JsonObject, value: unknown): void {
  assert.deepEqual(validator.validate(schema, value), {
    kind: "invalid",
    problems: [{ path: "", message: `takes more than ${maxSteps} steps to check and is refused` }],
  });
}

const definitions = (count: number, make: (index: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, make(index)]));

describe("A validation ends when its steps are used up", () => {
  test("by references that fan out", () => {
    const two = (index: number) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return { anyOf: [next, next] };
    };
    const $defs = { ...definitions(40, two), d40: { type: "string" } };
    runsOut({ $ref: "#/$defs/d0", $defs }, 1);
  });

  test("by references that fan out over the items of a list", () => {
    const $defs = { tree: { items: { allOf: [{ $ref: "#/$defs/tree" }, { $ref: "#/$defs/tree" }] } } };
    let value: unknown[] = [];
    for (let depth = 0; depth < 60; depth += 1) value = [value];
    runsOut({ $ref: "#/$defs/tree", $defs }, value);
  });

  test("by many subschemas for many items", slowTest, () => {
    const allOf = Array.from({ length: 2000 }, (_, index) => ({
      items: { type: "integer", maximum: index + 10 },
    }));
    runsOut({ allOf }, Array(10_000).fill(1));
  });

  test("by patterns over long texts", () => {
    const allOf = Array.from({ length: 100 }, (_, index) => ({ pattern: `[a-z]{${index + 1}}` }));
    runsOut({ allOf }, "a".repeat(100_000));
  });

  test("by lists with many different items", () => {
    const items = Array.from({ length: maxSteps }, (_, index) => index);
    runsOut({ uniqueItems: true }, items);
  });

  test("by more problems than the limit", () => {
    runsOut({ items: { type: "string" } }, Array(maxSteps).fill(1));
    runsOut({ items: { $ref: "#/$defs/a" }, $defs: { a: { type: "string" } } }, Array(5000).fill(1));
  });

  test("and the next validation has its own steps", () => {
    const schema = { items: { type: "integer" } };
    runsOut(schema, Array(maxSteps + 1).fill(1));
    assert.equal(validator.validate(schema, Array(1000).fill(1)).kind, "valid");
  });
});

test("The default steps are enough for a large valid value", () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => ({
    id: index,
    name: `row ${index}`,
    tags: ["a", "b"],
  }));
  const schema = {
    items: {
      type: "object",
      properties: {
        id: { type: "integer" },
        name: { type: "string", pattern: "^row" },
        tags: { items: { $ref: "#/$defs/tag" }, uniqueItems: true },
      },
      required: ["id", "name"],
      additionalProperties: false,
    },
    $defs: { tag: { enum: ["a", "b"] } },
  };
  assert.equal(new SchemaValidator().validate(schema, rows).kind, "valid");
});

test("Names that look like code are data", () => {
  const names = [
    "for(let i=0;i<1;i++){",
    'errors++;"+process.exit(1)+"',
    "{let vErrors = null;let errors = 0;",
    "\\",
    "*/",
  ];
  const schema = {
    properties: Object.fromEntries(names.map((name) => [name, { const: name }])),
    required: names,
    additionalProperties: false,
  };
  assert.equal(
    validator.validate(schema, Object.fromEntries(names.map((name) => [name, name]))).kind,
    "valid",
  );
  assert.equal(validator.validate(schema, {}).kind, "invalid");
});

test("An asynchronous definition does not accept every value", () => {
  const schema = { $ref: "#/$defs/a", $defs: { a: { $async: true, type: "string" } } };
  assert.equal(validator.validate(schema, 1).kind, "unusable");
});
