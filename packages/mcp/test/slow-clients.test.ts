/** Clients that open a stream and do not read it, over real sockets: unread output stays bounded. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { slowTest, waitUntil } from "@toolcrib/testing";
import {
  callOf,
  type DemoHttp,
  initializeOf,
  modernHeaders,
  modernMeta,
  openRawSession,
  startDemoHttp,
  until,
} from "./demo-http.ts";

const unreadMaxBytes = 512 * 1024;
const noise = "x".repeat(128 * 1024);
/** The limit plus one message and its framing. */
const mostUnread = unreadMaxBytes + 2 * noise.length;

/** Sends a request and never reads the response. */
async function sendAndStopReading(
  demo: DemoHttp,
  method: string,
  path: string,
  headers: { readonly [name: string]: string },
  body?: unknown,
): Promise<Socket> {
  const socket = connect(demo.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.pause();
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = Object.entries({
    host: "localhost",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
  return socket;
}

/** Calls `talk` until the server closes the connection. Returns the most bytes that a response held. */
async function talkUntilCut(demo: DemoHttp, talk: () => void, isCut: () => boolean): Promise<number> {
  let most = 0;
  for (let count = 0; count < 2000 && !isCut(); count += 1) {
    talk();
    for (const response of demo.responses) most = Math.max(most, response.writableLength);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(isCut(), "the connection is cut");
  return most;
}

const log = { level: "info", data: noise };

test("Legacy: a call with notifications to a client that does not read loses the connection, not its answer", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes } });
  const session = await openRawSession(demo.url);
  const body = callOf(1, "wait", { name: "a" });
  const socket = await sendAndStopReading(demo, "POST", "/mcp", session.headers, body);
  const request = await waitUntil(() => demo.service.waiting.get("a"));
  const most = await talkUntilCut(
    demo,
    () => request.notify("notifications/message", log),
    () => demo.responses.size === 0,
  );
  assert.ok(most <= mostUnread, `${most} bytes waited`);
  // A lost connection does not cancel a legacy request. The log for its stream is bounded too.
  assert.equal(request.signal.aborted, false);
  demo.service.release("a");
  const resumed = await session.get({ "last-event-id": "2-1" });
  await resumed.ended;
  assert.equal(resumed.messages.at(-1)?.id, 1);
  assert.ok(resumed.raw().length < 2 * 1024 * 1024);
  socket.destroy();
});

test("Legacy: an unread GET stream is closed, and the session continues", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes } });
  const session = await openRawSession(demo.url);
  const socket = await sendAndStopReading(demo, "GET", "/mcp", session.headers);
  await waitUntil(() => demo.responses.size === 1);
  const [served] = demo.service.sessions;
  const most = await talkUntilCut(
    demo,
    () => served?.notify("notifications/message", log),
    () => demo.responses.size === 0,
  );
  assert.ok(most <= mostUnread, `${most} bytes waited`);
  assert.equal((await session.call(1, "echo")).status, 200);
  socket.destroy();
});

test("Modern: a call with notifications to a client that does not read is cancelled", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes } });
  const meta = modernMeta({ "io.modelcontextprotocol/logLevel": "debug" });
  const body = callOf(1, "wait", { name: "a" }, meta);
  const socket = await sendAndStopReading(demo, "POST", "/mcp", modernHeaders("tools/call", "wait"), body);
  const request = await waitUntil(() => demo.service.waiting.get("a"));
  const most = await talkUntilCut(
    demo,
    () => request.notify("notifications/message", log),
    () => request.signal.aborted,
  );
  assert.ok(most <= mostUnread, `${most} bytes waited`);
  await waitUntil(() => demo.endpoint.stats().inFlight === 0);
  socket.destroy();
});

test("Modern: an unread change stream ends", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes } });
  const params = { notifications: { toolsListChanged: true }, _meta: modernMeta() };
  const body = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
  const socket = await sendAndStopReading(demo, "POST", "/mcp", modernHeaders("subscriptions/listen"), body);
  await waitUntil(() => demo.service.listeners.size === 1);
  const [listener] = demo.service.listeners;
  const most = await talkUntilCut(
    demo,
    () => listener?.notify("notifications/tools/list_changed", { noise }),
    () => listener?.closed.aborted === true,
  );
  assert.ok(most <= mostUnread, `${most} bytes waited`);
  assert.equal(demo.service.listeners.size, 0);
  socket.destroy();
});

test("SSE: a session with an unread stream gets no further calls, and a notification closes it", async () => {
  await using demo = await startDemoHttp({ sse: { unreadMaxBytes } });
  const socket = await sendAndStopReading(demo, "GET", "/sse", {});
  const endpoint = await new Promise<string>((resolve) => {
    let text = "";
    const take = (chunk: Buffer) => {
      text += chunk.toString();
      const path = /data: (\S+)\n/.exec(text)?.[1];
      if (path === undefined) return;
      socket.off("data", take).pause();
      resolve(path);
    };
    socket.on("data", take).resume();
  });
  const post = async (message: unknown) => {
    const response = await fetch(new URL(endpoint, demo.sseUrl), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    await response.text();
    return response.status;
  };
  assert.equal(await post(initializeOf("2024-11-05")), 202);
  let id = 0;
  // The answers fill the socket, then the limit; then further calls are refused.
  while ((await post(callOf(id, "large", { bytes: noise.length }))) === 202) {
    id += 1;
    assert.ok(id < 1000);
  }
  const [stream] = [...demo.responses].filter((response) => response.writableLength > 0);
  assert.ok((stream?.writableLength ?? 0) <= mostUnread, `${stream?.writableLength} bytes wait`);
  assert.equal(demo.sse.stats().sessions, 1);
  const [session] = demo.service.sessions;
  session?.notify("notifications/message", log);
  await waitUntil(() => demo.sse.stats().sessions === 0);
  socket.destroy();
});

test("A client that reads receives many times the limit", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes } });
  const session = await openRawSession(demo.url);
  const sent = session.call(1, "wait", { name: "a" });
  const request = await waitUntil(() => demo.service.waiting.get("a"));
  request.notify("notifications/message", log);
  const answer = await sent;
  for (let count = 2; count <= 100; count += 1) {
    request.notify("notifications/message", log);
    await until(answer, count);
  }
  demo.service.release("a");
  await answer.ended;
  assert.equal(answer.messages.length, 101);
});

test("One answer may be larger than the limit", async () => {
  await using demo = await startDemoHttp({ http: { unreadMaxBytes: 1000 } });
  const session = await openRawSession(demo.url);
  for (const accept of ["application/json", "text/event-stream"]) {
    const answer = await session.post(callOf(1, "large", { bytes: 4 << 20 }), { accept });
    await answer.ended;
    assert.ok(JSON.stringify(answer.messages[0]).length > 4 << 20);
  }
});

test(
  "Unread answers of one client are limited over all its connections, and other clients get theirs",
  slowTest,
  async () => {
    const mib = 1024 * 1024;
    await using demo = await startDemoHttp({
      http: { bodyMaxBytes: 32 * mib },
      memory: { unreadMaxBytes: 60 * mib, requestsMaxBytes: 1024 * mib },
    });
    const session = await openRawSession(demo.url);
    const large = (id: number) => callOf(id, "echo", { text: "x".repeat(20 * mib) });
    const sockets: Socket[] = [];
    for (let id = 1; id <= 6; id += 1) {
      sockets.push(await sendAndStopReading(demo, "POST", "/mcp", session.headers, large(id)));
      await waitUntil(
        () => [...demo.responses].filter(({ headersSent }) => headersSent).length >= Math.min(id, 2),
      );
    }
    const unread = [...demo.responses].reduce((sum, { writableLength }) => sum + writableLength, 0);
    assert.ok(unread <= 60 * mib, `${unread} bytes wait`);
    let received = "";
    sockets.at(-1)?.on("data", (chunk) => {
      received += String(chunk);
    });
    sockets.at(-1)?.resume();
    await waitUntil(() => received.includes("MCP_UNREAD_LIMIT"));
    const other = await openRawSession(demo.url, { headers: { "x-user": "other" } });
    const answer = await other.call(1, "echo", { text: "x".repeat(mib) });
    assert.equal(answer.messages[0]?.error, undefined);
    for (const socket of sockets) socket.destroy();
  },
);
