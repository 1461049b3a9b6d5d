import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  createCall,
  createSource,
  echoStdio,
  failureOf,
  never,
  oddStdio,
  startSource,
  untilNoticed,
} from "./source-harness.ts";

const longPause = { reconnectMinMs: 60_000 };

test("start() resolves for an unavailable server, and its health has the reason", async (t) => {
  const port = await freePort();
  const cases: [title: string, transport: ReturnType<typeof echoStdio>, reason: RegExp][] = [
    [
      "a command that does not exist",
      { kind: "stdio", command: "no-such-command-here", args: [], env: {} },
      /no-such-command-here/,
    ],
    [
      "a server that dies at once",
      echoStdio("--die"),
      /^The server ended before its handshake: it exited with code 3 after [\d.]+ m?s; last stderr: dying on purpose$/,
    ],
    [
      "a server that dies while it is listed",
      oddStdio("dies-while-listing"),
      /^The server exited with code 7 after [\d.]+ m?s; last stderr: Error: the index is broken$/,
    ],
    [
      "an address where nothing listens",
      { kind: "streamable_http", url: `http://127.0.0.1:${port}/mcp?key=hidden`, headers: {} },
      /^The server at http:\/\/127\.0\.0\.1:\d+\/mcp cannot be reached: ECONNREFUSED \(check that it runs/,
    ],
    ["a URL that is none", { kind: "sse", url: "not a url", headers: {} }, /Invalid URL/],
  ];
  await Promise.all(
    cases.map(([title, transport, reason]) =>
      t.test(title, async () => {
        await using source = createSource({ transport, limits: longPause });
        assert.equal(source.server.health().state, "starting");
        await source.server.start(never);
        assert.equal(source.server.health().state, "unavailable");
        assert.match(String(source.server.health().reason), reason);
        assert.deepEqual(source.changes, ["health"]);
        const error = await failureOf(source.server.features.request("resources/read", {}, createCall()));
        assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
        assert.match(
          error.message,
          reason.source.startsWith("^") ? /The server "s" is not available: The server/ : reason,
        );
      }),
    ),
  );
});

test("the standard error of a server that ended at its start is readable", async () => {
  await using source = createSource({ transport: echoStdio("--die"), limits: longPause });
  await source.server.start(never);
  assert.deepEqual(source.server.stderrTail(5), ["dying on purpose"]);
});

test("a server that hangs in its handshake delays no other", async () => {
  await using hanging = createSource({
    transport: echoStdio("--hang-initialize"),
    limits: { ...longPause, handshakeTimeoutMs: 60_000 },
    graceMs: 100,
  });
  await using echo = await startEchoHttpServer();
  await using other = createSource({ transport: { kind: "streamable_http", url: echo.url, headers: {} } });
  const hangs = hanging.server.start(never);
  await other.server.start(never);
  assert.equal(other.server.health().state, "ready");
  assert.equal(hanging.server.health().state, "starting");
  assert.equal(await other.text("echo", { text: "at once" }), "at once");
  assert.equal(hanging.server.health().state, "starting");
  await hanging.server[Symbol.asyncDispose]();
  await hangs;
});

test("a server that hangs in its handshake fails after the time limit", async () => {
  await using echo = await startEchoHttpServer({ hangInitialize: true });
  await using source = createSource({
    transport: { kind: "streamable_http", url: echo.url, headers: {} },
    limits: { ...longPause, handshakeTimeoutMs: 100 },
  });
  await source.server.start(never);
  assert.match(String(source.server.health().reason), /did not finish its handshake within \d+ ms/);
});

test("a call during the start of the server waits for it", async () => {
  await using source = createSource({ transport: echoStdio("--start-delay", "100") });
  const starting = source.server.start(never);
  const read = await source.server.features.request("resources/read", { uri: "echo://hello" }, createCall());
  assert.ok(Array.isArray(read["contents"]));
  await starting;
});

test("a call waits for a connection until the limit or the abort of its signal", async () => {
  await using source = createSource({
    transport: echoStdio("--hang-initialize"),
    limits: { connectWaitMs: 50 },
    graceMs: 100,
  });
  const stopping = new AbortController();
  const starting = source.server.start(stopping.signal);
  const error = await failureOf(source.server.features.request("prompts/get", {}, createCall()));
  assert.deepEqual([error.code, error.message], ["UPSTREAM_UNAVAILABLE", 'The server "s" is not available']);
  const reason = new Error("The deadline passed");
  const late = { ...createCall(), signal: AbortSignal.abort(reason) };
  assert.equal(await failureOf(source.server.features.request("prompts/get", {}, late)), reason);
  stopping.abort();
  await starting;
  assert.equal(source.server.health().state, "stopped");
});

test("starting twice starts one server", async () => {
  await using source = createSource({ transport: echoStdio() });
  await Promise.all([source.server.start(never), source.server.start(never)]);
  const { pid } = source.server.facts();
  await source.server.start(never);
  assert.deepEqual([source.server.facts().pid, source.server.facts().restarts], [pid, 0]);
});

test("secrets that cannot be resolved affect only their server, and are resolved again", async () => {
  let isLocked = true;
  let askedCount = 0;
  await using source = createSource({
    async transport() {
      askedCount += 1;
      if (isLocked) throw new Error('Cannot read secret "api-key" (sk-123456): the store is locked');
      return echoStdio();
    },
    scrub: (text) => text.replaceAll("sk-123456", "[secret]"),
  });
  await using other = await startSource({ transport: echoStdio() });
  await source.server.start(never);
  const reason = 'Cannot read secret "api-key" ([secret]): the store is locked';
  assert.deepEqual([source.server.health().state, source.server.health().reason], ["unavailable", reason]);
  assert.equal(other.server.health().state, "ready");
  assert.ok(!JSON.stringify(source.records).includes("sk-123456"));
  isLocked = false;
  await waitUntil(() => source.server.health().state === "ready");
  assert.ok(askedCount >= 2);
});

test("a server whose secrets are never resolved can be stopped", async () => {
  await using source = createSource({ transport: () => new Promise(() => {}) });
  const starting = source.server.start(never);
  await source.server[Symbol.asyncDispose]();
  await starting;
  assert.equal(source.server.health().state, "stopped");
});

test("the resolution of secrets has a time limit", async () => {
  await using source = createSource({
    transport: () => new Promise(() => {}),
    limits: { ...longPause, handshakeTimeoutMs: 50 },
  });
  await source.server.start(never);
  assert.equal(source.server.health().reason, "The server could not be launched within 50 ms");
});

test("replaced credentials are used when the server rejects the old ones", async () => {
  let token = "first";
  await using echo = await startEchoHttpServer({ token });
  const { port } = echo;
  await using source = await startSource({
    kind: "streamable_http",
    transport: async () => ({
      kind: "streamable_http",
      url: `http://127.0.0.1:${port}/mcp`,
      headers: { authorization: `Bearer ${token}` },
    }),
  });
  assert.equal(await source.text("echo", { text: "one" }), "one");
  await echo[Symbol.asyncDispose]();
  await using _next = await startEchoHttpServer({ token: "second", port });
  await untilNoticed();
  const refused = await failureOf(source.call("echo", { text: "two" }));
  assert.equal(refused.code, "MCP_UNAUTHORIZED");
  assert.equal(source.server.facts().restarts, 0);
  token = "second";
  assert.equal(await source.text("echo", { text: "three" }), "three");
  assert.equal(source.server.facts().restarts, 1);
});

test("after the maximum number of attempts, no further attempt is made", async () => {
  await using source = createSource({
    transport: echoStdio("--die"),
    limits: { reconnectMinMs: 1, reconnectMaxAttempts: 2 },
  });
  await source.server.start(never);
  await waitUntil(() => source.server.health().state === "stopped");
  const attempts = source.records.filter(({ event }) => event === "server is not available");
  assert.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [1, 2, 3],
  );
  assert.match(String(source.server.health().reason), /exited with code 3/);
});

test("a call that waits for an attempt fails with that attempt", async () => {
  let launchCount = 0;
  await using source = createSource({
    async transport() {
      launchCount += 1;
      return echoStdio("--die");
    },
    limits: { reconnectMinMs: 1000 },
  });
  const starting = source.server.start(never);
  const error = await failureOf(source.server.features.request("prompts/get", {}, createCall()));
  assert.match(error.message, /exited with code 3/);
  assert.equal(launchCount, 1);
  await starting;
});

test("a server that prints text where messages belong says so at once, in its reason and its log", async () => {
  const code =
    'console.log("hello,\\u001b[31m not json key-1234" + "x".repeat(5000)); setInterval(() => {}, 1000)';
  const transport = { kind: "stdio", command: process.execPath, args: ["-e", code], env: {} } as const;
  const scrub = (text: string) => text.replace("key-1234", "[secret]");
  await using source = createSource({ transport, scrub, limits: longPause });
  const { server } = source;
  const starting = server.start(never);
  const expected =
    /^it wrote something that is not JSON-RPC on its standard output: hello, not json \[secret\]x{10,200}$/;
  await waitUntil(() => server.health().reason !== undefined, { what: "the health has a reason" });
  assert.equal(server.health().state, "starting");
  assert.match(String(server.health().reason), expected);
  assert.match(server.stderrTail(5).join("|"), expected);
  await server[Symbol.asyncDispose]();
  await starting;
});

test("the error of a handshake that is not finished names the text that the server printed", async () => {
  // A shell prints at once, also on a busy machine.
  const args = ["-c", "echo hello, not json; exec sleep 600"];
  const transport = { kind: "stdio", command: "sh", args, env: {} } as const;
  await using source = createSource({ transport, limits: { ...longPause, handshakeTimeoutMs: 2000 } });
  await source.server.start(never);
  const { state, reason } = source.server.health();
  assert.equal(state, "unavailable");
  assert.match(String(reason), /did not finish its handshake within \d+ ms; it wrote .*: hello, not json \(/);
});
