/**
 * Entry: an MCP server on stdin and stdout that misbehaves.
 *
 *     node hostile-stdio.ts <behaviour>
 *
 * `malformed`: lists 50 malformed definitions. `hang`: answers no call. `flood`: sends
 * notifications as fast as they are read. `crash`: ends shortly after each start.
 * `large`: the tool `large {bytes, isIdFirst}` answers with a line of that size, `deep {levels}`
 * with nested arrays, `endless` with a line that has no end; `well {ms}` answers properly.
 */

import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

type Json = { readonly [name: string]: unknown };

const behaviour = process.argv[2] ?? "";
const toolNames = behaviour === "large" ? ["large", "deep", "endless", "well"] : ["act"];
const tools = toolNames.map((name) => ({ name, inputSchema: { type: "object" } }));
const malformed = Array.from({ length: 50 }, (_, at) => ({
  name: `malformed_${at}`,
  ...(at % 2 === 0 ? { inputSchema: {} } : { inputSchema: { type: "object" }, description: at }),
}));

/** Writes `text` and waits until it is read. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

let lastLine: Promise<void> = Promise.resolve();

/** Writes lines that consist of several writes one after the other. */
function inTurn(writeLine: () => Promise<void>): Promise<void> {
  lastLine = lastLine.then(writeLine);
  return lastLine;
}

const send = (message: Json) => inTurn(() => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
const resultOf = (text: string) => ({ content: [{ type: "text", text }] });

async function flood(): Promise<never> {
  const params = { level: "info", data: "x".repeat(200) };
  const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params })}\n`;
  for (;;) await inTurn(() => write(line.repeat(100)));
}

/** Answers request `id` with a line of `bytes`. */
async function answerLarge(id: unknown, bytes: number, isIdFirst: boolean): Promise<void> {
  const member = `"id":${JSON.stringify(id)}`;
  await write(isIdFirst ? `{"jsonrpc":"2.0",${member},"result":` : '{"result":');
  await write('{"content":[{"type":"text","text":"');
  const piece = 'x\\"y{]'.repeat(10_000);
  for (let written = 0; written < bytes; written += piece.length) await write(piece);
  await write(isIdFirst ? '"}]}}\n' : `"}]},"jsonrpc":"2.0",${member}}\n`);
}

async function call(id: unknown, { name, arguments: args = {} }: Json): Promise<void> {
  const given = args as Json;
  if (behaviour === "hang") return;
  if (name === "large")
    return inTurn(() => answerLarge(id, Number(given["bytes"]), given["isIdFirst"] === true));
  if (name === "endless") return inTurn(() => answerLarge(id, Number.POSITIVE_INFINITY, true));
  if (name === "well") await delay(Number(given["ms"] ?? 0));
  if (name !== "deep") return send({ id, result: resultOf("done") });
  const levels = Number(given["levels"]);
  const nested = `${"[".repeat(levels)}${"]".repeat(levels)}`;
  await write(
    `{"result":{"content":[],"structuredContent":{"deep":${nested}}},"jsonrpc":"2.0","id":${id}}\n`,
  );
}

async function answer({ id, method, params }: Json): Promise<void> {
  const { protocolVersion } = (params ?? {}) as Json;
  const serverInfo = { name: "hostile", version: "1" };
  if (method === "initialize") {
    await send({ id, result: { protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo } });
  } else if (method === "notifications/initialized") {
    if (behaviour === "flood") await flood();
    if (behaviour === "crash") setTimeout(() => process.exit(7), 30);
  } else if (method === "tools/list") {
    await send({ id, result: { tools: behaviour === "malformed" ? malformed : tools } });
  } else if (method === "tools/call") await call(id, params as Json);
  else if (id !== undefined) await send({ id, error: { code: -32601, message: `No ${String(method)}` } });
}

createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line) as Json));
