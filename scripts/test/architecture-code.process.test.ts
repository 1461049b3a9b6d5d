/** The rules about what the code of a package may look like: origins, long functions and exports. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Diagnostic, formatDiagnostics } from "@toolcrib/diagnostics";
import { checkExportCount, checkExportUse } from "../architecture/export-rules.ts";
import { checkFunctions } from "../architecture/function-rules.ts";
import { checkOrigins } from "../architecture/origin-rules.ts";
import { openWorkspace, startCompiler, type Workspace } from "../workspace.ts";
import { type Files, makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

/** Checks that `rule` has exactly the findings `expected` in a tree with `files`. */
async function check(
  rule: (workspace: Workspace) => Diagnostic[],
  files: Files,
  expected: readonly string[],
): Promise<void> {
  await using tree = await makeTree(files);
  using workspace = openWorkspace(tree.path, compiler);
  assert.deepEqual(placesOf(rule(workspace)), [...expected].sort());
}

const origins = ({ packages }: Workspace) => packages.flatMap(({ src }) => src.flatMap(checkOrigins));
const functions = ({ packages }: Workspace) => packages.flatMap(({ src }) => src.flatMap(checkFunctions));

describe("checkOrigins() finds", () => {
  test("a comparison of an origin with anything but an origin, in any spelling", () =>
    check(
      origins,
      {
        "packages/mcp/src/a.ts": [
          "interface Tool { origin: string }",
          'export const a = (tool: Tool) => tool.origin === "meta";',
          'export const b = ({ origin }: Tool) => origin !== "saved";',
          'export const c = (tool: Tool) => "server" == tool["origin"];',
          "export function d(tool: Tool) { switch (tool.origin) { default: return 1; } }",
          "export const e = (tool: Tool) => tool.origin === `meta`;",
          "export const f = (tool: Tool, wanted: string) => (tool.origin as string) !== wanted;",
          'export const g = (tool: Tool) => ["meta", "saved"].includes(tool.origin);',
          'export const h = (tool: Tool) => new Map([["meta", 1]]).get(tool.origin!);',
          "",
        ].join("\n"),
      },
      [2, 3, 4, 5, 6, 7, 8, 9].map((line) => `packages/mcp/src/a.ts:${line} ARCH_ORIGIN_COMPARED`),
    ));

  test("no comparison of two origins, as of URLs, and no other property", () =>
    check(
      origins,
      {
        "packages/mcp/src/a.ts":
          'export const a = (x: URL, y: URL) => x.origin === y.origin || x.origin === undefined || x.host === "meta";\n',
      },
      [],
    ));
});

describe("checkFunctions() finds", () => {
  const long = (name: string, lines: number) =>
    `export function ${name}() {\n${"  void 0;\n".repeat(lines - 2)}}\n`;

  test("a function, a method, a setter, a static block and an arrow function of more than 120 lines", () =>
    check(
      functions,
      {
        "packages/mcp/src/a.ts": `${long("a", 120)}${long("b", 121)}`,
        "packages/mcp/src/c.ts": `export class C {\n  d() {\n${"    void 0;\n".repeat(120)}  }\n}\nexport const e = () => {\n${"  void 0;\n".repeat(120)}};\n`,
        "packages/mcp/src/d.ts": `export class D {\n  set d(d: number) {\n${"    void d;\n".repeat(120)}  }\n  static {\n${"    void 0;\n".repeat(120)}  }\n}\n`,
      },
      [
        "packages/mcp/src/a.ts:121 ARCH_FUNCTION_TOO_LONG",
        "packages/mcp/src/c.ts:125 ARCH_FUNCTION_TOO_LONG",
        "packages/mcp/src/c.ts:2 ARCH_FUNCTION_TOO_LONG",
        "packages/mcp/src/d.ts:124 ARCH_FUNCTION_TOO_LONG",
        "packages/mcp/src/d.ts:2 ARCH_FUNCTION_TOO_LONG",
      ],
    ));

  test("none in a file whose header says why it is one piece", () =>
    check(
      functions,
      {
        "packages/mcp/src/a.ts": `/** A parser, one piece because its states share a loop. */\n\n${long("a", 200)}`,
      },
      [],
    ));
});

describe("checkExportUse() finds", () => {
  test("an export that only the sources and tests of its package use, also if a page has the word in its prose", () =>
    check(
      checkExportUse,
      {
        "packages/json/src/index.ts":
          'export { forMcp, forNobody, forTests, forUsers, later, type T } from "./a.ts";\n',
        "packages/json/src/a.ts":
          "export const forMcp = 1, forNobody = 2, forTests = 3, forUsers = 4, later = 5;\nexport type T = 1;\n",
        "packages/json/src/b.ts": 'import { forNobody } from "./a.ts";\nexport const b = forNobody;\n',
        "packages/json/test/a.test.ts":
          'import { forTests } from "@toolcrib/json";\nexport const a = forTests;\n',
        "packages/json/README.md": "Call `forUsers()`, which is forNobody and T.\n",
        "packages/mcp/src/a.ts":
          'import { forMcp } from "@toolcrib/json";\nexport const a = async () => {\n  const { later } = await import("@toolcrib/json");\n  return [later, forMcp];\n};\n',
      },
      Array(3).fill("packages/json/src/index.ts:1 ARCH_EXPORT_UNUSED"),
    ));
});

describe("checkExportCount() finds", () => {
  const exporting = (names: string) => `export { ${names} } from "./a.ts";\n`;

  test("more names than the packages of the foundation may export, and counts no others", () =>
    check(
      (workspace) => checkExportCount(workspace, 3),
      {
        "packages/json/src/index.ts": exporting("a, b"),
        "packages/json/src/a.ts": "export const a = 1, b = 2;\n",
        "packages/mcp/src/index.ts": `\n${exporting("c, d")}`,
        "packages/mcp/src/a.ts": "export const c = 1, d = 2;\n",
        "packages/testing/src/index.ts": exporting("e, f"),
        "packages/testing/src/a.ts": "export const e = 1, f = 2;\n",
      },
      ["packages/mcp/src/index.ts:2 ARCH_EXPORTS_TOO_MANY"],
    ));
});

test("Every export of this repository is used or documented", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  using workspace = openWorkspace(root, compiler);
  assert.equal(formatDiagnostics(checkExportUse(workspace)), "");
});
