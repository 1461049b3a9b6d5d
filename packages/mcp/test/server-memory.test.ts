/** Limits of all connections together: the bodies of requests in flight, answers of batches, events for reconnections. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import {
  callOf,
  type DemoHttp,
  initializeOf,
  modernHeaders,
  modernMeta,
  openRawSession,
  type RawAnswer,
  send,
  startDemoHttp,
} from "./demo-http.ts";
import { openStream, type SseSession } from "./raw-sse.ts";

const kib = 1024;
const padding = "x".repeat(100 * kib);
const requestsMaxBytes = 800 * kib;

async function openInitialized(demo: DemoHttp): Promise<SseSession> {
  const stream = await openStream(demo);
  await stream.post(initializeOf("2024-11-05"));
  await stream.answerTo("init");
  return stream;
}

function codeOf(answer: RawAnswer): unknown {
  return answer.messages[0]?.error?.data?.["code"];
}

test("The bodies of a client's requests in flight are limited together, and other clients have room", async () => {
  await using demo = await startDemoHttp({ memory: { requestsMaxBytes } });
  const [session, second] = [await openRawSession(demo.url), await openRawSession(demo.url)];
  const answers: Promise<RawAnswer>[] = [];
  // Half of the total, over both eras and all sessions of the client.
  for (let count = 0; count < 3; count += 1) {
    const name = `w${count}`;
    const call = count === 0 ? second : session;
    answers.push(
      count === 2
        ? send(
            "POST",
            demo.url,
            {
              jsonrpc: "2.0",
              id: count,
              method: "tools/call",
              params: { name: "wait", arguments: { name, padding }, _meta: modernMeta() },
            },
            modernHeaders("tools/call", "wait"),
          )
        : call.call(count, "wait", { name, padding }),
    );
    await waitUntil(() => demo.service.waiting.has(name));
  }
  answers.push(session.call(3, "wait", { name: "w3", padding }));
  await waitUntil(() => demo.service.waiting.has("w3"));
  const refused = await session.call(4, "echo", { text: padding });
  assert.equal(refused.status, 503);
  assert.equal(codeOf(refused), "MCP_SHARE_EXCEEDED");
  assert.equal((await session.call(5, "echo", { text: "small" })).status, 200);
  const other = await openRawSession(demo.url, { headers: { "x-user": "other" } });
  assert.equal((await other.call(1, "echo", { text: padding })).messages[0]?.error, undefined);

  demo.service.release("w0");
  await answers[0];
  assert.equal((await session.call(6, "echo", { text: padding })).status, 200);
  // A cancelled request, and a session that ends, free their bodies.
  await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await session.remove();
  demo.service.release("w2");
  await Promise.all(answers);
  for (let count = 0; count < 20; count += 1) {
    assert.equal((await second.call(`again ${count}`, "echo", { text: padding })).status, 200);
  }
});

test("The bodies of requests over SSE are counted until they are answered or cancelled", async () => {
  await using demo = await startDemoHttp({ memory: { requestsMaxBytes } });
  const stream = await openInitialized(demo);
  for (let count = 0; count < 4; count += 1) {
    assert.equal((await stream.post(callOf(count, "wait", { name: `w${count}`, padding }))).status, 202);
  }
  const refused = await stream.post(callOf(4, "wait", { name: "w4", padding }));
  assert.equal(refused.status, 503);
  assert.equal(codeOf(refused), "MCP_SHARE_EXCEEDED");
  assert.equal(refused.headers.get("retry-after"), "1");
  demo.service.release("w0");
  await stream.answerTo(0);
  await stream.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  for (const count of [5, 6]) {
    assert.equal((await stream.post(callOf(count, "wait", { name: `w${count}`, padding }))).status, 202);
  }
  assert.equal((await stream.post(callOf(7, "echo", { text: padding }))).status, 503);
  stream.stream.close();
  await waitUntil(() => demo.service.waiting.size === 0);
  const next = await openInitialized(demo);
  assert.equal((await next.post(callOf(1, "echo", { text: padding }))).status, 202);
  next.stream.close();
});

test("The bodies of requests over SSE that their session refuses are not counted", async () => {
  await using demo = await startDemoHttp({ memory: { requestsMaxBytes } });
  const stream = await openInitialized(demo);
  await stream.post(callOf(0, "wait", { name: "w0" }));
  await waitUntil(() => demo.service.waiting.has("w0"));
  // An id in use, and a batch of two requests with one id.
  const twice = [callOf(1, "echo", { text: padding }), callOf(1, "echo", {})];
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await stream.post(callOf(0, "echo", { text: padding }))).status, 202);
    assert.equal((await stream.post(twice)).status, 202);
    await stream.answerTo(1);
    stream.stream.messages.splice(0);
  }
  assert.equal((await stream.post(callOf(2, "echo", { text: padding }))).status, 202);
  await stream.answerTo(2);
  stream.stream.close();
  const modern = await openStream(demo);
  await modern.post(initializeOf("2025-11-25"));
  await modern.answerTo("init");
  for (let count = 0; count < 10; count += 1) {
    const batch = [callOf(`b${count}`, "echo", { text: padding })];
    assert.equal((await modern.post(batch)).status, 202);
  }
  modern.stream.close();
});

test("The answers of a batch that wait for its last one count as unread", async () => {
  await using demo = await startDemoHttp({ memory: { unreadMaxBytes: 2000 * kib } });
  const session = await openRawSession(demo.url, { version: "2025-03-26" });
  const large = Array.from({ length: 20 }, (_, id) => callOf(id, "large", { bytes: 100 * kib }));
  const answer = session.post([...large, callOf("last", "wait", { name: "last" })]);
  await waitUntil(() => demo.service.count >= 21 && demo.service.waiting.has("last"));
  demo.service.release("last");
  const answers = (await answer).messages[0] as unknown as { readonly error?: unknown }[];
  assert.equal(answers.length, 21);
  const droppedCount = answers.filter(({ error }) => error !== undefined).length;
  assert.ok(droppedCount >= 8 && droppedCount <= 11, String(droppedCount));
  // The waiting answers were given back.
  assert.equal((await session.call("next", "large", { bytes: 100 * kib })).messages[0]?.error, undefined);
});

test("The events that sessions keep for reconnections are limited together; other clients keep theirs", async () => {
  await using demo = await startDemoHttp({ memory: { eventsMaxLength: 300 * kib } });
  const kept = async (user: string, sessionCount: number): Promise<number> => {
    let count = 0;
    const headers = { "x-user": user };
    for (let each = 0; each < sessionCount; each += 1) {
      const session = await openRawSession(demo.url, { version: "2025-06-18", headers });
      // Without a GET stream, these wait in the log.
      for (let event = 0; event < 4; event += 1) {
        await session.call(`${event}`, "announce", { padding: "x".repeat(20 * kib) });
      }
      const stream = await session.get();
      await session.call("end", "announce", { isEnd: true });
      await waitUntil(() => stream.messages.some(({ params }) => JSON.stringify(params).includes("isEnd")));
      count += stream.messages.length - 1;
      stream.close();
    }
    return count;
  };
  const many = await kept("many", 6);
  assert.ok(many >= 4 && many <= 10, String(many));
  assert.ok((await kept("other", 1)) >= 3);
});

test("a body with many values is refused, and counts more than its text", async () => {
  await using demo = await startDemoHttp({ memory: { requestsMaxBytes: 6000 * kib } });
  const session = await openRawSession(demo.url);
  const values = (count: number) => Array.from({ length: count }, () => ({}));
  const tooMany = await session.call(1, "mirror", { values: values(260_000) });
  assert.equal(tooMany.status, 400);
  assert.match(JSON.stringify(tooMany.messages), /more than 250000 values/);
  // 60 kB of text each, and 2.6 MB in memory.
  const answers: Promise<RawAnswer>[] = [];
  for (const name of ["a", "b"]) {
    answers.push(session.call(name, "wait", { name, values: values(20_000) }));
    await waitUntil(() => demo.service.waiting.has(name));
  }
  const refused = await session.call(3, "mirror", { values: values(20_000) });
  assert.equal(codeOf(refused), "MCP_SHARE_EXCEEDED");
  for (const name of ["a", "b"]) demo.service.release(name);
  await Promise.all(answers);
  assert.equal((await session.call(4, "mirror", { values: values(20_000) })).status, 200);
});

test("what a session keeps of its client is limited", async () => {
  await using demo = await startDemoHttp();
  const large = { experimental: { x: "y".repeat(17 * kib) } };
  const refused = await send("POST", demo.url, initializeOf("2025-11-25", large));
  assert.match(
    JSON.stringify(refused.messages),
    /\\"capabilities\\" of \\"initialize\\" is longer than 16384 characters/,
  );
  assert.equal(demo.endpoint.stats().sessions, 0);
  assert.equal((await send("POST", demo.url, initializeOf("2025-11-25", {}))).status, 200);
});
