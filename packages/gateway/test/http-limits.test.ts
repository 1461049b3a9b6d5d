import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import {
  aliceToken,
  asAlice,
  ask,
  initialize,
  modern,
  openDoor,
  openSession,
  rpc,
  talk,
} from "./http-harness.ts";

test("a body past the limit is refused with 413, and the client gets to read it", async () => {
  await using door = await openDoor({ limits: { bodyMaxBytes: 100_000 } });
  const check = async (length: number, isChunked: boolean) => {
    const body = JSON.stringify({ ...initialize, padding: "x".repeat(length) });
    const headers = isChunked
      ? { ...asAlice, "content-length": undefined, "transfer-encoding": "chunked" }
      : asAlice;
    const answer = await ask(door, { headers, body });
    assert.equal(answer.status, 413, `${length} ${isChunked}`);
    assert.equal(answer.code, "MCP_MESSAGE_TOO_LARGE");
  };
  for (const isChunked of [false, true]) {
    await check(100_000, isChunked);
    await check(10_000_000, isChunked);
  }
  assert.equal((await ask(door, { headers: asAlice, body: initialize })).status, 200);
});

test("a refused request with a large body is answered too, and not read to its end", async () => {
  await using door = await openDoor();
  const answer = await ask(door, { body: "x".repeat(500_000) });
  assert.equal(answer.status, 401);
  // A client that never stops sending is cut off.
  const socket = connect({ host: "127.0.0.1", port: door.port });
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

test("headers past the limit are refused with 431", async () => {
  await using door = await openDoor({ limits: { headersMaxBytes: 4096 } });
  const check = async (length: number, status: number) => {
    const answer = await ask(door, { path: "/healthz", headers: { "x-large": "x".repeat(length) } });
    assert.equal(answer.status, status, String(length));
  };
  await check(3000, 200);
  await check(5000, 431);
});

test("nesting past the limit is refused", async () => {
  await using door = await openDoor({ limits: { bodyMaxDepth: 10 } });
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const text = JSON.stringify(initialize);
  const check = async (depth: number, status: number) => {
    const body = text.replace('"params":{', `"params":{"deep":${nested(depth)},`);
    assert.equal((await ask(door, { headers: asAlice, body })).status, status, String(depth));
  };
  await check(8, 200);
  await check(9, 400);
});

test("requests past the limits are refused with 503 and Retry-After, or in their own answer", async () => {
  await using door = await openDoor({
    limits: { maxInFlight: 4, maxInFlightPerSession: 2, maxConcurrentCalls: 1 },
  });
  const session = await openSession(door);
  const call = (id: number) =>
    ask(door, {
      headers: { ...asAlice, "mcp-session-id": session },
      body: rpc("tools/call", { name: "slow" }, id),
    });
  const first = [call(1), call(2)];
  await waitUntil(() => door.service.waiting.size === 2);
  assert.equal((await call(3)).code, "MCP_OVERLOADED");
  const { headers, body } = modern("tools/call", { name: "slow" });
  const second = [1, 2].map(() => ask(door, { headers: { ...asAlice, ...headers }, body }));
  await waitUntil(() => door.service.waiting.size === 4);
  const refused = await ask(door, { headers: { ...asAlice, ...headers }, body });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.code, "MCP_OVERLOADED");
  for (const release of [...door.service.waiting]) release();
  for (const answer of await Promise.all([...first, ...second])) assert.equal(answer.status, 200);
});

test("a session that nobody uses makes room for a new one, and one in use does not", async () => {
  await using door = await openDoor({ limits: { maxSessions: 3 } });
  const used = await openSession(door);
  const call = ask(door, {
    headers: { ...asAlice, "mcp-session-id": used },
    body: rpc("tools/call", { name: "slow" }),
  });
  await waitUntil(() => door.service.waiting.size === 1);
  const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(door)));
  assert.equal(new Set(sessions).size, 20);
  assert.equal(door.service.sessions.size, 3);
  const answers = await Promise.all(
    sessions.map((session) =>
      ask(door, { headers: { ...asAlice, "mcp-session-id": session }, body: rpc("tools/list") }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 2);
  assert.equal(answers.filter(({ status }) => status === 404).length, 18);
  for (const release of [...door.service.waiting]) release();
  assert.equal((await call).status, 200);
});

test("SSE sessions past the limit are refused with 503 and Retry-After", async () => {
  await using door = await openDoor({ limits: { maxSessions: 1 } });
  const stream = await fetch(`${door.url}/sse`, { headers: asAlice });
  const refused = await ask(door, { path: "/sse", headers: asAlice });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  await stream.body!.cancel();
});

test("hundreds of sessions at once are kept apart", async () => {
  await using door = await openDoor();
  const sessions = await Promise.all(Array.from({ length: 300 }, () => openSession(door)));
  assert.equal(door.service.sessions.size, 300);
  const answers = await Promise.all(
    sessions.map((session, index) =>
      ask(door, {
        headers: { ...asAlice, "mcp-session-id": session },
        body: rpc("tools/call", { name: "echo", arguments: { index } }, 1),
      }),
    ),
  );
  for (const [index, { text }] of answers.entries())
    assert.match(text, new RegExp(`\\{\\\\"index\\\\":${index}\\}`));
});

test("a session that nobody uses ends after its time", async () => {
  let time = Date.now();
  await using door = await openDoor({
    deps: { now: () => time },
    limits: { keepAliveMs: 20, sessionIdleSeconds: 60 },
  });
  await openSession(door);
  time += 61_000;
  await waitUntil(() => door.service.sessions.size === 0);
});

test("headers that never end are answered with 408 and closed", async () => {
  await using door = await openDoor({ limits: { headersTimeoutMs: 50, lateCheckMs: 20 } });
  const slow = talk(door.port, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  assert.match(await slow, /^HTTP\/1\.1 408 Request Timeout\r\n.*HTTP_REQUEST_TIMEOUT/s);
  // So is a connection on which nothing ever comes.
  assert.match(await talk(door.port, ""), /^HTTP\/1\.1 408 /);
});

test("a body that never ends is answered with 408 and closed", async () => {
  await using door = await openDoor({ limits: { requestTimeoutMs: 50, lateCheckMs: 20 } });
  const text = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${aliceToken}`,
    "Content-Type: application/json",
    "Content-Length: 1000",
  ];
  const answer = await talk(door.port, `${text.join("\r\n")}\r\n\r\n{"jsonrpc"`);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test("answers and streams outlive the time limits of requests", async () => {
  // Long enough for requests to come in on a machine that is busy.
  const limits = {
    headersTimeoutMs: 300,
    requestTimeoutMs: 300,
    idleConnectionMs: 300,
    lateCheckMs: 20,
    keepAliveMs: 50,
  };
  await using door = await openDoor({ limits });
  const { headers, body } = modern("tools/call", { name: "slow" });
  const call = ask(door, { headers: { ...asAlice, ...headers }, body });
  await waitUntil(() => door.service.waiting.size === 1);
  const stream = await fetch(`${door.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let comments = 0;
  while (comments < 10) comments += ((await reader.read()).value ?? "").split(": keep-alive").length - 1;
  for (const release of [...door.service.waiting]) release();
  assert.equal((await call).status, 200);
  await reader.cancel();
});

test("a client that does not read its answer is cut off", async () => {
  await using door = await openDoor({ limits: { stalledClientMs: 50, lateCheckMs: 20 } });
  const { headers, body } = modern("tools/call", { name: "large", arguments: { length: 8_000_000 } });
  const text = JSON.stringify(body);
  const lines = Object.entries({ ...asAlice, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const socket = connect({ host: "127.0.0.1", port: door.port });
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    ["POST /mcp HTTP/1.1", "Host: localhost", ...lines, "Content-Type: application/json", "Accept: */*"].join(
      "\r\n",
    ),
  );
  socket.write(`\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  await waitUntil(() =>
    door.logger.records.some(({ message }) => message.startsWith("client reads no answers")),
  );
  socket.resume();
  await new Promise((resolve) => socket.on("close", resolve));
});

test("connections past the limit are closed and logged", async () => {
  await using door = await openDoor({ limits: { maxConnections: 1 } });
  const first = connect({ host: "127.0.0.1", port: door.port });
  await new Promise((resolve) => first.on("connect", resolve));
  assert.equal(await talk(door.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
  assert.ok(door.logger.records.some(({ message }) => message.startsWith("too many connections")));
  first.destroy();
});
