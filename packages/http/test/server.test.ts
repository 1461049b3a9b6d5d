import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createHttpClient, openConnection, SseTransport, staticCredentials } from "@toolcrib/mcp";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  asAlice,
  asBob,
  ask,
  initialize,
  modern,
  openSession,
  rpc,
  startControl,
  startTestServer,
  type TestServer,
  talk,
} from "./http-harness.ts";

test("/mcp serves legacy sessions", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const answer = await ask(server, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/call", { name: "echo", arguments: { a: 1 } }),
  });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /\|token:alice\|\{\\"a\\":1\}/);
  const end = await ask(server, { method: "DELETE", headers: { ...asAlice, "mcp-session-id": session } });
  assert.equal(end.status, 204);
  assert.equal(server.service.sessions.size, 0);
});

test("/mcp serves modern requests", async () => {
  await using server = await startTestServer();
  const { headers, body } = modern("tools/call", { name: "echo", arguments: {} });
  const answer = await ask(server, { headers: { ...asAlice, ...headers }, body });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /\|token:alice\|\{\}/);
});

test("/mcp accepts a query string and ignores it", async () => {
  await using server = await startTestServer();
  const answer = await ask(server, { path: "/mcp?view=s/files", headers: asAlice, body: initialize });
  assert.equal(answer.status, 200);
  assert.equal([...server.service.sessions][0]?.view, "");
});

test("/mcp/s/<server> shows the view of that server", async () => {
  await using server = await startTestServer();
  const session = await openSession(server, asAlice, "/mcp/s/files");
  const headers = { ...asAlice, "mcp-session-id": session };
  await ask(server, { path: "/mcp/s/files", headers, body: rpc("tools/list") });
  assert.deepEqual(server.service.callers, [{ view: "s/files", identity: "token:alice" }]);
});

test("/mcp/s/<server> lists the existing servers when the server is unknown", async () => {
  await using server = await startTestServer();
  const answer = await ask(server, { path: "/mcp/s/fiels", headers: asAlice, body: initialize });
  assert.equal(answer.status, 404);
  assert.equal(answer.code, "SERVER_NOT_FOUND");
  assert.match(answer.text, /There is no server \\"fiels\\".*the servers are files, web/);
});

test("/sse and /messages serve the legacy transport", async () => {
  await using server = await startTestServer();
  const client = createHttpClient();
  const credentials = staticCredentials(asAlice);
  const transport = new SseTransport(client, { url: `${server.url}/sse`, credentials });
  const clientInfo = { name: "http-test-client", version: "1.0.0" };
  const connection = await openConnection(transport, {}, { clientInfo });
  const result = await connection.request("tools/call", { name: "echo", arguments: {} });
  assert.deepEqual(result["content"], [{ type: "text", text: "|token:alice|{}" }]);
  await connection[Symbol.asyncDispose]();
  await client.destroy();
});

test("/healthz and /readyz need no token, and /readyz reports whether the sources have connected, without numbers", async () => {
  let ready = 0;
  await using server = await startTestServer({ deps: { readiness: () => ({ ready, total: 2 }) } });
  assert.equal((await ask(server, { path: "/healthz" })).status, 200);
  const early = await ask(server, { path: "/readyz" });
  assert.equal(early.status, 503);
  assert.deepEqual(early.json, { status: "starting" });
  ready = 2;
  const later = await ask(server, { path: "/readyz" });
  assert.equal(later.status, 200);
  assert.deepEqual(later.json, { status: "ready" });
  const head = await ask(server, { method: "HEAD", path: "/readyz" });
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
});

test("/api/v1/status returns the status as JSON", async () => {
  await using server = await startTestServer();
  const answer = await ask(server, { path: "/api/v1/status", headers: asAlice });
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.equal(answer.json["tools"], 6);
});

test("a fault while a request is answered is an internal error, which says nothing about it", async () => {
  const status = () => {
    throw new TypeError("a fault of the test");
  };
  await using server = await startTestServer({ deps: { status } });
  const answer = await ask(server, { path: "/api/v1/status", headers: asAlice });
  assert.equal(answer.status, 500);
  assert.match(JSON.stringify(answer.json), /"Internal error".*"HTTP_INTERNAL"/);
  assert.doesNotMatch(JSON.stringify(answer.json), /fault of the test/);
});

test("/api/v1/tools lists the tools that the caller may see", async () => {
  await using server = await startTestServer();
  const wireNames = async (headers: { readonly authorization: string }) =>
    (await ask(server, { path: "/api/v1/tools", headers })).json as unknown as readonly {
      wireName: string;
    }[];
  const names = (tools: readonly { wireName: string }[]) => tools.map(({ wireName }) => wireName);
  assert.deepEqual(names(await wireNames(asAlice)), ["files__echo", "files__alice"]);
  assert.deepEqual(names(await wireNames(asBob)), ["files__echo", "files__bob"]);
});

test("/api/v1/servers/<id>/log returns the last lines to the operator, and nothing to a token", async () => {
  await using tcp = await startTestServer();
  const refused = await ask(tcp, { path: "/api/v1/servers/files/log", headers: asAlice });
  assert.deepEqual([refused.status, refused.code], [403, "HTTP_ROLE_REQUIRED"]);
  await using directory = await makeTemporaryDirectory();
  await using server = await startControl(directory.path);
  const check = async (path: string, status: number, expected: unknown) => {
    const answer = await ask(server, { path });
    assert.equal(answer.status, status, path);
    assert.deepEqual(status === 200 ? answer.json["lines"] : answer.code, expected, path);
  };
  await check("/api/v1/servers/files/log", 200, ["files started", "ready"]);
  await check("/api/v1/servers/files/log?lines=1", 200, ["ready"]);
  await check("/api/v1/servers/files/log?lines=0", 400, "HTTP_QUERY_INVALID");
  await check("/api/v1/servers/files/log?lines=10001", 400, "HTTP_QUERY_INVALID");
  await check("/api/v1/servers/files/log?lines=1e3", 400, "HTTP_QUERY_INVALID");
  await check("/api/v1/servers/nope/log", 404, "SERVER_NOT_FOUND");
});

test("/metrics returns the counters and the gauges of the status", async () => {
  await using server = await startTestServer();
  await openSession(server);
  await ask(server, { path: "/nowhere", headers: asAlice });
  const { text, headers } = await ask(server, { path: "/metrics", headers: asAlice });
  assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
  assert.match(text, /^toolcrib_sessions 1$/m);
  assert.match(text, /^toolcrib_http_refused_total\{code="HTTP_NOT_FOUND"\} 1$/m);
  assert.match(text, /^toolcrib_upstream_up\{server="web"\} 0$/m);
});

test("with auth none every client is anonymous", async () => {
  await using server = await startTestServer({ auth: "none", deps: { authenticate: undefined } });
  const { headers, body } = modern("tools/list");
  assert.equal((await ask(server, { headers, body })).status, 200);
  assert.deepEqual(server.service.callers, [{ view: "", identity: "anonymous:anonymous" }]);
  assert.equal((await ask(server, { path: "/metrics" })).status, 200);
});

test("startHttpServer() suggests a fix when the port is in use", async () => {
  await using server = await startTestServer();
  await assert.rejects(startTestServer({ listen: { host: "127.0.0.1", port: server.port } }), {
    code: "HTTP_ADDRESS_IN_USE",
    message: `Cannot listen on 127.0.0.1:${server.port}: the address is in use`,
  });
});

test("startHttpServer() names the address that it cannot listen on", async () => {
  // An address in the documentation range (RFC 5737), which no machine has.
  await assert.rejects(startTestServer({ listen: { host: "203.0.113.1", port: 0 } }), {
    code: "HTTP_LISTEN_FAILED",
  });
});

test("startHttpServer() listens on IPv6", async (context) => {
  const server = await startTestServer({ listen: { host: "::1", port: 0 } }).catch(() => undefined);
  if (server === undefined) return context.skip("this machine has no IPv6");
  await using _ = server;
  assert.equal(server.url, `http://[::1]:${server.port}`);
  const answer = await fetch(`${server.url}/healthz`);
  assert.equal(answer.status, 200);
});

test("disposal answers calls in flight, then closes everything", async () => {
  await using server = await startTestServer();
  const { headers, body } = modern("tools/call", { name: "slow" });
  const answer = ask(server, { headers: { ...asAlice, ...headers }, body });
  const session = await openSession(server);
  const inSession = ask(server, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/call", { name: "slow" }),
  });
  await waitUntil(() => server.service.waiting.size === 2);
  const disposed = server[Symbol.asyncDispose]();
  await assert.rejects(ask(server), { code: "ECONNREFUSED" });
  for (const release of [...server.service.waiting]) release();
  assert.match((await answer).text, /token:alice/);
  assert.match((await inSession).text, /token:alice/);
  await disposed;
  assert.equal(server.service.sessions.size, 0);
  await server[Symbol.asyncDispose]();
});

test("while draining, requests on open connections get 503 with Retry-After", async () => {
  await using server = await startTestServer({ limits: { drainGraceMs: 5000 } });
  const call = modern("tools/call", { name: "slow" });
  const slow = ask(server, { headers: { ...asAlice, ...call.headers }, body: call.body });
  await waitUntil(() => server.service.waiting.size === 1);
  const { body, headers } = modern("tools/list");
  const post = await beginPost(server, "/mcp", { ...asAlice, ...headers }, JSON.stringify(body));
  const drained = server.drain();
  const refused = await post.end();
  assert.equal(refused.statusCode, 503);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.headers["connection"], "close");
  for (const release of [...server.service.waiting]) release();
  assert.equal((await slow).status, 200);
  await drained;
});

test("while draining, a request with a partially sent head gets a response, and its connection is closed", async () => {
  await using server = await startTestServer({ limits: { drainGraceMs: 5000 } });
  const call = modern("tools/call", { name: "slow" });
  const slow = ask(server, { headers: { ...asAlice, ...call.headers }, body: call.body });
  await waitUntil(() => server.service.waiting.size === 1);
  const socket = connect({ host: "127.0.0.1", port: server.port });
  const answer = text(socket);
  socket.write("GET /healthz HTTP/1.1\r\nHost: ");
  await ask(server, { path: "/healthz" });
  const drained = server.drain();
  socket.write("localhost\r\n\r\n");
  assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n.*connection: close/is);
  for (const release of [...server.service.waiting]) release();
  assert.equal((await slow).status, 200);
  await drained;
});

test("a call in flight can send requests to its client while the gateway drains", async () => {
  await using server = await startTestServer({ limits: { drainGraceMs: 5000 } });
  const session = await openSession(server);
  const headers = { ...asAlice, "mcp-session-id": session };
  const stream = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(rpc("tools/call", { name: "ask" }, 7)),
  });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let heard = "";
  while (!heard.includes("sampling/createMessage")) heard += (await reader.read()).value ?? "";
  const { id } = JSON.parse(/data: (.*sampling.*)/.exec(heard)?.[1] ?? "");
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { role: "assistant" } });
  const post = await beginPost(server, "/mcp", headers, body);
  const drained = server.drain();
  assert.equal((await post.end()).statusCode, 202);
  while (!heard.includes("assistant")) heard += (await reader.read()).value ?? "";
  await drained;
});

test("a call of a legacy SSE session can send requests to its client while the gateway drains", async () => {
  await using server = await startTestServer({ limits: { drainGraceMs: 5000 } });
  const stream = await fetch(`${server.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let heard = "";
  const hear = async (text: string) => {
    while (!heard.includes(text)) heard += (await reader.read()).value ?? "";
  };
  await hear("sessionId=");
  const path = /data: (\S+)/.exec(heard)?.[1] ?? "";
  for (const body of [initialize, rpc("tools/call", { name: "ask" }, 7)]) {
    assert.equal((await ask(server, { path, headers: asAlice, body })).status, 202);
  }
  await hear("sampling/createMessage");
  const { id } = JSON.parse(/data: (.*sampling.*)/.exec(heard)?.[1] ?? "");
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { role: "assistant" } });
  const answer = await beginPost(server, path, asAlice, body);
  const another = await beginPost(server, path, asAlice, JSON.stringify(rpc("tools/list", {}, 8)));
  const drained = server.drain();
  assert.equal((await another.end()).statusCode, 503);
  assert.equal((await answer.end()).statusCode, 202);
  await hear("assistant");
  await drained;
});

/** Sends the beginning of a request, so that its connection is open and not idle. */
async function beginPost(
  server: TestServer,
  path: string,
  headers: { readonly [name: string]: string },
  body: string,
): Promise<{ end(): Promise<IncomingMessage> }> {
  const request = httpRequest({
    port: server.port,
    method: "POST",
    path,
    headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on("response", (answer) => resolve(answer.resume()));
    request.on("error", reject);
  });
  request.write(body.slice(0, 5));
  await new Promise((resolve) => request.on("socket", (socket) => socket.on("connect", resolve)));
  // The server has read it when it answers a later request.
  await ask(server, { path: "/healthz" });
  return {
    end() {
      request.end(body.slice(5));
      return response;
    },
  };
}

test("disposal ends streams, and calls that take longer than the grace period", async () => {
  const server = await startTestServer({ limits: { drainGraceMs: 50 } });
  const session = await openSession(server);
  const headers = { ...asAlice, "mcp-session-id": session };
  const stream = ask(server, { headers: { ...headers, accept: "text/event-stream" } });
  const sse = ask(server, { path: "/sse", headers: asAlice });
  const call = ask(server, { headers, body: rpc("tools/call", { name: "slow" }, "x") });
  await waitUntil(() => server.service.waiting.size === 1);
  await server[Symbol.asyncDispose]();
  assert.equal((await stream).status, 200);
  assert.match((await sse).text, /^event: endpoint/);
  assert.match((await call).text, /shutting down/);
});

test("an idle connection does not delay closing", async () => {
  const server = await startTestServer();
  const silent = talk(server.port, "");
  await ask(server, { path: "/healthz" });
  await server[Symbol.asyncDispose]();
  assert.equal(await silent, "");
});
