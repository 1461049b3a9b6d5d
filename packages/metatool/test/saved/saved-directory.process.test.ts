/** Changes by other programs: files that are not tools, edits by hand, links, and other processes. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatDiagnostic } from "@toolcrib/diagnostics";
import { nodeFiles } from "@toolcrib/metatool";
import type { SavedToolChange } from "@toolcrib/store";
import { makeTemporaryDirectory, runProcess, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  definitionOf,
  documentOf,
  fileNames,
  openTest,
  readDocument,
  tickingClock,
} from "./saved-harness.ts";

const isWindows = process.platform === "win32";
/** Without file system events: changes are found by polling. */
const unwatched = { ...nodeFiles, watch: () => undefined };

describe("a file is reported, left alone, and does not affect other tools when it", () => {
  const text = (changes: object) => JSON.stringify(documentOf({ ...changes }));
  const metadata = documentOf()["metadata"] as object;
  type Put = string | Uint8Array | ((directory: TemporaryDirectory) => void);
  const rows: readonly [what: string, put: Put, report: string][] = [
    [
      "is not JSON",
      '{\n  "version": "1.0",\n  "name": double\n}\n',
      'double.json:3:11: error METATOOL_FILE_SYNTAX Cannot read the saved tool: its file is not valid JSON from here on 3 |   "name": double               ^^^^^^',
    ],
    [
      "is empty",
      "",
      "double.json:1:1: error METATOOL_FILE_SYNTAX Cannot read the saved tool: its file is not valid JSON from here on 1 |      ^",
    ],
    [
      "is not UTF-8",
      Uint8Array.of(0x7b, 0xff),
      "double.json: error METATOOL_FILE_SYNTAX Cannot read the saved tool: its file is not UTF-8",
    ],
    [
      "nests too deep",
      `${"[".repeat(200)}`,
      "double.json: error METATOOL_FILE_SYNTAX Cannot read the saved tool: JSON text nests deeper than 128 levels",
    ],
    [
      "is no object",
      "[]",
      "double.json: error METATOOL_FIELD_INVALID Cannot read the saved tool: the file holds something else than an object",
    ],
    [
      "is of another version",
      text({ version: "2.0" }),
      'double.json: error METATOOL_FILE_VERSION Cannot read the saved tool: its version is "2.0"; only "1.0" is supported',
    ],
    [
      "has no version",
      text({ version: undefined }),
      'double.json: error METATOOL_FILE_VERSION Cannot read the saved tool: its version is missing; only "1.0" is supported',
    ],
    [
      "has another name",
      text({ name: "triple" }),
      'double.json: error METATOOL_FILE_NAME Cannot use the saved tool: its name is "triple" and that of its file is "double.json" hint: name the file "triple.json", or the tool "double"',
    ],
    [
      "has code of another type",
      text({ code: ["return 1"] }),
      'double.json: error METATOOL_FIELD_INVALID Cannot use "code": it is a list; it must be a text',
    ],
    [
      "has code that is too long",
      text({ code: "x".repeat(102_401) }),
      'double.json: error METATOOL_FIELD_TOO_LARGE Cannot use "code": it has 102401 bytes; at most 102400 are allowed',
    ],
    [
      "has no metadata",
      text({ metadata: undefined }),
      'double.json: error METATOOL_FIELD_INVALID Cannot use "metadata": it is missing; it must be an object',
    ],
    [
      "has a time that is none",
      text({ metadata: { ...metadata, created: "yesterday" } }),
      'double.json: error METATOOL_FIELD_INVALID Cannot use "metadata.created": it is a text; it must be a time such as "2026-01-31T12:00:00.000Z"',
    ],
    [
      "has a count that is none",
      text({ metadata: { ...metadata, executionCount: 1.5 } }),
      'double.json: error METATOOL_FIELD_INVALID Cannot use "metadata.executionCount": it is a number; it must be a whole number, 0 or more',
    ],
    [
      "is too large",
      " ".repeat(1024 * 1024 + 1),
      "double.json: error METATOOL_FILE_TOO_LARGE Cannot read the saved tool: its file is longer than 1048576 bytes",
    ],
    [
      "is a directory",
      (directory) => mkdirSync(directory.join("tools", "double.json")),
      "double.json: error METATOOL_FILE_UNREADABLE Cannot read the saved tool: it is not a file hint: move it elsewhere",
    ],
    ...(isWindows
      ? []
      : ([
          [
            "is a pipe",
            (directory) => execFileSync("mkfifo", [directory.join("tools", "double.json")]),
            "double.json: error METATOOL_FILE_UNREADABLE Cannot read the saved tool: it is not a file hint: move it elsewhere",
          ],
          [
            "is a link that leads out",
            (directory) => {
              writeFileSync(directory.join("outside.json"), text({}));
              symlinkSync("../outside.json", directory.join("tools", "double.json"));
            },
            "double.json: error METATOOL_FILE_UNREADABLE Cannot read the saved tool: it is a link to a place outside the directory hint: put the file itself there",
          ],
          [
            "is a link that leads nowhere",
            (directory) => symlinkSync("nowhere", directory.join("tools", "double.json")),
            "double.json: error METATOOL_FILE_UNREADABLE Cannot read the saved tool: it does not exist (ENOENT) hint: give the user who runs toolcrib read access",
          ],
        ] satisfies [string, Put, string][])),
  ];
  for (const [what, put, report] of rows) {
    test(what, async () => {
      await using directory = await makeTemporaryDirectory();
      const tools = directory.join("tools");
      mkdirSync(tools);
      const path = directory.join("tools", "double.json");
      if (typeof put === "function") put(directory);
      else writeFileSync(path, put);
      writeFileSync(directory.join("tools", "good.json"), JSON.stringify(documentOf({ name: "good" })));
      {
        await using saved = await openTest(tools);
        assert.deepEqual(
          (await saved.list()).map(({ name }) => name),
          ["good"],
        );
        assert.deepEqual(
          saved
            .diagnostics()
            .map((one) => formatDiagnostic(one).replaceAll(`${tools}/`, "").replaceAll("\n", " ")),
          [report],
        );
        const refused = { code: "METATOOL_FILE_IN_THE_WAY", hint: /fix or remove the file/ };
        await assert.rejects(saved.save(definitionOf()), refused);
        await assert.rejects(saved.delete("double"), refused);
        await saved.save(definitionOf({ name: "good", code: "return 1\n" }));
        await saved.save(definitionOf({ name: "new" }));
      }
      assert.deepEqual(fileNames(tools), ["double.json", "good.json", "new.json"]);
      if (typeof put !== "function") assert.deepEqual(readFileSync(path), Buffer.from(put));
      // After the repair it is a tool.
      rmSync(path, { recursive: true });
      writeFileSync(path, text({}));
      await using saved = await openTest(tools);
      assert.deepEqual([(await saved.list()).length, saved.diagnostics()], [3, []]);
    });
  }
});

test("of more files than allowed, the last ones are reported", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const name of ["a", "b", "c", "d"]) {
    writeFileSync(directory.join(`${name}.json`), JSON.stringify(documentOf({ name })));
  }
  await using saved = await openTest(directory.path, {}, { maxTools: 2 });
  assert.deepEqual(
    (await saved.list()).map(({ name }) => name),
    ["a", "b"],
  );
  assert.deepEqual(
    saved.diagnostics().map(({ code, source }) => [code, source?.name]),
    ["c", "d"].map((name) => ["METATOOL_TOO_MANY_TOOLS", directory.join(`${name}.json`)]),
  );
});

test("files of other programs: null for never, a byte order mark, and invalid names", async () => {
  await using directory = await makeTemporaryDirectory();
  const metadata = { ...(documentOf()["metadata"] as object), lastExecuted: null };
  writeFileSync(directory.join("double.json"), `\ufeff${JSON.stringify(documentOf({ metadata }))}`);
  writeFileSync(directory.join("two words.json"), "{}");
  for (const ignored of ["README.md", ".DS_Store", ".double.json.swp", ".x.json"])
    writeFileSync(directory.join(ignored), "{");
  await using saved = await openTest(directory.path);
  assert.equal((await saved.get("double"))?.metadata.lastExecuted, undefined);
  assert.deepEqual(
    saved.diagnostics().map(({ code }) => code),
    ["METATOOL_NAME_INVALID"],
  );
});

for (const [how, files] of [
  ["detected by events", nodeFiles],
  ["found by looking", unwatched],
] as const) {
  test(`edits, new files and removed ones are ${how}`, async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("double.json");
    await using saved = await openTest(directory.path, { files }, { settleMs: 10 });
    const heard: SavedToolChange[] = [];
    saved.onChange((change) => heard.push(change));
    const untilCode = (code: string | undefined) =>
      waitUntil(async () => {
        const now = files === nodeFiles ? saved.current() : await saved.list();
        return now.find(({ name }) => name === "double")?.code === code;
      });
    writeFileSync(path, JSON.stringify(documentOf({ code: "return 1\n" })));
    await untilCode("return 1\n");
    // In place, and as editors do it. With the same length and the same metadata time.
    writeFileSync(path, JSON.stringify(documentOf({ code: "return 2\n" })));
    await untilCode("return 2\n");
    writeFileSync(directory.join("draft~"), JSON.stringify(documentOf({ code: "return 3\n" })));
    renameSync(directory.join("draft~"), path);
    await untilCode("return 3\n");
    writeFileSync(path, "{");
    await untilCode(undefined);
    await waitUntil(() => saved.diagnostics().length === 1);
    writeFileSync(path, JSON.stringify(documentOf({ code: "return 4\n" })));
    await untilCode("return 4\n");
    assert.deepEqual(saved.diagnostics(), []);
    rmSync(path);
    await untilCode(undefined);
    // The directory can be removed and created again.
    rmSync(directory.path, { recursive: true });
    assert.deepEqual(await saved.list(), []);
    await saved.save(definitionOf({ code: "return 5\n" }));
    await untilCode("return 5\n");
    writeFileSync(path, JSON.stringify(documentOf({ code: "return 6\n" })));
    await untilCode("return 6\n");
    assert(heard.every(({ changed, removed }) => changed.length + removed.length === 1));
  });
}

test("an edit by hand is a modification, and a write of counters is not", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("double.json");
  const first = await (async () => {
    await using saved = await openTest(directory.path, { now: tickingClock() });
    const { tool } = await saved.save(definitionOf());
    saved.recordExecution("double", 1);
    return tool.metadata.modified;
  })();
  await using saved = await openTest(directory.path, { now: tickingClock(), files: unwatched });
  assert.equal((await saved.get("double"))?.metadata.modified, first);
  const edited = { ...readDocument(directory.path, "double"), code: "return 9\n" };
  writeFileSync(path, JSON.stringify(edited));
  const at = new Date("2026-07-08T09:10:11.123Z");
  utimesSync(path, at, at);
  assert.equal((await saved.get("double"))?.metadata.modified, at.toISOString());
  await assert.rejects(saved.save(definitionOf(), { expectedModified: first }), {
    code: "METATOOL_CHANGED_MEANWHILE",
  });
  await saved.save(definitionOf(), { expectedModified: at.toISOString() });
});

test("disposal writes its counts to a file that was edited meanwhile, and keeps the edit", async () => {
  await using directory = await makeTemporaryDirectory();
  {
    await using saved = await openTest(directory.path, { files: unwatched });
    await saved.save(definitionOf());
    saved.recordExecution("double", 1);
    const edited = { ...readDocument(directory.path, "double"), code: "return 9\n", note: "by hand" };
    writeFileSync(directory.join("double.json"), JSON.stringify(edited));
  }
  const { code, note, metadata } = readDocument(directory.path, "double");
  assert.deepEqual([code, note, metadata.executionCount], ["return 9\n", "by hand", 1]);
});

test("a link within the directory is a tool, and saving replaces it by a file", {
  skip: isWindows,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("double.v1"), JSON.stringify(documentOf()));
  symlinkSync("double.v1", directory.join("double.json"));
  {
    await using saved = await openTest(directory.path);
    assert.equal((await saved.list()).length, 1);
    writeFileSync(directory.join("double.v1"), JSON.stringify(documentOf({ code: "return 7\n" })));
    await waitUntil(async () => (await saved.get("double"))?.code === "return 7\n");
    await saved.save(definitionOf());
  }
  assert.match(readFileSync(directory.join("double.v1"), "utf8"), /return 7/);
  assert.equal(readDocument(directory.path, "double")["code"], definitionOf().code);
});

test("of several processes that write concurrently the last one wins as a whole, and no count is lost", async () => {
  await using directory = await makeTemporaryDirectory();
  const child = fileURLToPath(new URL("./writing-child.ts", import.meta.url));
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  await using saved = await openTest(directory.path, { now: Date.now });
  await saved.save(definitionOf({ name: "shared", code: "# from nobody 0\n" }));
  const writers = ["one", "two", "three"];
  const ended = Promise.all(
    writers.map((writer) => runProcess(process.execPath, [...conditions, child, directory.path, writer])),
  );
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    // A file is never partial, not even for a reader without the lock.
    const { code, toolcrib } = readDocument(directory.path, "shared");
    const [, writer, round] = /^# from (\w+) (\d+)\n/.exec(String(code)) ?? [];
    assert.deepEqual(toolcrib, writer === "nobody" ? undefined : { writer, round: Number(round) });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const outcomes = (await ended).map(({ code, stdout, stderr }) => {
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as { readonly won: number; readonly lost: number };
  });
  // Each save replaced exactly the version that it expected, so there are as many saves as versions.
  const won = outcomes.reduce((sum, one) => sum + one.won, 0);
  const shared = await waitUntil(async () => {
    const tool = await saved.get("shared");
    return tool?.metadata.executionCount === won ? tool : undefined;
  });
  assert.equal(shared.inputSchema["version"], won);
  assert.equal(won, 30);
  assert.deepEqual(
    (await saved.list()).map(({ name }) => name),
    ["shared", ...writers.map((writer) => `tool_${writer}`)].sort(),
  );
});
