import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { checkErrorCodes, readErrorCodes } from "../error-codes.ts";
import { openWorkspace, startCompiler } from "../workspace.ts";
import { type Files, makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

/** Checks that a tree with `files` in it has exactly the findings `expected`. */
async function check(files: Files, expected: readonly string[]): Promise<void> {
  await using tree = await makeTree(files);
  using workspace = openWorkspace(tree.path, compiler);
  assert.deepEqual(placesOf(checkErrorCodes(workspace)), [...expected].sort());
}

/** A `codes.ts` with an entry for each of `entries`: `CODE: "Meaning."`. */
function codesFile(name: string, ...entries: readonly string[]): string {
  return `/** Codes. */\nexport const ${name}Codes = {\n${entries.map((entry) => `  ${entry},\n`).join("")}} as const;\n/** A key. */\nexport type Code = keyof typeof ${name}Codes;\n`;
}

const codes = codesFile("mcp", 'MCP_BROKEN: "It is broken."');
const thrown = 'throw new McpError("MCP_BROKEN", "It is broken");\n';

test("readErrorCodes() reads each code with its meaning, by package", async () => {
  await using tree = await makeTree({
    "packages/mcp/src/codes.ts": codesFile(
      "mcp",
      'MCP_BROKEN: "It is broken."',
      'MCP_ODD:\n    "One thing, and another."',
    ),
    "packages/gateway/src/config/codes.ts": codesFile("config", 'CONFIG_WRONG: "Wrong."'),
  });
  using workspace = openWorkspace(tree.path, compiler);
  const read = readErrorCodes(workspace);
  assert.deepEqual(read.diagnostics, []);
  assert.deepEqual(
    read.codes.map(({ folder, code, meaning }) => [folder, code, meaning]),
    [
      ["gateway", "CONFIG_WRONG", "Wrong."],
      ["mcp", "MCP_BROKEN", "It is broken."],
      ["mcp", "MCP_ODD", "One thing, and another."],
    ],
  );
});

describe("checkErrorCodes() finds", () => {
  test("nothing where every code is listed and thrown or reported", () =>
    check(
      {
        "packages/mcp/src/codes.ts": codesFile(
          "mcp",
          ...["BROKEN", "ODD", "LATE", "NEW"].map((name) => `MCP_${name}: "It is so."`),
        ),
        "packages/mcp/src/a.ts": thrown,
        "packages/mcp/src/b.ts":
          '/** @throws {McpError} `MCP_BROKEN` when broken. */\nexport const a = { code: "MCP_ODD" };\nexport const b = a ? "MCP_LATE" : undefined;\nreport("MCP_NEW", "text");\n',
      },
      [],
    ));

  test("a code that is compared and listed, but never produced", () =>
    check(
      {
        "packages/mcp/src/codes.ts": codes,
        "packages/mcp/src/a.ts": [
          'export const a = (code: string) => code === "MCP_BROKEN";',
          'export const b = new Set(["MCP_BROKEN"]);',
          "export const c = { MCP_BROKEN: 1 };",
          'export const d = b.has("MCP_BROKEN");',
          'export type E = "MCP_BROKEN";',
          'switch (String(a)) { case "MCP_BROKEN": break; }',
          "",
        ].join("\n"),
      },
      ["packages/mcp/src/codes.ts:3 ERROR_CODE_UNUSED"],
    ));

  test("a code that is thrown or reported and listed nowhere", () =>
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
      ["packages/mcp/src/a.ts:6 ERROR_CODE_UNKNOWN"],
    ));

  test("statements and entries of a codes.ts that are in another form", () =>
    check(
      {
        "packages/mcp/src/codes.ts": [
          'export const mcpBroken = "MCP_BROKEN";',
          "export const mcpCodes = {",
          "  MCP_COUNT: 1,",
          '  "MCP-ODD": "It is odd.",',
          "} as const;",
          'const moreCodes = { MCP_LATE: "It is late." } as const;',
          "export function f(): void {}",
          "",
        ].join("\n"),
      },
      [1, 3, 4, 6, 7].map((line) => `packages/mcp/src/codes.ts:${line} ERROR_CODE_FORM`),
    ));

  test("a code in lower case, a code listed twice, and a meaning that is no sentence", () =>
    check(
      {
        "packages/json/src/codes.ts": codes,
        "packages/mcp/src/codes.ts": codesFile(
          "mcp",
          'MCP_BROKEN: "It is broken."',
          'mcpOdd: "It is odd."',
          'MCP_LATE: "late"',
        ),
        "packages/mcp/src/a.ts": `${thrown}report("MCP_LATE", "");\n`,
      },
      [
        "packages/mcp/src/codes.ts:3 ERROR_CODE_DUPLICATE",
        "packages/mcp/src/codes.ts:4 ERROR_CODE_NAME",
        "packages/mcp/src/codes.ts:4 ERROR_CODE_UNUSED",
        "packages/mcp/src/codes.ts:5 ERROR_CODE_MEANING",
      ],
    ));
});
