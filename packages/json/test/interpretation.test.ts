/** Schemas that are interpreted, because Ajv applies them wrongly, compared with those that Ajv compiles. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";

const validator = new SchemaValidator({ maxProblems: 1000 });
/** A member that changes nothing, except that Ajv does not apply the schema. */
const interpreted = { $id: "https://example.test/interpreted" };
const draft7 = "http://json-schema.org/draft-07/schema#";

function problemsOf(schema: JsonObject, value: JsonValue): readonly string[] | string {
  const verdict = validator.validate(schema, value);
  if (verdict.kind !== "invalid") return verdict.kind;
  return verdict.problems.map(({ path, message }) => `${path} ${message}`.trim());
}

const names = ["a", "b", "ab", "toString"];
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 2.5, 6, "", "a", "ab", "abc"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
/** Values of keywords; `one` is any schema. */
function keywordsOf(one: fc.Arbitrary<JsonObject | boolean>): {
  readonly [key: string]: fc.Arbitrary<unknown>;
} {
  const list = fc.array(one, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(fc.constantFrom(...names), one, { maxKeys: 3, noNullPrototype: true });
  const count = fc.integer({ min: 0, max: 3 });
  return {
    type: fc.constantFrom("string", "integer", "number", "object", "array", "boolean", "null"),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    minimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(0.5, 2),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom("^a", "b$"),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    items: one,
    contains: one,
    minProperties: count,
    required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
    properties: byName,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), one, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: one,
    propertyNames: one,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: one,
    if: one,
    else: one,
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nothing awaits it.
    then: one,
  };
}

const schemas = fc.letrec<{ schema: JsonObject | boolean }>((tie) => {
  const one = tie("schema");
  return {
    schema: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      fc.constantFrom<JsonObject | boolean>(true, false, {}),
      // A schema with some keywords.
      fc
        .uniqueArray(
          fc.oneof(...Object.entries(keywordsOf(one)).map(([key, part]) => fc.tuple(fc.constant(key), part))),
          {
            selector: ([key]) => key,
            maxLength: 4,
          },
        )
        .map((members) => Object.fromEntries(members) as JsonObject),
    ),
  };
}).schema;

describe("An interpreted schema", () => {
  for (const [dialect, $schema] of [
    ["2020-12", "https://json-schema.org/draft/2020-12/schema"],
    ["draft-07", draft7],
  ] as const) {
    test(`of ${dialect} accepts what compiled code accepts`, () => {
      fc.assert(
        fc.property(schemas, value, (one, instance) => {
          const schema: JsonObject = { $schema, allOf: [one] };
          const compiled = validator.validate(schema, instance).kind;
          assert.equal(validator.validate({ ...schema, ...interpreted }, instance).kind, compiled);
        }),
        { numRuns: runCount(1500) },
      );
    });
  }

  test("is not needed where nothing asks for what was evaluated", () => {
    const schema: JsonObject = {
      oneOf: [{}, { properties: { a: {} } }],
      patternProperties: { b: {} },
    };
    assert.deepEqual(problemsOf(schema, { b: [] }), ["must match exactly one schema in oneOf"]);
    assert.equal(
      problemsOf({ ...schema, oneOf: [{}, { properties: { b: { type: "null" } } }] }, { b: [] }),
      "valid",
    );
  });

  test("reports problems in the words of compiled code", () => {
    const rows: readonly (readonly [schema: JsonObject, value: JsonValue])[] = [
      [{ type: "string" }, 1],
      [{ type: ["string", "null"] }, 1],
      [{ enum: ["a", 1] }, 2],
      [{ const: { a: 1 } }, 2],
      [{ minimum: 3, exclusiveMinimum: 3, multipleOf: 2 }, 1],
      [{ maximum: 3, exclusiveMaximum: 3 }, 5],
      [{ minLength: 2, pattern: "b" }, "a"],
      [{ maxLength: 2 }, "abc"],
      [{ minItems: 2, items: { type: "string" } }, [1]],
      [{ maxItems: 1, uniqueItems: true }, [1, 1]],
      [{ contains: { const: 1 } }, [2]],
      [{ contains: { const: 1 }, minContains: 2, maxContains: 3 }, [1]],
      [{ required: ["a", "b"], minProperties: 1, maxProperties: 0 }, {}],
      [
        { properties: { "a/b": { type: "string" } }, additionalProperties: false },
        { "a/b": 1, c: 2 },
      ],
      [{ propertyNames: { maxLength: 1 } }, { ab: 1 }],
      [{ dependentRequired: { a: ["b"] } }, { a: 1 }],
      [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1],
      [{ oneOf: [{ type: "number" }, { type: "integer" }] }, 1],
      [{ not: {} }, 1],
      [JSON.parse('{"if": {"const": 1}, "then": false}'), 1],
      [{ properties: { a: false } }, { a: 1 }],
    ];
    for (const [schema, instance] of rows) {
      const found = problemsOf({ ...schema, ...interpreted }, instance);
      assert.deepEqual(
        [...found].toSorted(),
        [...problemsOf(schema, instance)].toSorted(),
        JSON.stringify(schema),
      );
    }
  });

  test("finds what no part has evaluated", () => {
    const schema = {
      anyOf: [{ properties: { a: { const: 1 } }, required: ["a"] }, { properties: { b: true } }],
      unevaluatedProperties: false,
    };
    assert.equal(problemsOf(schema, { a: 1, b: 1 }), "valid");
    assert.deepEqual(problemsOf(schema, { a: 2, b: 1 }), ["must not have the property 'a'"]);
    const items = { prefixItems: [true], contains: { type: "string" }, unevaluatedItems: { type: "null" } };
    assert.equal(problemsOf(items, [1, "a", null]), "valid");
    assert.deepEqual(problemsOf(items, [1, "a", 2]), ["/2 must be null"]);
    assert.deepEqual(problemsOf({ prefixItems: [true], unevaluatedItems: false }, [1, 2]), [
      "must NOT have more than 1 items",
    ]);
  });

  test("resolves dynamic references", () => {
    const schema = {
      $id: "https://example.test/strict",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: "tree",
          $dynamicAnchor: "node",
          properties: { name: true, children: { items: { $dynamicRef: "#node" } } },
        },
      },
    };
    assert.equal(problemsOf(schema, { children: [{ name: "x" }] }), "valid");
    assert.deepEqual(problemsOf(schema, { children: [{ nam: "x" }] }), [
      "/children/0 must not have the property 'nam'",
      "must not have the property 'children'",
    ]);
  });

  test("finds documents by their URI, and fetches none", () => {
    const documents = new Map<string, JsonValue>([
      ["https://example.test/name", { type: "string", pattern: "^a" }],
    ]);
    const own = new SchemaValidator({ documents });
    assert.equal(own.validate({ $ref: "https://example.test/name" }, "ab").kind, "valid");
    assert.equal(own.validate({ $ref: "https://example.test/name" }, "b").kind, "invalid");
    assert.equal(own.validate({ $ref: "https://example.test/other" }, "b").kind, "unusable");
    assert.equal(
      own.validate({ $ref: "#/$defs/a", $defs: { a: { $ref: "name#/none" } } }, "b").kind,
      "unusable",
    );
  });

  test("that refers to itself without end is unusable", () => {
    assert.equal(problemsOf({ ...interpreted, $ref: "#" }, 1), "unusable");
    assert.equal(problemsOf({ ...interpreted, pattern: "(?=a)" }, 1), "unusable");
  });
});
