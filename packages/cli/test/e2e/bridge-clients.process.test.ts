/**
 * Clients of both generations of the SDK over `toolcrib bridge`, in both eras: headers that mirror arguments,
 * questions of servers, changes, subscriptions and tasks, also after the gateway was replaced; and calls while
 * gateways are stopped and killed.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ListToolsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  isProcessAlive,
  loadTasksV1,
  makeTemporaryDirectory,
  serveV1,
  startEchoHttpServer,
  waitUntil,
} from "@toolcrib/testing";
import { startBridge } from "../bridge-harness.ts";
import { cleanEnvironment, commandLine } from "../transcript.ts";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

/** A home with servers at `urls` by id, its gateway, and the command of its bridge. */
async function setUp(urls: { readonly [id: string]: string }) {
  const directory = await makeTemporaryDirectory();
  const home = directory.join(".toolcrib");
  const config = directory.join("toolcrib.json");
  const servers = Object.entries(urls).map(([id, url]) => ({
    ...{ id, trust_state: "certified" },
    transport: { kind: "streamable_http", url },
  }));
  writeFileSync(config, JSON.stringify({ tool_servers: servers, serve: { listen: "127.0.0.1:0" } }));
  let gateway: ServedGateway | undefined;
  /** Starts the gateway, or another one in its place, at another address. */
  const start = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (gateway !== undefined && signal === "SIGKILL") process.kill(gateway.process.pid, signal);
    await gateway?.[Symbol.asyncDispose]();
    gateway = await serveGateway(config, home);
    const { baseUrl } = gateway;
    await waitUntil(async () => (await fetch(`${baseUrl}/readyz`)).ok);
  };
  await start();
  const env = Object.fromEntries(
    Object.entries(cleanEnvironment(directory.path)).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  );
  const args = [...commandLine, "--config", config, "bridge", "--as", "desktop"];
  return {
    directory,
    start,
    /** The address of the gateway that runs. */
    baseUrl: () => gateway?.baseUrl ?? assert.fail("no gateway runs"),
    command: { command: process.execPath, args, cwd: directory.path, env, stderr: "pipe" as const },
    async [Symbol.asyncDispose]() {
      await gateway?.[Symbol.asyncDispose]();
      // A bridge can have started one.
      for (const name of readdirSync(`${home}/run`)) {
        const pid = /^gateway-(\d+)\.json$/.exec(name)?.[1];
        if (pid === undefined || !isProcessAlive(Number(pid))) continue;
        process.kill(Number(pid), "SIGTERM");
        await waitUntil(() => !isProcessAlive(Number(pid)));
      }
      await directory[Symbol.asyncDispose]();
    },
  };
}

const form = { action: "accept" as const, content: { name: "Ada" } };

async function openModern(setting: ConstructorParameters<typeof ModernTransport>[0]) {
  const client = new ModernClient(
    { name: "v2", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", async () => form);
  await client.connect(new ModernTransport(setting));
  return client;
}

async function openLegacy(setting: ConstructorParameters<typeof StdioClientTransport>[0]) {
  const capabilities = { elicitation: {}, roots: {} };
  const client = new Client({ name: "v1", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => form);
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: "file:///r" }] }));
  await client.connect(new StdioClientTransport(setting));
  return client;
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

test("arguments of a modern client are mirrored into headers, with a list of tools and without", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28" });
  await using user = await setUp({ echo: server.url });
  const args = { region: "eu", nested: { level: 7 } };
  const mirrored = { "mcp-param-region": "eu", "mcp-param-level": "7" };
  const client = await openModern(user.command);
  await client.listTools();
  const result = await client.callTool({ name: "echo__mirror", arguments: args });
  assert.deepEqual(JSON.parse(textOf(result)), mirrored);
  await client.close();
  // A client that has its list from earlier calls at once.
  await using bridge = startBridge(user.directory.path, "--as", "desktop");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const answer = await bridge.request(1, "tools/call", { name: "echo__mirror", arguments: args, _meta });
  assert.equal(answer.error, undefined);
  assert.deepEqual(JSON.parse(textOf(answer.result)), mirrored);
});

test("a modern client answers questions, cancels, and keeps its streams of changes over gateways", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28" });
  await using user = await setUp({ echo: server.url });
  const client = await openModern(user.command);
  const call = (name: string, args = {}) => client.callTool({ name: `echo__${name}`, arguments: args });
  assert.match(textOf(await call("ask_elicitation")), /Ada/);
  await assert.rejects(
    client.callTool({ name: "echo__sleep", arguments: { ms: 60_000 } }, { signal: AbortSignal.timeout(300) }),
  );
  await waitUntil(async () => textOf(await call("cancelled")) === "1");
  let lists = 0;
  const updates: string[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    lists += 1;
  });
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void updates.push(params.uri),
  );
  const { resources } = await client.listResources();
  const uri = resources.find((resource) => resource.uri.endsWith("watched"))?.uri ?? "";
  await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
  await call("change_tools", { add: "one" });
  await waitUntil(() => lists > 0);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    lists = 0;
    updates.length = 0;
    await user.start(signal);
    // The stream is opened again without a request of the client, which may have missed a change.
    await waitUntil(() => lists > 0);
    await call("update_resource");
    await waitUntil(() => updates.length > 0);
    await call("change_tools", { add: `after-${signal}` });
    await waitUntil(() => lists > 1);
  }
  await client.close();
});

test("a legacy client answers questions and keeps its subscriptions over gateways", async () => {
  await using server = await startEchoHttpServer();
  await using user = await setUp({ echo: server.url });
  const client = await openLegacy(user.command);
  const call = (name: string, args = {}) => client.callTool({ name: `echo__${name}`, arguments: args });
  const ask = async (name: string) => {
    // The first question of a client can open a session of its own at the server.
    const asked = await call(name).catch(() => call(name));
    return textOf(asked);
  };
  let lists = 0;
  const updates: string[] = [];
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    lists += 1;
  });
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updates.push(params.uri),
  );
  const { resources } = await client.listResources();
  const uri = resources.find((resource) => resource.uri.endsWith("watched"))?.uri ?? "";
  await client.subscribeResource({ uri });
  for (const signal of [undefined, "SIGTERM", "SIGKILL"] as const) {
    if (signal !== undefined) await user.start(signal);
    assert.match(await ask("ask_elicitation"), /Ada/);
    assert.match(await ask("ask_roots"), /file:\/\/\/r/);
    updates.length = 0;
    await call("update_resource");
    await waitUntil(() => updates.length > 0);
    lists = 0;
    await call("change_tools", { add: `added-${signal}` });
    await waitUntil(() => lists > 0);
  }
  await client.close();
});

test("a task of a client ends after its gateway was replaced", async () => {
  using program = createTaskProgram();
  await using server = await serveV1(() => createTasksV1Server(program));
  await using user = await setUp({ jobs: server.url });
  const client = await openLegacy(user.command);
  const params = { name: "jobs__report", arguments: { text: "done" }, task: { ttl: 60_000 } };
  const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
  await user.start("SIGKILL");
  assert.equal((await client.experimental.tasks.getTask(task.taskId)).status, "working");
  const result = client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
  await client.callTool({ name: "jobs__release", arguments: {} });
  assert.equal(textOf(await result), "done");
  assert.deepEqual(program.ran, ["report", "release"]);
  await client.close();
});

/** Serves a tool that notes the text of each call, and answers after a time. */
async function startCountingServer(answerMs = 20) {
  const texts: string[] = [];
  const served = await serveV1(() => {
    const server = new Server({ name: "counting", version: "1" }, { capabilities: { tools: {} } });
    const inputSchema = { type: "object" as const, properties: { text: { type: "string" } } };
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "note", inputSchema }] }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const text = String(params.arguments?.["text"]);
      texts.push(text);
      await setTimeout(answerMs, undefined, { ref: false });
      return { content: [{ type: "text", text }] };
    });
    return server;
  });
  return { ...served, texts, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

test("no call is made twice while gateways are replaced, and each is answered", async () => {
  await using server = await startCountingServer();
  await using user = await setUp({ counting: server.url });
  const legacy = await openLegacy(user.command);
  const modern = await openModern(user.command);
  let isOver = false;
  const outcomes = new Map<string, string>();
  const run = async (name: string, client: typeof legacy | typeof modern) => {
    for (let count = 0; !isOver; count += 1) {
      const text = `${name}-${count}`;
      const params = { name: "counting__note", arguments: { text } };
      const made = client === legacy ? legacy.callTool(params) : modern.callTool(params);
      outcomes.set(text, await made.then(textOf, (error: Error) => `error ${error.message}`));
    }
  };
  const running = [run("a", legacy), run("b", legacy), run("c", modern), run("d", modern)];
  for (const signal of ["SIGTERM", "SIGKILL", "SIGTERM"] as const) {
    const { size } = outcomes;
    await waitUntil(() => outcomes.size > size + 20);
    await user.start(signal);
  }
  isOver = true;
  await Promise.all(running);
  assert.equal(new Set(server.texts).size, server.texts.length, "a call is made once");
  const failed = [...outcomes].filter(([text, outcome]) => outcome !== text);
  // Only a call that was in flight at a gateway which ended can fail: one of each of the four, three times.
  assert.ok(failed.length <= 12, JSON.stringify(failed));
  for (const [, outcome] of failed) assert.match(outcome, /broke|ended before|shutting down|closed/);
  await Promise.all([legacy.close(), modern.close()]);
});

test("a call that outlasts its gateway fails, and is not made again", async () => {
  await using server = await startCountingServer(60_000);
  await using user = await setUp({ counting: server.url });
  const legacy = await openLegacy(user.command);
  const modern = await openModern(user.command);
  const params = (text: string) => ({ name: "counting__note", arguments: { text } });
  const failures = [legacy.callTool(params("legacy")), modern.callTool(params("modern"))].map((made) =>
    made.then(textOf, (error: Error) => `error ${error.message}`),
  );
  await waitUntil(() => server.texts.length === 2);
  await user.start("SIGTERM");
  // Both clients use the next one.
  await Promise.all([legacy.listTools(), modern.listTools()]);
  for (const failure of await Promise.all(failures)) {
    assert.match(failure, /^error .*(?:shutting down|broke|closed|ended)/);
  }
  assert.deepEqual(server.texts.toSorted(), ["legacy", "modern"]);
  await Promise.all([legacy.close(), modern.close()]);
});

test("a token that is replaced is read again, and one that is removed is not made again", async () => {
  await using server = await startEchoHttpServer();
  await using user = await setUp({ echo: server.url });
  await using bridge = startBridge(user.directory.path, "--as", "desktop");
  await bridge.initialize();
  const path = user.directory.join(".toolcrib/tokens/desktop");
  const { result } = await bridge.request(1, "tools/list");
  assert.ok(result !== undefined);
  const token = readFileSync(path, "utf8").trim();
  writeFileSync(path, `${token.slice(0, -4)}${token.endsWith("AAAA") ? "BBBB" : "AAAA"}\n`);
  /** Waits until the gateway refuses a token: it checks the files of tokens each second. */
  const untilRefused = (refused: string) =>
    waitUntil(
      async () => {
        const headers = { authorization: `Bearer ${refused}` };
        return (await fetch(`${user.baseUrl()}/api/v1/status`, { headers })).status === 401;
      },
      { intervalMs: 100, what: "the token is refused" },
    );
  await untilRefused(token);
  assert.equal((await bridge.request(2, "tools/list")).error, undefined);
  const replaced = readFileSync(path, "utf8").trim();
  rmSync(path);
  await untilRefused(replaced);
  const refused = await bridge.request(3, "tools/list");
  assert.equal(refused.error?.data?.code, "CLI_GATEWAY_UNUSABLE");
  assert.match(refused.error?.message ?? "", /refuses the token "desktop" \(.*toolcrib token create desktop/);
  assert.equal(await bridge.end(), 0);
});
