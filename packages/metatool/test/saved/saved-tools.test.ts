/** Saving, listing, replacing and deleting tools, their file format, and their counters. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { lintSavedTool } from "@toolcrib/metatool";
import type { SavedToolChange, SavedToolDefinition } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  definitionOf,
  documentOf,
  fileNames,
  openTest,
  readDocument,
  tickingClock,
} from "./saved-harness.ts";

test("a saved tool is a file in the format of the document, and is read back from it", async () => {
  await using directory = await makeTemporaryDirectory();
  const definition = definitionOf({ toolcrib: { reach: ["github.searchIssues"] } });
  {
    await using saved = await openTest(directory.path);
    const { tool, previous } = await saved.save(definition);
    assert.equal(previous, undefined);
    const { created } = tool.metadata;
    assert.deepEqual(tool, { ...definition, metadata: { created, modified: created, executionCount: 0 } });
    assert.deepEqual(await saved.list(), [tool]);
    assert.deepEqual(saved.current(), [tool]);
    assert.deepEqual(await saved.get("double"), tool);
    assert.equal(await saved.get("triple"), undefined);
    assert.equal(
      readFileSync(directory.join("double.json"), "utf8"),
      `{
  "version": "1.0",
  "name": "double",
  "description": "Twice a number",
  "inputSchema": {
    "type": "object",
    "properties": {
      "n": {
        "type": "integer"
      }
    }
  },
  "code": "return params.n * 2\\n",
  "metadata": {
    "created": "${created}",
    "modified": "${created}",
    "executionCount": 0
  },
  "toolcrib": {
    "reach": [
      "github.searchIssues"
    ]
  }
}
`,
    );
  }
  await using again = await openTest(directory.path);
  assert.deepEqual(
    again.current().map(({ metadata: _, ...one }) => one),
    [definition],
  );
});

test("save() copies the definition, and any text is read back unchanged", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const inputSchema = { type: "object", properties: JSON.parse('{"__proto__":{"type":"string"}}') };
  const code = 'x = "\u0000\u2028\ud800 \\u00e9 é 🧰"\r\n';
  await saved.save(definitionOf({ name: "__proto__", inputSchema, code }));
  inputSchema.type = "changed";
  await using again = await openTest(directory.path);
  const tool = await again.get("__proto__");
  assert.equal(tool?.code, code);
  assert.equal(
    JSON.stringify(tool?.inputSchema),
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  );
});

test("saving again replaces the whole definition, and keeps the creation time, the counters and unknown fields", async () => {
  await using directory = await makeTemporaryDirectory();
  const metadata = {
    created: "2024-02-03T04:05:06+01:00",
    modified: "2024-02-03T04:05:06.123456789Z",
    executionCount: 7,
    lastExecuted: "2024-03-01T00:00:00Z",
    author: "ada",
  };
  const foreign = { "x-labels": ["a", { b: null }], $schema: "https://example.test/tool" };
  const document = documentOf({ metadata, toolcrib: { reach: [] }, ...foreign });
  writeFileSync(directory.join("double.json"), JSON.stringify(document));
  await using saved = await openTest(directory.path, { now: () => Date.UTC(2030, 0, 1) });
  const { tool, previous } = await saved.save(definitionOf({ description: "Doubles", code: "return 2\n" }));
  assert.equal(previous?.code, "return params.n * 2\n");
  assert.deepEqual(previous?.toolcrib, { reach: [] });
  assert.equal(tool.toolcrib, undefined);
  const modified = "2030-01-01T00:00:00.000Z";
  const after = readDocument(directory.path, "double");
  assert.deepEqual(after, {
    version: "1.0",
    ...definitionOf({ description: "Doubles", code: "return 2\n" }),
    metadata: { ...metadata, modified },
    ...foreign,
  });
  assert.deepEqual(Object.keys(after).slice(0, 6), [
    "version",
    "name",
    "description",
    "inputSchema",
    "code",
    "metadata",
  ]);
});

test("every save has a unique time, also with a clock that stands still or goes back", async () => {
  await using directory = await makeTemporaryDirectory();
  const times = [5000, 5000, 5000, 1000, 6000];
  await using saved = await openTest(directory.path, { now: () => times.shift() ?? 6000 });
  const modified: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    modified.push((await saved.save(definitionOf({ code: `return ${n}\n` }))).tool.metadata.modified);
  }
  assert.equal(new Set(modified).size, modified.length);
  assert.deepEqual(modified.toSorted(), modified);
});

test("a save that expects another version is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const first = (await saved.save(definitionOf())).tool.metadata.modified;
  const refused = { code: "METATOOL_CHANGED_MEANWHILE" };
  const second = (await saved.save(definitionOf({ code: "return 2\n" }), { expectedModified: first })).tool;
  await assert.rejects(saved.save(definitionOf({ code: "return 3\n" }), { expectedModified: first }), {
    ...refused,
    data: { modified: second.metadata.modified },
  });
  assert.equal((await saved.get("double"))?.code, "return 2\n");
  await saved.delete("double");
  await assert.rejects(
    saved.save(definitionOf(), { expectedModified: second.metadata.modified }),
    /it was deleted, which is not the version that its caller read/,
  );
  assert.deepEqual(fileNames(directory.path), []);
});

test("delete() removes the file and returns the tool, or undefined for an unknown name", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const { tool } = await saved.save(definitionOf());
  assert.deepEqual(await saved.delete("double"), tool);
  assert.equal(await saved.delete("double"), undefined);
  assert.deepEqual(await saved.list(), []);
  assert.deepEqual(fileNames(directory.path), []);
});

test("listeners are notified of changed definitions, and not of counters", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const heard: SavedToolChange[] = [];
  const stop = saved.onChange((change) => heard.push(change));
  await saved.save(definitionOf());
  await saved.save(definitionOf({ code: "return 2\n" }));
  saved.recordExecution("double", 1);
  await saved.flush();
  await saved.list();
  await saved.delete("double");
  stop();
  await saved.save(definitionOf());
  assert.deepEqual(heard, [
    { changed: ["double"], removed: [] },
    { changed: ["double"], removed: [] },
    { changed: [], removed: ["double"] },
  ]);
});

describe("a definition is refused for", () => {
  const limits = { codeMaxBytes: 20, descriptionMaxBytes: 10, schemaMaxBytes: 30, toolcribMaxBytes: 10 };
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const rows: readonly [what: string, changes: object, findings: readonly string[]][] = [
    ["nothing", { description: "d", inputSchema: { type: "object" }, code: "return 1" }, []],
    ["a name that is none", { name: 1 }, ["METATOOL_FIELD_INVALID name"]],
    ["a description that is missing", { description: undefined }, ["METATOOL_FIELD_INVALID description"]],
    ["a description that is too long", { description: "ééééé!" }, ["METATOOL_FIELD_TOO_LARGE description"]],
    ["a schema that is a list", { inputSchema: [] }, ["METATOOL_FIELD_INVALID inputSchema"]],
    ["a schema that is cyclic", { inputSchema: cyclic }, ["METATOOL_FIELD_INVALID inputSchema"]],
    [
      "a schema that is too long",
      { inputSchema: { title: "x".repeat(20) } },
      ["METATOOL_FIELD_TOO_LARGE inputSchema"],
    ],
    ["code that is no text", { code: null }, ["METATOOL_FIELD_INVALID code"]],
    ["code that is too long", { code: "x".repeat(21) }, ["METATOOL_FIELD_TOO_LARGE code"]],
    ["additions that are too long", { toolcrib: { a: "xxxx" } }, ["METATOOL_FIELD_TOO_LARGE toolcrib"]],
    [
      "all of it at once",
      { name: "", description: 1, inputSchema: null, code: [], toolcrib: "x" },
      [
        "NAME_INVALID name",
        "FIELD_INVALID description",
        "FIELD_INVALID inputSchema",
        "FIELD_INVALID code",
        "FIELD_INVALID toolcrib",
      ].map((finding) => `METATOOL_${finding}`),
    ],
  ];
  for (const [what, changes, findings] of rows) {
    test(what, async () => {
      const definition = {
        ...definitionOf({ description: "d", inputSchema: {}, code: "return 1" }),
        ...changes,
      };
      const found = lintSavedTool(definition, limits);
      assert.deepEqual(
        found.map(({ code, path }) => `${code} ${path}`),
        findings,
      );
      await using directory = await makeTemporaryDirectory();
      await using saved = await openTest(directory.path, {}, limits);
      const saving = saved.save(definition as unknown as SavedToolDefinition);
      if (findings.length === 0) await saving;
      else {
        const problems = found.map(({ code, message, path }) => ({ code, message, path }));
        await assert.rejects(saving, { code: found[0]?.code, data: { problems } });
        assert.deepEqual(fileNames(directory.path), []);
      }
    });
  }
});

test("the number of tools, the size of a file, and its depth are limited", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path, {}, { maxTools: 2, fileMaxBytes: 2000 });
  await saved.save(definitionOf({ name: "one" }));
  await saved.save(definitionOf({ name: "two" }));
  await assert.rejects(saved.save(definitionOf({ name: "three" })), {
    code: "METATOOL_TOO_MANY_TOOLS",
    message: 'Cannot save "three": there are 2 saved tools; at most 2 are allowed',
  });
  await saved.save(definitionOf({ name: "two", code: "return 2\n" }));
  await assert.rejects(saved.save(definitionOf({ name: "two", code: `return 2${"\n".repeat(1000)}` })), {
    code: "METATOOL_FILE_TOO_LARGE",
  });
  const deep = JSON.parse(`${'{"a":'.repeat(130)}1${"}".repeat(130)}`);
  await assert.rejects(saved.save(definitionOf({ name: "two", inputSchema: deep })), {
    code: /^METATOOL_FILE_/,
  });
  assert.equal((await saved.get("two"))?.code, "return 2\n");
  assert.deepEqual(fileNames(directory.path), ["one.json", "two.json"]);
});

test("executions are counted in memory, written in batches, and moved to the file of the tool by disposal", async () => {
  await using directory = await makeTemporaryDirectory();
  const clock = tickingClock();
  {
    await using saved = await openTest(directory.path, { now: clock });
    await saved.save(definitionOf());
    await saved.save(definitionOf({ name: "idle" }));
    const { modified } = (await saved.get("double"))!.metadata;
    for (const at of [2000, 9000, 5000]) saved.recordExecution("double", at);
    saved.recordExecution("unknown", 1);
    assert.deepEqual((await saved.get("double"))?.metadata.executionCount, 3);
    const before = readFileSync(directory.join("double.json"), "utf8");
    await saved.flush();
    assert.equal(readFileSync(directory.join("double.json"), "utf8"), before);
    assert.deepEqual(fileNames(directory.path), [".counters.json", "double.json", "idle.json"]);
    saved.recordExecution("double", 7000);
    const metadata = (await saved.get("double"))?.metadata;
    assert.deepEqual([metadata?.executionCount, metadata?.lastExecuted], [4, "1970-01-01T00:00:09.000Z"]);
    assert.equal(metadata?.modified, modified);
  }
  assert.deepEqual(fileNames(directory.path), ["double.json", "idle.json"]);
  const { created, modified, ...counters } = readDocument(directory.path, "double").metadata;
  assert.deepEqual(counters, { executionCount: 4, lastExecuted: "1970-01-01T00:00:09.000Z" });
  assert.equal(readDocument(directory.path, "idle").metadata.executionCount, 0);
  await using again = await openTest(directory.path);
  assert.deepEqual((await again.get("double"))?.metadata, { created, modified, ...counters });
});

test("executions are written automatically, after a number of them and after a time", async () => {
  await using directory = await makeTemporaryDirectory();
  const countOnDisk = async () => {
    await using other = await openTest(directory.path);
    return (await other.get("double"))?.metadata.executionCount;
  };
  {
    await using saved = await openTest(directory.path, {}, { flushCount: 100 });
    await saved.save(definitionOf());
    for (let n = 0; n < 100; n += 1) saved.recordExecution("double", n);
    await waitUntil(() => fileNames(directory.path).includes(".counters.json"));
  }
  assert.equal(await countOnDisk(), 100);
  await using saved = await openTest(directory.path, {}, { flushMs: 20 });
  saved.recordExecution("double", 1);
  await waitUntil(() => fileNames(directory.path).includes(".counters.json"));
});

test("the first execution after a time without any is written at once, and others with it or later", async () => {
  await using directory = await makeTemporaryDirectory();
  let now = 1_000_000;
  // No timer ends within this test.
  const options = { flushMs: 3_600_000, flushCount: 1_000_000 };
  await using saved = await openTest(directory.path, { now: () => now }, options);
  await saved.save(definitionOf());
  const countInFile = () => {
    const isWritten = fileNames(directory.path).includes(".counters.json");
    return isWritten ? readFileSync(directory.join(".counters.json"), "utf8") : "";
  };
  now += options.flushMs;
  saved.recordExecution("double", 1);
  await waitUntil(() => countInFile().includes('"executionCount": 1'));
  saved.recordExecution("double", 2);
  assert.equal((await saved.get("double"))?.metadata.executionCount, 2);
  assert.ok(countInFile().includes('"executionCount": 1'), countInFile());
});

test("counters of a deleted tool do not apply to a new tool of its name", async () => {
  await using directory = await makeTemporaryDirectory();
  // With a clock that stands still, both are created at the same time.
  await using saved = await openTest(directory.path, { now: () => 1000 });
  await saved.save(definitionOf());
  saved.recordExecution("double", 1);
  await saved.flush();
  await saved.delete("double");
  const { tool } = await saved.save(definitionOf());
  assert.equal(tool.metadata.executionCount, 0);
  saved.recordExecution("double", 2);
  await saved.flush();
  assert.equal((await saved.get("double"))?.metadata.executionCount, 1);
});

test("damaged counters are reported and replaced", async () => {
  for (const text of [
    "{",
    '{"version":"2.0"}',
    '{"version":"1.0","tools":{"double":{"executionCount":-1}}}',
  ]) {
    await using directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("double.json"), JSON.stringify(documentOf()));
    writeFileSync(directory.join(".counters.json"), text);
    const problems: string[] = [];
    {
      await using saved = await openTest(directory.path, { onProblem: ({ code }) => problems.push(code) });
      saved.recordExecution("double", 1);
    }
    assert.deepEqual(problems, ["METATOOL_COUNTERS_DAMAGED"]);
    assert.equal(readDocument(directory.path, "double").metadata.executionCount, 1);
    assert.deepEqual(fileNames(directory.path), ["double.json"]);
  }
});

test("a disposed store refuses everything, and disposing again is safe", async () => {
  await using directory = await makeTemporaryDirectory();
  const saved = await openTest(directory.path);
  await saved.save(definitionOf());
  const saving = saved.save(definitionOf({ name: "late" }));
  await saved[Symbol.asyncDispose]();
  await saved[Symbol.asyncDispose]();
  await saving;
  saved.recordExecution("double", 1);
  const closed = { code: "METATOOL_CLOSED" };
  await assert.rejects(saved.list(), closed);
  await assert.rejects(saved.get("double"), closed);
  await assert.rejects(saved.save(definitionOf()), closed);
  await assert.rejects(saved.delete("double"), closed);
  await assert.rejects(saved.flush(), closed);
  assert.deepEqual(fileNames(directory.path), ["double.json", "late.json"]);
});
