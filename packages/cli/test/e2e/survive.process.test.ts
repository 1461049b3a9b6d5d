/**
 * Kills the gateway with SIGKILL and starts it again under clients of both eras that call without pause, with a real
 * server that counts the executions of each call. Clients are those of the official SDKs, and nothing helps them.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { openAuditReader } from "@toolcrib/store";
import { freePort, makeTemporaryDirectory, runsAll, waitUntil } from "@toolcrib/testing";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

/** Clients of each era. */
const clientCount = runsAll ? 20 : 4;
/** Times that the gateway is killed. */
const killCount = runsAll ? 2 : 1;
/** Calls of each client that succeed between two kills. */
const callsBetween = runsAll ? 6 : 4;

/** A server of SDK v1 with sessions, which counts the executions of its tool by the id that a call names. */
async function startCountingServer() {
  const executions = new Map<string, number>();
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const servers = new Set<Server>();
  const subscribed: string[] = [];
  const create = () => {
    const server = new Server(
      { name: "counting", version: "1" },
      { capabilities: { tools: {}, logging: {}, resources: { subscribe: true } } },
    );
    const inputSchema = {
      type: "object" as const,
      properties: { id: { type: "string" }, ms: { type: "number" } },
    };
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "count", inputSchema }] }));
    server.setRequestHandler(ListResourcesRequestSchema, () => ({
      resources: [{ uri: "test://watched", name: "watched" }],
    }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      subscribed.push(params.uri);
      return {};
    });
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification }) => {
      const { id, ms } = params.arguments as { id: string; ms: number };
      executions.set(id, (executions.get(id) ?? 0) + 1);
      const { progressToken } = _meta ?? {};
      if (progressToken !== undefined) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      }
      await delay(ms, undefined, { ref: false });
      await server.sendLoggingMessage({ level: "debug", data: "too low" });
      return { content: [{ type: "text", text: id }] };
    });
    servers.add(server);
    return server;
  };
  const http = createServer(async (request, response) => {
    const known = transports.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return known.handleRequest(request, response);
    if (request.method !== "POST" || request.headers["mcp-session-id"] !== undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await create().connect(transport);
    return transport.handleRequest(request, response);
  });
  // A connection that the server closes while a request is on its way is a lost answer, too.
  http.keepAliveTimeout = 600_000;
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    executions,
    subscribed,
    updateResource: () => {
      for (const server of servers) {
        server.sendResourceUpdated({ uri: "test://watched" }).catch(() => {});
      }
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

/** A client that calls without pause. */
class Caller {
  readonly name: string;
  readonly succeeded: string[] = [];
  readonly failed: string[] = [];
  listChanges = 0;
  readonly #client: ClientV1 | ClientV2;
  #isRunning = true;

  constructor(name: string, client: ClientV1 | ClientV2) {
    this.name = name;
    this.#client = client;
  }

  async run(): Promise<void> {
    for (let turn = 0; this.#isRunning; turn += 1) {
      const id = `${this.name} ${turn}`;
      const call = { name: "counting__count", arguments: { id, ms: turn % 3 === 0 ? 40 : 5 } };
      try {
        const { content } = await (this.#client as ClientV1).callTool(call);
        assert.deepEqual(content, [{ type: "text", text: id }]);
        this.succeeded.push(id);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        this.failed.push(id);
        await delay(50);
      }
    }
  }

  stop(): void {
    this.#isRunning = false;
  }

  async close(): Promise<void> {
    this.#isRunning = false;
    await this.#client.close();
  }
}

const reconnectionOptions = {
  initialReconnectionDelay: 100,
  maxReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 1.2,
  maxRetries: 40,
};

function transportV1(gateway: ServedGateway): HttpV1 {
  const requestInit = { headers: { Authorization: `Bearer ${gateway.token}` } };
  return new HttpV1(new URL(`${gateway.baseUrl}/mcp`), { requestInit, reconnectionOptions });
}

async function connectAll(gateway: ServedGateway): Promise<readonly Caller[]> {
  const requestInit = { headers: { Authorization: `Bearer ${gateway.token}` } };
  const url = new URL(`${gateway.baseUrl}/mcp`);
  const callers: Caller[] = [];
  for (let at = 0; at < clientCount; at += 1) {
    const legacy = new ClientV1({ name: "legacy", version: "1" });
    const first = new Caller(`legacy ${at}`, legacy);
    legacy.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      first.listChanges += 1;
    });
    await legacy.connect(transportV1(gateway));
    const modern = new ClientV2(
      { name: "modern", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await modern.connect(new HttpV2(url, { requestInit, reconnectionOptions }));
    callers.push(first, new Caller(`modern ${at}`, modern));
  }
  return callers;
}

async function writeConfig(folder: string, url: string): Promise<string> {
  const path = join(folder, "toolcrib.json");
  const server = { id: "counting", transport: { kind: "streamable_http", url }, trust_state: "verified" };
  writeFileSync(path, JSON.stringify({ tool_servers: [server] }));
  return path;
}

async function untilReady(gateway: ServedGateway): Promise<void> {
  await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
}

describe("a gateway that is killed and started again", () => {
  it(`${clientCount} legacy and ${clientCount} modern clients continue, and no call runs twice`, async () => {
    await using directory = await makeTemporaryDirectory();
    await using server = await startCountingServer();
    const home = join(directory.path, "home");
    const config = await writeConfig(directory.path, server.url);
    const listen = `127.0.0.1:${await freePort()}`;
    let gateway = await serveGateway(config, home, {}, listen);
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => gateway[Symbol.asyncDispose]());
    await untilReady(gateway);
    const callers = await connectAll(gateway);
    for (const caller of callers) cleanup.defer(() => caller.close());
    // A call whose answer is a stream, and which is in flight when the gateway is killed.
    const streaming = new ClientV1({ name: "streaming", version: "1" });
    const updates: string[] = [];
    const logs: unknown[] = [];
    await streaming.connect(transportV1(gateway));
    streaming.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updates.push(params.uri);
    });
    streaming.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      logs.push(params.data);
    });
    await streaming.setLoggingLevel("warning");
    await streaming.subscribeResource({ uri: "test://watched" });
    cleanup.defer(() => streaming.close());
    const running = callers.map((caller) => caller.run());
    for (let kill = 1; kill <= killCount; kill += 1) {
      const before = callers.map(({ succeeded }) => succeeded.length);
      const hasCalled = () =>
        callers.every(({ succeeded }, at) => succeeded.length >= (before[at] ?? 0) + callsBetween);
      await waitUntil(hasCalled, { what: "all clients call" });
      let progress = 0;
      const lost = streaming.callTool(
        { name: "counting__count", arguments: { id: `streaming ${kill}`, ms: 600_000 } },
        undefined,
        { timeout: 300_000, onprogress: () => (progress += 1) },
      );
      const lostOutcome = lost.then(
        () => "answered",
        (error: Error) => error.message,
      );
      await waitUntil(() => progress === 1);
      process.kill(gateway.process.pid, "SIGKILL");
      await gateway[Symbol.asyncDispose]();
      gateway = await serveGateway(config, home, {}, listen);
      assert.match(await lostOutcome, /gateway was restarted before it answered.*may have been executed/);
      const legacy = callers.filter(({ name }) => name.startsWith("legacy"));
      const haveChanges = () => legacy.every(({ listChanges }) => listChanges >= kill);
      await waitUntil(haveChanges, { what: "each legacy client gets list_changed" });
      await waitUntil(() => server.subscribed.length === kill + 1, {
        what: "the subscription is made again",
      });
      await waitUntil(() => updates.length > 0, { what: "the subscriber is notified" });
      updates.length = 0;
      server.updateResource();
      await waitUntil(() => updates.includes("test://watched"), { what: "an update reaches the client" });
      updates.length = 0;
    }
    const failedBefore = callers.map(({ failed }) => failed.length);
    const before = callers.map(({ succeeded }) => succeeded.length);
    await waitUntil(
      () => callers.every(({ succeeded }, at) => succeeded.length >= (before[at] ?? 0) + callsBetween),
      { what: "all clients call after the last start" },
    );
    for (const caller of callers) caller.stop();
    await Promise.all(running);
    // Once a client continues, nothing fails any more.
    for (const [at, { failed }] of callers.entries()) assert.ok(failed.length - (failedBefore[at] ?? 0) <= 1);
    for (const { name, listChanges } of callers) {
      if (name.startsWith("legacy")) assert.equal(listChanges, killCount, name);
    }
    for (const [id, count] of server.executions) assert.equal(count, 1, id);
    for (const { succeeded } of callers)
      for (const id of succeeded) assert.equal(server.executions.get(id), 1);
    assert.deepEqual(logs, []);
    // What failed was in flight, or was sent while no gateway listened.
    await using reader = await openAuditReader({ home });
    const unknown = await reader.list({ outcome: "unknown", limit: 1000 });
    const executedAndFailed = callers
      .flatMap(({ failed }) => failed)
      .filter((id) => server.executions.has(id));
    assert.ok(unknown.length >= killCount && unknown.length >= executedAndFailed.length);
    checkFiles(home, gateway.token);
  });
});

describe("the files of sessions", () => {
  it("a full disk stops no call, and a changed file is ignored and reported", async (t) => {
    await using directory = await makeTemporaryDirectory();
    await using server = await startCountingServer();
    const home = join(directory.path, "home");
    const folder = join(home, "sessions");
    const config = await writeConfig(directory.path, server.url);
    const listen = `127.0.0.1:${await freePort()}`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const mounted =
      spawnSync("mount", ["-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", folder]).status === 0;
    try {
      if (mounted) {
        // A page at a time, until nothing fits.
        for (
          let at = 0;
          spawnSync("cp", ["/proc/self/exe", join(folder, `ballast${at}`)]).status === 0;
          at += 1
        );
        await using gateway = await serveGateway(config, home, {}, listen);
        await untilReady(gateway);
        const client = new ClientV1({ name: "full disk", version: "1" });
        await client.connect(transportV1(gateway));
        for (let at = 0; at < 5; at += 1) {
          const call = { name: "counting__count", arguments: { id: `full ${at}`, ms: 60 } };
          const { content } = await client.callTool(call, undefined, { onprogress: () => {} });
          assert.deepEqual(content, [{ type: "text", text: `full ${at}` }]);
        }
        await client.close();
        await gateway.process.stop();
        assert.match(gateway.process.stderr(), /the disk is full \(ENOSPC\)/);
        assert.doesNotMatch(gateway.process.stderr(), /UNHANDLED|uncaught/i);
      } else t.diagnostic("a tmpfs cannot be mounted here: the full disk was not tried");
    } finally {
      if (mounted) execFileSync("umount", ["-l", folder]);
    }
    const first = await serveGateway(config, home, {}, listen);
    await untilReady(first);
    const client = new ClientV1({ name: "changed", version: "1" });
    await client.connect(transportV1(first));
    const call = (id: string) => client.callTool({ name: "counting__count", arguments: { id, ms: 0 } });
    await call("before");
    // A stop is survived as a kill is.
    await first.process.stop();
    {
      await using second = await serveGateway(config, home, {}, listen);
      assert.match(JSON.stringify(await call("after a stop")), /after a stop/);
      await second.process.stop();
    }
    const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".session"));
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replace("2025-11-25", "2025-06-18"));
    await using third = await serveGateway(config, home, {}, listen);
    await assert.rejects(call("after a change"), /Session not found/);
    await client.close();
    await third.process.stop();
    assert.match(third.process.stderr(), /STORE_UNREADABLE.*is ignored: this home did not write it/s);
  });
});

/** The files are private, and hold neither the token nor the ids of sessions. */
function checkFiles(home: string, token: string): void {
  const folder = join(home, "sessions");
  const names = readdirSync(folder);
  assert.ok(names.some((name) => name.endsWith(".session")));
  for (const name of names) {
    const path = join(folder, name);
    assert.equal(statSync(path).mode & 0o077, 0, name);
    const text = readFileSync(path, "utf8");
    assert.ok(!text.includes(token), name);
    assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
  }
}
