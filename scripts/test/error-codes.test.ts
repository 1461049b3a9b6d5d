import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { checkErrorCodes, readErrorCodes } from "../error-codes.ts";
import { openWorkspace, startCompiler } from "../workspace.ts";
import { type Files, makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

/** Check that a tree with `files` in it has exactly the findings `expected`. */
async function check(files: Files, expected: readonly string[]): Promise<void> {
  await using tree = await makeTree(files);
  using workspace = openWorkspace(tree.path, compiler);
  assert.deepEqual(placesOf(checkErrorCodes(workspace)), [...expected].sort());
}

const codes = '/** It is broken. */\nexport const mcpBroken = "MCP_BROKEN";\n';
const thrown = 'import { mcpBroken } from "./codes.ts";\nthrow new McpError(mcpBroken, "It is broken");\n';

test("readErrorCodes() reads each code with its meaning, also below a header and over several lines", async () => {
  await using tree = await makeTree({
    "packages/mcp/src/codes.ts": `/**\n * The codes.\n */\n\n${codes}\n/**\n * One thing,\n * and another.\n */\nexport const mcpOdd = "MCP_ODD";\n`,
    "packages/gateway/src/config/codes.ts": '/** Wrong. */\nexport const configWrong = "CONFIG_WRONG";\n',
  });
  using workspace = openWorkspace(tree.path, compiler);
  const read = readErrorCodes(workspace);
  assert.deepEqual(read.diagnostics, []);
  assert.deepEqual(
    read.codes.map(({ folder, name, code, meaning }) => [folder, name, code, meaning]),
    [
      ["gateway", "configWrong", "CONFIG_WRONG", "Wrong."],
      ["mcp", "mcpBroken", "MCP_BROKEN", "It is broken."],
      ["mcp", "mcpOdd", "MCP_ODD", "One thing, and another."],
    ],
  );
});

describe("checkErrorCodes() finds", () => {
  test("nothing where every code is listed and thrown or reported", () =>
    check(
      {
        "packages/mcp/src/codes.ts": `${codes}/** It is odd. */\nexport const mcpOdd = "MCP_ODD";\n/** It is late. */\nexport const mcpLate = "MCP_LATE";\n/** It is new. */\nexport const mcpNew = "MCP_NEW";\n`,
        "packages/mcp/src/a.ts": thrown,
        "packages/mcp/src/b.ts":
          'import { mcpLate, mcpNew, mcpOdd } from "./codes.ts";\n/** @throws {McpError} `MCP_BROKEN` when broken. */\nexport const a = { code: mcpOdd };\nexport const b = a ? mcpLate : undefined;\nreport(mcpNew, "text");\n',
      },
      [],
    ));

  test("a code that is imported, compared and listed, but never produced", () =>
    check(
      {
        "packages/mcp/src/codes.ts": codes,
        "packages/mcp/src/index.ts": 'export { mcpBroken } from "./codes.ts";\n',
        "packages/mcp/src/a.ts": [
          'import { mcpBroken } from "./codes.ts";',
          "export const a = (code: string) => code === mcpBroken;",
          "export const b = new Set([mcpBroken]);",
          "export const c = { [mcpBroken]: 1 };",
          "export const d = b.has(mcpBroken);",
          "export type E = typeof mcpBroken;",
          "switch (String(a)) { case mcpBroken: break; }",
          "",
        ].join("\n"),
      },
      ["packages/mcp/src/codes.ts:2 ERROR_CODE_UNUSED"],
    ));

  test("a code that is written out where it is thrown or reported", () =>
    check(
      {
        "packages/mcp/src/a.ts": [
          'export const a = () => new McpError("MCP_BROKEN", "It is broken");',
          'export const b = { severity: "error", code: "MCP_ODD" };',
          'export class C extends Error { constructor() { super("MCP_LATE"); } }',
          'export const d = (late: boolean) => new McpError(late ? "MCP_LATE" : "MCP_ODD", "No");',
          'export const fine = (error: { code: string }) => error.code === "ERR_OUT_OF_RANGE";',
          'export const fineToo = (e: { code: string }) => new McpError(e.code === "UND_ERR_SOCKET" ? x : y);',
          'export const alsoFine = new TypeError("UPPER case text");',
          "",
        ].join("\n"),
      },
      [
        "packages/mcp/src/a.ts:1 ERROR_CODE_UNLISTED",
        "packages/mcp/src/a.ts:2 ERROR_CODE_UNLISTED",
        "packages/mcp/src/a.ts:3 ERROR_CODE_UNLISTED",
        "packages/mcp/src/a.ts:4 ERROR_CODE_UNLISTED",
        "packages/mcp/src/a.ts:4 ERROR_CODE_UNLISTED",
      ],
    ));

  test("a code in a @throws line that no codes.ts lists", () =>
    check(
      {
        "packages/mcp/src/codes.ts": codes,
        "packages/mcp/src/a.ts": `${thrown}/**\n * Do it.\n *\n * @throws {McpError} \`MCP_BROKEN\`,\n *   \`MCP_GONE\` when it is gone.\n * @returns what \`SOME_NAME\` says.\n */\nexport const a = 1;\n`,
      },
      ["packages/mcp/src/a.ts:7 ERROR_CODE_UNKNOWN"],
    ));

  test("lines of a codes.ts that are not in its form", () =>
    check(
      {
        "packages/mcp/src/codes.ts": [
          'export const mcpBroken = "MCP_BROKEN";',
          "/** A number. */",
          "export const mcpCount = 1;",
          "/** Not exported. */",
          'const mcpOdd = "MCP_ODD";',
          "/** A function. */",
          "export function f(): void {}",
          "",
        ].join("\n"),
        "packages/mcp/src/a.ts": thrown,
      },
      [1, 3, 5, 7].map((line) => `packages/mcp/src/codes.ts:${line} ERROR_CODE_FORM`),
    ));

  test("a constant that does not spell its code, a code listed twice, and a meaning that is no sentence", () =>
    check(
      {
        "packages/json/src/codes.ts": '/** It is broken. */\nexport const mcpBroken = "MCP_BROKEN";\n',
        "packages/mcp/src/codes.ts":
          '/** It is broken. */\nexport const mcpBroken = "MCP_BROKEN";\n/** It is odd. */\nexport const odd = "MCP_ODD";\n/** late */\nexport const mcpLate = "MCP_LATE";\n',
        "packages/mcp/src/a.ts": 'report(mcpBroken, "");\nreport(odd, "");\nreport(mcpLate, "");\n',
      },
      [
        "packages/mcp/src/codes.ts:2 ERROR_CODE_DUPLICATE",
        "packages/mcp/src/codes.ts:4 ERROR_CODE_NAME",
        "packages/mcp/src/codes.ts:6 ERROR_CODE_MEANING",
      ],
    ));
});
