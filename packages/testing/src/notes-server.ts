/** The text of a program that is an MCP server over stdio, without dependencies. */

/**
 * Returns a server that lists `tools`.
 *
 * @param failure what it prints on standard error before it exits with 1. @default it runs
 */
export function notesServer(tools: readonly object[], failure?: string): string {
  return `#!/usr/bin/env node
const failure = ${JSON.stringify(failure ?? "")};
if (failure !== "") { console.error(failure); process.exit(1); }
const tools = ${JSON.stringify(tools.map((one) => ({ inputSchema: { type: "object" }, ...one })))};
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } });
  else if (method === "tools/list") send(id, { tools });
  else if (id !== undefined) send(id, { content: [] });
});
`;
}
