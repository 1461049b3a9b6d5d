/** Streamable HTTP and SSE on the client side: headers, sessions, broken streams, errors during a session. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { type McpError, metaOf, staticCredentials } from "@toolcrib/mcp";
import { startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";
import { eventOf, openHttp, openSse, openStdio, type ScriptedRequest, startScripted } from "./upstreams.ts";

const call = { name: "x", arguments: {} };

test("Every request has the headers of credentials, session, version and era; those of the protocol take precedence", async () => {
  const seen: { method: string; headers: IncomingHttpHeaders }[] = [];
  await using server = await startScripted((given) => {
    seen.push({ method: given.body.method ?? given.request.method ?? "", headers: given.request.headers });
    return given.body.method === "tools/call" ? given.result({}) : false;
  });
  const headers = {
    Authorization: "Bearer t",
    ACCEPT: "text/html",
    "Content-Type": "text/plain",
    "Mcp-Session-Id": "forged",
  };
  const upstream = await openHttp(server.url, { transport: { credentials: staticCredentials(headers) } });
  await upstream.connection.request("tools/call", call);
  await waitUntil(() => seen.some(({ method }) => method === "GET"));
  await upstream[Symbol.asyncDispose]();
  const of = (method: string) => seen.find((request) => request.method === method)?.headers ?? {};
  assert.equal(of("initialize")["mcp-protocol-version"], undefined);
  assert.equal(of("initialize")["content-type"], "application/json");
  assert.equal(of("initialize")["accept"], "application/json, text/event-stream");
  for (const method of ["notifications/initialized", "tools/call", "GET", "DELETE"]) {
    assert.equal(of(method)["authorization"], "Bearer t", method);
    assert.equal(of(method)["mcp-session-id"], "session-1", method);
    assert.equal(of(method)["mcp-protocol-version"], "2025-11-25", method);
    assert.equal(of(method)["mcp-method"], undefined);
  }
  assert.equal(of("GET")["accept"], "text/event-stream");
  assert.deepEqual(
    seen.slice(0, 2).map(({ method }) => method),
    ["initialize", "notifications/initialized"],
  );
});

test("Modern requests mirror method, name and annotated parameters into headers", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28", only: true, answers: "auto" });
  await using upstream = await openHttp(server.url);
  const { tools } = await upstream.connection.request("tools/list", {});
  const mirror = (tools as JsonObject[]).find(({ name }) => name === "mirror");
  const inputSchema = mirror?.["inputSchema"] as JsonObject;
  const region = " Zürich\n";
  assert.deepEqual(
    JSON.parse(await upstream.call("mirror", { region, nested: { level: -3 } }, { inputSchema })),
    {
      "mcp-param-region": "=?base64?IFrDvHJpY2gK?=",
      "mcp-param-level": "-3",
    },
  );
  assert.equal(await upstream.call("mirror", { nested: {} }, { inputSchema }), "{}");
  // Without them the server refuses the call, so it checks them.
  await assert.rejects(upstream.call("mirror", { region }), { code: "MCP_REMOTE_ERROR", rpcCode: -32020 });
  const uri = "echo://watched";
  assert.ok((await upstream.connection.request("resources/read", { uri }))["contents"]);
});

test("Version, client and capabilities in the _meta of a caller are replaced", async () => {
  await using server = await startEchoHttpServer({ protocol: "2026-07-28", only: true });
  await using upstream = await openHttp(server.url, { connection: { capabilities: { roots: {} } } });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "1999-01-01",
    "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    progressToken: 1,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
  };
  const result = await upstream.connection.request("tools/call", { name: "request", arguments: {}, _meta });
  const [{ text }] = result["content"] as [{ text: string }];
  assert.deepEqual(JSON.parse(text).meta, {
    traceparent: _meta.traceparent,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "toolcrib-test", version: "0.0.1" },
    "io.modelcontextprotocol/clientCapabilities": { roots: {} },
  });
});

test("An expired session closes the connection with MCP_SESSION_EXPIRED", async () => {
  await using server = await startEchoHttpServer();
  await using upstream = await openHttp(server.url);
  await upstream.call("echo");
  server.expireSessions();
  await assert.rejects(upstream.call("echo"), {
    code: "MCP_SESSION_EXPIRED",
    message: /no longer knows the session/,
  });
  assert.equal((upstream.connection.closed.reason as McpError).code, "MCP_SESSION_EXPIRED");
  await assert.rejects(upstream.call("echo"), { code: "MCP_SESSION_EXPIRED" });
});

test("Requests in an expired session are not processed; one that the server began to answer is lost", async () => {
  const waiting: ScriptedRequest[] = [];
  await using server = await startScripted((given) => {
    if (given.body.method !== "tools/call") return false;
    if (given.body.params?.["name"] === "met") return given.json(404, {});
    if (given.body.params?.["name"] === "begun") given.stream();
    return waiting.push(given);
  });
  await using upstream = await openHttp(server.url);
  const ask = (name: string) => upstream.connection.request("tools/call", { name });
  const begun = assert.rejects(ask("begun"), {
    code: "MCP_CONNECTION_CLOSED",
    message: /session ended before the answer/,
  });
  const late = assert.rejects(ask("late"), { code: "MCP_SESSION_EXPIRED" });
  await waitUntil(() => waiting.length === 2);
  const [aborted] = waiting.map(({ response }) => once(response, "close"));
  await assert.rejects(ask("met"), { code: "MCP_SESSION_EXPIRED" });
  // It was already sent. Its own response shows that it was not processed either.
  waiting.find(({ body }) => body.params?.["name"] === "late")?.json(404, {});
  await late;
  await begun;
  await aborted;
  await assert.rejects(ask("met"), { code: "MCP_SESSION_EXPIRED" });
});

test("Status 400 with a session error fails its call, and ends the session if a ping gets the same", async () => {
  let error: JsonObject = { code: -32602, message: "Bad arguments" };
  let isForgotten = false;
  await using server = await startScripted(({ body, json }) => {
    const isRefused = body.method === "tools/call" || (body.method === "ping" && isForgotten);
    return isRefused ? json(400, { jsonrpc: "2.0", id: null, error }) : false;
  });
  await using upstream = await openHttp(server.url);
  await assert.rejects(upstream.connection.request("tools/call", call), {
    code: "MCP_REMOTE_ERROR",
    rpcCode: -32602,
  });
  assert.ok(!server.log.includes("POST ping"));
  error = { code: -32000, message: "Bad Request: No valid session ID provided" };
  const refused = { code: "MCP_REMOTE_ERROR", message: /No valid session ID/ };
  await assert.rejects(upstream.connection.request("tools/call", call), refused);
  await waitUntil(() => server.log.includes("POST ping"));
  await assert.rejects(upstream.connection.request("tools/call", call), refused);
  assert.ok(!upstream.connection.closed.aborted);
  isForgotten = true;
  await waitUntil(async () => {
    await assert.rejects(upstream.connection.request("tools/call", call));
    return upstream.connection.closed.aborted;
  });
  await assert.rejects(upstream.connection.request("tools/call", call), { code: "MCP_SESSION_EXPIRED" });
});

test("An error status during a session fails its request and no other", async () => {
  await using server = await startEchoHttpServer({ token: "t" });
  await using upstream = await openHttp(server.url, {
    transport: { credentials: staticCredentials({ authorization: "Bearer t" }) },
  });
  // The GET stream is a request too: handshake, notification, stream.
  await waitUntil(() => server.requestCount === 3);
  for (const [status, code] of [
    [401, "MCP_UNAUTHORIZED"],
    [403, "MCP_UNAUTHORIZED"],
    [405, "MCP_HTTP_ERROR"],
    [429, "MCP_HTTP_ERROR"],
    [500, "MCP_HTTP_ERROR"],
    [503, "MCP_HTTP_ERROR"],
    [302, "MCP_HTTP_ERROR"],
  ] as const) {
    server.refuseNext(1, status);
    await assert.rejects(upstream.call("echo"), { code, data: { status } }, `${status}`);
    assert.equal(await upstream.call("echo", { text: "on" }), "on");
  }
});

test("A broken stream with event ids is resumed, and the call is answered", async () => {
  await using server = await startEchoHttpServer({ resumable: true });
  await using upstream = await openHttp(server.url);
  assert.equal(await upstream.call("break_stream", { ms: 20 }), "answered after the stream broke");
});

test("A broken stream without event ids fails its call, and so does any of the modern era", async () => {
  for (const settings of [{}, { protocol: "2026-07-28", only: true }]) {
    await using server = await startEchoHttpServer(settings);
    await using upstream = await openHttp(server.url);
    await assert.rejects(upstream.call("break_off"), { code: "MCP_CONNECTION_CLOSED" });
    assert.equal(await upstream.call("echo", { text: "on" }), "on");
  }
});

/** A server whose POST streams end at once after `begin`, and whose GETs are answered by `resume`. */
function startBreaking(begin: string, resume: (given: ScriptedRequest, attempt: number) => unknown) {
  let attempts = 0;
  let isListening = false;
  return startScripted((given) => {
    if (given.body.method === "tools/call") {
      given.stream(begin);
      given.response.end();
    } else if (given.request.method === "GET" && given.request.headers["last-event-id"] === undefined) {
      // The GET stream of the session is not the subject of the test.
      isListening = true;
      given.response.writeHead(405).end();
    } else if (given.request.method === "GET") {
      assert.ok(isListening);
      attempts += 1;
      return resume(given, attempts);
    } else return given.body.method === "ping" ? resume(given, attempts) : false;
  });
}

test("A stream is resumed without limit while each attempt delivers an event", async () => {
  const ids: unknown[] = [];
  await using server = await startBreaking("id: 0\nretry: 1\ndata:\n\n", (given, attempt) => {
    ids.push(given.request.headers["last-event-id"]);
    const progress = { method: "notifications/progress", params: { progressToken: 2, progress: attempt } };
    given.stream(
      attempt < 20 ? eventOf(progress, `${attempt}`) : eventOf({ id: 2, result: { at: "last" } }, "20"),
    );
    given.response.end();
  });
  await using upstream = await openHttp(server.url, { transport: { maxResumptions: 2 } });
  await waitUntil(() => server.log.includes("GET"));
  const steps: unknown[] = [];
  const answer = upstream.connection.request("tools/call", call, {
    onProgress: ({ progress }) => steps.push(progress),
  });
  assert.deepEqual(await answer, { at: "last" });
  assert.deepEqual(
    ids,
    Array.from({ length: 20 }, (_, index) => `${index}`),
  );
  assert.deepEqual(
    steps,
    Array.from({ length: 19 }, (_, index) => index + 1),
  );
});

test("Resuming without an event ends after the limit, even if a connection is refused in between", async () => {
  await using server = await startBreaking("id: 5\nretry: 1\n\n", (given, attempt) => {
    assert.equal(given.request.headers["last-event-id"], "5");
    if (attempt % 2 === 0) given.response.socket?.destroy();
    else {
      given.stream();
      given.response.end();
    }
  });
  await using upstream = await openHttp(server.url, { transport: { maxResumptions: 4 } });
  await waitUntil(() => server.log.includes("GET"));
  await assert.rejects(upstream.connection.request("tools/call", call), {
    code: "MCP_CONNECTION_CLOSED",
    message: /ended before the answer came/,
  });
  assert.equal(server.log.filter((entry) => entry === "GET").length, 1 + 4);
});

test("A stream that cannot be resumed fails its call; with an expired session, it closes the connection too", async () => {
  for (const [status, isSessionGone] of [
    [500, false],
    [405, false],
    [204, false],
    [404, true],
  ] as const) {
    await using server = await startBreaking("id: 1\nretry: 1\ndata:\n\n", (given) =>
      given.request.method === "GET" || isSessionGone ? given.response.writeHead(status).end() : false,
    );
    await using upstream = await openHttp(server.url);
    await waitUntil(() => server.log.includes("GET"));
    // The server received the request, so the error must not suggest that it can be repeated.
    await assert.rejects(
      upstream.connection.request("tools/call", call),
      { code: "MCP_CONNECTION_CLOSED" },
      `${status}`,
    );
    if (isSessionGone) await waitUntil(() => upstream.connection.closed.aborted);
    else assert.equal(upstream.connection.closed.aborted, false);
  }
});

test("The GET stream is opened after the handshake, delivers messages that belong to no call, and is reopened", async () => {
  const opened: { id: unknown; response: ServerResponse }[] = [];
  await using server = await startScripted(({ request, response, stream }) => {
    if (request.method !== "GET") return false;
    opened.push({ id: request.headers["last-event-id"], response });
    stream("retry: 1\n\n");
  });
  await using upstream = await openHttp(server.url);
  await waitUntil(() => opened.length === 1);
  assert.equal(server.log.indexOf("POST notifications/initialized") < server.log.indexOf("GET"), true);
  opened[0]?.response.write(eventOf({ method: "notifications/tools/list_changed" }, "7"));
  await waitUntil(() => upstream.notifications.length === 1);
  opened[0]?.response.write(
    `${eventOf({ id: 99, result: {} })}data: nonsense\n\ndata: null\n\ndata: [3]\n\n`,
  );
  await waitUntil(() => upstream.unexpected.length === 4);
  opened[0]?.response.end();
  await waitUntil(() => opened.length === 2);
  opened[1]?.response.socket?.destroy();
  await waitUntil(() => opened.length === 3);
  assert.deepEqual(
    opened.map(({ id }) => id),
    [undefined, "7", "7"],
  );
});

test("A server that forgets the session on the GET stream closes the connection", async () => {
  let gets = 0;
  await using server = await startScripted(({ request, response, stream, body }) => {
    if (gets > 1 && body.method === "ping") return response.writeHead(404).end();
    if (request.method !== "GET") return false;
    gets += 1;
    if (gets > 1) return response.writeHead(404).end();
    stream("retry: 1\n\n");
    return response.end();
  });
  await using upstream = await openHttp(server.url);
  await waitUntil(() => upstream.connection.closed.aborted);
  assert.equal((upstream.connection.closed.reason as McpError).code, "MCP_SESSION_EXPIRED");
});

test("An abandoned call closes its stream in both eras, and frees its connection", async () => {
  for (const protocol of ["2025-11-25", "2026-07-28"]) {
    let begun = 0;
    let closed = 0;
    await using server = await startScripted((given) => {
      if (given.body.method === "server/discover")
        return given.result({ supportedVersions: ["2026-07-28"], capabilities: {} });
      if (given.body.method !== "tools/call") return false;
      if (given.body.params?.["name"] === "quick") return given.result({});
      begun += 1;
      given.response.on("close", () => {
        closed += 1;
      });
      return given.stream();
    });
    const era = protocol === "2026-07-28" ? "modern" : "legacy";
    // The streams of abandoned calls would occupy all connections.
    await using upstream = await openHttp(server.url, { connection: { era }, maxConnections: 2 });
    for (let round = 1; round <= 5; round += 1) {
      const controller = new AbortController();
      const before = begun;
      const hanging = upstream.connection.request("tools/call", call, { signal: controller.signal });
      await waitUntil(() => begun > before);
      await assert.rejects(upstream.connection.request("tools/call", call, { timeoutMs: 20 }));
      controller.abort(new Error("enough"));
      await assert.rejects(hanging, /enough/);
      await upstream.connection.request("tools/call", { name: "quick" });
    }
    await waitUntil(() => closed === begun);
    assert.ok(begun >= 5);
    const cancellations = () => server.log.filter((entry) => entry === "POST notifications/cancelled").length;
    if (era === "modern") assert.equal(cancellations(), 0);
    else await waitUntil(() => cancellations() === 10);
  }
});

test("A stream that stays open after the response does not keep its connection", async () => {
  let closed = 0;
  await using server = await startScripted((given) => {
    if (given.body.method !== "tools/call") return false;
    given.response.on("close", () => {
      closed += 1;
    });
    return given.stream(eventOf({ id: given.body.id, result: {} }));
  });
  await using upstream = await openHttp(server.url, { maxConnections: 2 });
  await Promise.all([1, 2, 3].map(() => upstream.connection.request("tools/call", call)));
  await waitUntil(() => closed >= 2);
});

test("Disposal ends the session with DELETE and aborts open requests, and an unresponsive server does not delay it", async () => {
  let closed = 0;
  let isDead = false;
  await using server = await startScripted((given) => {
    if (given.request.method === "DELETE" && isDead) return;
    if (given.body.method !== "tools/call" && given.request.method !== "GET") return false;
    given.response.on("close", () => {
      closed += 1;
    });
    return given.stream();
  });
  for (isDead of [false, true]) {
    const upstream = await openHttp(server.url);
    const failed = assert.rejects(upstream.connection.request("tools/call", call), {
      code: "MCP_CONNECTION_CLOSED",
    });
    // The GET stream is open before the first request.
    await waitUntil(
      () => server.log.filter((entry) => entry === "POST tools/call").length === (isDead ? 2 : 1),
    );
    await upstream[Symbol.asyncDispose]();
    await failed;
  }
  assert.equal(server.log.filter((entry) => entry === "DELETE").length, 2);
  await waitUntil(() => closed === 4);
});

test("SSE: an expired session and an ended stream close the connection", async () => {
  await using server = await startEchoSseServer();
  await using forgotten = await openSse(server.url);
  await assert.rejects(forgotten.call("break_off"), { code: "MCP_CONNECTION_CLOSED" });
  assert.equal((forgotten.connection.closed.reason as McpError).code, "MCP_CONNECTION_CLOSED");

  let isKnown = true;
  await using scripted = await startScripted(({ request, response, stream, body }) => {
    if (request.method === "GET") {
      streams.push(response);
      return stream("event: endpoint\ndata: /messages?s=1\n\n");
    }
    if (!isKnown) return response.writeHead(404).end();
    if (body.method === "initialize") {
      const result = { protocolVersion: "2024-11-05", capabilities: {} };
      streams[0]?.write(`event: message\n${eventOf({ id: body.id, result })}`);
    }
    return response.writeHead(202).end();
  });
  const streams: ServerResponse[] = [];
  await using upstream = await openSse(`${scripted.origin}/sse`);
  const lost = assert.rejects(upstream.connection.request("a", {}), { code: "MCP_CONNECTION_CLOSED" });
  await waitUntil(() => scripted.log.includes("POST a"));
  isKnown = false;
  await assert.rejects(upstream.connection.request("b", {}), { code: "MCP_SESSION_EXPIRED" });
  await lost;
  assert.equal((upstream.connection.closed.reason as McpError).code, "MCP_SESSION_EXPIRED");
});

test("SSE: an event over the limit closes the connection with that reason", async () => {
  await using server = await startEchoSseServer();
  await using upstream = await openSse(server.url, { transport: { messageMaxBytes: 100_000 } });
  await assert.rejects(upstream.call("large", { bytes: 200_000 }), { code: "MCP_MESSAGE_TOO_LARGE" });
  assert.ok(upstream.connection.closed.aborted);
});

test("Progress that arrives in one chunk with its result is delivered, 200 of 200 times, over HTTP and a pipe", async () => {
  await using server = await startScripted((given) => {
    if (given.body.method !== "tools/call") return false;
    const token = metaOf(given.body.params ?? {})?.["progressToken"];
    const progress = [1, 2, 3].map((step) =>
      eventOf({ method: "notifications/progress", params: { progressToken: token, progress: step } }),
    );
    given.stream(progress.join("") + eventOf({ id: given.body.id, result: {} }));
    given.response.end();
  });
  await using http = await openHttp(server.url);
  await using pipe = await openStdio();
  for (const upstream of [http, pipe]) {
    for (let round = 0; round < 200; round += 1) {
      const steps: unknown[] = [];
      const params = { name: "progress", arguments: { steps: 3 } };
      await upstream.connection.request("tools/call", params, {
        onProgress: ({ progress }) => steps.push(progress),
      });
      assert.deepEqual(steps, [1, 2, 3]);
    }
    assert.deepEqual(upstream.unexpected, []);
  }
});
