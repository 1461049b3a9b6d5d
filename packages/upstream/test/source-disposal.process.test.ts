import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import {
  canFindProcesses,
  echoStdioPath,
  findProcessesByEnvironment,
  ManualTimers,
  startEchoHttpServer,
  startEchoSseServer,
  waitUntil,
} from "@toolcrib/testing";
import {
  createAskableClient,
  createCall,
  createSource,
  echoStdio,
  failureOf,
  never,
  oddStdio,
  startSource,
  type TestSource,
} from "./source-harness.ts";

const skip = canFindProcesses ? false : "processes are found by /proc";

function leftBy({ marker }: TestSource): string[] {
  return findProcessesByEnvironment(marker).map(({ command }) => command);
}

test("disposing ends the server, the clients' own servers and all of their descendants", {
  skip,
}, async () => {
  await using source = await startSource({ transport: echoStdio(), graceMs: 100 });
  const calls = ["a", "b"].map((name) => createCall({ client: createAskableClient(name) }));
  for (const call of calls) await source.call("spawn_child", { detached: true }, call);
  await source.call("spawn_child", { holdPipes: true });
  assert.equal(leftBy(source).length, 6);
  await source.server[Symbol.asyncDispose]();
  assert.deepEqual(leftBy(source), []);
  assert.equal(source.server.health().state, "stopped");
});

test("disposing waits for the end of a client's own server", { skip }, async () => {
  const transports = [echoStdio(), echoStdio("--stubborn")];
  await using source = await startSource({
    transport: async () => transports.shift() ?? assert.fail("It was opened again"),
    graceMs: 100,
  });
  await source.call("echo", {}, createCall({ client: createAskableClient("ada") }));
  await source.server[Symbol.asyncDispose]();
  assert.deepEqual(leftBy(source), []);
});

test("disposing twice waits for the same end", { skip }, async () => {
  await using source = await startSource({ transport: echoStdio() });
  const first = source.server[Symbol.asyncDispose]();
  await source.server[Symbol.asyncDispose]();
  assert.deepEqual(leftBy(source), []);
  await first;
});

test("calls in flight at disposal end with an error, and so do later ones", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const client = createAskableClient("ada");
  const own = createCall({ client });
  await source.call("echo", {}, own);
  const inFlight = [source.call("hang"), source.call("hang", {}, own)].map(failureOf);
  const opening = failureOf(source.call("echo", {}, createCall({ client: createAskableClient("alan") })));
  const [hang] = [source.tool("hang")];
  await source.call("echo");
  await source.server[Symbol.asyncDispose]();
  for (const error of await Promise.all(inFlight)) {
    assert.deepEqual(
      [error.code, error.message],
      [
        "UPSTREAM_CLOSED",
        'The server "s" was stopped before it answered, and the call may have had an effect',
      ],
    );
  }
  assert.match((await opening).code, /^UPSTREAM_(CLOSED|UNAVAILABLE)$/);
  for (const call of [createCall(), own]) {
    const late = await failureOf(source.server.call(hang, {}, call));
    assert.match(late.code, /^UPSTREAM_(CLOSED|UNAVAILABLE)$/);
  }
  assert.equal(source.server.tools().length > 0, true);
});

test("disposing during any phase of connecting leaves nothing behind", { skip }, async (t) => {
  const moments: [
    title: string,
    transport: ReturnType<typeof echoStdio>,
    wait: (source: TestSource) => unknown,
  ][] = [
    ["before anything", echoStdio(), () => {}],
    [
      "while the process starts",
      echoStdio("--start-delay", "5000"),
      (source) => waitUntil(() => leftBy(source).length > 0),
    ],
    [
      "in its handshake",
      echoStdio("--hang-initialize"),
      (source) => waitUntil(() => leftBy(source).length > 0),
    ],
    ["while it is listed", oddStdio("many", "20000"), (source) => waitUntil(() => leftBy(source).length > 0)],
  ];
  await Promise.all(
    moments.map(([title, transport, wait]) =>
      t.test(title, async () => {
        await using source = createSource({ transport, graceMs: 100 });
        const starting = source.server.start(never);
        await wait(source);
        const waiting = failureOf(source.server.features.request("prompts/get", {}, createCall()));
        await source.server[Symbol.asyncDispose]();
        await starting;
        assert.match((await waiting).code, /^UPSTREAM_(CLOSED|UNAVAILABLE|ERROR)$/);
        assert.deepEqual(leftBy(source), []);
        assert.deepEqual([source.server.health().state, source.server.facts().pid], ["stopped", undefined]);
      }),
    ),
  );
});

test("disposing during the pause before a reconnection prevents further attempts", { skip }, async () => {
  const timers = new ManualTimers();
  await using source = createSource({ transport: echoStdio("--die"), timers });
  await source.server.start(never);
  assert.equal(timers.delays.length, 1, "a further attempt is planned");
  await source.server[Symbol.asyncDispose]();
  assert.deepEqual(timers.delays, []);
});

test("disposing waits for a server that is being ended", { skip }, async () => {
  await using source = await startSource({ transport: echoStdio("--stubborn"), graceMs: 100 });
  const breaking = failureOf(source.call("break_off"));
  await breaking;
  await source.server[Symbol.asyncDispose]();
  assert.deepEqual(leftBy(source), []);
});

test("starting after disposal starts nothing", { skip }, async () => {
  await using source = createSource({ transport: echoStdio() });
  await source.server[Symbol.asyncDispose]();
  await source.server.start(never);
  assert.deepEqual([source.server.health().state, leftBy(source).length], ["stopped", 0]);
  const late = await failureOf(source.server.features.request("prompts/get", {}, createCall()));
  assert.equal(late.code, "UPSTREAM_UNAVAILABLE");
  await using aborted = createSource({ transport: echoStdio() });
  await aborted.server.start(AbortSignal.abort(new Error("no")));
  assert.deepEqual([aborted.server.health().state, leftBy(aborted).length], ["stopped", 0]);
});

test("disposing ends HTTP sessions at their servers", async () => {
  await using streamable = await startEchoHttpServer();
  await using sse = await startEchoSseServer();
  for (const [echo, kind] of [
    [streamable, "streamable_http"],
    [sse, "sse"],
  ] as const) {
    await using source = await startSource({ transport: { kind, url: echo.url, headers: {} } });
    await source.call("echo", {}, createCall({ client: createAskableClient("ada") }));
    assert.equal(echo.sessionCount, 2);
    await source.server[Symbol.asyncDispose]();
    await waitUntil(() => echo.sessionCount === 0);
  }
});

test("a listener that throws disturbs neither the server nor the other listeners", async () => {
  await using source = createSource({ transport: echoStdio() });
  source.server.onChange(() => {
    throw new Error("an error of the listener");
  });
  const heard: string[] = [];
  const unsubscribe = source.server.onChange(({ kind }) => heard.push(kind));
  await source.server.start(never);
  assert.equal(source.server.health().state, "ready");
  assert.deepEqual(heard, ["tools", "resources", "prompts", "health"]);
  unsubscribe();
  unsubscribe();
  await source.server[Symbol.asyncDispose]();
  assert.equal(heard.length, 4);
});

test("neither an unavailable server nor a disposed one keeps the process alive", async () => {
  const program = `
    import { randomBytes } from "node:crypto";
    import { createHttpClient } from "@toolcrib/mcp";
    import { createProcessLauncher } from "@toolcrib/process";
    import { createUpstreamServer } from "@toolcrib/upstream";
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const launcher = createProcessLauncher({ env: process.env, now: Date.now, logger, randomBytes });
    const deps = { launcher, httpClient: createHttpClient(), logger, now: Date.now, random: Math.random,
      clientInfo: { name: "test", version: "1" } };
    const create = (id, command, args) => createUpstreamServer(
      { id, kind: "stdio", resolveTransport: async () => ({ kind: "stdio", command, args, env: {} }) }, deps);
    const down = create("down", "no-such-command-here", []);
    const up = create("up", process.execPath, [${JSON.stringify(echoStdioPath)}]);
    const { signal } = new AbortController();
    await Promise.all([down.start(signal), up.start(signal)]);
    console.log(down.health().state, up.health().state);
    await up[Symbol.asyncDispose]();
    await launcher[Symbol.asyncDispose]();
  `;
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const child = spawn(process.execPath, [...conditions, "--input-type=module", "--eval", program], {
    cwd: new URL(".", import.meta.url).pathname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  // Unlike "exit", "close" is emitted after all output was read.
  assert.deepEqual(await once(child, "close"), [0, null]);
  clearTimeout(timer);
  assert.equal(output, "unavailable ready\n");
});
