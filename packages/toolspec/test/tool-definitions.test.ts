import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { runCount } from "@toolcrib/testing";
import {
  egressPatterns,
  manifestJsonSchema,
  parseManifest,
  parseToolspec,
  placedCredentials,
  toolDefinitions,
  toolspecJsonSchema,
} from "@toolcrib/toolspec";
import { change, manifest, plan, specWith, toolspec } from "./samples.ts";

const readManifest = (text: string) => {
  const { value } = parseManifest({ name: "m.yaml", text });
  assert.ok(value);
  return value;
};

test("toolDefinitions() derives input schemas from parameters", () => {
  const { value: spec } = parseToolspec({ name: "t.yaml", text: toolspec });
  assert.ok(spec);
  const [one] = toolDefinitions(spec, readManifest(manifest));
  assert.deepEqual(one?.definition, {
    name: "get_item",
    description: "Get an item",
    inputSchema: {
      type: "object",
      properties: { id: { type: "string" }, limit: { type: "integer" } },
      required: ["id"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  });
  assert.equal(one?.isDefault, true);
  assert.equal(
    toolDefinitions(spec, readManifest(change(manifest, "default: true", "default: false")))[0]?.isDefault,
    false,
  );
});

test("every type of parameter has its schema, with the description", () => {
  const types = ["string", "integer", "number", "boolean", "object", "array"];
  const params = types
    .map((type) => `  - {name: a_${type}, in: body, type: ${type}, description: A ${type}}`)
    .join("\n");
  const [one] = toolDefinitions(specWith(`method: POST\npath: /x\nparams:\n${params}`));
  assert.deepEqual(one?.definition.inputSchema["properties"], {
    a_string: { type: "string", description: "A string" },
    a_integer: { type: "integer", description: "A integer" },
    a_number: { type: "number", description: "A number" },
    a_boolean: { type: "boolean", description: "A boolean" },
    a_object: { type: "object", description: "A object" },
    a_array: { type: "array", items: {}, description: "A array" },
  });
});

test("a parameter with a fixed value is not in the input schema, and one with several values lists them", () => {
  const params =
    "  - {name: Notion-Version, in: header, type: string, value: '2022-06-28'}\n  - {name: sort, in: query, type: string, enum: [asc, desc]}";
  const [one] = toolDefinitions(specWith(`method: GET\npath: /x\nparams:\n${params}`, 2));
  assert.deepEqual(one?.definition.inputSchema["properties"], {
    sort: { type: "string", enum: ["asc", "desc"] },
  });
});

test("names that clients reject are replaced in the input schema, and both names are accepted", () => {
  const named = ["filter[query]", "$top", "@id", "a b", "a_b", "[]", "é", "x".repeat(80), "page.size"];
  const params = named.map((name) => `  - {name: "${name}", in: query, type: string}`).join("\n");
  const spec = specWith(`method: GET\npath: /x\nparams:\n${params}`, 2);
  assert.deepEqual(Object.keys(toolDefinitions(spec)[0]?.definition.inputSchema["properties"] ?? {}), [
    "filter_query",
    "top",
    "id",
    "a_b_2",
    "a_b",
    "param",
    "param_2",
    "x".repeat(64),
    "page.size",
  ]);
  const urlOf = (args: object) => plan(spec, args).url;
  assert.equal(
    urlOf({ filter_query: "q", a_b_2: "1", a_b: "2" }),
    "https://api.example.com/x?filter%5Bquery%5D=q&a%20b=1&a_b=2",
  );
  assert.equal(urlOf({ "filter[query]": "q" }), urlOf({ filter_query: "q" }));
  assert.throws(() => urlOf({ "filter[query]": "q", filter_query: "q" }), {
    code: "TOOLSPEC_ARGUMENT_INVALID",
  });
});

test("annotations follow from the method, unless version 2 overrides them", () => {
  const of = (method: string, more = "", version = 1) =>
    toolDefinitions(specWith(`method: ${method}\npath: /x${more}`, version))[0]?.definition.annotations;
  assert.equal(of("GET")?.readOnlyHint, true);
  assert.deepEqual(of("POST"), { readOnlyHint: false, openWorldHint: true });
  assert.equal(of("PUT")?.idempotentHint, true);
  assert.deepEqual(of("PATCH"), { readOnlyHint: false, openWorldHint: true });
  assert.equal(of("DELETE")?.destructiveHint, true);
  const search = of("POST", "\nannotations: {readOnlyHint: true, title: Search}", 2);
  assert.deepEqual(search, { readOnlyHint: true, openWorldHint: true, title: "Search" });
});

test("placedCredentials() returns every credential of the sealed tier, and the first one of the entrusted tier", () => {
  const two = '  - {id: two, type: basic, inject: {header: X-Two, format: "k={token};{token}"}}\ntools:\n';
  const sealed = readManifest(change(manifest, "tools:\n", two));
  const authorization = { kind: "header", name: "Authorization", format: "Bearer {token}" };
  assert.deepEqual(placedCredentials(sealed, specWith("method: GET\npath: /x")), [
    { id: "key", place: authorization },
    { id: "two", place: { kind: "header", name: "X-Two", format: "k={token};{token}" }, encoding: "basic" },
  ]);
  const inject = '      header: Authorization\n      format: "Bearer {token}"';
  const entrusted = readManifest(change(change(manifest, "sealed", "entrusted"), inject, "      env: KEY"));
  const spec = specWith("method: GET\npath: /x", 1, 'auth: {header: X-Key, format: "t {token}"}\n');
  assert.deepEqual(placedCredentials(entrusted, spec), [
    { id: "key", place: { kind: "header", name: "X-Key", format: "t {token}" } },
  ]);
  assert.deepEqual(placedCredentials(entrusted, specWith("method: GET\npath: /x")), []);
});

test("placedCredentials() returns the places of schemaVersion 2", () => {
  const two = `  - {id: two, type: api_key, inject: {query: key}}
  - {id: three, type: api_key, inject: {query: sig, format: "v1 {token}"}}
  - {id: four, type: api_key, inject: {pathPrefix: "/bot{token}"}}
tools:
`;
  const second = readManifest(
    change(change(manifest, "tools:\n", two), "schemaVersion: 1", "schemaVersion: 2"),
  );
  assert.deepEqual(placedCredentials(second, specWith("method: GET\npath: /x")).slice(1), [
    { id: "two", place: { kind: "query", name: "key", format: "{token}" } },
    { id: "three", place: { kind: "query", name: "sig", format: "v1 {token}" } },
    { id: "four", place: { kind: "pathPrefix", format: "/bot{token}" } },
  ]);
});

test("egressPatterns() returns the hosts that a manifest allows", () => {
  const read = egressPatterns(readManifest(change(manifest, "api.example.com", '"*.example.com"')));
  assert.deepEqual(
    read.map(({ text }) => text),
    ["*.example.com"],
  );
});

test("the JSON Schemas accept valid files, and refuse the files that lint refuses", () => {
  const validator = new SchemaValidator();
  const kindOf = (schema: JsonObject, value: unknown) => validator.validate(schema, value).kind;
  const spec = {
    schemaVersion: 1,
    name: "demo",
    version: "0.1.0",
    baseUrl: "https://api.example.com",
    tools: [{ name: "a", description: "x", method: "GET", path: "/" }],
  };
  const schema = toolspecJsonSchema();
  assert.equal(kindOf(schema, spec), "valid");
  assert.equal(kindOf(schema, { ...spec, schemaVersion: 2, variables: { a: {} } }), "valid");
  for (const bad of [
    { ...spec, variables: {} },
    { ...spec, schemaVersion: 3 },
    { ...spec, name: "a_b" },
    { ...spec, version: "1" },
    { ...spec, tools: [] },
    { ...spec, more: 1 },
    { ...spec, tools: [{ ...spec.tools[0], method: "HEAD" }] },
  ])
    assert.equal(kindOf(schema, bad), "invalid", JSON.stringify(bad));
  const { value } = parseManifest({ name: "m.yaml", text: manifest });
  assert.equal(kindOf(manifestJsonSchema(), value), "valid");
  assert.equal(kindOf(manifestJsonSchema(), { ...value, tier: "x" }), "invalid");
  const credentials = [{ id: "k", type: "api_key", inject: { query: "key" } }];
  assert.equal(kindOf(manifestJsonSchema(), { ...value, credentials }), "invalid");
  assert.equal(kindOf(manifestJsonSchema(), { ...value, schemaVersion: 2, credentials }), "valid");
});

test("no text crashes a parser", async () => {
  const { default: fc } = await import("fast-check");
  const line = fc.oneof(
    fc.constantFrom(
      ...toolspec.split("\n"),
      ...manifest.split("\n"),
      "  - [",
      "? a",
      "&a *a",
      "%YAML 1.1",
      "---",
      "!!map",
      "\t",
      "{",
      "}",
      "a: |",
      "<<: *x",
    ),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom("x.yaml", "x.json"), (lines, name) => {
      const source = { name, text: lines.join("\n") };
      for (const { value, diagnostics } of [parseManifest(source), parseToolspec(source)])
        assert.equal(
          value === undefined,
          diagnostics.some(({ severity }) => severity === "error"),
        );
    }),
    { numRuns: runCount(1000) },
  );
});
