import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers, startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";
import {
  createCall,
  createClient,
  createSource,
  echoStdio,
  failureOf,
  never,
  oddStdio,
  type ResolvedTransport,
  startSource,
  type TestSource,
  untilDown,
  untilNoticed,
} from "./source-harness.ts";

function kill({ server }: TestSource): number {
  const { pid } = server.facts();
  process.kill(pid as number, "SIGKILL");
  return pid as number;
}

const http = (url: string): ResolvedTransport => ({ kind: "streamable_http", url, headers: {} });

test("after kill -9, calls in flight fail once, names stay known, and the next call waits for the new server", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const tools = source.server.tools();
  const inFlight = [source.call("hang"), source.call("sleep", { ms: 60_000 })].map(failureOf);
  await source.text("echo", { text: "they are there" });
  const pid = kill(source);
  for (const error of await Promise.all(inFlight)) {
    assert.equal(error.code, "UPSTREAM_CLOSED");
    assert.equal(
      error.message,
      'The server "s" ended before it answered, and the call may have had an effect',
    );
  }
  assert.equal(source.server.tools(), tools);
  assert.equal(await source.text("echo", { text: "again" }), "again");
  assert.notEqual(source.server.facts().pid, pid);
  assert.equal(source.server.facts().restarts, 1);
  assert.equal(source.server.tools(), tools);
  // The lists are equal, so only the health is emitted.
  assert.deepEqual(source.changes.slice(4), ["health", "health"]);
  const [record] = source.records.filter(({ event }) => event === "server is not available");
  assert.match(String(record?.["reason"]), /^The server was ended by SIGKILL after /);
});

test("calls during an outage all wait for the same new server", async () => {
  await using source = await startSource({ transport: echoStdio() });
  kill(source);
  await untilDown(source);
  const texts = ["a", "b", "c", "d"];
  assert.deepEqual(await Promise.all(texts.map((text) => source.text("echo", { text }))), texts);
  assert.equal(source.server.facts().restarts, 1);
});

test("a tool call that crashes the server is not repeated", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const error = await failureOf(source.call("crash", { code: 5 }));
  assert.equal(error.code, "UPSTREAM_CLOSED");
  // A repeated call would have ended another server before this call succeeds.
  assert.equal(await source.text("echo", { text: "next" }), "next");
  assert.equal(source.server.facts().restarts, 1);
});

test("the reason of a server's end stays readable after its restart", async () => {
  await using source = await startSource({ transport: echoStdio() });
  await source.call("stderr_noise", { line: "fatal: out of cheese" });
  kill(source);
  await waitUntil(() => source.server.facts().restarts === 1);
  assert.deepEqual(source.server.stderrTail(1), ["fatal: out of cheese"]);
});

test("a server that flaps is tried again after growing pauses", async () => {
  let launchCount = 0;
  const timers = new ManualTimers();
  await using source = createSource({
    async transport() {
      launchCount += 1;
      return echoStdio();
    },
    timers,
    // No connection counts as stable, however long the machine takes.
    now: () => 1_000_000,
    limits: { reconnectMinMs: 400 },
  });
  const readAttempts = () =>
    source.records.filter(({ event }) => event === "server is not available").map(({ attempt }) => attempt);
  await source.server.start(never);
  assert.equal(source.server.health().state, "ready");
  for (const [attempt, pauseMs] of [
    [1, 300],
    [2, 600],
    [3, 1200],
  ] as const) {
    timers.fire();
    await waitUntil(() => launchCount === attempt && source.server.health().state === "ready");
    kill(source);
    await waitUntil(() => timers.delays.length > 0);
    assert.deepEqual(timers.delays, [pauseMs]);
    assert.equal(readAttempts().at(-1), attempt);
  }
  // Calls wait for the end of the pause, and do not shorten it.
  const calls = Promise.all(Array.from({ length: 5 }, () => source.text("echo", { text: "x" })));
  assert.deepEqual([launchCount, timers.delays], [3, [1200]]);
  timers.fire();
  assert.deepEqual(await calls, Array(5).fill("x"));
  assert.equal(launchCount, 4);
});

test("the end of a stable connection resets the pauses", async () => {
  let now = 1_000_000;
  await using source = await startSource({ transport: echoStdio(), now: () => now });
  for (let round = 1; round <= 2; round += 1) {
    now += 60_000;
    kill(source);
    await waitUntil(() => source.server.facts().restarts === round);
  }
  const attempts = source.records.filter(({ event }) => event === "server is not available");
  assert.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [1, 1],
  );
});

test("a call fails at once if the next attempt is not soon, and the error has its time", async () => {
  await using source = createSource({ transport: echoStdio("--die"), limits: { reconnectMinMs: 20_000 } });
  await source.server.start(never);
  const request = source.server.features.request("prompts/get", {}, createCall());
  const error = (await failureOf(request)) as unknown as { hint: string };
  assert.match(error.hint, /^it is tried again in 1\d s$/);
});

test("a session that the HTTP server dropped is opened again, and the call is made once", async () => {
  await using echo = await startEchoHttpServer();
  await using source = await startSource({ transport: http(echo.url) });
  echo.expireSessions();
  assert.equal(await source.text("echo", { text: "found" }), "found");
  assert.equal(source.server.facts().restarts, 1);
  assert.equal(echo.received.filter(({ method }) => method === "initialize").length, 2);
});

test("a call in flight when the session expires is not repeated", async () => {
  await using echo = await startEchoHttpServer({ resumable: true });
  await using source = await startSource({ transport: http(echo.url) });
  const inFlight = failureOf(source.call("hang"));
  await source.text("echo", { text: "it is there" });
  echo.expireSessions();
  const texts = ["a", "b", "c"];
  assert.deepEqual(await Promise.all(texts.map((text) => source.text("echo", { text }))), texts);
  assert.equal((await inFlight).code, "UPSTREAM_CLOSED");
  assert.equal(source.server.facts().restarts, 1);
});

test("an HTTP server that restarts is connected again, also by a call in between", async () => {
  const first = await startEchoHttpServer();
  const { port } = first;
  await using source = await startSource({ transport: http(first.url), limits: { reconnectMinMs: 1000 } });
  await first[Symbol.asyncDispose]();
  // Until its end is noticed, a call can be lost on a connection that was kept alive.
  await untilNoticed();
  const between = source.text("echo", { text: "in between" });
  await untilDown(source);
  assert.match(String(source.server.health().reason), /ECONNREFUSED|ended/);
  await using _second = await startEchoHttpServer({ port });
  assert.equal(await between, "in between");
  assert.equal(source.server.health().state, "ready");
});

test("calls of an HTTP server that stays unavailable fail with the reason", async () => {
  const echo = await startEchoHttpServer();
  await using source = await startSource({ transport: http(echo.url), limits: { reconnectMinMs: 20 } });
  await echo[Symbol.asyncDispose]();
  await untilNoticed();
  const error = await failureOf(source.call("echo", { text: "x" }));
  assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
  assert.match(
    error.message,
    /^The server "s" is not available: The server at http.* cannot be reached: ECONNREFUSED/,
  );
  assert.equal(source.server.health().state, "unavailable");
});

test("an HTTP connection that breaks fails its call, and nothing else", async () => {
  await using echo = await startEchoHttpServer();
  await using source = await startSource({ transport: http(echo.url) });
  assert.equal((await failureOf(source.call("break_off"))).code, "UPSTREAM_CLOSED");
  assert.equal(await source.text("echo", { text: "on" }), "on");
  assert.equal(source.server.facts().restarts, 0);
});

test("a server that answers 503 for a while keeps its session", async () => {
  await using echo = await startEchoHttpServer();
  await using source = await startSource({ transport: http(echo.url) });
  // Those that find out the era, of the handshake with its GET stream, and of the lists.
  await waitUntil(() => echo.requestCount === 8);
  echo.refuseNext(1, 503);
  assert.equal((await failureOf(source.call("echo", { text: "x" }))).code, "MCP_HTTP_ERROR");
  assert.equal(await source.text("echo", { text: "on" }), "on");
  assert.equal(source.server.facts().restarts, 0);
});

test("an HTTP+SSE server whose stream ends is connected again", async () => {
  await using echo = await startEchoSseServer();
  await using source = await startSource({ transport: { kind: "sse", url: echo.url, headers: {} } });
  const inFlight = failureOf(source.call("hang"));
  await source.text("echo", { text: "it is there" });
  echo.dropConnections();
  assert.equal((await inFlight).code, "UPSTREAM_CLOSED");
  assert.equal(await source.text("echo", { text: "again" }), "again");
});

test("a server that closes its output and keeps running is ended and started again", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const { pid } = source.server.facts();
  assert.equal((await failureOf(source.call("break_off"))).code, "UPSTREAM_CLOSED");
  await waitUntil(() => source.server.facts().restarts === 1);
  assert.throws(() => process.kill(pid as number, 0));
});

test("the loss of a connection during the reading of a list keeps the old list, and the next connection reads the new one", async () => {
  await using source = await startSource({ transport: oddStdio("held-list") });
  const tools = source.server.tools();
  await source.call("change");
  await waitUntil(async () => (await source.text("count")) === "2");
  assert.equal((await failureOf(source.call("die"))).code, "UPSTREAM_CLOSED");
  assert.equal(source.server.tools(), tools);
  await waitUntil(() => source.server.facts().restarts === 1);
  assert.equal(source.tool("version_1").id, "s:version_1");
  const unread = source.records.filter(({ event }) => event.startsWith("changed list could not be read"));
  assert.deepEqual(unread, []);
});

test("a client's own session is independent of the shared one", async () => {
  await using source = await startSource({ transport: echoStdio(), limits: { reconnectMinMs: 60_000 } });
  const call = createCall({ client: createClient({ logLevel: "info" }) });
  const inFlight = source.text("sleep", { ms: 300 }, call);
  await waitUntil(() => source.server.facts().clientSessions === 1);
  await source.text("echo", { text: "it is open" }, call);
  kill(source);
  await untilDown(source);
  assert.equal(await source.text("echo", { text: "leased" }, call), "leased");
  assert.equal(await inFlight, "slept 300 ms");
  assert.equal(source.server.facts().pid, undefined);
});
