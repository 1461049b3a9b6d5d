/** Names that are paths, devices or confusable: none of them reaches the disk. */

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { lintSavedTool } from "@toolcrib/metatool";
import type { SavedToolDefinition } from "@toolcrib/store";
import { makeTemporaryDirectory, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { definitionOf, documentOf, fileNames, openTest } from "./saved-harness.ts";

describe("a name of a tool cannot be", () => {
  const names: readonly string[] = [
    "",
    ".",
    "..",
    ".hidden",
    ".counters",
    "../double",
    "..\\double",
    "a/b",
    "a\\b",
    "/etc/passwd",
    "C:double",
    "a:b",
    "double\0",
    "double\0.txt",
    "a b",
    "a\nb",
    " double",
    "-rf",
    "döuble",
    "dоuble",
    "a\u200db",
    "a".repeat(65),
    "con",
    "NUL",
    "Aux.x",
    "com1",
    "lpt9.tool",
    "a%2fb",
    "$HOME",
    "a;b",
  ];
  for (const name of names) {
    test(JSON.stringify(name.slice(0, 20)), async () => {
      await using temporary = await makeTemporaryDirectory();
      await using saved = await openTest(temporary.join("tools"));
      const invalid = { code: "METATOOL_NAME_INVALID" };
      await assert.rejects(saved.save(definitionOf({ name })), invalid);
      await assert.rejects(saved.delete(name), invalid);
      assert.equal(await saved.get(name), undefined);
      assert.deepEqual(fileNames(temporary.join("tools")), []);
      assert.deepEqual(readdirSync(temporary.path), ["tools"]);
    });
  }
});

test("an error of a name names the allowed form and a valid name", () => {
  const found = (name: string) =>
    lintSavedTool({ ...definitionOf({ name }) }).filter(({ code }) => code === "METATOOL_NAME_INVALID");
  assert.deepEqual(found("my tool!"), [
    {
      severity: "error",
      code: "METATOOL_NAME_INVALID",
      message:
        'Cannot save a tool as "my tool!": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _',
      hint: 'use "my_tool_"',
      path: "name",
    },
  ]);
  assert.equal(found("con.x")[0]?.hint, 'use "tool_con.x"');
  assert.equal(found("⚒")[0]?.hint, undefined);
});

test("names with the characters of MCP are accepted, and map back to their tools", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const names = [
    "_",
    "9",
    "get.issue",
    "Two-Words",
    "x".repeat(64),
    "constructor",
    "__proto__",
    "a..b",
    "console",
    "x.json",
    "counters",
  ];
  for (const name of names) await saved.save(definitionOf({ name }));
  assert.deepEqual(
    (await saved.list()).map(({ name }) => name),
    names.toSorted(),
  );
  for (const name of names) assert.equal((await saved.get(name))?.name, name);
});

test("no name creates a file outside of the directory or a confusable one", async () => {
  await using temporary = await makeTemporaryDirectory();
  await using saved = await openTest(temporary.join("tools"), {}, { maxTools: 10_000 });
  const part = fc.constantFrom(
    "a",
    "A",
    "0",
    "o",
    "_",
    "-",
    ".",
    "/",
    "\\",
    "..",
    ":",
    "con",
    "nul",
    "\0",
    "é",
    "а",
    " ",
    "%",
    "~",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const name = parts.join("");
      await saved.save(definitionOf({ name })).catch((error: { code: string }) => {
        assert.match(error.code, /^METATOOL_NAME_(?:INVALID|TAKEN)$/);
      });
    }),
    { numRuns: runCount(300) },
  );
  assert.deepEqual(readdirSync(temporary.path), ["tools"]);
  const names = fileNames(temporary.join("tools"));
  for (const name of names) assert.match(name, /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.json$/);
  const folded = names.map((name) =>
    name
      .slice(0, -".json".length)
      .toLowerCase()
      .replace(/[_.-]+/g, "-")
      .replaceAll("0", "o"),
  );
  assert.equal(new Set(folded).size, names.length);
});

describe("a name that is confusable with a saved one is refused:", () => {
  const rows: readonly [saved: string, name: string][] = [
    ["read_file", "Read_File"],
    ["read_file", "read-file"],
    ["read_file", "read.file"],
    ["read_file", "read__file"],
    ["tool", "t00l"],
    ["list", "1ist"],
  ];
  for (const [first, name] of rows) {
    test(`${name} after ${first}`, async () => {
      await using directory = await makeTemporaryDirectory();
      await using saved = await openTest(directory.path);
      await saved.save(definitionOf({ name: first }));
      await assert.rejects(saved.save(definitionOf({ name })), {
        code: "METATOOL_NAME_TAKEN",
        message: `Cannot save a tool as "${name}": it is confusable with the existing "${first}"; names must differ in more than case, separators and lookalike characters`,
        hint: `use "${first}" to replace that tool, or a name that differs more`,
      });
      // A name that resembles that of an unusable file is refused, too: it may be that file.
      writeFileSync(directory.join(`${first}.json`), "broken");
      await assert.rejects(saved.save(definitionOf({ name })), { code: "METATOOL_NAME_TAKEN" });
      assert.deepEqual(fileNames(directory.path), [`${first}.json`]);
    });
  }
});

test("of two files with confusable names, the tool that was created first is used", async () => {
  await using directory = await makeTemporaryDirectory();
  const created = (year: number) => ({
    ...(documentOf()["metadata"] as object),
    created: `${year}-01-01T00:00:00Z`,
  });
  writeFileSync(
    directory.join("a-b.json"),
    JSON.stringify(documentOf({ name: "a-b", metadata: created(2026) })),
  );
  writeFileSync(
    directory.join("a_b.json"),
    JSON.stringify(documentOf({ name: "a_b", metadata: created(2025) })),
  );
  await using saved = await openTest(directory.path);
  assert.deepEqual(
    (await saved.list()).map(({ name }) => name),
    ["a_b"],
  );
  assert.deepEqual(
    saved.diagnostics().map(({ code, message }) => [code, message]),
    [
      [
        "METATOOL_NAME_TAKEN",
        'Cannot use the saved tool: its name "a-b" is confusable with "a_b", which was created first',
      ],
    ],
  );
});

test("a new reserved name is refused, and an existing one stays", async () => {
  await using directory = await makeTemporaryDirectory();
  const reserved = new Set(["save_tool"]);
  await using saved = await openTest(directory.path, { isReserved: (name) => reserved.has(name) });
  const refused = { code: "METATOOL_NAME_RESERVED" };
  await assert.rejects(saved.save(definitionOf({ name: "save_tool" })), refused);
  await saved.save(definitionOf());
  reserved.add("double");
  await saved.save(definitionOf({ code: "return 2\n" }));
  assert.equal((await saved.list()).length, 1);
  await saved.delete("double");
  await assert.rejects(saved.save(definitionOf()), refused);
});

test("a definition of another type is refused and not read", async () => {
  await using directory = await makeTemporaryDirectory();
  await using saved = await openTest(directory.path);
  const trap = new Proxy({}, { get: () => assert.fail("read") });
  for (const definition of [{}, { name: ["double"] }, { name: { toString: () => "double" } }, trap]) {
    await assert.rejects(saved.save(definition as SavedToolDefinition), { code: "METATOOL_FIELD_INVALID" });
  }
});
