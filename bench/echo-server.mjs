/**
 * The upstream of every benchmark: a minimal MCP server on stdio, so that
 * the benchmark measures the gateway in front of it.
 * Plain JSON-RPC lines, no SDK, one write for all answers of one read.
 *
 * Tools: `echo` returns its `text`. `--wait` adds `wait`, which responds after
 * `ms` milliseconds. `--hang` reads everything and never responds. Ends when its standard input ends. It never logs.
 */

const hang = process.argv.includes("--hang");
const wait = process.argv.includes("--wait");

const echoTool = {
  name: "echo",
  description: "Return the text it is given",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const waitTool = {
  name: "wait",
  description: "Answer after a while",
  inputSchema: { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] },
};

/** The result of one request, or `undefined` for an unknown method. */
function resultOf(request) {
  switch (request.method) {
    case "tools/call":
      return { content: [{ type: "text", text: request.params.arguments.text }] };
    case "tools/list":
      return { tools: wait ? [echoTool, waitTool] : [echoTool] };
    case "initialize":
      return {
        protocolVersion: request.params?.protocolVersion ?? "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "bench-echo", version: "1.0.0" },
      };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  if (hang) return;
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let answers = "";
  for (const line of lines) {
    if (line === "") continue;
    const request = JSON.parse(line);
    if (request.id === undefined || request.method === undefined) continue;
    if (request.method === "tools/call" && request.params.name === waitTool.name) {
      const text = JSON.stringify({ jsonrpc: "2.0", id: request.id, result: { content: [] } });
      setTimeout(() => process.stdout.write(`${text}\n`), request.params.arguments.ms);
      continue;
    }
    const result = resultOf(request);
    const answer =
      result === undefined
        ? { jsonrpc: "2.0", id: request.id, error: { code: -32601, message: "Method not found" } }
        : { jsonrpc: "2.0", id: request.id, result };
    answers += `${JSON.stringify(answer)}\n`;
  }
  if (answers !== "") process.stdout.write(answers);
});
