/** Tools of packages in the forms of `tools.json`, MCP, OpenAI, Anthropic and Gemini. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { type ExportFormat, exportTools, parsePackage, type ToolPackage } from "@toolcrib/mcpkg";
import { echoFiles } from "./sample-packages.ts";

const validator = new SchemaValidator();

function packageOf(changes: object = {}, more: Parameters<typeof echoFiles>[1] = {}): ToolPackage {
  const { value, diagnostics } = parsePackage(echoFiles(changes, more), validator);
  assert(value !== undefined, JSON.stringify(diagnostics).slice(0, 500));
  return value;
}

function exported(packages: readonly ToolPackage[], format?: ExportFormat, examplesMaxLength = 0) {
  return exportTools(
    packages.map((found) => ({ found, testSummary: undefined })),
    { format, examplesMaxLength },
  );
}

/** The tools in a document, in their own form. */
function toolsOf(document: JsonValue, format: ExportFormat): readonly JsonObject[] {
  const list = format === "gemini" ? (document as JsonObject[])[0]?.["functionDeclarations"] : document;
  const tools = format === "mcp" ? (document as JsonObject)["tools"] : list;
  return (tools as JsonObject[]).map((tool) => (tool["function"] as JsonObject | undefined) ?? tool);
}

function schemaOf(inputSchema: JsonObject, format: ExportFormat): JsonObject {
  const { document } = exported([packageOf({ input_schema: inputSchema, tests: [] })], format);
  const [tool = {}] = toolsOf(document, format);
  return (tool["parameters"] ?? tool["input_schema"] ?? tool["inputSchema"]) as JsonObject;
}

test("tools.json has what the document and a router need, with the result of the latest tests", () => {
  const found = packageOf({ examples: ["examples/a.md"] }, { "examples/a.md": "# Use\nSay hello.\n" });
  const testSummary = { passed: 1, failed: 0, at: "2026-11-26T08:00:00.000Z" };
  const { document, names, notes } = exportTools([{ found, testSummary }]);
  const { input_schema, output_schema, capabilities, description } = found.manifest;
  assert.deepEqual(document, {
    tools: [
      {
        name: "demo.echo",
        toolId: "demo.echo",
        title: "Echo Tool",
        version: "0.1.0",
        description,
        input_schema,
        output_schema,
        capabilities,
        examples: ["# Use\nSay hello.", 'Input: {"message":"hello"}\nResult: {"message":"hello"}'],
        test_summary: testSummary,
      },
    ],
  });
  assert.deepEqual(names, [{ toolId: "demo.echo", name: "demo.echo" }]);
  assert.deepEqual(notes, []);
});

test("each runtime gets its form", () => {
  const found = packageOf();
  const { description, input_schema: schema, output_schema: outputSchema } = found.manifest;
  const documents = (["mcp", "openai", "anthropic", "gemini"] as const).map(
    (format) => exported([found], format).document,
  );
  assert.deepEqual(documents, [
    { tools: [{ name: "demo.echo", title: "Echo Tool", description, inputSchema: schema, outputSchema }] },
    [{ type: "function", function: { name: "demo_echo", description, parameters: schema, strict: false } }],
    [{ name: "demo_echo", description, input_schema: schema }],
    [
      {
        functionDeclarations: [
          {
            name: "demo_echo",
            description,
            parameters: {
              type: "OBJECT",
              properties: { message: { type: "STRING" } },
              required: ["message"],
              propertyOrdering: ["message"],
            },
          },
        ],
      },
    ],
  ]);
});

describe("A name", () => {
  const patterns: { readonly [format in ExportFormat]: RegExp } = {
    mcp: /^[A-Za-z0-9_.-]{1,64}$/,
    openai: /^[a-zA-Z0-9_-]{1,64}$/,
    anthropic: /^[a-zA-Z0-9_-]{1,64}$/,
    gemini: /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/,
  };
  for (const [format, pattern] of Object.entries(patterns) as [ExportFormat, RegExp][]) {
    test(`is legal for ${format}, and different for every tool`, () => {
      const ids = [
        "a.b_c",
        "a_b.c",
        "a.b.c",
        "1st.tool",
        `long.${"x".repeat(100)}.one`,
        `long.${"x".repeat(100)}.two`,
        "acme.crm.search_customers",
      ];
      const { names, notes, document } = exported(
        ids.map((toolId) => packageOf({ toolId })),
        format,
      );
      assert.deepEqual(
        names.map(({ toolId }) => toolId),
        ids,
      );
      for (const { name } of names) assert.match(name, pattern);
      assert.equal(new Set(names.map(({ name }) => name.toLowerCase())).size, ids.length);
      assert.deepEqual(
        toolsOf(document, format).map(({ name }) => name),
        names.map(({ name }) => name),
      );
      if (format === "mcp") assert.deepEqual(notes, []);
      else {
        assert.match(
          notes.join("\n"),
          /^a\.b_c: named "a_b_c_[0-9a-f]{8}", because a_b\.c, a\.b\.c would be "a_b_c", too/m,
        );
      }
    });
  }

  test("does not depend on other tools, except where it would be the same", () => {
    const [alone] = exported([packageOf({ toolId: "a.b" })], "openai").names;
    const [first] = exported([packageOf({ toolId: "a.b" }), packageOf({ toolId: "c.d" })], "openai").names;
    assert.deepEqual(first, alone);
  });
});

test("examples are whole, up to the limit and the longest description of the runtime", () => {
  const found = packageOf(
    { examples: ["examples/a.md", "examples/b.md"] },
    { "examples/a.md": "a".repeat(900), "examples/b.md": "b".repeat(50) },
  );
  const { document, notes } = exported([found], "anthropic", 1000);
  const [{ description } = {}] = toolsOf(document, "anthropic");
  assert.match(String(description), /^Echos back .*\n\nExamples:\na{900}\n\nb{50}$/s);
  assert.deepEqual(notes, ["demo.echo: 1 of 3 examples are left out (limit of 1000 characters)"]);
  const [openai = {}] = toolsOf(exported([found], "openai", 10_000).document, "openai");
  assert.equal(openai["description"], found.manifest.description);
  const long = packageOf({ description: "d".repeat(4000) });
  const [cut = {}] = toolsOf(exported([long], "openai").document, "openai");
  assert.equal(String(cut["description"]).length, 1024);
});

describe("A schema", () => {
  const properties = { a: { type: "string" }, b: { type: "integer" } };

  test("for OpenAI is strict only within the rules of strict mode", () => {
    const isStrict = (schema: JsonObject): unknown =>
      toolsOf(exported([packageOf({ input_schema: schema, tests: [] })], "openai").document, "openai")[0]?.[
        "strict"
      ];
    const closed = { type: "object", additionalProperties: false };
    const rows: readonly (readonly [schema: JsonObject, isStrict: boolean])[] = [
      [{ ...closed, properties, required: ["a", "b"] }, true],
      [{ ...closed, properties, required: ["a"] }, false],
      [{ type: "object", properties, required: ["a", "b"] }, false],
      [
        { ...closed, properties: { a: { ...closed, properties, required: ["a", "b"] } }, required: ["a"] },
        true,
      ],
      [{ ...closed, properties: { a: { type: "object", properties } }, required: ["a"] }, false],
      [{ ...closed, properties: { a: { type: "string", minLength: 1 } }, required: ["a"] }, false],
      [{ ...closed, properties: { a: { type: "string", format: "uri" } }, required: ["a"] }, false],
      [
        { ...closed, properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] } }, required: ["a"] },
        true,
      ],
      [
        {
          ...closed,
          properties: { a: { enum: Array.from({ length: 1001 }, (_, at) => `${at}`) } },
          required: ["a"],
        },
        false,
      ],
      [{ ...closed, properties: { a: deep(11) }, required: ["a"] }, false],
      [{ ...closed, properties: {} }, true],
    ];
    for (const [schema, expected] of rows)
      assert.equal(isStrict(schema), expected, JSON.stringify(schema).slice(0, 200));
  });

  test("has no unions at its top for OpenAI and Anthropic, and keeps their properties", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      anyOf: [{ required: ["a"] }, { properties: { b: { type: "integer" } }, required: ["b"] }],
      not: { required: ["c"] },
    };
    assert.deepEqual(schemaOf(schema, "openai"), { type: "object", properties });
    assert.deepEqual(schemaOf(schema, "anthropic"), { type: "object", properties, not: schema.not });
    assert.deepEqual(schemaOf(schema, "mcp"), schema);
    const { notes } = exported([packageOf({ input_schema: schema, tests: [] })], "openai");
    assert.deepEqual(notes, ["demo.echo: the schema for openai has no anyOf at its top, not at its top"]);
  });

  const rows: readonly (readonly [title: string, property: JsonObject, expected: JsonObject])[] = [
    ["unions with null are nullable", { type: ["string", "null"] }, { type: "STRING", nullable: true }],
    [
      "several types are a union",
      { type: ["string", "integer"] },
      { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
    ],
    [
      "oneOf is anyOf",
      { oneOf: [{ type: "string" }, { type: "null" }, { type: "number" }] },
      { anyOf: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
    ],
    [
      "a union of one type is that type",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "STRING", nullable: true },
    ],
    ["texts are enumerated", { enum: ["x", "y"] }, { type: "STRING", enum: ["x", "y"], format: "enum" }],
    ["a constant is an enumeration", { const: "x" }, { type: "STRING", enum: ["x"], format: "enum" }],
    [
      "other values are described",
      { type: "integer", enum: [1, 2], description: "Size." },
      { type: "INTEGER", description: "Size. One of: 1, 2" },
    ],
    ["lists have items", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
    ["unknown formats are left out", { type: "string", format: "uri" }, { type: "STRING" }],
    ["known formats stay", { type: "string", format: "date-time" }, { type: "STRING", format: "date-time" }],
    [
      "limits stay",
      { type: "integer", minimum: 1, maximum: 3, default: 2 },
      { type: "INTEGER", minimum: 1, maximum: 3, default: 2 },
    ],
    [
      "references are inserted",
      { $ref: "#/$defs/point", description: "Where." },
      {
        type: "OBJECT",
        description: "Where.",
        properties: { x: { type: "NUMBER" } },
        propertyOrdering: ["x"],
      },
    ],
    [
      "recursive references end",
      { $ref: "#/$defs/tree" },
      { type: "OBJECT", properties: { next: { type: "OBJECT" } }, propertyOrdering: ["next"] },
    ],
    [
      "parts of allOf are joined",
      {
        allOf: [
          { properties: { x: { type: "string" } }, required: ["x"] },
          { properties: { y: { type: "string" } } },
        ],
      },
      {
        type: "OBJECT",
        properties: { y: { type: "STRING" }, x: { type: "STRING" } },
        required: ["x"],
        propertyOrdering: ["y", "x"],
      },
    ],
  ];
  for (const [title, property, expected] of rows) {
    test(`for Gemini: ${title}`, () => {
      const $defs = {
        point: { type: "object", properties: { x: { type: "number" } } },
        tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } },
      };
      const schema = schemaOf({ type: "object", properties: { p: property }, $defs }, "gemini");
      assert.deepEqual((schema["properties"] as JsonObject)["p"], expected);
    });
  }

  test("for Gemini is absent where a tool has no parameters", () => {
    assert.equal(schemaOf({ type: "object" }, "gemini"), undefined);
    const { notes } = exported(
      [
        packageOf({
          input_schema: {
            type: "object",
            properties: { a: { type: "string" } },
            additionalProperties: false,
          },
          tests: [],
        }),
      ],
      "gemini",
    );
    assert.deepEqual(notes, ["demo.echo: the schema for gemini has no additionalProperties"]);
  });

  test("of any depth and width is converted within limits", () => {
    const wide = { anyOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/a" })) };
    const $defs = { a: { type: "object", properties: { b: { $ref: "#/$defs/b" } } }, b: wide };
    const schema = schemaOf({ type: "object", properties: { a: wide, deep: deep(25) }, $defs }, "gemini");
    assert(JSON.stringify(schema).length < 1_000_000);
  });
});

function deep(levels: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < levels; level += 1) {
    schema = { type: "object", properties: { a: schema }, required: ["a"], additionalProperties: false };
  }
  return schema;
}
