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
async function findingsOf(table: string, pattern = "MCP_BROKEN"): Promise<string[]> {
  await using tree = await makeTree({
    "packages/mcp/src/codes.ts": codes,
    "packages/mcp/src/a.ts": thrown,
    "packages/cli/src/explain/areas/mcp.ts": `export const explanations = {\n${table}};\n`,
    "packages/mcp/test/a.test.ts": `// MCP_ODD\nassert.match(text, /${pattern}/);\n`,
  });
  using workspace = openWorkspace(tree.path, compiler);
  return placesOf(checkExplanations(workspace)).map((place) => place.replace("packages/", ""));
}

const broken = (prints: string) =>
  `  MCP_BROKEN: { cause: "It.", did: "A.", prints: ${JSON.stringify(prints)}, unrun: "setup", tested: "packages/mcp/test/a.test.ts", fix: "B." },\n`;
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

test("checkExplanations() finds an example that neither runs nor names a test that provokes its code", async () => {
  const right = broken('The server "x" is broken: it fell over the edge\nrepair it');
  const place = "cli/src/explain/areas/mcp.ts:2 EXPLANATION_UNTESTED";
  assert.deepEqual(await findingsOf(right + odd, "the server fell"), [place]);
  assert.deepEqual(await findingsOf(right + odd, "is broken: it fell over"), []);
  assert.deepEqual(await findingsOf(right + odd, "MCP_BROKEN_TOO"), [place]);
  const named = (tested: string) => right.replace('tested: "packages/mcp/test/a.test.ts"', tested) + odd;
  assert.deepEqual(await findingsOf(named('tested: "packages/mcp/test/gone.test.ts"')), [place]);
  assert.deepEqual(
    await findingsOf(right.replace("packages/mcp/test/a.test.ts", "packages/mcp/src/a.ts") + odd),
    [place],
  );
  // A comment is no test.
  const commented = right.replace("MCP_BROKEN", "MCP_ODD");
  assert.deepEqual(await findingsOf(commented + odd.replace("MCP_ODD", "MCP_BROKEN"), "nothing"), [place]);
  // Only codes of a list may be untested.
  assert.deepEqual(await findingsOf(named('hint: ""').replace('"setup"', '"untested"')), [place]);
});
