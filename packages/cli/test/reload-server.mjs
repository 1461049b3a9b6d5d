/** A small MCP server over stdio whose tools, named by its arguments, answer with the id of the process after `ms` milliseconds. */

import { createInterface } from "node:readline";

const [name = "tool", ...others] = process.argv.slice(2);
const toolOf = (tool) => ({ name: tool, description: "a tool", inputSchema: { type: "object" } });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [name, ...others].map(toolOf) }),
  "tools/call": () => ({ content: [{ type: "text", text: String(process.pid) }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method];
  if (result === undefined) send({ id, error: { code: -32601, message: "not known" } });
  else setTimeout(() => send({ id, result: result(params) }), params?.arguments?.ms ?? 0);
});
