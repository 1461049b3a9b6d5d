/** Schemas and values that try to exhaust a validator or to bypass it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { slowTest } from "@toolcrib/testing";

const maxSteps = 200_000;
const validator = new SchemaValidator({ maxSteps });

/** Checks that the validation of `value` stops because its steps are used up, by code and by interpretation. */
function runsOut(schema: JsonObject, value: unknown, { isInterpreted } = { isInterpreted: true }): void {
  const ways = isInterpreted ? [{}, { $id: "https://example.test/interpreted" }] : [{}];
  for (const further of ways) {
    assert.deepEqual(validator.validate({ ...schema, ...further }, value), {
      kind: "invalid",
      problems: [{ path: "", message: `takes more than ${maxSteps} steps to check and is refused` }],
    });
  }
}

const definitions = (count: number, make: (index: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, make(index)]));

describe("A validation ends when its steps are used up", () => {
  test("by references that fan out", slowTest, () => {
    const two = (index: number) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return { anyOf: [next, next] };
    };
    const $defs = { ...definitions(40, two), d40: { type: "string" } };
    runsOut({ $ref: "#/$defs/d0", $defs }, 1);
  });

  test("by references that fan out over the items of a list", slowTest, () => {
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

  test("by one large pattern over a text", () => {
    runsOut({ pattern: "(a?){1000}[bc]$" }, "a".repeat(1000));
  });

  test("by what parts of a schema evaluate", slowTest, () => {
    const $defs = { all: { additionalProperties: { type: "integer" } } };
    const value = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, 1]));
    const allOf = Array(500).fill({ $ref: "#/$defs/all" });
    runsOut({ allOf, unevaluatedProperties: false, $defs }, value);
    runsOut(
      { items: { enum: Array.from({ length: 2000 }, (_, at) => `${at}`) } },
      Array(10_000).fill("1999"),
    );
  });

  test("by lists with many different items", slowTest, () => {
    const items = Array.from({ length: maxSteps }, (_, index) => index);
    runsOut({ uniqueItems: true }, items);
  });

  test("by more problems than the limit", () => {
    runsOut({ items: { type: "string" } }, Array(maxSteps).fill(1));
    // Generated code copies earlier problems.
    const schema = { items: { $ref: "#/$defs/a" }, $defs: { a: { type: "string" } } };
    runsOut(schema, Array(5000).fill(1), { isInterpreted: false });
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

describe("A pattern is answered in time linear in the text", () => {
  const text = "a".repeat(2000);
  /** Patterns that take a backtracking engine exponential or high polynomial time for texts that nearly match. */
  const patterns: readonly (readonly [pattern: string, attack: string])[] = [
    ["^(a+)+$", `${text}!`],
    ["^(a*)*$", `${text}!`],
    ["^(a+)*$", `${text}!`],
    ["^(a*)+$", `${text}!`],
    ["^(a|a)+$", `${text}!`],
    ["^(a|aa)+$", `${text}!`],
    ["^(a|a|a|a)*$", `${text}!`],
    ["^((a+)+)+$", `${text}!`],
    ["^(((a*)*)*)*$", `${text}!`],
    ["^(a?)*$", `${text}!`],
    ["^(a?a?)*$", `${text}!`],
    ["^(aa?)*$", `${text}!`],
    ["^(a{1,5})+$", `${text}!`],
    ["^(a{1,20}){1,20}$", `${text}!`],
    ["^(a?){50}a{50}$", `${"a".repeat(49)}`],
    ["^(.*a){12}$", `${text}!`],
    ["^(.*)(.*)(.*)(.*)(.*)b$", text],
    ["^a*a*a*a*a*a*a*a*b$", text],
    ["^.*.*.*.*=.*$", text],
    ["(x+x+)+y", "x".repeat(2000)],
    ["^(x+x+)+y$", "x".repeat(2000)],
    ["^([a-z]+)*$", `${text}1`],
    ["^([a-zA-Z]+)*$", `${text}1`],
    ["^([a-z0-9]+)+@$", text],
    ["^(\\w+\\s?)*$", `${"word ".repeat(400)}!`],
    ["^(\\w+\\s*)+$", `${"word ".repeat(400)}!`],
    ["^(\\d+)*$", `${"1".repeat(2000)}x`],
    ["^(\\d+|\\d+\\.)+$", `${"1".repeat(2000)}x`],
    ["^\\s+|\\s+$x", `a${" ".repeat(2000)}b`],
    ["^(\\s*\\S+\\s*)*$\\b", `${" ".repeat(2000)}`],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", text],
    ["^(([a-z]+)[.-]?)+$", `${text}!`],
    ["^([\\w.-]+)+@([\\w-]+\\.)+[a-z]{2,4}$", `${text}@`],
    ["^[a-zA-Z0-9]+([._]?[a-zA-Z0-9]+)*@$", text],
    ["^([0-9a-zA-Z]([-.\\w]*[0-9a-zA-Z])*@)$", text],
    ["^(?:(?:[a-z]+:)?//)?(([a-z]+\\.?)+)$", `${text}!`],
    [
      "^(https?:\\/\\/)?([\\da-z.-]+)\\.([a-z.]{2,6})([\\/\\w .-]*)*\\/?$",
      `http://a.bc${"/a".repeat(1000)}!`,
    ],
    ["^#?([a-f0-9]+)*#$", text],
    ["^\\$?(\\d{1,3},?(\\d{3},?)*\\d{3})+$", `${"1".repeat(2000)}x`],
    ['^("[^"]*"|[^,]*)(,("[^"]*"|[^,]*))*;$', ",".repeat(2000)],
    ["^(<[^>]+>)*<$", "<a>".repeat(700)],
    ['^<(\\w+)(\\s*\\w+="[^"]*")*>$', `<a${' b="c"'.repeat(300)}`],
    ["^(\\/\\*[\\s\\S]*?\\*\\/)+$", "/**/".repeat(500).concat("/")],
    ["^((\\+|-)?\\d+)+$", `${"+1".repeat(1000)}x`],
    ["^(\\p{L}+)+$", `${"ä".repeat(2000)}1`],
    ["^(\\p{L}|\\p{Lu}|\\p{Ll})*$", `${"ä".repeat(2000)}1`],
    ["^(?:a|b|ab)*c$", "ab".repeat(1000)],
    ["^(?:(?:ab)+|(?:abab)+)+c$", "ab".repeat(1000)],
    ["^(.|\\n)*\\x00$", text],
    ["^(?:[^\\W_]+[-_]?)+$", `${text}!`],
  ];

  test("for fifty patterns that can take a backtracking engine endless time", () => {
    assert.equal(new Set(patterns.map(([pattern]) => pattern)).size, 50);
    for (const [pattern, attack] of patterns) {
      const verdict = new SchemaValidator().validate({ pattern }, attack);
      assert.deepEqual(verdict, {
        kind: "invalid",
        problems: [{ path: "", keyword: "pattern", message: `must match pattern "${pattern}"` }],
      });
    }
  });
});
