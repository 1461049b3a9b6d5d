import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";

type SchemaVerdict = ReturnType<SchemaValidator["validate"]>;

const draft7 = "http://json-schema.org/draft-07/schema#";
const validator = new SchemaValidator();
/** A member that changes nothing, except that Ajv does not apply the schema. */
const interpreted = { $id: "https://example.test/interpreted" };

/** Returns the verdict in short: `valid`, `unusable`, or the problems as `path message`. */
function verdictOf(schema: JsonObject, value: unknown): string | readonly string[] {
  const verdict = validator.validate(schema, value);
  return verdict.kind === "invalid"
    ? verdict.problems.map(({ path, message }) => `${path} ${message}`.trim())
    : verdict.kind;
}

function reasonOf(verdict: SchemaVerdict): string {
  assert.equal(verdict.kind, "unusable");
  return verdict.kind === "unusable" ? verdict.reason : "";
}

describe("A schema", () => {
  const person = {
    type: "object",
    properties: { name: { type: "string", minLength: 2 }, age: { type: "integer", minimum: 0 } },
    required: ["name"],
    additionalProperties: false,
  };
  const rows: readonly [
    title: string,
    schema: JsonObject,
    value: unknown,
    expected: string | readonly string[],
  ][] = [
    ["accepts a valid value", person, { name: "Ada", age: 36 }, "valid"],
    [
      "reports every problem with its place",
      person,
      { name: "A", age: -1, town: "London" },
      [
        "must not have the property 'town'",
        "/name must NOT have fewer than 2 characters",
        "/age must be >= 0",
      ],
    ],
    ["reports missing properties", person, {}, ["must have required property 'name'"]],
    ["lists the values of an enum", { enum: ["a", 1, null] }, "b", ['must be one of "a", 1, null']],
    ["reports the value of a const", { const: { a: 1 } }, {}, ['must be {"a":1}']],
    [
      "escapes places as JSON Pointers",
      { additionalProperties: { type: "number" } },
      { "a/b~c": "" },
      ["/a~1b~0c must be number"],
    ],
    ["does not coerce", { type: "number" }, "1", ["must be number"]],
    ["allows everything when it is empty", {}, { anything: [1] }, "valid"],
    [
      "supports prefixItems, which draft-07 does not",
      { prefixItems: [{ type: "string" }] },
      [1],
      ["/0 must be string"],
    ],
    ["of draft-07 ignores prefixItems", { $schema: draft7, prefixItems: [{ type: "string" }] }, [1], "valid"],
    [
      "of draft-07 accepts a list of items",
      { $schema: draft7, items: [{ type: "string" }] },
      [1],
      ["/0 must be string"],
    ],
    [
      "of draft-07 supports dependencies",
      { $schema: "https://json-schema.org/draft-07/schema", dependencies: { a: ["b"] } },
      { a: 1 },
      ["must have property b when property a is present"],
    ],
    [
      "of draft-06 is read as draft-07",
      { $schema: "http://json-schema.org/draft-06/schema#", const: 1 },
      2,
      ["must be 1"],
    ],
    [
      "of another dialect is read as 2020-12",
      { $schema: "https://example.test/own", type: "string" },
      1,
      ["must be string"],
    ],
    [
      "supports unevaluatedProperties",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      ["must not have the property 'b'"],
    ],
    [
      "supports dependentRequired",
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      ["must have property b when property a is present"],
    ],
    [
      "refers to its own definitions",
      { $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
      1,
      ["must be string"],
    ],
    [
      "refers to its own definitions by anchor",
      { $ref: "#a", $defs: { x: { $anchor: "a", type: "string" } } },
      1,
      ["must be string"],
    ],
    [
      "refers to itself",
      { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false },
      { next: { next: { last: 1 } } },
      ["/next/next must not have the property 'last'"],
    ],
    [
      "may refer to its dialect",
      { properties: { schema: { $ref: "https://json-schema.org/draft/2020-12/schema" } } },
      { schema: { type: "nonsense" } },
      [
        '/schema/type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
        "/schema/type must be array",
        "/schema/type must match a schema in anyOf",
      ],
    ],
    ["ignores unknown keywords", { type: "string", "x-order": 1, widget: { of: "mine" } }, "a", "valid"],
    ["ignores unknown formats", { format: "postal-code" }, "?", "valid"],
    ["does not reserve `$async`", { $async: true, type: "string" }, 1, ["must be string"]],
    [
      "finds equal items, regardless of the order of their keys",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ["must not have equal items"],
    ],
    ["accepts items that differ only in type", { uniqueItems: true }, [1, "1", [1], true, null], "valid"],
    ["accepts equal items if uniqueItems is false", { uniqueItems: false }, [1, 1], "valid"],
  ];
  for (const [title, schema, value, expected] of rows) {
    test(title, () => assert.deepEqual(verdictOf(schema, value), expected));
  }
});

describe("A format", () => {
  const rows: readonly [format: string, good: string, bad: string][] = [
    ["date-time", "2026-07-28T12:00:00Z", "2026-07-28 noon"],
    ["date", "2026-07-28", "28.7.2026"],
    ["time", "12:00:00Z", "noon"],
    ["email", "ada@example.test", "ada"],
    ["hostname", "example.test", "-example-"],
    ["ipv4", "127.0.0.1", "127.0.0"],
    ["ipv6", "::1", "1"],
    ["uri", "https://example.test/a?b#c", "not a uri"],
    ["uri-reference", "../a", "\\a b"],
    ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123"],
    ["json-pointer", "/a/0", "a"],
    ["regex", "^a$", "("],
  ];
  for (const [format, good, bad] of rows) {
    test(`${format} is checked in draft-07, and an annotation in 2020-12`, () => {
      for (const further of [{}, interpreted]) {
        const schema = { $schema: draft7, format, ...further };
        assert.equal(verdictOf(schema, good), "valid");
        assert.deepEqual(verdictOf(schema, bad), [`must match format "${format}"`]);
        assert.equal(verdictOf(schema, 1), "valid");
        assert.equal(verdictOf({ format, ...further }, bad), "valid");
      }
    });
  }
});

describe("A pattern", () => {
  test("is searched for anywhere in the text", () => {
    assert.equal(verdictOf({ pattern: "b+" }, "abbc"), "valid");
    assert.deepEqual(verdictOf({ pattern: "^b+$" }, "abbc"), ['must match pattern "^b+$"']);
  });

  test("counts characters, not UTF-16 units", () =>
    assert.equal(verdictOf({ pattern: "^.$" }, "😀"), "valid"));

  test("does not replace another one of its schema", () => {
    const schema = {
      properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } },
      patternProperties: { "^c": { pattern: "^c$" } },
    };
    assert.equal(verdictOf(schema, { a: "a", b: "b", c1: "c" }), "valid");
    assert.deepEqual(verdictOf(schema, { a: "b", b: "a", c1: "d" }), [
      '/a must match pattern "^a$"',
      '/b must match pattern "^b$"',
      '/c1 must match pattern "^c$"',
    ]);
  });

  test("that would take a backtracking engine exponential time is validated in linear time", () => {
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
      assert.deepEqual(verdictOf({ pattern }, `${"a".repeat(100_000)}!`), [
        `must match pattern "${pattern}"`,
      ]);
    }
  });

  for (const pattern of ["^(?=a)b", "(?<!a)b", String.raw`(a)\1`, String.raw`(?<n>a)\k<n>`, "(", "a{1001}"]) {
    test(`"${pattern}", which RE2 does not support, makes its schema unusable`, () => {
      assert.equal(verdictOf({ properties: { a: { pattern } } }, {}), "unusable");
    });
  }

  test("that RE2 does not support is left out by validateSupported, and the rest is checked", () => {
    const a = { type: "string", maxLength: 3, pattern: "^(?!x)" };
    const rows: readonly (readonly [schema: JsonObject, value: unknown, kind: string])[] = [
      [{ properties: { a, b: { pattern: "^b$" } } }, { a: "x", b: "b" }, "valid"],
      [{ properties: { a, b: { pattern: "^b$" } } }, { a: "x", b: "c" }, "invalid"],
      [{ properties: { a, b: { pattern: "^b$" } } }, { a: "long" }, "invalid"],
      [{ properties: { a, pattern: { type: "number" } } }, { a: "x", pattern: "y" }, "invalid"],
      [{ $defs: { a }, items: { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] } }, ["x", null], "valid"],
      [{ $defs: { a }, items: { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] } }, ["x", 1], "invalid"],
      // Without the pattern, these would refuse values that fit.
      [{ properties: { a: { not: a } } }, { a: "x" }, "unusable"],
      [{ properties: { a: { oneOf: [a, { type: "string" }] } } }, { a: "x" }, "unusable"],
      [{ patternProperties: { "^(?=a)": { type: "number" } } }, { a: "x" }, "unusable"],
      [{ properties: { a }, unevaluatedProperties: false }, { a: "x" }, "unusable"],
    ];
    const validator = new SchemaValidator();
    for (const [schema, value, kind] of rows) {
      assert.equal(validator.validateSupported(schema, value).kind, kind, JSON.stringify(schema));
      assert.equal(validator.validate(schema, value).kind, "unusable");
    }
  });

  test("can name general categories and scripts as ECMA 262 does", () => {
    assert.equal(verdictOf({ pattern: String.raw`^\p{Letter}+\P{gc=Number}$` }, "äb!"), "valid");
    assert.equal(verdictOf({ pattern: String.raw`^\p{Script=Greek}[\p{Decimal_Number}]$` }, "α1"), "valid");
    assert.deepEqual(verdictOf({ pattern: String.raw`^\\p{Letter}$` }, "a"), [
      String.raw`must match pattern "^\\p{Letter}$"`,
    ]);
  });

  test("can contain an escaped backslash before a digit", () => {
    assert.equal(verdictOf({ pattern: String.raw`^\\1$` }, String.raw`\1`), "valid");
  });
});

describe("Keys that every object inherits", () => {
  const rows: readonly [
    title: string,
    schema: JsonObject,
    value: unknown,
    expected: string | readonly string[],
  ][] = [
    [
      "are missing unless the value has them as own keys",
      { required: ["constructor", "toString", "__proto__"] },
      {},
      ["constructor", "toString", "__proto__"].map((key) => `must have required property '${key}'`),
    ],
    [
      "are present if the value has them as own keys",
      { required: ["constructor", "__proto__"] },
      JSON.parse('{"constructor":1,"__proto__":2}'),
      "valid",
    ],
    ["are not read from the prototype", { properties: { toString: { type: "string" } } }, {}, "valid"],
    [
      "are refused if additional properties are not allowed",
      { additionalProperties: false },
      JSON.parse('{"__proto__":1}'),
      ["must not have the property '__proto__'"],
    ],
    [
      "are matched by patternProperties",
      { patternProperties: { "^__": { type: "string" } } },
      JSON.parse('{"__proto__":1}'),
      ["/__proto__ must be string"],
    ],
  ];
  for (const [title, schema, value, expected] of rows) {
    test(title, () => assert.deepEqual(verdictOf(schema, value), expected));
  }

  test("do not change any prototype through a schema", () => {
    verdictOf(
      JSON.parse('{"properties":{"__proto__":{"type":"string"}},"$defs":{"__proto__":{"polluted":true}}}'),
      { a: 1 },
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
});

describe("A schema is unusable", () => {
  const rows: readonly [title: string, schema: JsonObject, reason: RegExp][] = [
    [
      "when it refers to another document",
      { $ref: "https://example.test/schema.json" },
      /can't resolve reference https:\/\/example\.test/,
    ],
    ["when it refers to a file", { $ref: "file:///etc/passwd" }, /can't resolve reference/],
    ["when it refers to a missing definition", { $ref: "#/$defs/none" }, /can't resolve reference/],
    ["when a keyword has the wrong type", { type: "text" }, /the schema is invalid: schema\/type/],
    ["when properties are not schemas", { properties: { a: "string" } }, /the schema is invalid/],
    ["when a reference refers only to itself", { $ref: "#" }, /cannot be applied|Maximum call stack/],
    ["when it nests too deeply", deepSchema(300), /nested deeper than 256 levels/],
    ["when it contains a value that is not JSON", { default: 1n } as unknown as JsonObject, /type bigint/],
  ];
  for (const [title, schema, reason] of rows) {
    test(title, () => {
      assert.match(reasonOf(validator.validate(schema, {})), reason);
      assert.match(reasonOf(validator.validate(schema, {})), reason);
    });
  }

  test("when it is longer than the limit", () => {
    const small = new SchemaValidator({ maxSchemaLength: 30 });
    assert.equal(small.validate({ type: "string" }, "a").kind, "valid");
    const verdict = small.validate({ type: "string", description: "x".repeat(30) }, "a");
    assert.match(reasonOf(verdict), /characters; at most 30 are allowed/);
  });

  function deepSchema(depth: number): JsonObject {
    let schema: JsonObject = {};
    for (let level = 0; level < depth; level += 1) schema = { items: schema };
    return schema;
  }
});

test("validate() changes neither schema nor value", () => {
  const schema = { properties: { a: { default: 1 } }, additionalProperties: true };
  const value = { b: "2" };
  const before = structuredClone({ schema, value });
  verdictOf(schema, value);
  assert.deepEqual({ schema, value }, before);
});

test("validate() gives the same verdict for equal schemas that are different objects", () => {
  for (let time = 0; time < 3; time += 1)
    assert.deepEqual(verdictOf({ type: "string" }, 1), ["must be string"]);
});

test("validate() reports at most maxProblems problems", () => {
  const values = Array(50).fill("x");
  const count = (verdict: SchemaVerdict) => (verdict.kind === "invalid" ? verdict.problems.length : 0);
  assert.equal(count(validator.validate({ items: { type: "number" } }, values)), 20);
  const three = new SchemaValidator({ maxProblems: 3 });
  assert.equal(count(three.validate({ items: { type: "number" } }, values)), 3);
});

test("validate() limits the length of messages for long schemas and values", () => {
  const schemas: readonly JsonObject[] = [
    { enum: Array.from({ length: 2000 }, (_, index) => `value ${index}`) },
    { const: "x".repeat(10_000) },
    { additionalProperties: false },
  ];
  for (const schema of schemas) {
    const verdict = validator.validate(schema, { ["k".repeat(10_000)]: 1 });
    assert.equal(verdict.kind, "invalid");
    if (verdict.kind === "invalid")
      for (const { message } of verdict.problems) assert.ok(message.length <= 500);
  }
});

test("SchemaValidator keeps at most maxSchemas compiled schemas", () => {
  const small = new SchemaValidator({ maxSchemas: 2 });
  const schemas = [{ const: 1 }, { const: 2 }, { const: 3 }];
  for (let round = 0; round < 3; round += 1) {
    schemas.forEach((schema, index) => {
      // A copy each time, so that only the bounded cache could know it.
      assert.equal(small.validate({ ...schema }, index + 1).kind, "valid");
      assert.equal(small.validate({ ...schema }, index + 2).kind, "invalid");
    });
  }
});
