import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { exportSavedTool, importSavedTool, parseTestCases } from "@toolcrib/metatool";
import type { SavedToolDefinition } from "@toolcrib/store";
import { makeTemporaryDirectory, runCount } from "@toolcrib/testing";
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

/** Exports, imports, and compares. */
async function checkRoundTrip(tool: SavedToolDefinition, folder: string): Promise<void> {
  await exportSavedTool(tool, folder, { randomBytes });
  const { value, diagnostics } = await importSavedTool(folder, { validator });
  assert.deepEqual(diagnostics, []);
  const { toolcrib, ...others } = value as SavedToolDefinition;
  const { toolcrib: before, ...expected } = tool;
  assert.deepEqual(others, expected);
  assert.deepEqual(parseTestCases(toolcrib).value, parseTestCases(before).value);
  assert.deepEqual(toolcrib?.["approved"], { tools: [], dynamic: false }, "nothing of it is approved");
}

test("an exported tool is imported unchanged, and must be approved", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("out", "package");
  await checkRoundTrip(sample, folder);
  assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), [
    "examples",
    "examples/usage.md",
    "main.star",
    "manifest.json",
    "tests",
    "tests/001-one.test.json",
    "tests/002-one.test.json",
  ]);
  const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
  assert.equal(manifest.toolId, "saved.find_estimate");
  assert.deepEqual(manifest.capabilities, ["composite", "github"]);
  assert.deepEqual(manifest.endpoint, {
    type: "starlark",
    source: "main.star",
    tools: ["github:searchIssues"],
  });
  assert.deepEqual(readdirSync(directory.join("out")), ["package"], "no draft is left");
});

test("the round trip holds for any tool", async () => {
  await using directory = await makeTemporaryDirectory();
  let count = 0;
  const json = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<JsonValue>;
  const objects = fc.dictionary(fc.string(), json, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;
  const cases = fc.array(
    fc.record({ name: fc.string({ minLength: 1, maxLength: 20 }), params: objects, result: json }),
    { maxLength: 3 },
  );
  const line = fc.string({ unit: "grapheme" });
  const property = fc.asyncProperty(line, line, cases, objects, async (description, text, drawn, extra) => {
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
      name: `t${count}`,
      description,
      inputSchema: { type: "object", properties: {}, examples: [extra] },
      code: `# ${text.replace(/[\r\n\u2028\u2029]/g, "")}\nreturn ${JSON.stringify(text).length}\n`,
      ...(tests.length === 0 ? {} : { toolcrib: JSON.parse(JSON.stringify({ tests })) }),
    };
    count += 1;
    await checkRoundTrip(JSON.parse(JSON.stringify(tool)), directory.join(`p${count}`));
  });
  await fc.assert(property, { numRuns: runCount(25) });
});

test("exporting replaces no existing files", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("package");
  const write = () => exportSavedTool(sample, folder, { randomBytes });
  await write();
  await assert.rejects(write(), { code: "METATOOL_PACKAGE_EXISTS" });
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "mine");
  await assert.rejects(write(), { code: "METATOOL_PACKAGE_EXISTS" });
  assert.equal(readFileSync(folder, "utf8"), "mine");
  assert.deepEqual(readdirSync(directory.path), ["package"]);
});

test("exporting refuses invalid ids and versions", async () => {
  await using directory = await makeTemporaryDirectory();
  const check = (options: JsonObject) =>
    assert.rejects(exportSavedTool(sample, directory.join("p"), { randomBytes }, options), {
      code: "METATOOL_PACKAGE_INVALID",
    });
  await check({ toolId: "one" });
  await check({ toolId: "Acme.tool" });
  await check({ toolId: "../x.y" });
  await check({ version: "1.0" });
  assert.deepEqual(readdirSync(directory.path), []);
});

test("importing reports all problems", async () => {
  await using directory = await makeTemporaryDirectory();
  let count = 0;
  async function check(
    change: (folder: string, manifest: Record<string, unknown>) => void,
    paths: readonly string[],
  ) {
    count += 1;
    const folder = directory.join(`p${count}`);
    await exportSavedTool(sample, folder, { randomBytes });
    const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
    change(folder, manifest);
    writeFileSync(`${folder}/manifest.json`, JSON.stringify(manifest));
    const { value, diagnostics } = await importSavedTool(folder, { validator });
    assert.equal(value, undefined);
    assert.deepEqual(
      diagnostics.map(({ path, source, message }) => path ?? source?.name ?? message),
      paths,
    );
  }
  await check(
    (_, manifest) => {
      manifest["toolId"] = "x";
      manifest["version"] = "one";
      manifest["description"] = 5;
      manifest["input_schema"] = "none";
    },
    ["toolId", "version", "manifest.json: description", "manifest.json: input_schema"],
  );
  await check(
    (folder) => {
      rmSync(`${folder}/main.star`);
      writeFileSync(`${folder}/tests/001-one.test.json`, "{");
    },
    ["main.star", "tests/001-one.test.json"],
  );
  await check(
    (_, manifest) => {
      manifest["endpoint"] = { type: "http", url: "https://x.test" };
    },
    ["manifest.json: endpoint"],
  );
  await check(
    (folder, manifest) => {
      manifest["name"] = "../up";
      manifest["input_schema"] = { type: "string" };
      writeFileSync(`${folder}/main.star`, "return (\nx = = 1\n");
    },
    ["name", "inputSchema.type", "../up.star"],
  );
  const unknown = await importSavedTool(directory.join("p1"), { validator });
  assert.equal(unknown.value, undefined);
  await assert.rejects(importSavedTool(directory.join("nowhere"), { validator }), {
    code: "METATOOL_PACKAGE_UNUSABLE",
  });
});

test("importing accepts another name, and a Starlark program among several implementations", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("p");
  await exportSavedTool(sample, folder, { randomBytes });
  const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
  const { endpoint, ...others } = manifest;
  const implementations = [
    { id: "one", endpoint: { type: "local", command: "x" } },
    { id: "two", endpoint },
  ];
  writeFileSync(`${folder}/manifest.json`, JSON.stringify({ ...others, implementations, future: 1 }));
  const { value, diagnostics } = await importSavedTool(folder, { validator }, { name: "other" });
  assert.equal(value?.name, "other");
  assert.equal(value?.code, sample.code);
  assert.deepEqual(
    diagnostics.map(({ severity, path }) => [severity, path]),
    [["warning", "future"]],
  );
  for (const name of ["len", "return", "params", "saved"]) {
    const refused = await importSavedTool(folder, { validator }, { name });
    assert.equal(refused.value, undefined);
    assert.deepEqual(
      refused.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
      ["METATOOL_NAME_RESERVED"],
      name,
    );
  }
});
