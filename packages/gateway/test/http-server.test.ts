import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createHttpClient, openConnection, SseTransport, staticCredentials } from "@toolcrib/mcp";
import { waitUntil } from "@toolcrib/testing";
import {
  asAlice,
  asBob,
  ask,
  type Door,
  initialize,
  modern,
  openDoor,
  openSession,
  rpc,
  talk,
} from "./http-harness.ts";

test("/mcp serves legacy sessions", async () => {
  await using door = await openDoor();
  const session = await openSession(door);
  const answer = await ask(door, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/call", { name: "echo", arguments: { a: 1 } }),
  });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /\|token:alice\|\{\\"a\\":1\}/);
  const end = await ask(door, { method: "DELETE", headers: { ...asAlice, "mcp-session-id": session } });
  assert.equal(end.status, 204);
  assert.equal(door.service.sessions.size, 0);
});

test("/mcp serves modern requests", async () => {
  await using door = await openDoor();
  const { headers, body } = modern("tools/call", { name: "echo", arguments: {} });
  const answer = await ask(door, { headers: { ...asAlice, ...headers }, body });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /\|token:alice\|\{\}/);
});

test("/mcp takes a query and reads nothing from it", async () => {
  await using door = await openDoor();
  const answer = await ask(door, { path: "/mcp?view=s/files", headers: asAlice, body: initialize });
  assert.equal(answer.status, 200);
  assert.equal([...door.service.sessions][0]?.view, "");
});

test("/mcp/s/<server> shows the view of that server", async () => {
  await using door = await openDoor();
  const session = await openSession(door, asAlice, "/mcp/s/files");
  const headers = { ...asAlice, "mcp-session-id": session };
  await ask(door, { path: "/mcp/s/files", headers, body: rpc("tools/list") });
  assert.deepEqual(door.service.callers, [{ view: "s/files", identity: "token:alice" }]);
});

test("/mcp/s/<server> says which servers exist when there is no such server", async () => {
  await using door = await openDoor();
  const answer = await ask(door, { path: "/mcp/s/fiels", headers: asAlice, body: initialize });
  assert.equal(answer.status, 404);
  assert.equal(answer.code, "SERVER_NOT_FOUND");
  assert.match(answer.text, /There is no server \\"fiels\\".*the servers are files, web/);
});

test("/sse and /messages serve the legacy transport", async () => {
  await using door = await openDoor();
  const client = createHttpClient();
  const credentials = staticCredentials(asAlice);
  const transport = new SseTransport(client, { url: `${door.url}/sse`, credentials });
  const clientInfo = { name: "front-door-client", version: "1.0.0" };
  const connection = await openConnection(transport, {}, { clientInfo });
  const result = await connection.request("tools/call", { name: "echo", arguments: {} });
  assert.deepEqual(result["content"], [{ type: "text", text: "|token:alice|{}" }]);
  await connection[Symbol.asyncDispose]();
  await client.destroy();
});

test("/healthz and /readyz need no token, and /readyz tells how many sources made first contact", async () => {
  let ready = 0;
  await using door = await openDoor({ deps: { readiness: () => ({ ready, total: 2 }) } });
  assert.equal((await ask(door, { path: "/healthz" })).status, 200);
  const early = await ask(door, { path: "/readyz" });
  assert.equal(early.status, 503);
  assert.deepEqual(early.json, { status: "starting", ready: 0, total: 2 });
  ready = 2;
  const later = await ask(door, { path: "/readyz" });
  assert.equal(later.status, 200);
  assert.deepEqual(later.json, { status: "ready", ready: 2, total: 2 });
  const head = await ask(door, { method: "HEAD", path: "/readyz" });
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
});

test("/api/v1/status is the status as JSON", async () => {
  await using door = await openDoor();
  const answer = await ask(door, { path: "/api/v1/status", headers: asAlice });
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.equal(answer.json["tools"], 6);
});

test("/api/v1/tools lists the tools that the caller may see", async () => {
  await using door = await openDoor();
  const wireNames = async (headers: { readonly authorization: string }) =>
    (await ask(door, { path: "/api/v1/tools", headers })).json as unknown as readonly { wireName: string }[];
  const names = (tools: readonly { wireName: string }[]) => tools.map(({ wireName }) => wireName);
  assert.deepEqual(names(await wireNames(asAlice)), ["files__echo", "files__alice"]);
  assert.deepEqual(names(await wireNames(asBob)), ["files__echo", "files__bob"]);
});

test("/api/v1/servers/<id>/log gives the last lines", async () => {
  await using door = await openDoor();
  const check = async (path: string, status: number, expected: unknown) => {
    const answer = await ask(door, { path, headers: asAlice });
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

test("/metrics shows what is counted and what the status says", async () => {
  await using door = await openDoor();
  await openSession(door);
  await ask(door, { path: "/nowhere", headers: asAlice });
  const { text, headers } = await ask(door, { path: "/metrics", headers: asAlice });
  assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
  assert.match(text, /^toolcrib_sessions 1$/m);
  assert.match(text, /^toolcrib_http_refused_total\{code="HTTP_NOT_FOUND"\} 1$/m);
  assert.match(text, /^toolcrib_upstream_up\{server="web"\} 0$/m);
});

test("with auth none everyone is anonymous", async () => {
  await using door = await openDoor({ auth: "none", deps: { authenticate: undefined } });
  const { headers, body } = modern("tools/list");
  assert.equal((await ask(door, { headers, body })).status, 200);
  assert.deepEqual(door.service.callers, [{ view: "", identity: "anonymous:anonymous" }]);
  assert.equal((await ask(door, { path: "/metrics" })).status, 200);
});

test("startHttpServer() says what to do when the port is taken", async () => {
  await using door = await openDoor();
  await assert.rejects(openDoor({ listen: { host: "127.0.0.1", port: door.port } }), {
    code: "HTTP_ADDRESS_IN_USE",
    message: `Cannot listen on 127.0.0.1:${door.port}: another program does`,
  });
});

test("startHttpServer() says which address it cannot open", async () => {
  // An address of the range for documentation (RFC 5737), which no machine has.
  await assert.rejects(openDoor({ listen: { host: "203.0.113.1", port: 0 } }), {
    code: "HTTP_LISTEN_FAILED",
  });
});

test("startHttpServer() listens on IPv6", async (context) => {
  const door = await openDoor({ listen: { host: "::1", port: 0 } }).catch(() => undefined);
  if (door === undefined) return context.skip("this machine has no IPv6");
  await using _ = door;
  assert.equal(door.url, `http://[::1]:${door.port}`);
  const answer = await fetch(`${door.url}/healthz`);
  assert.equal(answer.status, 200);
});

test("disposing answers calls in flight, then leaves nothing open", async () => {
  await using door = await openDoor();
  const { headers, body } = modern("tools/call", { name: "slow" });
  const answer = ask(door, { headers: { ...asAlice, ...headers }, body });
  const session = await openSession(door);
  const inSession = ask(door, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/call", { name: "slow" }),
  });
  await waitUntil(() => door.service.waiting.size === 2);
  const disposed = door[Symbol.asyncDispose]();
  await assert.rejects(ask(door), { code: "ECONNREFUSED" });
  for (const release of [...door.service.waiting]) release();
  assert.match((await answer).text, /token:alice/);
  assert.match((await inSession).text, /token:alice/);
  await disposed;
  assert.equal(door.service.sessions.size, 0);
  await door[Symbol.asyncDispose]();
});

test("while it drains, connections that are open are told to come back later", async () => {
  await using door = await openDoor({ limits: { drainGraceMs: 5000 } });
  const call = modern("tools/call", { name: "slow" });
  const slow = ask(door, { headers: { ...asAlice, ...call.headers }, body: call.body });
  await waitUntil(() => door.service.waiting.size === 1);
  const { body, headers } = modern("tools/list");
  const post = await beginPost(door, "/mcp", { ...asAlice, ...headers }, JSON.stringify(body));
  const drained = door.drain();
  const refused = await post.end();
  assert.equal(refused.statusCode, 503);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.headers["connection"], "close");
  for (const release of [...door.service.waiting]) release();
  assert.equal((await slow).status, 200);
  await drained;
});

test("a request whose head was half sent is answered, and its connection closed", async () => {
  await using door = await openDoor({ limits: { drainGraceMs: 5000 } });
  const call = modern("tools/call", { name: "slow" });
  const slow = ask(door, { headers: { ...asAlice, ...call.headers }, body: call.body });
  await waitUntil(() => door.service.waiting.size === 1);
  const socket = connect({ host: "127.0.0.1", port: door.port });
  const answer = text(socket);
  socket.write("GET /healthz HTTP/1.1\r\nHost: ");
  await ask(door, { path: "/healthz" });
  const drained = door.drain();
  socket.write("localhost\r\n\r\n");
  assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n.*connection: close/is);
  for (const release of [...door.service.waiting]) release();
  assert.equal((await slow).status, 200);
  await drained;
});

test("a call in flight may still ask its client while the gateway drains", async () => {
  await using door = await openDoor({ limits: { drainGraceMs: 5000 } });
  const session = await openSession(door);
  const headers = { ...asAlice, "mcp-session-id": session };
  const stream = await fetch(`${door.url}/mcp`, {
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
  const post = await beginPost(door, "/mcp", headers, body);
  const drained = door.drain();
  assert.equal((await post.end()).statusCode, 202);
  while (!heard.includes("assistant")) heard += (await reader.read()).value ?? "";
  await drained;
});

test("so may a call of a legacy SSE session", async () => {
  await using door = await openDoor({ limits: { drainGraceMs: 5000 } });
  const stream = await fetch(`${door.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let heard = "";
  const hear = async (text: string) => {
    while (!heard.includes(text)) heard += (await reader.read()).value ?? "";
  };
  await hear("sessionId=");
  const path = /data: (\S+)/.exec(heard)?.[1] ?? "";
  for (const body of [initialize, rpc("tools/call", { name: "ask" }, 7)]) {
    assert.equal((await ask(door, { path, headers: asAlice, body })).status, 202);
  }
  await hear("sampling/createMessage");
  const { id } = JSON.parse(/data: (.*sampling.*)/.exec(heard)?.[1] ?? "");
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { role: "assistant" } });
  const answer = await beginPost(door, path, asAlice, body);
  const another = await beginPost(door, path, asAlice, JSON.stringify(rpc("tools/list", {}, 8)));
  const drained = door.drain();
  assert.equal((await another.end()).statusCode, 503);
  assert.equal((await answer.end()).statusCode, 202);
  await hear("assistant");
  await drained;
});

/** Send the beginning of a request, so that its connection is open and not idle. */
async function beginPost(
  door: Door,
  path: string,
  headers: { readonly [name: string]: string },
  body: string,
): Promise<{ end(): Promise<IncomingMessage> }> {
  const request = httpRequest({
    port: door.port,
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
  // The server has seen it once it answers something that came later.
  await ask(door, { path: "/healthz" });
  return {
    end() {
      request.end(body.slice(5));
      return response;
    },
  };
}

test("disposing ends streams, and calls that take longer than the grace", async () => {
  const door = await openDoor({ limits: { drainGraceMs: 50 } });
  const session = await openSession(door);
  const headers = { ...asAlice, "mcp-session-id": session };
  const stream = ask(door, { headers: { ...headers, accept: "text/event-stream" } });
  const sse = ask(door, { path: "/sse", headers: asAlice });
  const call = ask(door, { headers, body: rpc("tools/call", { name: "slow" }, "x") });
  await waitUntil(() => door.service.waiting.size === 1);
  await door[Symbol.asyncDispose]();
  assert.equal((await stream).status, 200);
  assert.match((await sse).text, /^event: endpoint/);
  assert.match((await call).text, /shutting down/);
});

test("a connection that does nothing does not hold up closing", async () => {
  const door = await openDoor();
  const silent = talk(door.port, "");
  await ask(door, { path: "/healthz" });
  await door[Symbol.asyncDispose]();
  assert.equal(await silent, "");
});
