/**
 * `npm run conformance -w packages/http -- --suite DIR`: sends each input of the request tests of a checkout of
 * nodejs/llhttp (`test/request`) to the server in one piece, on a new connection and on one that `node:http` reads
 * already, and compares the answers. Any difference fails the run.
 *
 * An input is sent as it is, and as a POST to the endpoint of this machine, so that it is answered, too.
 */

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { GatewayMetrics, startHttpServer } from "@toolcrib/http";
import { methodNotFound } from "@toolcrib/mcp";
import { MemorySessionStore } from "@toolcrib/store";

const probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/**
 * Inputs with malformed bytes after a request that is left to `node:http`: it reads both at once and closes the
 * connection before the request is answered, if the answer is not ready by then.
 */
const exceptions: ReadonlySet<string> = new Set([
  "connection.md 9 at the endpoint",
  "connection.md 10 at the endpoint",
  "connection.md 11 at the endpoint",
  "transfer-encoding.md 28 at the endpoint",
  "transfer-encoding.md 29 at the endpoint",
]);

const { values } = parseArgs({ options: { suite: { type: "string" } } });
if (values.suite === undefined) {
  console.error("Give a checkout of nodejs/llhttp: npm run conformance -w packages/http -- --suite DIR");
  process.exit(2);
}
process.exitCode = (await run(join(values.suite, "test", "request"))) ? 0 : 1;

async function run(directory: string): Promise<boolean> {
  const inputs = readdirSync(directory)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .flatMap((name) => inputsIn(name, readFileSync(join(directory, name), "utf8")));
  await using server = await startServer();
  const problems: string[] = [];
  for (const { id, bytes } of inputs) {
    const [own, reference] = [
      await exchange(server.port, bytes, false),
      await exchange(server.port, bytes, true),
    ];
    const isAlike = own === reference || own === withoutLateRefusal(reference);
    const texts = `in one piece: ${JSON.stringify(own)}\n  node:http:    ${JSON.stringify(reference)}`;
    if (!isAlike && (!exceptions.has(id) || own !== "")) problems.push(`${id}\n  ${texts}`);
  }
  if (inputs.length === 0) problems.push(`${directory} has no cases`);
  for (const problem of problems) console.error(problem);
  console.log(`${inputs.length} inputs, ${exceptions.size} exceptions, ${problems.length} problems`);
  return problems.length === 0;
}

/** Removes the refusal of bytes after a request; whether it is sent depends on what `node:http` reads at once. */
function withoutLateRefusal(text: string): string {
  const at = text.lastIndexOf("HTTP/1.1 400 Bad Request\r\n");
  return at > 0 && text.includes("HTTP_MALFORMED") ? text.slice(0, at) : text;
}

interface Input {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Reads the inputs of one Markdown file of the suite, each in two forms. */
function inputsIn(file: string, text: string): readonly Input[] {
  const blocks = [...text.matchAll(/^```http\n([\s\S]*?)^```/gm)].map(([, block]) => decode(block as string));
  return blocks.flatMap((input, index) => [
    { id: `${file} ${index + 1}`, bytes: Buffer.from(input, "latin1") },
    {
      id: `${file} ${index + 1} at the endpoint`,
      bytes: Buffer.from(
        input.replace(/^([A-Z]+) \S+ /m, "POST /mcp ").replace(/\r\nHost: [^\r]*/i, "\r\nHost: localhost"),
        "latin1",
      ),
    },
  ]);
}

/** Undoes the escapes of the suite. JavaScript in an input stays text: it is an input like any other. */
function decode(text: string): string {
  return text
    .replace(/\n$/, "")
    .replace(/\\(\r\n|\r|\n)/g, "")
    .replace(/\r\n|\r|\n/g, "\r\n")
    .replaceAll("\\r", "\r")
    .replaceAll("\\n", "\n")
    .replaceAll("\\t", "\t")
    .replaceAll("\\f", "\f")
    .replace(/\\x([0-9a-fA-F]{1,2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function startServer() {
  const nothing = () => {};
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  return startHttpServer(
    {
      service: {
        serverInfo: { name: "conformance", version: "1.0.0" },
        capabilities: () => ({}),
        instructions: () => undefined,
        handle: async ({ method }) => {
          throw methodNotFound(method);
        },
        sessionOpened: nothing,
        sessionClosed: nothing,
        listen: async ({ filter }) => filter,
        toolInputSchema: () => undefined,
      },
      authenticate: undefined,
      serverIds: () => [],
      isVisible: () => true,
      status: () => {
        throw new Error("There is no status here");
      },
      tools: () => [],
      serverLog: () => [],
      readiness: () => ({ ready: 0, total: 0 }),
      metrics: new GatewayMetrics(),
      logger,
      now: Date.now,
      newId: randomUUID,
      sessions: new MemorySessionStore({ now: Date.now }),
    },
    {
      listen: { host: "127.0.0.1", port: 0 },
      auth: "none",
      limits: { headersTimeoutMs: 150, requestTimeoutMs: 150, lateCheckMs: 20 },
    },
  );
}

/** Sends `bytes` and ends the input. @returns what is answered until the server closes, without dates */
function exchange(port: number, bytes: Buffer, afterProbe: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
    let text = "";
    let isProbing = afterProbe;
    const send = () => {
      socket.write(bytes);
      // What is complete is answered in this time; the server closes what is not.
      setTimeout(() => socket.end(), 300).unref();
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      if (!isProbing) text += chunk;
      else if (chunk.includes("\r\n\r\n")) {
        isProbing = false;
        send();
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text.replace(/\r\nDate: [^\r]*/g, "")));
    if (afterProbe) socket.write(probe);
    else send();
  });
}
