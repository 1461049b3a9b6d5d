/** Legacy HTTP+SSE on the server side, with raw clients. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { callOf, type DemoHttp, initializeOf, send, startDemoHttp } from "./demo-http.ts";
import { textOf } from "./demo-service.ts";
import { openStream, type SseSession, sseGet } from "./raw-sse.ts";

async function openSession(
  demo: DemoHttp,
  version = "2024-11-05",
  capabilities: JsonObject = {},
): Promise<SseSession> {
  const session = await openStream(demo);
  assert.equal((await session.post(initializeOf(version, capabilities))).status, 202);
  await session.answerTo("init");
  return session;
}

test("The stream names an endpoint; POSTs to it are accepted and answered on the stream", async () => {
  await using demo = await startDemoHttp();
  const session = await openSession(demo);
  assert.match(session.messagesUrl, /\/messages\?sessionId=[0-9a-f-]{36}$/);
  assert.equal(session.stream.headers.get("content-type"), "text/event-stream");
  assert.equal((await session.post(callOf(0, "progress", {}, { progressToken: 5 }))).status, 202);
  const answer = await session.answerTo(0);
  assert.equal(textOf(answer.result), "3 steps");
  assert.deepEqual(
    session.stream.messages.slice(1).map(({ params, id }) => params?.["progress"] ?? id),
    [1, 2, 3, 0],
  );
  session.stream.close();
  await waitUntil(() => demo.sse.stats().sessions === 0);
  assert.equal(demo.service.sessions.size, 0);
});

test("POSTs of other identities, to unknown sessions, and without valid JSON are refused", async () => {
  await using demo = await startDemoHttp({ sse: { bodyMaxBytes: 1000 } });
  const session = await openSession(demo);
  const call = callOf(1, "echo");
  const url = new URL("/messages", demo.sseUrl).href;
  for (const [status, code, answer] of [
    [404, -32001, await send("POST", url, call)],
    [404, -32001, await send("POST", `${url}?sessionId=nobody`, call)],
    [404, -32001, await session.post(call, { "x-user": "bob" })],
    [415, -32600, await session.post(call, { "content-type": "text/plain" })],
    [400, -32700, await session.post("{")],
    [413, -32600, await session.post(callOf(1, "echo", { text: "x".repeat(1000) }))],
  ] as const) {
    assert.equal(answer.status, status);
    assert.equal(answer.messages[0]?.error?.code, code);
  }
  assert.equal(demo.service.count, 0);
  session.stream.close();
});

test("Losing the stream ends the session and aborts its requests", async () => {
  await using demo = await startDemoHttp();
  const session = await openSession(demo);
  await session.post(callOf(1, "wait", { name: "a" }));
  await waitUntil(() => demo.service.waiting.has("a"));
  assert.deepEqual(demo.sse.stats(), { sessions: 1, inFlight: 1 });
  session.stream.close();
  await waitUntil(() => demo.service.aborted.length === 1);
  assert.equal((await session.post(callOf(2, "echo"))).status, 404);
});

test("A cancelled request is not answered", async () => {
  await using demo = await startDemoHttp();
  const session = await openSession(demo);
  await session.post(callOf(1, "wait", { name: "a" }));
  await waitUntil(() => demo.service.waiting.has("a"));
  await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await session.post(callOf(2, "aborted"));
  assert.match(textOf((await session.answerTo(2)).result), /cancelled/);
  assert.equal(
    session.stream.messages.some(({ id }) => id === 1),
    false,
  );
  session.stream.close();
});

test("The client answers a request with a POST", async () => {
  await using demo = await startDemoHttp();
  const session = await openSession(demo, "2024-11-05", { roots: {} });
  await session.post(callOf(1, "ask", { method: "roots/list" }));
  const question = await waitUntil(() =>
    session.stream.messages.find(({ method }) => method === "roots/list"),
  );
  await session.post({ jsonrpc: "2.0", id: question.id, result: { roots: [] } });
  assert.equal(textOf((await session.answerTo(1)).result), '{"roots":[]}');
  session.stream.close();
});

test("Concurrent clients with the same ids never receive each other's answers", async () => {
  await using demo = await startDemoHttp();
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openSession(demo)));
  await Promise.all(
    sessions.map(async (session, who) => {
      const ids = Array.from({ length: 50 }, (_, id) => id);
      await Promise.all(ids.map((id) => session.post(callOf(id, "echo", { text: `${who}/${id}` }))));
      for (const id of ids) assert.equal(textOf((await session.answerTo(id)).result), `${who}/${id}`);
      assert.equal(session.stream.messages.length, 51);
    }),
  );
  for (const { stream } of sessions) stream.close();
});

test("Streams over the limit, and all streams while draining, are refused with 503", async () => {
  await using demo = await startDemoHttp({ sse: { maxSessions: 1 } });
  const session = await openSession(demo);
  const { stream: second } = await sseGet(demo.sseUrl, {});
  assert.equal(second.status, 503);
  assert.equal(second.headers.get("retry-after"), "1");
  await session.post(callOf(1, "wait", { name: "a" }));
  await waitUntil(() => demo.service.waiting.has("a"));
  const drained = demo.sse.drain(5000);
  const refused = await session.post(callOf(2, "echo"));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  demo.service.release("a");
  await drained;
  assert.equal(textOf((await session.answerTo(1)).result), "released a");
  await demo.sse[Symbol.asyncDispose]();
  await session.stream.ended;
});

test("One client cannot open all streams", async () => {
  await using demo = await startDemoHttp({ sse: { maxSessions: 4 } });
  const streams = [await sseGet(demo.sseUrl, {}), await sseGet(demo.sseUrl, {})];
  const { stream: third } = await sseGet(demo.sseUrl, {});
  assert.equal(third.status, 503);
  await third.ended;
  assert.match(third.raw(), /"code":"MCP_SESSION_QUOTA"/);
  const other = await sseGet(demo.sseUrl, { "x-user": "other" });
  assert.equal(other.stream.status, 200);
  for (const { stream } of [...streams, other]) stream.close();
});

test("An idle stream is kept alive by comments", async () => {
  await using demo = await startDemoHttp({ sse: { keepAliveMs: 5 } });
  const { stream } = await openStream(demo);
  await waitUntil(() => stream.raw().includes(": keep-alive\n\n"));
  stream.close();
});
