import assert from "node:assert/strict";
import { after, test } from "node:test";
import { checkExplanations } from "../explanations.ts";
import { openWorkspace, startCompiler } from "../workspace.ts";
import { makeTree, placesOf } from "./temporary-tree.ts";

const compiler = startCompiler();
after(() => compiler.close());

const codes = `/** Codes. */
export const mcpCodes = { MCP_BROKEN: "It is broken.", MCP_ODD: "It is odd." } as const;
/** A key. */
export type Code = keyof typeof mcpCodes;
`;
const thrown = 'throw new McpError("MCP_BROKEN", `The server "$' + '{name}" is broken: $' + "{reason}`);\n";

/** Returns the findings about a table of explanations. */
async function findingsOf(table: string): Promise<string[]> {
  await using tree = await makeTree({
    "packages/mcp/src/codes.ts": codes,
    "packages/mcp/src/a.ts": thrown,
    "packages/cli/src/explain/areas/mcp.ts": `export const explanations = {\n${table}};\n`,
  });
  using workspace = openWorkspace(tree.path, compiler);
  return placesOf(checkExplanations(workspace)).map((place) => place.replace("packages/", ""));
}

const broken = (prints: string) =>
  `  MCP_BROKEN: { cause: "It.", did: "A.", prints: ${JSON.stringify(prints)}, unrun: "remote", fix: "B." },\n`;
const odd = '  MCP_ODD: { cause: "It.", run: "toolcrib list", fix: "B." },\n';

test("checkExplanations() finds codes and explanations without each other, and messages that are not in the sources", async () => {
  const right = broken('The server "x" is broken: it fell\nrepair it');
  assert.deepEqual(await findingsOf(right + odd), []);
  assert.deepEqual(await findingsOf(right), ["mcp/src/codes.ts:2 EXPLANATION_MISSING"]);
  assert.deepEqual(await findingsOf(`${right}${odd}  MCP_GONE: { cause: "", run: "", fix: "" },\n`), [
    "cli/src/explain/areas/mcp.ts:4 EXPLANATION_UNKNOWN",
  ]);
  assert.deepEqual(await findingsOf(broken('The server "x" was broken: it fell') + odd), [
    "cli/src/explain/areas/mcp.ts:2 EXPLANATION_WORDING",
  ]);
});
