import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import {
  aliceToken,
  asAlice,
  ask,
  initialize,
  modern,
  openSession,
  rpc,
  startTestServer,
  talk,
} from "./http-harness.ts";

test("a body above the limit is refused with 413, which the client can read", async () => {
  await using server = await startTestServer({ limits: { bodyMaxBytes: 100_000 } });
  const check = async (length: number, isChunked: boolean) => {
    const body = JSON.stringify({ ...initialize, padding: "x".repeat(length) });
    const headers = isChunked
      ? { ...asAlice, "content-length": undefined, "transfer-encoding": "chunked" }
      : asAlice;
    const answer = await ask(server, { headers, body });
    assert.equal(answer.status, 413, `${length} ${isChunked}`);
    assert.equal(answer.code, "MCP_MESSAGE_TOO_LARGE");
  };
  for (const isChunked of [false, true]) {
    await check(100_000, isChunked);
    await check(10_000_000, isChunked);
  }
  assert.equal((await ask(server, { headers: asAlice, body: initialize })).status, 200);
});

test("a refused request with a large body gets a response before its body is read to the end", async () => {
  await using server = await startTestServer();
  const answer = await ask(server, { body: "x".repeat(500_000) });
  assert.equal(answer.status, 401);
  // A client that never stops sending is disconnected.
  const socket = connect({ host: "127.0.0.1", port: server.port });
  socket.on("error", () => {});
  socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n");
  const chunk = Buffer.alloc(64 * 1024);
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", send);
  send();
  socket.resume();
  await new Promise((resolve) => socket.on("close", resolve));
});

test("headers above the limit are refused with 431", async () => {
  await using server = await startTestServer({ limits: { headersMaxBytes: 4096 } });
  const check = async (length: number, status: number) => {
    const answer = await ask(server, { path: "/healthz", headers: { "x-large": "x".repeat(length) } });
    assert.equal(answer.status, status, String(length));
  };
  await check(3000, 200);
  await check(5000, 431);
});

test("nesting above the limit is refused", async () => {
  await using server = await startTestServer({ limits: { bodyMaxDepth: 10 } });
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const text = JSON.stringify(initialize);
  const check = async (depth: number, status: number) => {
    const body = text.replace('"params":{', `"params":{"deep":${nested(depth)},`);
    assert.equal((await ask(server, { headers: asAlice, body })).status, status, String(depth));
  };
  await check(8, 200);
  await check(9, 400);
});

test("requests above the limits are refused with 503 and Retry-After, or with a JSON-RPC error", async () => {
  await using server = await startTestServer({
    limits: { maxInFlight: 8, maxInFlightPerSession: 2, maxConcurrentCalls: 1 },
  });
  const session = await openSession(server);
  const call = (id: number) =>
    ask(server, {
      headers: { ...asAlice, "mcp-session-id": session },
      body: rpc("tools/call", { name: "slow" }, id),
    });
  const first = [call(1), call(2)];
  await waitUntil(() => server.service.waiting.size === 2);
  assert.equal((await call(3)).code, "MCP_OVERLOADED");
  const { headers, body } = modern("tools/call", { name: "slow" });
  const second = [1, 2].map(() => ask(server, { headers: { ...asAlice, ...headers }, body }));
  await waitUntil(() => server.service.waiting.size === 4);
  const refused = await ask(server, { headers: { ...asAlice, ...headers }, body });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.code, "MCP_SHARE_EXCEEDED");
  for (const release of [...server.service.waiting]) release();
  for (const answer of await Promise.all([...first, ...second])) assert.equal(answer.status, 200);
});

test("at the limit of sessions, a new session replaces an idle one and never one in use", async () => {
  await using server = await startTestServer({ limits: { maxSessions: 6 } });
  const used = await openSession(server);
  const call = ask(server, {
    headers: { ...asAlice, "mcp-session-id": used },
    body: rpc("tools/call", { name: "slow" }),
  });
  await waitUntil(() => server.service.waiting.size === 1);
  const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(server)));
  assert.equal(new Set(sessions).size, 20);
  assert.equal(server.service.sessions.size, 3);
  const answers = await Promise.all(
    sessions.map((session) =>
      ask(server, { headers: { ...asAlice, "mcp-session-id": session }, body: rpc("tools/list") }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 2);
  assert.equal(answers.filter(({ status }) => status === 404).length, 18);
  for (const release of [...server.service.waiting]) release();
  assert.equal((await call).status, 200);
});

test("SSE sessions above the limit are refused with 503 and Retry-After", async () => {
  await using server = await startTestServer({ limits: { maxSessions: 1 } });
  const stream = await fetch(`${server.url}/sse`, { headers: asAlice });
  const refused = await ask(server, { path: "/sse", headers: asAlice });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  await stream.body!.cancel();
});

test("hundreds of concurrent sessions are isolated from each other", async () => {
  await using server = await startTestServer();
  const sessions = await Promise.all(Array.from({ length: 300 }, () => openSession(server)));
  assert.equal(server.service.sessions.size, 300);
  const answers = await Promise.all(
    sessions.map((session, index) =>
      ask(server, {
        headers: { ...asAlice, "mcp-session-id": session },
        body: rpc("tools/call", { name: "echo", arguments: { index } }, 1),
      }),
    ),
  );
  for (const [index, { text }] of answers.entries())
    assert.match(text, new RegExp(`\\{\\\\"index\\\\":${index}\\}`));
});

test("an idle session ends after its timeout", async () => {
  let time = Date.now();
  await using server = await startTestServer({
    deps: { now: () => time },
    limits: { keepAliveMs: 20, sessionIdleSeconds: 60 },
  });
  await openSession(server);
  time += 61_000;
  await waitUntil(() => server.service.sessions.size === 0);
});

test("headers that never end get 408, and the connection is closed", async () => {
  await using server = await startTestServer({ limits: { headersTimeoutMs: 50, lateCheckMs: 20 } });
  const slow = talk(server.port, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  assert.match(await slow, /^HTTP\/1\.1 408 Request Timeout\r\n.*HTTP_REQUEST_TIMEOUT/s);
});

test("a connection that is opened in advance is used later, or closed without an answer", async () => {
  // Long enough for requests to arrive on a busy machine.
  const limits = { headersTimeoutMs: 50, lateCheckMs: 20, idleConnectionMs: 3000 };
  await using server = await startTestServer({ limits });
  const open = () => {
    const socket = connect({ host: "127.0.0.1", port: server.port });
    const received: string[] = [];
    socket.setEncoding("utf8").on("data", (text: string) => received.push(text));
    return { socket, received, closed: once(socket, "close") };
  };
  const used = open();
  const slow = open();
  const unused = open();
  const startedAt = Date.now();
  // Three checks after the time of headers.
  await waitUntil(() => Date.now() - startedAt > 150);
  used.socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await waitUntil(() => used.received.length > 0);
  assert.match(used.received.join(""), /^HTTP\/1\.1 200 OK\r\n/);
  // Headers that begin and never end are late as ever.
  slow.socket.write("GET /healthz HTTP/1.1\r\nHost: ");
  await slow.closed;
  assert.match(slow.received.join(""), /^HTTP\/1\.1 408 /);
  await unused.closed;
  assert.deepEqual(unused.received, []);
  used.socket.destroy();
});

test("unused connections end with the server", async () => {
  const server = await startTestServer({ limits: { headersTimeoutMs: 50, lateCheckMs: 20 } });
  const socket = connect({ host: "127.0.0.1", port: server.port });
  const startedAt = Date.now();
  await waitUntil(() => Date.now() - startedAt > 150);
  const closed = once(socket.resume(), "close");
  await server[Symbol.asyncDispose]();
  await closed;
});

test("a body that never ends gets 408, and the connection is closed", async () => {
  await using server = await startTestServer({ limits: { requestTimeoutMs: 50, lateCheckMs: 20 } });
  const text = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${aliceToken}`,
    "Content-Type: application/json",
    "Content-Length: 1000",
  ];
  const answer = await talk(server.port, `${text.join("\r\n")}\r\n\r\n{"jsonrpc"`);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test("responses and streams are not subject to the time limits of requests", async () => {
  // Long enough for requests to arrive on a busy machine.
  const limits = {
    headersTimeoutMs: 1000,
    requestTimeoutMs: 1000,
    idleConnectionMs: 1000,
    lateCheckMs: 20,
    keepAliveMs: 50,
  };
  await using server = await startTestServer({ limits });
  const { headers, body } = modern("tools/call", { name: "slow" });
  const call = ask(server, { headers: { ...asAlice, ...headers }, body });
  await waitUntil(() => server.service.waiting.size === 1);
  const stream = await fetch(`${server.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let comments = 0;
  while (comments < 25) comments += ((await reader.read()).value ?? "").split(": keep-alive").length - 1;
  for (const release of [...server.service.waiting]) release();
  assert.equal((await call).status, 200);
  await reader.cancel();
});

test("a client that does not read its response is disconnected", async () => {
  await using server = await startTestServer({ limits: { stalledClientMs: 50, lateCheckMs: 20 } });
  const { headers, body } = modern("tools/call", { name: "large", arguments: { length: 8_000_000 } });
  const text = JSON.stringify(body);
  const lines = Object.entries({ ...asAlice, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const socket = connect({ host: "127.0.0.1", port: server.port });
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    ["POST /mcp HTTP/1.1", "Host: localhost", ...lines, "Content-Type: application/json", "Accept: */*"].join(
      "\r\n",
    ),
  );
  socket.write(`\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  await waitUntil(() =>
    server.logger.records.some(({ message }) => message.startsWith("client reads no answers")),
  );
  socket.resume();
  await new Promise((resolve) => socket.on("close", resolve));
});

test("connections above the limit are closed and logged", async () => {
  await using server = await startTestServer({ limits: { maxConnections: 1 } });
  const first = connect({ host: "127.0.0.1", port: server.port });
  await new Promise((resolve) => first.on("connect", resolve));
  assert.equal(await talk(server.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
  assert.ok(server.logger.records.some(({ message }) => message.startsWith("too many connections")));
  first.destroy();
});
