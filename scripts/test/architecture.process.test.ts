import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { checkArchitecture } from "../architecture.ts";
import { openWorkspace, startCompiler } from "../workspace.ts";
import { type Files, makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

const root = fileURLToPath(new URL("../..", import.meta.url));

test("The sources of this repository follow ARCHITECTURE.md", () => {
  using workspace = openWorkspace(root, compiler);
  assert.ok(workspace.packages.length >= 10, "too few packages were found");
  assert.ok(workspace.packages.every(({ src }) => src.length > 0));
  assert.equal(formatDiagnostics(checkArchitecture(workspace)), "");
});

/** Checks that a tree with `files` in it has exactly the findings `expected`. */
async function check(files: Files, expected: readonly string[]): Promise<void> {
  await using tree = await makeTree(files);
  using workspace = openWorkspace(tree.path, compiler);
  assert.deepEqual(placesOf(checkArchitecture(workspace)), [...expected].sort());
}

const longFile = (header: string) => `${header}\n${"export {};\n".repeat(501)}`;
const architecture = (row: string) => ({
  "ARCHITECTURE.md": `| Floor | Package | What it is | May import |
|---|---|---|---|
| 5 apps | \`cli\` | c | — |
| 4 gateway | \`gateway\` | g | — |
| 2 services | \`mcp\` | m | — |
| 1 engines | \`search\` | s | — |
| 0 base | \`json\` | j | \`diagnostics\` |
${row}| dev | \`testing\` | t | — |
`,
});
const diagnosticsRow = "| 0 base | `diagnostics` | d | — |\n";

describe("checkArchitecture() finds", () => {
  test("nothing in a tree that breaks no rule", () =>
    check(
      {
        "packages/json/src/index.ts": 'export { a, type B } from "./a.ts";\n',
        "packages/json/src/a.ts":
          'import type { X } from "@toolcrib/diagnostics";\nexport const a = 1;\nexport type B = X;\n',
        "packages/json/test/a.test.ts":
          'import { a } from "@toolcrib/json";\nimport { b } from "@toolcrib/testing";\nimport "./more.ts";\nexport const c = [a, b];\n',
        "packages/json/test/more.ts": "export {};\n",
        "packages/mcp/src/index.ts":
          'import { readFile } from "node:fs/promises";\nimport "@toolcrib/search";\nexport const read = readFile;\nexport const when = new Date(0);\n',
        "packages/cli/src/index.ts": "console.log(process.env, Date.now(), Math.random());\nexport {};\n",
        "packages/testing/src/index.ts": "export const now = Date.now();\n",
        "packages/gateway/src/start-gateway.ts": "export const now = Date.now();\n",
      },
      [],
    ));

  test("an import of a higher floor, of the same floor and of the test tools", () =>
    check(
      {
        "packages/json/src/index.ts": '\nexport { x } from "@toolcrib/mcp";\n',
        "packages/diagnostics/src/index.ts":
          'import type { A } from "@toolcrib/search";\nexport type B = A;\n',
        "packages/mcp/src/a.ts": 'export const a = await import("@toolcrib/testing");\n',
        "packages/search/src/a.ts": 'export type A = import("@toolcrib/gateway").A;\n',
      },
      [
        "packages/json/src/index.ts:2 ARCH_IMPORT_NOT_ALLOWED",
        "packages/diagnostics/src/index.ts:1 ARCH_IMPORT_NOT_ALLOWED",
        "packages/mcp/src/a.ts:1 ARCH_IMPORT_NOT_ALLOWED",
        "packages/search/src/a.ts:1 ARCH_IMPORT_NOT_ALLOWED",
      ],
    ));

  test("a gateway that has more lines than it may have, at its longest file", async () => {
    const lines = (count: number) => `${"// A line.\n".repeat(count)}export {};\n`;
    const files = (rest: number) => ({
      ...Object.fromEntries(
        Array.from({ length: 15 }, (_, at) => [`packages/gateway/src/part-${at}.ts`, lines(479)]),
      ),
      "packages/gateway/src/longest.ts": lines(rest),
      // Other packages have no limit.
      ...Object.fromEntries(
        Array.from({ length: 16 }, (_, at) => [`packages/mcp/src/part-${at}.ts`, lines(498)]),
      ),
    });
    // 15 files of 480 lines, an index.ts of one, and the longest one.
    await check(files(298), []);
    await check(files(499), ["packages/gateway/src/longest.ts:1 ARCH_PACKAGE_TOO_LONG"]);
  });

  test("an import within a floor that the table does not list", () =>
    check({ "packages/diagnostics/src/a.ts": 'import "@toolcrib/json";\nexport {};\n' }, [
      "packages/diagnostics/src/a.ts:1 ARCH_IMPORT_NOT_ALLOWED",
    ]));

  test("a package that imports itself by name", () =>
    check({ "packages/json/src/a.ts": 'import "@toolcrib/json";\nexport {};\n' }, [
      "packages/json/src/a.ts:1 ARCH_IMPORT_NOT_ALLOWED",
    ]));

  test("an import past an index.ts, by name and by path, also in tests", () =>
    check(
      {
        "packages/json/src/a.ts":
          'import "@toolcrib/diagnostics/src/span.ts";\nimport "../../diagnostics/src/span.ts";\nexport {};\n',
        "packages/json/test/a.test.ts":
          'import "../src/a.ts";\nimport "@toolcrib/json/dist/a.js";\nexport {};\n',
        "packages/diagnostics/src/span.ts": "export {};\n",
      },
      [
        "packages/json/src/a.ts:1 ARCH_DEEP_IMPORT",
        "packages/json/src/a.ts:2 ARCH_DEEP_IMPORT",
        "packages/json/test/a.test.ts:1 ARCH_DEEP_IMPORT",
        "packages/json/test/a.test.ts:2 ARCH_DEEP_IMPORT",
      ],
    ));

  test("a source file that imports a test file", () =>
    check(
      {
        "packages/mcp/src/a.ts": 'import { b } from "../test/b.ts";\nexport const c = b;\n',
        "packages/mcp/test/b.ts": "export const b = 1;\n",
      },
      ["packages/mcp/src/a.ts:1 ARCH_TEST_IMPORT"],
    ));

  test("Node's own modules on floors 0 and 1, with and without their prefix", () =>
    check(
      {
        "packages/json/src/a.ts": 'import { join } from "node:path";\nexport const a = join;\n',
        "packages/search/src/a.ts": 'import type { Buffer } from "buffer";\nexport type A = Buffer;\n',
      },
      ["packages/json/src/a.ts:1 ARCH_NODE_IMPORT", "packages/search/src/a.ts:1 ARCH_NODE_IMPORT"],
    ));

  test("values of node:http by an import, and not its types", () =>
    check(
      {
        "packages/mcp/src/a.ts":
          'import { createServer } from "node:http";\nexport const a = createServer;\n',
        "packages/mcp/src/b.ts": 'import type { Server } from "node:http";\nexport type B = Server;\n',
      },
      ["packages/mcp/src/a.ts:1 ARCH_HTTP_IMPORT"],
    ));

  test("a cycle of files, and not one of types alone", () =>
    check(
      {
        "packages/mcp/src/a.ts": 'import { b } from "./b.ts";\nexport const a = () => b;\n',
        "packages/mcp/src/b.ts": 'import { c } from "./c.ts";\nexport const b = () => c;\n',
        "packages/mcp/src/c.ts": 'import { a } from "./a.ts";\nexport const c = () => a;\n',
        "packages/search/src/a.ts": 'import type { B } from "./b.ts";\nexport interface A { b: B }\n',
        "packages/search/src/b.ts": 'import type { A } from "./a.ts";\nexport interface B { a: A }\n',
      },
      ["packages/mcp/src/c.ts:1 ARCH_FILE_CYCLE"],
    ));

  test("a cycle of packages, even if the table allows the imports", () =>
    check(
      {
        ...architecture("| 0 base | `diagnostics` | d | `json` |\n"),
        "packages/json/src/index.ts":
          'import type { A } from "@toolcrib/diagnostics";\nexport type B = A | 1;\n',
        "packages/diagnostics/src/index.ts":
          '\n\nimport type { B } from "@toolcrib/json";\nexport type A = B | 2;\n',
      },
      ["packages/json/src/index.ts:1 ARCH_PACKAGE_CYCLE"],
    ));

  test("the environment, the clock, randomness, the network and the console outside their places", () =>
    check(
      {
        "packages/mcp/src/a.ts": [
          "export const a = process.env.HOME;",
          "export const b = () => Date.now();",
          "export const c = Math.random;",
          'export const d = () => console.error("no");',
          "export const e = new Date();",
          'export const f = fetch("http://localhost");',
          'export const g = process["env"];',
          "export const h = globalThis.console;",
          'import { randomUUID } from "node:crypto";',
          'import { env } from "node:process";',
          'import own from "node:process";',
          "export const i = [randomUUID, env, own, performance.now()];",
          "",
        ].join("\n"),
      },
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((line) => `packages/mcp/src/a.ts:${line} ARCH_AMBIENT`),
    ));

  test("none of those in texts, in comments and in the file's own names", () =>
    check(
      {
        "packages/mcp/src/a.ts": [
          "// process.env and Date.now() are not used.",
          'export const a = "console.log(Math.random())";',
          "interface Clock { now(): number }",
          "export function b(process: { env: string }, fetch: () => string, Date: Clock): unknown {",
          "  return [process.env, fetch(), Date.now()];",
          "}",
          "export function c(date: number): Date {",
          "  return new Date(date);",
          "}",
          "",
        ].join("\n"),
      },
      [],
    ));

  test("a parameter that has such a name in another function only", () =>
    check(
      {
        "packages/mcp/src/a.ts":
          "export const a = (process: { env: string }) => process.env;\nexport const b = () => process.env;\n",
      },
      ["packages/mcp/src/a.ts:2 ARCH_AMBIENT"],
    ));

  test("a process started outside the package that starts processes, and no import of types alone", () =>
    check(
      {
        "packages/mcp/src/a.ts": [
          'import { spawn } from "node:child_process";',
          'import * as children from "child_process";',
          'export const a = import("node:cluster");',
          'import type { ChildProcess } from "node:child_process";',
          "export const b = (child: ChildProcess) => [spawn, children, child];",
          "",
        ].join("\n"),
        "packages/testing/src/a.ts": 'import { spawn } from "node:child_process";\nexport const a = spawn;\n',
      },
      [1, 2, 3].map((line) => `packages/mcp/src/a.ts:${line} ARCH_PROCESS`),
    ));

  test("a file of more than 500 lines without a reason in its header", () =>
    check(
      {
        "packages/mcp/src/a.ts": longFile("/** A state machine. */"),
        "packages/mcp/src/b.ts": longFile(
          "/** A state machine, one piece because its states share a loop. */",
        ),
      },
      ["packages/mcp/src/a.ts:503 ARCH_FILE_TOO_LONG"],
    ));

  test("default exports, export * and re-exports outside index.ts", () =>
    check(
      {
        "packages/mcp/src/index.ts": 'export * from "./a.ts";\nexport * as b from "./b.ts";\n',
        "packages/mcp/src/a.ts": "export default function a(): void {}\n",
        "packages/mcp/src/b.ts": "const b = 1;\nexport default b;\n",
        "packages/mcp/src/c.ts": 'export { d } from "./d.ts";\n',
        "packages/mcp/src/d.ts": "export const d = 1;\nconst e = 2;\nexport { e as default };\n",
        "packages/mcp/src/e.ts": 'import { d } from "./d.ts";\nexport { d };\n',
      },
      [
        "packages/mcp/src/index.ts:1 ARCH_EXPORT_ALL",
        "packages/mcp/src/index.ts:2 ARCH_EXPORT_ALL",
        "packages/mcp/src/a.ts:1 ARCH_DEFAULT_EXPORT",
        "packages/mcp/src/b.ts:2 ARCH_DEFAULT_EXPORT",
        "packages/mcp/src/c.ts:1 ARCH_RE_EXPORT",
        "packages/mcp/src/d.ts:3 ARCH_DEFAULT_EXPORT",
        "packages/mcp/src/e.ts:2 ARCH_RE_EXPORT",
      ],
    ));

  test("dependencies that are missing, unused, not pinned or of another version", () =>
    check(
      {
        "packages/mcp/src/a.ts":
          'import "@toolcrib/json";\nimport "undici/types/agent.js";\nimport "@scope/one/deep";\nimport "yaml";\nexport {};\n',
        "packages/mcp/package.json": `{
  "name": "@toolcrib/mcp",
  "version": "0.1.0",
  "dependencies": {
    "@toolcrib/json": "0.2.0",
    "@toolcrib/search": "0.1.0",
    "@scope/one": "1.2.3-rc.1",
    "yaml": "^2.0.0"
  }
}
`,
      },
      [
        "packages/mcp/src/a.ts:2 ARCH_DEPENDENCY_MISSING",
        "packages/mcp/package.json:5 ARCH_DEPENDENCY_VERSION",
        "packages/mcp/package.json:6 ARCH_DEPENDENCY_UNUSED",
        "packages/mcp/package.json:8 ARCH_DEPENDENCY_VERSION",
      ],
    ));

  test("a rename of Node's outside of the package files, however it is imported", () =>
    check(
      {
        "packages/mcp/src/a.ts":
          'import { rename } from "node:fs/promises";\nexport const replace = rename;\n',
        "packages/mcp/src/b.ts":
          'import { existsSync, renameSync as move } from "fs";\nexport const replace = [existsSync, move];\n',
        "packages/mcp/src/c.ts": [
          'import * as fs from "node:fs";',
          'import { promises } from "node:fs";',
          'export const one = fs.renameSync("a", "b");',
          'export const two = promises["rename"];',
          'export const { rename: three } = await import("node:fs/promises");',
          "",
        ].join("\n"),
        "packages/mcp/src/d.ts":
          'import { readFile } from "node:fs/promises";\nexport const a = (store: { rename: typeof readFile }) => store.rename;\n',
        "packages/mcp/src/e.ts":
          'import { nodeFileSteps } from "@toolcrib/files";\nexport const replace = nodeFileSteps.rename;\n',
      },
      [
        "packages/mcp/src/a.ts:1 ARCH_FILE_REPLACED",
        "packages/mcp/src/b.ts:1 ARCH_FILE_REPLACED",
        "packages/mcp/src/c.ts:3 ARCH_FILE_REPLACED",
        "packages/mcp/src/c.ts:4 ARCH_FILE_REPLACED",
        "packages/mcp/src/c.ts:5 ARCH_FILE_REPLACED",
        "packages/mcp/src/e.ts:1 ARCH_IMPORT_NOT_ALLOWED",
        "packages/mcp/src/e.ts:2 ARCH_FILE_REPLACED",
      ],
    ));

  test("no rename in the package files, and none that is allowed", () =>
    check(
      {
        ...architecture(
          `${diagnosticsRow}| 2 services | \`files\` | f | — |\n| 2 services | \`store\` | s | — |\n`,
        ),
        "packages/files/package.json": '{ "name": "@toolcrib/files", "version": "0.1.0" }\n',
        "packages/files/src/a.ts": 'import { rename } from "node:fs/promises";\nexport const a = rename;\n',
        "packages/store/package.json": '{ "name": "@toolcrib/store", "version": "0.1.0" }\n',
        "packages/store/src/index-database.ts":
          'import { renameSync } from "node:fs";\nexport const a = renameSync;\n',
      },
      [],
    ));

  test("a package without a row, and a row without a package", () =>
    check({ ...architecture("| 0 base | `toolspec` | d | — |\n| 0 base | `starlark` | d | — |\n") }, [
      "ARCHITECTURE.md:7 ARCH_TABLE_INVALID",
      "ARCHITECTURE.md:8 ARCH_TABLE_INVALID",
      "ARCHITECTURE.md:9 ARCH_TABLE_INVALID",
      "packages/diagnostics/package.json:1 ARCH_TABLE_INVALID",
    ]));

  test("invalid and duplicate rows, and rows that allow a higher floor", () =>
    check(
      {
        ...architecture(
          [
            diagnosticsRow,
            "| 0 base | json | no quotes | — |\n",
            "| zero | `diagnostics` | no number | — |\n",
            "| 0 base | `json` | again | — |\n",
            "| 1 engines | `hosts` | up | floor 1 |\n",
            "| 1 engines | `starlark` | up | `mcp` |\n",
            "| 1 engines | `toolspec` | unclear | everything |\n",
          ].join(""),
        ),
        "packages/hosts/package.json": '{ "name": "@toolcrib/hosts", "version": "0.1.0" }\n',
        "packages/starlark/package.json": '{ "name": "@toolcrib/starlark", "version": "0.1.0" }\n',
        "packages/toolspec/package.json": '{ "name": "@toolcrib/toolspec", "version": "0.1.0" }\n',
      },
      [9, 10, 11, 12, 13, 14].map((line) => `ARCHITECTURE.md:${line} ARCH_TABLE_INVALID`),
    ));

  test("an ARCHITECTURE.md without the table", async () => {
    await using tree = await makeTree({ "ARCHITECTURE.md": "# Architecture\n" });
    using workspace = openWorkspace(tree.path, compiler);
    const places = placesOf(checkArchitecture(workspace));
    assert.ok(places.includes("ARCHITECTURE.md:1 ARCH_TABLE_INVALID"), places.join("\n"));
  });
});

test("checkArchitecture() reports the place, the rule and the fix", async () => {
  await using tree = await makeTree({
    "packages/search/src/a.ts": '\nimport { x } from "@toolcrib/mcp";\nexport const y = x;\n',
  });
  using workspace = openWorkspace(tree.path, compiler);
  assert.equal(
    formatDiagnostics(checkArchitecture(workspace)),
    [
      "packages/search/src/a.ts:2:19: error ARCH_IMPORT_NOT_ALLOWED",
      '"search" may not import "mcp"; it may import diagnostics, json',
      '2 | import { x } from "@toolcrib/mcp";',
      "                      ^^^^^^^^^^^^^^^",
      "hint: ARCHITECTURE.md draws the floors",
    ].join("\n"),
  );
});
