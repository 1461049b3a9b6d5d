/** Installed packages as tools of a gateway: called by clients of the official SDK, listed and removed while it runs. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ToolListChangedNotificationSchema as ListChanged } from "@modelcontextprotocol/sdk/types.js";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";
import { echoManifest, echoTest, localPackage, putPackages, startLoopbackServer } from "./package-harness.ts";

const echo = { manifest: echoManifest, files: { "tests/echo.test.json": echoTest } };

test("the echo package of the MCPKG document is called over a loopback server by a client of the SDK", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startLoopbackServer();
  const home = join(directory.path, "home");
  putPackages(home, [echo]);
  const url = `${server.url}/mcp/echo`;
  await using test = await startTestGateway(
    { packages: { "demo.echo": { endpoint: { url }, trust_state: "verified" } } },
    { home },
  );
  const client = await test.connect();
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === "demo.echo");
  assert.equal(tool?.title, "Echo Tool");
  assert.equal(tool?.annotations?.readOnlyHint, false);
  const result = await client.callTool({ name: "demo.echo", arguments: { message: "hello" } });
  assert.deepEqual(result["structuredContent"], { message: "hello" });
  const [request] = server.requests;
  assert.deepEqual(
    [request?.method, request?.url, request?.body],
    ["POST", "/mcp/echo", '{"message":"hello"}'],
  );
  assert.equal(request?.headers["content-type"], "application/json");
  const invalid = await client.callTool({ name: "demo.echo", arguments: {} });
  assert.equal(invalid.isError, true);
  assert.equal(server.requests.length, 1);
  await test.stop();
  const types = test.audit().map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type.startsWith("call.") || type === "server.started"),
    ["server.started", "call.intent", "call.completed", "call.intent", "call.completed"],
  );
});

test("a local package gets its input as its last argument, and its output is the result", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const script = `
    const input = JSON.parse(process.argv.at(-1));
    console.error("a message for people");
    console.log(JSON.stringify({ cwd: process.cwd(), input, args: process.argv.length }));
  `;
  putPackages(home, [localPackage("tools.local.show", "node ./show.js", { "show.js": script })]);
  await using test = await startTestGateway(
    { packages: { "tools.local.show": { trust_state: "verified" } } },
    { home },
  );
  const client = await test.connectModern();
  const result = await client.callTool({ name: "tools.local.show", arguments: { text: "a $(id) `b` ; c" } });
  assert.deepEqual(result.structuredContent, {
    cwd: join(home, "packages", "tools.local.show"),
    input: { text: "a $(id) `b` ; c" },
    args: 3,
  });
});

test("a package that is installed or removed while the gateway runs is listed, and clients are notified", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  await using test = await startTestGateway({}, { home });
  const client = await test.connect();
  let changes = 0;
  client.setNotificationHandler(ListChanged, () => {
    changes += 1;
  });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(!(await names()).includes("demo.echo"));
  const first = localPackage("demo.first", "node a.js", { "a.js": "console.log(1)" });
  putPackages(home, [first]);
  await waitUntil(async () => (await names()).includes("demo.first"));
  putPackages(home, [first, localPackage("demo.second", "node a.js", { "a.js": "console.log(2)" })]);
  await waitUntil(async () => (await names()).includes("demo.second"));
  putPackages(home, []);
  await waitUntil(async () => !(await names()).some((name) => name.startsWith("demo.")));
  await waitUntil(async () => changes >= 3);
});

test("packages that cannot run are prepared again, one round after the other, and at most a minute later", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [localPackage("test.local.none", "dotnet ./none.dll", { "none.dll": "" })]);
  // The timers of these rounds only, made short.
  const delays: number[] = [];
  const { setTimeout: real } = globalThis;
  const short = (callback: () => void, delayMs?: number) => {
    const isRetry = new Error("caller").stack?.includes("package-sources.ts") === true;
    if (isRetry) delays.push(delayMs ?? 0);
    return real(callback, isRetry ? 10 : delayMs);
  };
  globalThis.setTimeout = Object.assign(short, real) as typeof setTimeout;
  try {
    await using test = await startTestGateway({}, { home });
    await waitUntil(() => delays.filter((delayMs) => delayMs >= 60_000).length >= 2);
    assert.equal(test.gateway.status().packages[0]?.health.state, "unavailable");
  } finally {
    globalThis.setTimeout = real;
  }
  assert.deepEqual([...new Set(delays)], [5000, 10_000, 20_000, 40_000, 60_000]);
});
