/** `toolcrib bridge`: clients of both generations of the SDK on standard streams use the gateway that runs. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CreateMessageRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { freePort, isProcessAlive, makeTemporaryDirectory, runProcess, waitUntil } from "@toolcrib/testing";
import { startBridge } from "./bridge-harness.ts";
import { cleanEnvironment, commandLine, echoServer, startServe } from "./transcript.ts";

/** A home with a configuration; gateways that bridges start are ended at the end. */
async function setUp(config: object = {}) {
  const directory = await makeTemporaryDirectory();
  const port = await freePort();
  const configuration = {
    tool_servers: [{ ...echoServer("echo"), trust_state: "certified" }],
    serve: { listen: `127.0.0.1:${port}` },
    ...config,
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(configuration));
  const env = Object.fromEntries(
    Object.entries({ ...cleanEnvironment(directory.path) }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  );
  const gateways = () => {
    try {
      return readdirSync(directory.join(".toolcrib/run")).flatMap((name) => {
        const pid = /^gateway-(\d+)\.json$/.exec(name)?.[1];
        return pid === undefined ? [] : [Number(pid)];
      });
    } catch {
      return [];
    }
  };
  const bridge = (...words: readonly string[]) => ({
    command: process.execPath,
    args: [...commandLine, "--config", directory.join("toolcrib.json"), "bridge", ...words],
    cwd: directory.path,
    env,
    stderr: "pipe" as const,
  });
  const stop = async (pid: number) => {
    process.kill(pid, "SIGTERM");
    await waitUntil(() => !isProcessAlive(pid));
  };
  return {
    directory,
    port,
    bridge,
    gateways,
    stop,
    async [Symbol.asyncDispose]() {
      for (const pid of gateways()) if (isProcessAlive(pid)) await stop(pid);
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function openV1(setting: ConstructorParameters<typeof StdioClientTransport>[0]) {
  const client = new Client({ name: "v1", version: "1.0.0" }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "from the client" },
  }));
  await client.connect(new StdioClientTransport(setting));
  return client;
}

async function openV2(setting: ConstructorParameters<typeof ModernTransport>[0]) {
  const client = new ModernClient({ name: "v2", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new ModernTransport(setting));
  return client;
}

test("two bridges that find no gateway start one, and clients of both generations use it", async () => {
  await using user = await setUp();
  const [first, second] = await Promise.all([
    openV1(user.bridge("--as", "one")),
    openV2(user.bridge("--as", "two")),
  ]);
  assert.equal(user.gateways().length, 1);
  const [pid] = user.gateways();
  const names = (await first.listTools()).tools.map(({ name }) => name);
  assert.ok(names.includes("echo__echo"));
  assert.deepEqual((await second.listTools()).tools.map(({ name }) => name).includes("echo__echo"), true);
  for (const client of [first, second]) {
    const { content } = (await client.callTool({ name: "echo__echo", arguments: { text: "hi" } })) as {
      content: unknown;
    };
    assert.match(JSON.stringify(content), /hi/);
  }
  await Promise.all([first.close(), second.close()]);
  // The gateway stays for the next client.
  assert.equal(isProcessAlive(pid ?? 0), true);
  assert.deepEqual(user.gateways(), [pid]);
  const third = await openV1(user.bridge());
  assert.equal((await third.listTools()).tools.length, names.length);
  await third.close();
  assert.deepEqual(user.gateways(), [pid]);
  assert.deepEqual(readdirSync(user.directory.join(".toolcrib/tokens")).sort(), [
    "bridge",
    "default",
    "one",
    "two",
  ]);
});

test("progress, cancellation and questions of servers pass the bridge", async () => {
  await using user = await setUp();
  await using _gateway = await startServe([], { directory: user.directory.path });
  const client = await openV1(user.bridge("--as", "desktop"));
  const { tools } = await client.listTools();
  const has = (name: string) => tools.some((tool) => tool.name === name);
  const seen: number[] = [];
  assert.ok(has("echo__progress"), tools.map(({ name }) => name).join());
  await client.callTool({ name: "echo__progress", arguments: { steps: 3, delayMs: 100 } }, undefined, {
    onprogress: ({ progress }) => void seen.push(progress),
  });
  assert.ok(seen.length > 0);
  await assert.rejects(
    client.callTool({ name: "echo__sleep", arguments: { ms: 30000 } }, undefined, {
      signal: AbortSignal.timeout(300),
    }),
  );
  assert.equal((await client.listTools()).tools.length, tools.length);
  const ask = () => client.callTool({ name: "echo__ask_sampling", arguments: {} });
  // The first question of a client opens a session of its own at the server.
  const asked = await ask().catch(ask);
  assert.match(JSON.stringify(asked.content), /from the client/);
  await client.close();
});

test("a client continues when its gateway is restarted at another address", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const client = await openV1(user.bridge());
  const modern = await openV2(user.bridge());
  const count = (await client.listTools()).tools.length;
  const [pid = 0] = user.gateways();
  await user.stop(pid);
  // The next request starts another one.
  assert.equal((await client.listTools()).tools.length, count);
  assert.equal((await modern.listTools()).tools.length, count);
  assert.notEqual(user.gateways()[0], pid);
  assert.equal(user.gateways().length, 1);
  const { content } = (await client.callTool({ name: "echo__echo", arguments: { text: "again" } })) as {
    content: unknown;
  };
  assert.match(JSON.stringify(content), /again/);
  await Promise.all([client.close(), modern.close()]);
});

test("a bridge whose gateway was restarted ends with its client", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  await (await openV1(user.bridge())).close();
  const bridge = startBridge(user.directory.path, "--config", user.directory.join("toolcrib.json"));
  await using _ended = bridge;
  await bridge.initialize();
  await bridge.request(1, "tools/list");
  const [pid = 0] = user.gateways();
  await user.stop(pid);
  assert.equal((await bridge.request(2, "tools/list")).error, undefined);
  bridge.child.stdin.end();
  await waitUntil(() => bridge.child.exitCode !== null, { what: "the bridge ends" });
  assert.equal(bridge.child.exitCode, 0);
});

test("a gateway that cannot start is an error for the client and on standard error", async () => {
  await using user = await setUp({ serve: { mode: "serach" } });
  const request = {
    jsonrpc: "2.0",
    id: 7,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
  };
  const { command, args, cwd, env } = user.bridge();
  const { stdout, stderr, code } = await runProcess(command, args, {
    cwd,
    env,
    stdin: `not json\n${JSON.stringify(request)}\n`,
  });
  const [invalid, answer] = stdout
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as { id: unknown; error: { code: number; message: string; data: { code: string } } },
    );
  assert.equal(invalid?.error.code, -32700);
  assert.equal(answer?.id, 7);
  assert.equal(answer?.error.data.code, "CLI_GATEWAY_UNUSABLE");
  assert.match(answer?.error.message ?? "", /No gateway could be started: .*serach|configuration/);
  assert.match(stderr, /CLI_GATEWAY_UNUSABLE/);
  assert.equal(code, 0);
  assert.deepEqual(user.gateways(), []);
});

test("a bridge does not start what the folder declares in which a client starts it", async () => {
  await using user = await setUp();
  const { command, args, cwd, env } = user.bridge();
  const request = { jsonrpc: "2.0", id: 1, method: "ping" };
  const { stdout } = await runProcess(
    command,
    args.filter((word, at) => word !== "--config" && args[at - 1] !== "--config"),
    { cwd, env, stdin: `${JSON.stringify(request)}\n` },
  );
  const { error } = JSON.parse(stdout) as { error: { message: string; data: { code: string } } };
  assert.equal(error.data.code, "CLI_CONFIG_NOT_FOUND");
  assert.match(error.message, /--config .*toolcrib\.json/);
  assert.deepEqual(user.gateways(), []);
});

test("a profile that does not exist is an error of the client's request and of the command", async () => {
  await using home = await setUp({ profiles: { work: {} } });
  const config = ["--config", home.directory.join("toolcrib.json")];
  await using wrong = startBridge(home.directory.path, ...config, "--profile", "wrok");
  const clientInfo = { name: "c", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const ended = once(wrong.child, "close");
  const { error } = await wrong.request("init", "initialize", params);
  assert.match(error?.message ?? "", /There is no profile "wrok"/);
  // The client leaves its end open.
  assert.deepEqual(await ended, [4, null]);
  assert.match(
    wrong.stderr,
    /error CLI_PROFILE_NOT_FOUND: There is no profile "wrok"\nhint: the profiles are work\n$/,
  );
  await using right = startBridge(home.directory.path, ...config, "--profile", "work");
  assert.equal((await right.request("init", "initialize", params)).error, undefined);
  assert.equal(await right.end(), 0);
});
