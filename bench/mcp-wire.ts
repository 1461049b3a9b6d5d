/**
 * The two edges of `@toolcrib/mcp` against each other in one process: what a
 * call costs in CPU on the wire alone, without gateway, tool or upstream.
 *
 *     node --conditions=toolcrib-source bench/mcp-wire.ts
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import {
  type Connection,
  createHttpClient,
  HttpEndpoint,
  HttpTransport,
  type McpService,
  openConnection,
  StdioTransport,
  startStdioServer,
} from "@toolcrib/mcp";
import { MemorySessionStore } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";

const turnMs = 2000;
const warmUpMs = 500;
const concurrency = 32;
const eras = ["legacy", "modern"] as const;
const text = "x".repeat(64);
const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const identity = localIdentity("library", "bench");
const clientInfo = { name: "bench", version: "0" };

const service: McpService = {
  serverInfo: { name: "bench", version: "0" },
  capabilities: () => ({ tools: {} }),
  instructions: () => undefined,
  handle: async () => ({ content: [{ type: "text", text }] }),
  sessionOpened: () => {},
  sessionClosed: () => {},
  listen: async () => ({}),
  toolInputSchema: () => inputSchema,
};

/** Calls as often as possible for `ms`. Returns the number of calls. */
async function callFor(connection: Connection, ms: number): Promise<number> {
  const params = { name: "echo", arguments: { text } };
  const end = performance.now() + ms;
  let count = 0;
  const work = async () => {
    while (performance.now() < end) {
      await connection.request("tools/call", params, { inputSchema });
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return count;
}

async function report(name: string, connection: Connection): Promise<void> {
  await callFor(connection, warmUpMs);
  const before = process.cpuUsage();
  const start = performance.now();
  const count = await callFor(connection, turnMs);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  const perCall = ((user + system) / count).toFixed(1);
  console.log(`${name.padEnd(14)} ${Math.round(count / seconds)} calls/s, ${perCall} µs CPU per call`);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const pipes = createServer();
const pipePort = await listen(pipes);
for (const era of eras) {
  const near = connect(pipePort, "127.0.0.1").setNoDelay(true);
  const [far] = await once(pipes, "connection");
  far.setNoDelay(true);
  await using _server = startStdioServer(
    service,
    { input: far, output: far },
    { view: "all", identity, sessionId: randomUUID() },
  );
  await using connection = await openConnection(
    new StdioTransport({ stdin: near, stdout: near }),
    {},
    { clientInfo, era },
  );
  await report(`stdio ${era}`, connection);
}
pipes.close();

await using endpoint = new HttpEndpoint(service, {
  now: Date.now,
  newSessionId: randomUUID,
  sessions: new MemorySessionStore({ now: Date.now }),
});
const web = createHttpServer(
  (request, response) => void endpoint.handle(request, response, { view: "all", identity }),
);
const url = `http://127.0.0.1:${await listen(web)}/mcp`;
const client = createHttpClient({ maxConnectionsPerOrigin: concurrency });
for (const era of eras) {
  await using connection = await openConnection(new HttpTransport(client, { url }), {}, { clientInfo, era });
  await report(`HTTP ${era}`, connection);
}
await client.destroy();
web.close();
web.closeAllConnections();
