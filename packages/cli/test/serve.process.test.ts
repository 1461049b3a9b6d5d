import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  checkGolden,
  freePort,
  isProcessAlive,
  makeTemporaryDirectory,
  runProcess,
  type ServerProcess,
  startEchoHttpServer,
  startServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { startLoopbackServer } from "./loopback-server.ts";
import {
  cleanEnvironment,
  commandLine,
  echoServer,
  golden,
  normalize,
  runFileIn,
  runToolcrib,
  sortServers,
  startServe,
  transcript,
} from "./transcript.ts";

const config = {
  tool_servers: [
    { ...echoServer("echo"), containment: { network_egress: "deny" } },
    { id: "broken", transport: { kind: "stdio", command: "toolcrib-test-no-such-command" } },
  ],
  serve: { listen: "127.0.0.1:0" },
};

/** A gateway that was used before the first test. The last test waits until it was at rest for long enough. */
let used: { readonly collections: () => number; readonly before: number } | undefined;
const usedResources = new AsyncDisposableStack();

before(async () => {
  const directory = usedResources.use(await makeTemporaryDirectory());
  const server = usedResources.use(await startTraced(directory));
  // V8 calls a collection that the program asks for "testing".
  const collections = () => server.stdout().match(/Mark-Compact .*\btesting\b/g)?.length ?? 0;
  await waitUntil(() => collections() > 0);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  usedResources.defer(() => client.close());
  await waitUntil(async () => (await client.listTools()).tools.some(({ name }) => name === "echo__echo"));
  const callMany = async () => {
    for (let calls = 0; calls < 100; calls += 1) {
      await client.callTool({ name: "echo__echo", arguments: { text: "x".repeat(10_000) } });
    }
  };
  await Promise.all(Array.from({ length: 20 }, callMany));
  used = { collections, before: collections() };
});
after(() => usedResources.disposeAsync());

test("serve prints its address, its servers and how to use it, and stops gracefully", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  await using gateway = await startServe([], setting);
  assert.match(gateway.stdout(), /^Toolcrib [\d.]+ serves http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));

  const runFile = runFileIn(directory.path) ?? assert.fail("no run file");
  const run = JSON.parse(readFileSync(runFile, "utf8"));
  assert.equal(statSync(runFile).mode & 0o777, 0o600);
  assert.deepEqual(
    { pid: run.pid, url: run.url, auth: run.auth },
    { pid: gateway.pid, url: gateway.url, auth: "token" },
  );

  const port = new URL(gateway.url).port;
  const [status, taken] = await Promise.all([
    transcript([["status"]], setting),
    transcript([["serve", "--listen", `127.0.0.1:${port}`]], setting),
  ]);
  const [server] = await Promise.all([
    runToolcrib(["status", "--json"], setting).then(({ stdout }) => JSON.parse(stdout).servers[0]),
  ]);
  const { code } = await gateway.stop();
  assert.equal(code, 0);
  assert.equal(isProcessAlive(server.pid), false);
  assert.equal(existsSync(runFile), false);
  const stopped = await transcript([["status"], ["status", "--json"]], setting);
  // A busy machine takes longer for the steps of a start, which are lines then.
  const outcomes = gateway.stdout().replace(/^ {2}… .*\n/gm, "");
  const printed = normalize(sortServers(outcomes), directory.path);
  const withoutPid = status.replace(/(ready +stdio +29 +0 +)\d+ +/, "$1PID  ");
  const text = `$ toolcrib serve\n${printed}\n${withoutPid}\n${taken}\n${stopped}`;
  // The strongest sandbox of the machine; its name decides the width of a column.
  const anyTier = text
    .replace(/\b(?:bubblewrap|unshare): /g, "TIER: ")
    .replace(/(, write deny|command not found|SANDBOX) {2,}/g, "$1  ");
  checkGolden(golden("serve.txt"), anyTier);
});

test("serve prints no token of the home where it accepts only access tokens", async () => {
  await using directory = await makeTemporaryDirectory();
  const printed = async (auth: object): Promise<string> => {
    const document = {
      tool_servers: [],
      serve: { listen: "127.0.0.1:0", auth: { resource: "http://127.0.0.1:7420/mcp", ...auth } },
    };
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
    await using gateway = await startServe([], { directory: directory.path });
    await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
    await gateway.stop();
    return gateway.stdout();
  };
  const jwt = [{ issuer: "https://login.example.com" }];
  const only = await printed({ tokens: false, jwt });
  assert.match(only, /Clients need an access token of https:\/\/login\.example\.com/);
  assert.doesNotMatch(only, /TOKEN|Bearer/);
  const both = await printed({ jwt });
  assert.match(both, /Clients can also use an access token of https:\/\/login\.example\.com/);
  assert.match(both, /Bearer TOKEN\n.*TOKEN is the content of /);
});

test("serve warns in one line about containment that is not enforced, and about what a change adds", async () => {
  await using directory = await makeTemporaryDirectory();
  await using echo = await startEchoHttpServer({ builtin: ["echo"] });
  const entry = (id: string, more: object = {}) => ({
    id,
    transport: { kind: "streamable_http", url: echo.url },
    ...more,
  });
  const write = (...servers: readonly object[]) =>
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({ tool_servers: servers, serve: { listen: "127.0.0.1:0" } }),
    );
  write(entry("a"), entry("b", { trust_state: "verified" }), entry("c", { trust_state: "certified" }));
  await using gateway = await startServe([], { directory: directory.path });
  // The log has quotes within JSON.
  const warnings = () =>
    gateway
      .stderr()
      .replaceAll('\\"', '"')
      .match(/Containment .*NOT enforced/g);
  assert.deepEqual(warnings(), ["Containment is NOT enforced"]);
  assert.match(gateway.stderr(), /NOT enforced for a, b: they/);
  // Servers that are opened again with the same restrictions are not named again.
  write(
    entry("a", { containment: { max_execution_seconds: 30 } }),
    entry("b", { trust_state: "unverified" }),
    entry("d"),
  );
  await waitUntil(() => gateway.stderr().includes("Applied a changed configuration"));
  assert.deepEqual(warnings()?.slice(1), [
    'Containment of tool server "b" is NOT enforced',
    'Containment of tool server "d" is NOT enforced',
  ]);
});

test("serve names approve as the next command where tools wait for the operator", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startEchoHttpServer({ builtin: ["echo"] });
  const document = {
    tool_servers: [{ id: "s", transport: { kind: "streamable_http", url: server.url } }],
    serve: { listen: "127.0.0.1:0" },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
  await using gateway = await startServe([], { directory: directory.path });
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  assert.match(gateway.stdout(), /^Try it in another terminal\n {2}.*approve\n/m);
});

test("status shows quarantined definitions, and since when across restarts", async () => {
  await using directory = await makeTemporaryDirectory();
  const define = [{ name: "bad", inputSchema: { type: "object" }, title: 1 }];
  await using server = await startEchoHttpServer({ builtin: ["echo"], define });
  const document = {
    tool_servers: [{ id: "s", transport: { kind: "streamable_http", url: server.url } }],
    serve: { listen: "127.0.0.1:0" },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
  const setting = { directory: directory.path };
  const reason = '"s:bad" is malformed: title must be a string';
  const times = new Set<string>();
  for (let count = 0; count < 2; count += 1) {
    await using gateway = await startServe([], setting);
    await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
    const { quarantined } = JSON.parse((await runToolcrib(["status", "--json"], setting)).stdout);
    const [{ since }] = quarantined;
    assert.deepEqual(quarantined, [{ id: "s:bad", reason, since }]);
    times.add(since);
    const { stdout } = await runToolcrib(["status"], setting);
    assert.ok(stdout.includes(`quarantined since ${since} s:bad: ${reason}\n`), stdout);
    await gateway.stop();
  }
  assert.equal(times.size, 1);
});

test("serve --json prints the address of the gateway, and a second signal ends it at once", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  const setting = { directory: directory.path, env: { TOOLCRIB_LISTEN: "127.0.0.1:0" } };
  await using gateway = await startServe(["--json", "--auth", "none"], setting);
  await waitUntil(() => gateway.stdout().endsWith("}\n"));
  assert.deepEqual(JSON.parse(gateway.stdout()), {
    version: "0.1.0",
    pid: gateway.pid,
    home: directory.join(".toolcrib"),
    mcp: `${gateway.url}/mcp`,
    sse: `${gateway.url}/sse`,
    auth: "none",
    servers: [{ id: "echo", transport: "stdio", mcp: `${gateway.url}/mcp/s/echo` }],
  });
  assert.match(gateway.stderr(), /^WARNING The gateway requires no token/m);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  // SIGHUP of a closed terminal does not end it.
  process.kill(gateway.pid, "SIGHUP");
  // A call that never ends keeps the gateway draining until the second signal.
  const call = runToolcrib(["call", "echo__hang"], setting);
  await waitUntil(async () => {
    const status = await fetch(`${gateway.url}/api/v1/status`);
    return ((await status.json()) as { callsInFlight: number }).callsInFlight === 1;
  });
  process.kill(gateway.pid, "SIGINT");
  await waitUntil(() => gateway.stderr().includes("Stopping; calls in flight"));
  assert.deepEqual(await gateway.stop(), { code: 130, signal: null });
  assert.equal(runFileIn(directory.path), undefined);
  assert.equal((await call).code, 5);
});

test("serve refuses a request that ends while it stops, with MCP_SHUTTING_DOWN", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  const setting = { directory: directory.path, env: { TOOLCRIB_LISTEN: "127.0.0.1:0" } };
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  // A connection with an unfinished request stays open when the gateway stops.
  const clientInfo = { name: "c", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "late", method: "initialize", params });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": Buffer.byteLength(body),
  };
  const request = httpRequest(`${gateway.url}/mcp`, { method: "POST", headers });
  const answered = once(request, "response") as Promise<[IncomingMessage]>;
  request.write(body.slice(0, 5));
  // A call that never ends keeps the gateway waiting.
  const call = runToolcrib(["call", "echo__hang"], setting);
  await waitUntil(async () => {
    const status = await fetch(`${gateway.url}/api/v1/status`);
    return ((await status.json()) as { callsInFlight: number }).callsInFlight === 1;
  });
  process.kill(gateway.pid, "SIGINT");
  await waitUntil(() => gateway.stderr().includes("Stopping; calls in flight"));
  request.end(body.slice(5));
  const [response] = await answered;
  const refused = (await json(response)) as { id: unknown; error: { data: { code: string } } };
  assert.deepEqual(
    [response.statusCode, refused.id, refused.error.data.code],
    [503, "late", "MCP_SHUTTING_DOWN"],
  );
  await gateway.stop();
  assert.equal((await call).code, 5);
});

test("serve --stdio writes only the protocol to standard output", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const request = (id: number, method: string, params: object) =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  const { code, stdout } = await runToolcrib(["serve", "--stdio", "--log-level", "debug"], {
    directory: directory.path,
    stdin: `${request(1, "initialize", initialize)}\n${request(2, "tools/call", { name: "search_tools", arguments: { query: "x" } })}\n`,
  });
  assert.equal(code, 0);
  const messages = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(messages.every(({ jsonrpc }) => jsonrpc === "2.0"));
  assert.deepEqual(
    messages.flatMap(({ id }) => id ?? []),
    [1, 2],
  );
  assert.equal(runFileIn(directory.path), undefined);
});

test("serve --stdio --profile serves a profile, and no other one", async () => {
  await using directory = await makeTemporaryDirectory();
  const profiles = { reading: { exclude: ["*"], instructions: "Read only." }, ours: { clients: ["ci"] } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ ...config, profiles }));
  const lines = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    },
    { id: 2, method: "tools/list", params: {} },
  ];
  const stdin = lines.map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`).join("");
  const serve = (...flags: string[]) =>
    runToolcrib(["serve", ...flags], { directory: directory.path, stdin });
  const { stdout } = await serve("--stdio", "--profile", "reading");
  const [opened, listed] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.match(opened.result.instructions, /^Read only\./);
  assert.deepEqual(listed.result.tools, []);
  const unknown = await serve("--stdio", "--profile", "readin");
  assert.equal(unknown.code, 4);
  assert.match(unknown.stderr, /There is no profile "readin" for this client\n.*did you mean "?reading/);
  assert.match((await serve("--stdio", "--profile", "ours")).stderr, /the profiles are reading|did you mean/);
  assert.match((await serve("--profile", "reading")).stderr, /--profile is for --stdio/);
});

test("a stale run file, or one that other users can write, is ignored", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join(".toolcrib/run"), { recursive: true, mode: 0o700 });
  const check = async (content: string, mode: number, pid = 4242) => {
    const path = directory.join(`.toolcrib/run/gateway-${pid}.json`);
    writeFileSync(path, content, { mode });
    const { code, stdout } = await runToolcrib(["status", "--json"], { directory: directory.path });
    assert.deepEqual([code, JSON.parse(stdout).running], [5, false], content);
  };
  const gateway = {
    url: `http://127.0.0.1:${await freePort()}`,
    startedAt: "",
    version: "",
    auth: "token",
    configFiles: [],
  };
  await check("{", 0o600);
  // Process 1 belongs to another user; nothing listens for the second file; other users can write to the last one.
  await check(JSON.stringify({ ...gateway, pid: 1 }), 0o600, 1);
  await check(JSON.stringify({ ...gateway, pid: process.pid }), 0o600, process.pid);
});

test("status finds a gateway that is process 1, as in a container", {
  skip: existsSync("/usr/bin/bwrap") ? false : "bubblewrap is not installed",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  const beside = `(
    until [ -e .toolcrib/run/gateway-1.json ]; do sleep 0.1; done
    "$0" "$@" status > status.txt
    echo $? > code.txt
    kill -TERM 1
  ) &
  exec "$0" "$@" serve --quiet`;
  const words = ["sh", "-c", beside, process.execPath, ...commandLine];
  const { code, stderr } = await runProcess(
    "/usr/bin/bwrap",
    ["--die-with-parent", "--unshare-pid", "--as-pid-1", "--dev-bind", "/", "/", "--proc", "/proc", ...words],
    { cwd: directory.path, env: cleanEnvironment(directory.path) },
  );
  assert.equal(code, 0, stderr);
  assert.match(readFileSync(directory.join("status.txt"), "utf8"), /^Toolcrib \S+ serves .*\nprocess 1,/);
  assert.equal(readFileSync(directory.join("code.txt"), "utf8"), "0\n");
});

test("gateways of one home have a run file each, and status shows both", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  const setting = { directory: directory.path };
  await using first = await startServe([], setting);
  await using second = await startServe([], setting);
  await waitUntil(() => second.stderr().includes("Another gateway of this home runs at"));
  assert.ok(
    second.stderr().includes(`${first.url.replace(/\/mcp$/, "")} (process ${first.pid})`),
    second.stderr(),
  );
  const { stdout } = await runToolcrib(["status", "--json"], setting);
  const status = JSON.parse(stdout);
  assert.equal(status.pid, second.pid);
  assert.deepEqual(
    status.others.map(({ pid }: { pid: number }) => pid),
    [first.pid],
  );
  const shown = await runToolcrib(["status"], setting);
  assert.match(shown.stdout, new RegExp(`another gateway of this home: .*process ${first.pid}`));
  await second.stop();
  const after = JSON.parse((await runToolcrib(["status", "--json"], setting)).stdout);
  assert.deepEqual([after.pid, after.others], [first.pid, []]);
});

test("serve on an address in use starts and records nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  await using taken = await startLoopbackServer();
  const marker = directory.join("started");
  const transport = { kind: "stdio", command: "/bin/sh", args: ["-c", `touch '${marker}'; sleep 1`] };
  const containment = { network_egress: "allow", filesystem_write: "allow" };
  const config = { tool_servers: [{ id: "marking", transport, containment }] };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const listen = ["serve", "--listen", `127.0.0.1:${taken.port}`];
  const { code, stderr } = await runToolcrib(listen, setting);
  assert.equal(code, 5, stderr);
  assert.match(
    stderr,
    /HTTP_ADDRESS_IN_USE: .*the address is in use\nhint: stop the program that uses it, or use another address: toolcrib serve --listen 127\.0\.0\.1:0$/m,
  );
  assert.equal(existsSync(marker), false);
  assert.equal((await runToolcrib(["audit", "list"], setting)).stdout.includes("config.changed"), false);
});

test("with serve.shared_home: false, one gateway of a home runs at a time", async () => {
  await using directory = await makeTemporaryDirectory();
  const write = (name: string, serve: object) =>
    writeFileSync(directory.join(name), JSON.stringify({ serve: { listen: "127.0.0.1:0", ...serve } }));
  write("alone.json", { shared_home: false });
  write("shared.json", {});
  const setting = { directory: directory.path };
  const refused = (file: string) => runToolcrib(["serve", "--config", file], setting);
  for (const [running, ...others] of [
    ["alone.json", "alone.json", "shared.json"],
    ["shared.json", "alone.json"],
  ] as const) {
    await using gateway = await startServe(["--config", running], setting);
    for (const file of others) {
      const { code, stderr } = await refused(file);
      assert.equal(code, 5, stderr);
      assert.match(stderr, /CLI_HOME_IN_USE/);
      assert.ok(stderr.includes(`(process ${gateway.pid})`), stderr);
    }
    await gateway.stop();
  }
  // A killed gateway leaves no lock.
  const killed = await startServe(["--config", "alone.json"], setting);
  process.kill(killed.pid, "SIGKILL");
  await killed[Symbol.asyncDispose]();
  await using last = await startServe(["--config", "alone.json"], setting);
  assert.ok(last.pid > 0);
});

test("serve --quiet prints nothing, and commands find it through its run file", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  const setting = { directory: directory.path };
  const ended = runToolcrib(["serve", "--quiet"], setting);
  await waitUntil(() => runFileIn(directory.path) !== undefined);
  process.kill(JSON.parse(readFileSync(runFileIn(directory.path) ?? "", "utf8")).pid, "SIGTERM");
  const { code, stdout } = await ended;
  assert.deepEqual([code, stdout], [0, ""]);
});

/** Starts a gateway that prints its garbage collections. */
function startTraced(directory: TemporaryDirectory): Promise<ServerProcess> {
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  const start = fileURLToPath(new URL("../bin/toolcrib.js", import.meta.url));
  const options = [
    "--config",
    directory.join("toolcrib.json"),
    "--home",
    directory.join("home"),
    "--auth",
    "none",
  ];
  const args = ["--trace-gc", start, "serve", ...options, "--listen", "127.0.0.1:0"];
  return startServerProcess(process.execPath, args, { urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/ });
}

test("serve releases memory after the start", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startTraced(directory);
  // V8's name for a garbage collection that returns memory to the system.
  await waitUntil(() => server.stdout().includes("Mark-Compact (reduce)"), { what: "memory is given back" });
});

test("serve releases the memory that calls left, when none has begun for twenty seconds", async () => {
  assert.ok(used !== undefined);
  const { collections, before: collected } = used;
  await waitUntil(() => collections() > collected, { what: "memory is given back", timeoutMs: 120_000 });
});
