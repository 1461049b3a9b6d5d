import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import {
  type PackageFiles,
  parsePackage,
  programsOf,
  readProgram,
  writeProgramPackage,
} from "@toolcrib/mcpkg";
import { fromProgramPackage, parseTestCases, toProgramPackage } from "@toolcrib/metatool";
import type { SavedToolDefinition } from "@toolcrib/store";
import { anyCharacter, runCount } from "@toolcrib/testing";
import fc from "fast-check";

const validator = new SchemaValidator();

const sample: SavedToolDefinition = {
  name: "Find.Estimate",
  description: "Finds the estimate of an issue.\n\nSecond paragraph.",
  inputSchema: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string" }, __proto__x: {} },
  },
  code: "\ufeff# Umlauts ä, and CRLF\r\nreturn github.searchIssues(query = params.title)[0]",
  toolcrib: {
    reach: { tools: ["github:searchIssues"], dynamic: false },
    approved: { tools: ["github:searchIssues"], dynamic: false },
    tests: [
      {
        name: "one",
        params: { title: "x" },
        replies: [{ tool: "github.searchIssues", params: { query: "x" }, result: [null] }],
        expect: { result: null },
        now: "1700000000000000001",
      },
      {
        name: "ONE!",
        params: {},
        replies: [
          { tool: "github.searchIssues", error: { message: "no", details: { code: "X" }, kind: "denied" } },
        ],
        expect: { error: { type: "policy_error", message: "no" } },
      },
    ],
  },
};

/** The files of a package as texts. */
type Texts = ReadonlyMap<string, string>;

function write(tool: SavedToolDefinition, options: Parameters<typeof toProgramPackage>[1] = {}): Texts {
  const { value, diagnostics } = toProgramPackage(tool, options);
  assert.deepEqual(diagnostics, []);
  return writeProgramPackage(value);
}

/** Reads a package as a saved tool, as `toolcrib saved import` does. */
function read(
  texts: Texts,
  name?: string,
): { readonly value?: SavedToolDefinition; readonly diagnostics: readonly Diagnostic[] } {
  const files: PackageFiles = new Map(
    [...texts].map(([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: false }]),
  );
  const { value, diagnostics } = parsePackage(files, validator);
  if (value === undefined) return { diagnostics };
  const [program] = programsOf(value.manifest);
  const code = readProgram(value.files, program?.source ?? "") ?? "";
  const result = fromProgramPackage({ ...value, code }, validator, name === undefined ? {} : { name });
  return { ...result, diagnostics: [...diagnostics, ...result.diagnostics] };
}

function checkRoundTrip(tool: SavedToolDefinition): void {
  const { value, diagnostics } = read(write(tool));
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error"),
    [],
  );
  const { toolcrib, ...others } = value as SavedToolDefinition;
  const { toolcrib: before, ...expected } = tool;
  assert.deepEqual(others, expected);
  assert.deepEqual(parseTestCases(toolcrib).value, parseTestCases(before).value);
  assert.deepEqual(toolcrib?.["approved"], { tools: [], dynamic: false }, "nothing of it is approved");
}

test("a saved tool is read from its package unchanged, and must be approved", () => {
  checkRoundTrip(sample);
  const texts = write(sample);
  assert.deepEqual([...texts.keys()].toSorted(), [
    "examples/usage.md",
    "main.star",
    "manifest.json",
    "tests/001-one.test.json",
    "tests/002-one.test.json",
  ]);
  const manifest = JSON.parse(texts.get("manifest.json") ?? "");
  assert.equal(manifest.toolId, "saved.find_estimate");
  assert.deepEqual(manifest.capabilities, ["composite", "github"]);
  assert.deepEqual(manifest.endpoint, {
    type: "starlark",
    source: "main.star",
    tools: ["github:searchIssues"],
  });
});

test("packages of earlier versions are read", () => {
  // Written by `toolcrib saved export` before packages could run a program.
  const old = new Map([
    [
      "manifest.json",
      JSON.stringify({
        toolId: "saved.count",
        name: "count",
        version: "1.0.0",
        description: "",
        capabilities: ["composite"],
        endpoint: { type: "starlark", source: "main.star" },
        input_schema: { type: "object", properties: { n: { type: "integer" } } },
        output_schema: {},
        tests: ["tests/001-one.test.json"],
        examples: ["examples/usage.md"],
      }),
    ],
    ["main.star", "return params.n + notes.count(of=1)\n"],
    ["examples/usage.md", "# count\n"],
    [
      "tests/001-one.test.json",
      JSON.stringify({
        name: "one",
        input: { n: "1" },
        expected: 3,
        assertions: [],
        replies: [{ tool: "notes.count", params: { of: 1 }, result: 2 }],
        now: "946684800000000000",
      }),
    ],
  ]);
  const { value, diagnostics } = read(old);
  assert.deepEqual(
    diagnostics.map(({ severity, code }) => [severity, code]),
    [["warning", "MCPKG_TEST_INPUT_INVALID"]],
  );
  assert.equal(value?.code, old.get("main.star"));
  assert.deepEqual(parseTestCases(value?.toolcrib).value, [
    {
      name: "one",
      params: { n: "1" },
      replies: [{ tool: "notes.count", params: { of: 1 }, result: 2 }],
      expect: { result: 3 },
      now: "946684800000000000",
    },
  ]);
});

test("the round trip holds for any tool", () => {
  const json = fc.jsonValue({ stringUnit: anyCharacter(fc) }) as fc.Arbitrary<JsonValue>;
  const objects = fc.dictionary(fc.string(), json, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;
  const cases = fc.array(
    fc.record({ name: fc.string({ minLength: 1, maxLength: 20 }), params: objects, result: json }),
    { maxLength: 3 },
  );
  const line = fc.string({ unit: "grapheme" });
  const property = fc.property(line, line, cases, objects, (description, text, drawn, extra) => {
    const names = new Set<string>();
    const tests = drawn
      .filter(({ name }) => name.trim() !== "" && names.size < names.add(name).size)
      .map(({ name, params, result }) => ({
        name,
        params,
        replies: [{ tool: "a.b", result }],
        expect: { result },
      }));
    const tool: SavedToolDefinition = {
      name: "t",
      description,
      inputSchema: { type: "object", properties: {}, examples: [extra] },
      code: `# ${text.replace(/[\r\n\u2028\u2029]/g, "")}\nreturn ${JSON.stringify(text).length}\n`,
      ...(tests.length === 0 ? {} : { toolcrib: JSON.parse(JSON.stringify({ tests })) }),
    };
    checkRoundTrip(JSON.parse(JSON.stringify(tool)));
  });
  fc.assert(property, { numRuns: runCount(25) });
});

test("a package can be without replies, and declare tools that its program chooses", () => {
  const texts = write(sample, { hasReplies: false, moreTools: ["b:two", "github:searchIssues"] });
  const { replies, now } = JSON.parse(texts.get("tests/001-one.test.json") ?? "");
  assert.deepEqual([replies, now], [undefined, undefined]);
  const { endpoint } = JSON.parse(texts.get("manifest.json") ?? "");
  assert.deepEqual(endpoint.tools, ["b:two", "github:searchIssues"]);
});

test("writing refuses invalid ids, versions and programs", () => {
  const check = (options: object, code: string, tool = sample) =>
    assert.throws(() => write(tool, options), { code });
  check({ toolId: "one" }, "MCPKG_TOOL_ID_INVALID");
  check({ toolId: "Acme.tool" }, "MCPKG_TOOL_ID_INVALID");
  check({ toolId: "../x.y" }, "MCPKG_TOOL_ID_INVALID");
  check({ version: "1.0" }, "MCPKG_VERSION_INVALID");
  check({}, "MCPKG_PROGRAM_INVALID", { ...sample, code: 'return "\ud800"' });
});

test("reading reports all problems", () => {
  function check(
    change: (texts: Map<string, string>, manifest: Record<string, unknown>) => void,
    codes: readonly string[],
  ) {
    const texts = new Map(write(sample));
    const manifest = JSON.parse(texts.get("manifest.json") ?? "");
    change(texts, manifest);
    texts.set("manifest.json", JSON.stringify(manifest));
    const { value, diagnostics } = read(texts);
    assert.equal(value, undefined);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(
      errors.map(({ code }) => code),
      codes,
    );
  }
  check(
    (_, manifest) => {
      manifest["toolId"] = "x";
      manifest["version"] = "one";
      manifest["description"] = 5;
      manifest["input_schema"] = "none";
    },
    ["MCPKG_TOOL_ID_INVALID", "MCPKG_VERSION_INVALID", "MCPKG_WRONG_TYPE", "MCPKG_WRONG_TYPE"],
  );
  check(
    (texts) => {
      texts.delete("main.star");
      texts.set("tests/001-one.test.json", "{");
    },
    ["MCPKG_FILE_MISSING", "MCPKG_SYNTAX"],
  );
  check((texts) => void texts.set("main.star", "return (\nx = = 1\n"), ["STARLARK_SYNTAX"]);
  check(
    (_, manifest) => {
      manifest["name"] = "../up";
    },
    ["METATOOL_NAME_INVALID"],
  );
  check(
    (texts, manifest) => {
      manifest["name"] = "one";
      const test = JSON.parse(texts.get("tests/001-one.test.json") ?? "");
      texts.set(
        "tests/001-one.test.json",
        JSON.stringify({ ...test, assertions: [{ path: "$", exists: true }], replies: [{ tool: 5 }] }),
      );
    },
    ["METATOOL_TEST_INVALID", "METATOOL_TEST_INVALID", "METATOOL_TEST_INVALID"],
  );
});

test("reading accepts another name, and a Starlark program among several implementations", () => {
  const texts = new Map(write(sample));
  const { endpoint, ...others } = JSON.parse(texts.get("manifest.json") ?? "");
  const implementations = [
    { id: "one", endpoint: { type: "local", command: "node ./x.js" } },
    { id: "two", endpoint },
  ];
  texts.set("x.js", "");
  texts.set("manifest.json", JSON.stringify({ ...others, implementations, future: 1 }));
  const { value, diagnostics } = read(texts, "other");
  assert.equal(value?.name, "other");
  assert.equal(value?.code, sample.code);
  assert.deepEqual(
    diagnostics.map(({ severity, code }) => [severity, code]),
    [
      ["warning", "MCPKG_UNKNOWN_FIELD"],
      ["warning", "MCPKG_TEST_INPUT_INVALID"],
    ],
  );
  for (const name of ["len", "return", "params", "saved"]) {
    const refused = read(texts, name);
    assert.equal(refused.value, undefined);
    assert.deepEqual(
      refused.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
      ["METATOOL_NAME_RESERVED"],
      name,
    );
  }
});
