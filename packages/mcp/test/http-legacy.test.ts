/** Streamable HTTP of the legacy era on the server side, with raw clients.
 *
 * Over 500 lines because it is one table of cases for one transport, with a
 * raw client that each part would have to repeat.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { slowTest, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  callOf,
  type DemoHttp,
  initializeOf,
  openRawSession,
  type RawAnswer,
  type RawSession,
  send,
  startDemoHttp,
  until,
} from "./demo-http.ts";
import { textOf } from "./demo-service.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const progressMeta = { progressToken: "token" };

function resultTexts(answer: RawAnswer): string[] {
  return answer.messages.flatMap(({ result }) => (result === undefined ? [] : [textOf(result)]));
}

test("initialize returns the requested version, or the newest legacy one for any other", async () => {
  await using demo = await startDemoHttp();
  for (const [asked, agreed] of [
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ] as const) {
    const answer = await send("POST", demo.url, initializeOf(asked));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.messages[0]?.result, {
      protocolVersion: agreed,
      capabilities: demo.service.capabilities("mcp", localIdentity("token", "local")),
      serverInfo: { name: "demo", version: "1.2.3" },
      instructions: "Instructions of mcp",
    });
    assert.match(answer.headers.get("mcp-session-id") ?? "", /^[\x21-\x7e]{16,}$/);
  }
  assert.equal(demo.endpoint.stats().sessions, 6);
});

test("A refused handshake leaves no session behind", async () => {
  await using demo = await startDemoHttp();
  const answer = await send("POST", demo.url, { jsonrpc: "2.0", id: 9, method: "initialize", params: {} });
  assert.equal(answer.messages[0]?.error?.code, -32602);
  assert.equal(answer.messages[0]?.id, 9);
  assert.equal(answer.headers.get("mcp-session-id"), null);
  await waitUntil(() => demo.endpoint.stats().sessions === 0);
});

test("Calls are answered as plain JSON with their own ids, which distinguish strings and numbers", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const ids = [0, 1, "1", "", -1, Number.MAX_SAFE_INTEGER, "ü"];
  const answers = await Promise.all(
    ids.map((id) => session.call(id, "echo", { text: `${typeof id} ${id}` })),
  );
  for (const [index, answer] of answers.entries()) {
    assert.equal(answer.status, 200);
    assert.equal(answer.type, "application/json");
    assert.equal(answer.messages[0]?.id, ids[index]);
    assert.deepEqual(resultTexts(answer), [`${typeof ids[index]} ${ids[index]}`]);
  }
  assert.deepEqual(demo.endpoint.stats(), { sessions: 1, inFlight: 0, listeners: 0 });
});

test("A message before the answer makes the response a stream: progress in order, then the answer", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const answer = await session.call(7, "progress", { steps: 20 }, progressMeta);
  await answer.ended;
  assert.equal(answer.type, "text/event-stream");
  assert.deepEqual(
    answer.messages.map(({ params, id }) => params?.["progress"] ?? `answer ${String(id)}`),
    [...Array.from({ length: 20 }, (_, index) => index + 1), "answer 7"],
  );
  assert.ok(answer.messages.slice(0, -1).every(({ params }) => params?.["progressToken"] === "token"));
  // The priming event lets a client resume before the first message.
  assert.equal(answer.events[0]?.data, "");
  assert.ok(answer.events.every(({ id }) => id !== undefined));
});

test("No progress is sent without a token, and nothing after the answer", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const listening = await session.get();
  assert.equal((await session.call(1, "progress")).type, "application/json");
  assert.equal((await session.call(2, "late", {}, progressMeta)).type, "application/json");
  demo.service.sendLate();
  await session.call(3, "announce");
  assert.deepEqual(
    (await until(listening, 1)).map(({ method }) => method),
    ["notifications/tools/list_changed"],
  );
  listening.close();
});

test("logging/setLevel applies to streams of calls", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const levels = async () => {
    const answer = await session.call(1, "log");
    await answer.ended;
    return answer.messages.flatMap(({ params }) => (params === undefined ? [] : [params["level"]]));
  };
  assert.deepEqual(await levels(), ["debug", "info", "error"]);
  const setLevel = (level: unknown) =>
    session.post({ jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level } });
  assert.deepEqual((await setLevel("warning")).messages[0]?.result, {});
  assert.deepEqual(await levels(), ["error"]);
  assert.equal((await setLevel("loud")).messages[0]?.error?.code, -32602);
  assert.deepEqual(await levels(), ["error"]);
});

/** Requests that are refused before they reach a session. */
const refusals: {
  readonly name: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly hasSession?: boolean;
  readonly status: number;
  readonly code: number;
}[] = [
  { name: "no session header", body: ping, status: 400, code: -32600 },
  { name: "unknown session", body: ping, headers: { "mcp-session-id": "nobody" }, status: 404, code: -32001 },
  {
    name: "wrong content type",
    body: ping,
    headers: { "content-type": "text/plain" },
    status: 415,
    code: -32600,
  },
  {
    name: "content type that only begins so",
    body: ping,
    headers: { "content-type": "application/jsonp" },
    status: 415,
    code: -32600,
  },
  { name: "nothing acceptable", body: ping, headers: { accept: "text/html" }, status: 406, code: -32600 },
  { name: "no JSON", body: "{", status: 400, code: -32700 },
  { name: "too deep", body: `${"[".repeat(70)}${"]".repeat(70)}`, status: 400, code: -32700 },
  { name: "another method", method: "PUT", body: ping, status: 405, code: -32600 },
  { name: "GET without a session", method: "GET", status: 405, code: -32600 },
  { name: "DELETE without a session", method: "DELETE", status: 405, code: -32600 },
  {
    name: "GET of an unknown session",
    method: "GET",
    headers: { "mcp-session-id": "nobody" },
    status: 404,
    code: -32001,
  },
  {
    name: "DELETE of an unknown session",
    method: "DELETE",
    headers: { "mcp-session-id": "nobody" },
    status: 404,
    code: -32001,
  },
  {
    name: "GET that takes no events",
    method: "GET",
    headers: { accept: "application/json" },
    hasSession: true,
    status: 406,
    code: -32600,
  },
  {
    name: "unknown version header",
    body: ping,
    headers: { "mcp-protocol-version": "2025-01-01" },
    hasSession: true,
    status: 400,
    code: -32022,
  },
  { name: "a batch in 2025-11-25", body: [ping], hasSession: true, status: 400, code: -32600 },
  { name: "an empty batch", body: [], hasSession: true, status: 400, code: -32600 },
  { name: "initialize in a batch", body: [initializeOf("2025-03-26")], status: 400, code: -32600 },
  { name: "a scalar", body: "3", hasSession: true, status: 400, code: -32600 },
  { name: "null as id", body: { ...ping, id: null }, hasSession: true, status: 400, code: -32600 },
  {
    name: "an unsafe id",
    body: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    hasSession: true,
    status: 400,
    code: -32600,
  },
  { name: "no method", body: { jsonrpc: "2.0", id: 1 }, hasSession: true, status: 400, code: -32600 },
];

test("Invalid requests are refused with their HTTP status and JSON-RPC code", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const before = demo.service.count;
  for (const { name, method = "POST", body, headers, hasSession, status, code } of refusals) {
    const answer = await send(method, demo.url, body, { ...(hasSession ? session.headers : {}), ...headers });
    assert.equal(answer.status, status, name);
    assert.equal(answer.messages[0]?.error?.code, code, name);
    if (status === 405) assert.equal(answer.headers.get("allow"), "GET, POST, DELETE");
  }
  assert.equal(demo.service.count, before);
  assert.equal((await session.call(1, "echo", { text: "still here" })).status, 200);
});

test("A body over the limit, with or without Content-Length, is refused with a 413 that the client receives", async () => {
  await using demo = await startDemoHttp({ http: { bodyMaxBytes: 1000 } });
  const session = await openRawSession(demo.url);
  for (const length of [1001, 4 << 20]) {
    const answer = await session.call(1, "echo", { text: "x".repeat(length) });
    assert.equal(answer.status, 413);
    assert.match(answer.messages[0]?.error?.message ?? "", /larger than 1000 bytes/);
    // Without Content-Length.
    const request = httpRequest(demo.url, {
      method: "POST",
      headers: { ...session.headers, "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    for (let sent = 0; sent < length; sent += 1001) request.write("x".repeat(1001));
    request.end();
    const [response] = await once(request, "response");
    assert.equal(response.statusCode, 413);
    response.resume();
  }
  assert.equal((await session.call(1, "echo")).status, 200);
});

test("A client that stops within its body leaves no state", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const request = httpRequest(demo.url, {
    method: "POST",
    headers: { ...session.headers, "content-type": "application/json", "content-length": "1000" },
  });
  request.on("error", () => {});
  await new Promise((resolve) => request.write('{"jsonrpc":', resolve));
  request.destroy();
  assert.equal((await session.call(1, "echo")).status, 200);
  assert.equal(demo.endpoint.stats().inFlight, 0);
});

test("Notifications and answers are accepted with 202 and no body", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  for (const body of [
    { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
    { jsonrpc: "2.0", id: 12345, result: {} },
  ]) {
    const answer = await session.post(body);
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.messages, []);
  }
  assert.match(demo.unexpected.join(), /unknown or used id 12345/);
});

test("Batches of 2025-03-26 are answered as a batch, request by request", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url, { version: "2025-03-26" });
  const answer = await session.post([
    callOf(1, "echo", { text: "one" }),
    { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
    callOf("1", "echo", { text: "two" }),
    callOf(2, "refuse"),
  ]);
  assert.equal(answer.status, 200);
  const batch = answer.messages[0] as unknown as RawAnswer["messages"];
  assert.deepEqual(new Set(batch.map(({ id }) => id)), new Set([1, "1", 2]));
  assert.equal(batch.find(({ id }) => id === 2)?.error?.code, -32602);
  // With a preceding message, the response is one stream.
  const streamed = await session.post([
    callOf(1, "echo", { text: "x" }),
    callOf(2, "progress", {}, progressMeta),
  ]);
  await streamed.ended;
  assert.equal(streamed.messages.length, 5);
  assert.equal((await session.post([{ jsonrpc: "2.0", method: "notifications/x" }])).status, 202);
  assert.equal(demo.endpoint.stats().inFlight, 0);
});

test("An invalid member of a batch is answered on its own, and the others too", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url, { version: "2025-03-26" });
  const batch = [callOf(1, "echo", { text: "a" }), { jsonrpc: "2.0", id: 2, method: 5 }, callOf(3, "echo")];
  const answer = await session.post(batch);
  assert.equal(answer.status, 200);
  const answers = answer.messages[0] as unknown as RawAnswer["messages"];
  const byId = new Map(answers.map((message) => [message.id as unknown, message]));
  assert.deepEqual(new Set(byId.keys()), new Set([1, 3, null]));
  assert.equal(byId.get(null)?.error?.code, -32600);
  assert.notEqual(byId.get(1)?.result, undefined);
  assert.equal((await session.post([{ jsonrpc: "2.0", id: 2, method: 5 }])).status, 400);
});

test("A batch with one id twice or too many messages is refused whole", async () => {
  await using demo = await startDemoHttp({ http: { maxInFlightPerSession: 3 } });
  const session = await openRawSession(demo.url, { version: "2025-03-26" });
  const before = demo.service.count;
  for (const batch of [
    [callOf(1, "echo"), callOf(1, "echo")],
    [callOf(1, "echo"), callOf(2, "echo"), callOf(3, "echo"), callOf(4, "echo")],
  ]) {
    const answer = await session.post(batch);
    assert.equal(answer.status, 400);
    assert.equal(answer.messages[0]?.error?.code, -32600);
  }
  assert.equal(demo.service.count, before);
});

test("An id in use is refused, and the first request is still answered", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const first = session.call(1, "wait", { name: "a" });
  await waitUntil(() => demo.service.waiting.has("a"));
  const second = await session.call(1, "echo");
  assert.equal(second.status, 400);
  assert.match(second.messages[0]?.error?.message ?? "", /Request id 1 is already in use/);
  assert.equal((await session.call("1", "echo", { text: "other" })).status, 200);
  demo.service.release("a");
  assert.deepEqual(resultTexts(await first), ["released a"]);
});

test("A cancelled request ends its response without an answer and no longer counts as in flight", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const cancel = (requestId: unknown) =>
    session.post({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId, reason: "enough" },
    });
  const plain = session.call(1, "wait", { name: "plain" });
  const streamed = await session.call(2, "progress", {}, progressMeta);
  await streamed.ended;
  await waitUntil(() => demo.service.waiting.has("plain"));
  assert.equal(demo.endpoint.stats().inFlight, 1);
  await cancel("1");
  assert.equal(demo.endpoint.stats().inFlight, 1);
  await cancel(1);
  const answer = await plain;
  await answer.ended;
  assert.deepEqual(answer.messages, []);
  assert.equal(demo.endpoint.stats().inFlight, 0);
  assert.match(String(demo.service.aborted[0]), /enough/);
  assert.equal((await session.call(1, "echo")).status, 200);
});

test("A lost connection does not cancel a legacy request", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const controller = new AbortController();
  const lost = fetch(demo.url, {
    method: "POST",
    headers: { ...session.headers, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(callOf(1, "wait", { name: "a" })),
    signal: controller.signal,
  });
  await waitUntil(() => demo.service.waiting.has("a"));
  controller.abort();
  await assert.rejects(lost);
  await session.call(2, "echo");
  assert.deepEqual(demo.service.aborted, []);
  demo.service.release("a");
  await waitUntil(() => demo.endpoint.stats().inFlight === 0);
});

test("A broken stream is resumed with Last-Event-ID: missed events, then the answer, and no events of other streams", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 10 } });
  const session = await openRawSession(demo.url);
  const first = await session.call(1, "wait", { name: "a" }, progressMeta);
  assert.equal(first.type, "text/event-stream");
  await waitUntil(() => first.events.length > 0);
  const lastEventId = first.events.at(-1)?.id ?? "";
  first.close();
  const request = demo.service.waiting.get("a");
  request?.progress({ progress: 1 });
  const other = await session.call(2, "progress", {}, progressMeta);
  await other.ended;
  const resumed = await session.get({ "last-event-id": lastEventId });
  await until(resumed, 1);
  request?.progress({ progress: 2 });
  await until(resumed, 2);
  // Resumed once more: only later events.
  const again = await session.get({ "last-event-id": resumed.events.at(-1)?.id ?? "" });
  demo.service.release("a");
  await again.ended;
  await resumed.ended;
  assert.deepEqual(
    resumed.messages.map(({ params }) => params?.["progress"]),
    [1, 2],
  );
  assert.deepEqual(resultTexts(again), ["released a"]);
  assert.equal(again.messages.length, 1);
  // The answer can be fetched again. After it the stream is complete: 204 ends the client's attempts.
  const late = await session.get({ "last-event-id": lastEventId });
  await late.ended;
  assert.deepEqual(resultTexts(late), ["released a"]);
  const nothing = await session.get({ "last-event-id": again.events.at(-1)?.id ?? "" });
  assert.equal(nothing.status, 204);
});

test("The GET stream carries messages that belong to no request, including earlier ones", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  await session.call(1, "announce", { n: 1 });
  await session.call(2, "announce", { n: 2 });
  const first = await session.get();
  await until(first, 2);
  await session.call(3, "announce", { n: 3 });
  await until(first, 3);
  // A second stream replaces the first, and no event is sent twice.
  const second = await session.get();
  await first.ended;
  await session.call(4, "announce", { n: 4 });
  await until(second, 1);
  second.close();
  // After its end is detected, messages wait for the next stream.
  await waitUntil(() => demo.responses.size === 0);
  await session.call(5, "announce", { n: 5 });
  const third = await session.get();
  await until(third, 1);
  third.close();
  const given = (answer: RawAnswer) => answer.messages.map(({ params }) => params?.["given"]);
  assert.deepEqual(given(first), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(given(second), [{ n: 4 }]);
  assert.deepEqual(given(third), [{ n: 5 }]);
});

test("A GET stream is resumed with Last-Event-ID", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const first = await session.get();
  for (const n of [1, 2, 3]) await session.call(n, "announce", { n });
  await until(first, 3);
  const cursor = first.events.find(({ data }) => data.includes('"n":1'))?.id ?? "";
  const second = await session.get({ "last-event-id": cursor });
  await session.call(4, "announce", { n: 4 });
  const messages = await until(second, 3);
  assert.deepEqual(
    messages.map(({ params }) => params?.["given"]),
    [{ n: 2 }, { n: 3 }, { n: 4 }],
  );
  // An unknown id opens a new stream.
  for (const foreign of ["nonsense", "99-1", "1-99", "1-1\u00e9"]) {
    const answer = await session.get({ "last-event-id": foreign });
    assert.equal(answer.status, 200);
    answer.close();
  }
});

test("A request to the client is sent on the stream of its call, and its response reaches that call", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url, { capabilities: { sampling: {}, roots: {} } });
  const listening = await session.get();
  const answer = await session.call(1, "ask", { method: "roots/list" });
  const [question] = await until(answer, 1);
  assert.equal(question?.method, "roots/list");
  const result = { roots: [{ uri: "file:///here" }] };
  assert.equal((await session.post({ jsonrpc: "2.0", id: question?.id, result })).status, 202);
  await answer.ended;
  assert.deepEqual(resultTexts(answer), [JSON.stringify(result)]);
  // A client receives no request for an undeclared capability.
  const undeclared = await session.call(2, "ask", { method: "elicitation/create" });
  assert.match(undeclared.messages[0]?.error?.message ?? "", /does not support elicitation/);
  assert.deepEqual(undeclared.messages[0]?.error?.data?.["code"], "MCP_CLIENT_CAPABILITY_MISSING");
  assert.deepEqual(listening.messages, []);
  listening.close();
});

test("DELETE ends a session: pending requests fail, and the session is unknown afterwards", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const listening = await session.get();
  const waiting = session.call(1, "wait", { name: "a" });
  await waitUntil(() => demo.service.waiting.has("a"));
  assert.equal((await session.remove()).status, 204);
  await listening.ended;
  const answer = await waiting;
  assert.equal(answer.status, 404);
  // Without its id, the status says that the request was not begun.
  assert.equal(answer.messages[0]?.id, 1);
  assert.match(answer.messages[0]?.error?.message ?? "", /The client ended the session/);
  assert.equal((await session.call(2, "echo")).status, 404);
  assert.equal((await session.remove()).status, 404);
  assert.deepEqual(demo.endpoint.stats(), { sessions: 0, inFlight: 0, listeners: 0 });
  assert.equal(demo.service.sessions.size, 0);
  assert.equal(demo.service.aborted.length, 1);
});

test("A session exists only for the identity and the view that opened it", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url, { headers: { "x-user": "ann" } });
  assert.equal((await session.call(1, "who")).status, 200);
  for (const [url, user] of [
    [demo.url, "bob"],
    [demo.url, "ANN"],
    [demo.url.replace("/mcp", "/mcp/other"), "ann"],
  ] as const) {
    for (const method of ["POST", "GET", "DELETE"]) {
      const answer = await send(method, url, method === "POST" ? ping : undefined, {
        ...session.headers,
        "x-user": user,
      });
      assert.equal(answer.status, 404, `${method} ${url} ${user}`);
    }
  }
  assert.equal((await session.call(2, "echo")).status, 200);
});

/**
 * Waits until the endpoint has done its periodic work for all open sessions: then a slow
 * answer becomes a stream, and the session opened here is the last one of a round.
 */
async function untilHousekeeping({ url, service }: DemoHttp): Promise<void> {
  const session = await openRawSession(url);
  const answer = await session.call(1, "wait", { name: "housekeeping" });
  assert.equal(answer.type, "text/event-stream");
  service.release("housekeeping");
  await answer.ended;
  await session.remove();
}

test("A slow answer becomes a stream within the client's time limit for headers", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 10 } });
  const session = await openRawSession(demo.url);
  const answer = await session.call(1, "wait", { name: "a" });
  assert.equal(answer.type, "text/event-stream");
  demo.service.release("a");
  await answer.ended;
  assert.deepEqual(resultTexts(answer), ["released a"]);
  // A client that accepts only JSON waits for it.
  const pending = session.post(callOf(2, "wait", { name: "b" }), { accept: "application/json" });
  await waitUntil(() => demo.service.waiting.has("b"));
  await untilHousekeeping(demo);
  demo.service.release("b");
  assert.equal((await pending).type, "application/json");
});

test("A client that accepts only events gets events, and one that accepts only JSON gets JSON", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const events = await session.post(callOf(1, "echo", { text: "a" }), { accept: "text/event-stream" });
  await events.ended;
  assert.equal(events.type, "text/event-stream");
  assert.deepEqual(resultTexts(events), ["a"]);
  const json = await session.post(callOf(2, "progress", {}, progressMeta), { accept: "application/json" });
  assert.equal(json.type, "application/json");
  assert.deepEqual(resultTexts(json), ["3 steps"]);
});

test("Idle sessions end; a session with a stream does not, even right after the stream broke", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5, sessionIdleMs: 1000 } });
  const idle = await openRawSession(demo.url);
  const busy = await openRawSession(demo.url);
  const listening = await busy.get();
  demo.advance(2000);
  await waitUntil(() => demo.endpoint.stats().sessions === 1);
  assert.equal((await idle.call(1, "echo")).status, 404);
  listening.close();
  await waitUntil(() => demo.responses.size === 0);
  await untilHousekeeping(demo);
  assert.equal((await busy.call(1, "echo")).status, 200);
  demo.advance(2000);
  await waitUntil(() => demo.endpoint.stats().sessions === 0);
});

test("The store of sessions has each open session with its facts and its last use", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5, sessionIdleMs: 1000 } });
  const session = await openRawSession(demo.url, { headers: { "x-user": "ann" } });
  await send("POST", demo.url, { ...initializeOf("2025-11-25"), params: {} });
  await waitUntil(async () => (await demo.sessions.list()).length === 1);
  const [stored] = await demo.sessions.list();
  assert.deepEqual(
    [stored?.id, stored?.identity, stored?.view, stored?.expiresAt],
    [session.id, { issuer: "toolcrib:token", subject: "ann" }, "mcp", 1_001_000],
  );
  assert.ok(stored?.protocolVersion);
  demo.advance(500);
  await session.call(1, "echo");
  await waitUntil(async () => (await demo.sessions.list())[0]?.lastSeenAt === 1_000_500);
  demo.advance(2000);
  await waitUntil(() => demo.endpoint.stats().sessions === 0);
  assert.deepEqual(await demo.sessions.list(), []);
});

test("A session in use whose record expired when the clock jumped is added to the store again", async () => {
  await using demo = await startDemoHttp({ http: { keepAliveMs: 5, sessionIdleMs: 1000 } });
  const session = await openRawSession(demo.url);
  const listening = await session.get();
  await waitUntil(async () => (await demo.sessions.list()).length === 1);
  const [before] = await demo.sessions.list();
  demo.advance(5000);
  await waitUntil(async () => (await demo.sessions.list()).length === 1);
  const times = { lastSeenAt: 1_005_000, expiresAt: 1_006_000 };
  assert.deepEqual(await demo.sessions.list(), [{ ...before, ...times }]);
  listening.close();
  await waitUntil(() => demo.responses.size === 0);
  demo.advance(5000);
  await waitUntil(() => demo.endpoint.stats().sessions === 0);
  assert.deepEqual(await demo.sessions.list(), []);
});

test("With too many sessions, the least recently used idle one ends, and no busy one", async () => {
  await using demo = await startDemoHttp({ http: { maxSessions: 4 } });
  const first = await openRawSession(demo.url);
  demo.advance(1);
  const second = await openRawSession(demo.url);
  demo.advance(1);
  await first.call(1, "echo");
  const third = await openRawSession(demo.url);
  assert.equal((await second.call(1, "echo")).status, 404);
  const streams = [await first.get(), await third.get()];
  const refused = await send("POST", demo.url, initializeOf("2025-11-25"));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal(codeOf(refused), "MCP_SESSION_QUOTA");
  await openRawSession(demo.url, { headers: { "x-user": "other" } });
  for (const stream of streams) stream.close();
});

test("A client that opens many sessions displaces its own, not those of others", async () => {
  await using demo = await startDemoHttp({ http: { maxSessions: 4 } });
  const quiet = await openRawSession(demo.url, { headers: { "x-user": "ann" } });
  const greedy: RawSession[] = [];
  for (let count = 0; count < 8; count += 1) {
    demo.advance(1);
    greedy.push(await openRawSession(demo.url, { headers: { "x-user": "bob" } }));
  }
  assert.equal((await quiet.call(1, "echo")).status, 200);
  const statuses = await Promise.all(greedy.map(async (session) => (await session.call(1, "echo")).status));
  assert.deepEqual(statuses, [404, 404, 404, 404, 404, 404, 200, 200]);
});

test("Requests over the limits are refused: of one session in JSON-RPC, of all sessions with 503", async () => {
  await using demo = await startDemoHttp({ http: { maxInFlight: 6, maxInFlightPerSession: 2 } });
  const one = await openRawSession(demo.url);
  const two = await openRawSession(demo.url);
  const waiting = [one.call(1, "wait", { name: "1" }), one.call(2, "wait", { name: "2" })];
  await waitUntil(() => demo.service.waiting.size === 2);
  const third = await one.call(3, "echo");
  assert.equal(third.status, 200);
  assert.match(third.messages[0]?.error?.message ?? "", /More than 2 requests/);
  waiting.push(two.call(1, "wait", { name: "3" }));
  await waitUntil(() => demo.service.waiting.size === 3);
  const fourth = await two.call("four", "echo");
  assert.equal(fourth.status, 503);
  assert.equal(fourth.messages[0]?.id, "four");
  assert.equal(codeOf(fourth), "MCP_SHARE_EXCEEDED");
  const other = await openRawSession(demo.url, { headers: { "x-user": "other" } });
  assert.equal((await other.call(1, "echo")).status, 200);
  assert.equal((await two.post({ jsonrpc: "2.0", method: "notifications/x" })).status, 202);
  for (const name of ["1", "2", "3"]) demo.service.release(name);
  await Promise.all(waiting);
  assert.equal(demo.endpoint.stats().inFlight, 0);
});

test("Draining refuses new requests and waits for those in flight; disposal ends the rest", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const running = session.call(1, "wait", { name: "a" });
  const stuck = session.call(2, "wait", { name: "b" });
  await waitUntil(() => demo.service.waiting.size === 2);
  let isDrained = false;
  const drained = demo.endpoint.drain(5000).then(() => {
    isDrained = true;
  });
  assert.equal((await session.call(3, "echo")).status, 503);
  assert.equal(isDrained, false);
  demo.service.release("a");
  assert.deepEqual(resultTexts(await running), ["released a"]);
  await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
  await drained;
  await (await stuck).ended;
});

test("An error without a code is not described on the wire", async () => {
  await using demo = await startDemoHttp();
  const session = await openRawSession(demo.url);
  const answer = await session.call(1, "crash");
  assert.deepEqual(answer.messages[0], {
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32603, message: "Internal error" },
  });
});

test("Concurrent clients with the ids 0, 1, 2 never receive each other's answers", slowTest, async () => {
  await using demo = await startDemoHttp();
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openRawSession(demo.url)));
  const run = async (session: RawSession, who: number) => {
    for (let round = 0; round < 25; round += 1) {
      const answers = await Promise.all(
        [0, 1, 2].map((id) =>
          id === 1
            ? session.call(id, "progress", { steps: 1 + who }, { progressToken: id })
            : session.call(id, "echo", { text: `${who}/${round}/${id}` }),
        ),
      );
      await Promise.all(answers.map(({ ended }) => ended));
      assert.deepEqual(resultTexts(answers[0] as RawAnswer), [`${who}/${round}/0`]);
      assert.equal(answers[1]?.messages.length, 2 + who);
      assert.deepEqual(resultTexts(answers[2] as RawAnswer), [`${who}/${round}/2`]);
    }
  };
  await Promise.all(sessions.map(run));
  assert.deepEqual(demo.endpoint.stats(), { sessions: 4, inFlight: 0, listeners: 0 });
});

/** Returns the code of this project in the error of an answer. */
function codeOf({ messages }: RawAnswer): unknown {
  return messages[0]?.error?.data?.["code"];
}
