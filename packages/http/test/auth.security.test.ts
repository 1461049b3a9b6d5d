/** Authentication: tokens, and sessions that belong to the identity that opened them. */

import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  aliceToken,
  asAlice,
  asBob,
  ask,
  bobToken,
  initialize,
  modern,
  openSession,
  rpc,
  startTestServer,
} from "./http-harness.ts";

const closedPaths = [
  "/mcp",
  "/mcp/s/files",
  "/mcp/s/nope",
  "/sse",
  "/messages?sessionId=1",
  "/metrics",
  "/api/v1/status",
  "/api/v1/tools",
  "/api/v1/servers/files/log",
];

test("without a token only the health endpoints respond", async () => {
  await using server = await startTestServer();
  for (const path of closedPaths) {
    const answer = await ask(server, { path, ...(path.startsWith("/m") ? { body: initialize } : undefined) });
    assert.equal(answer.status, 401, path);
    assert.equal(answer.headers["www-authenticate"], 'Bearer realm="toolcrib"', path);
    assert.equal(answer.code, "HTTP_UNAUTHORIZED", path);
    assert.equal(answer.json["jsonrpc"], "2.0", path);
    // It does not reveal which servers exist.
    assert.doesNotMatch(answer.text, /web/, path);
  }
  assert.equal(server.service.sessions.size, 0);
});

test("a wrong token is treated like a missing one", async () => {
  await using server = await startTestServer();
  const flipped = (token: string) =>
    [...token].map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())).join("");
  const wrong = [
    "",
    "Bearer",
    "Bearer ",
    aliceToken,
    `Basic ${Buffer.from(`alice:${aliceToken}`).toString("base64")}`,
    `Token ${aliceToken}`,
    `Bearer ${flipped(aliceToken)}`,
    `Bearer ${aliceToken.slice(0, -1)}`,
    `Bearer ${aliceToken}x`,
    `Bearer "${aliceToken}"`,
    `Bearer ${aliceToken}, Bearer ${bobToken}`,
    `Bearer ${"x".repeat(10_000)}`,
  ];
  for (const authorization of wrong) {
    const answer = await ask(server, { headers: { authorization }, body: initialize });
    assert.equal(answer.status, 401, authorization.slice(0, 80));
    assert.doesNotMatch(answer.text, /tcb_/);
  }
});

test("a token in the query, the body, a cookie or another header is not accepted", async () => {
  await using server = await startTestServer();
  for (const name of ["token", "access_token", "authorization", "api_key"]) {
    const answer = await ask(server, { path: `/mcp?${name}=${aliceToken}`, body: initialize });
    assert.equal(answer.status, 401, name);
    const header = await ask(server, {
      headers: { [name]: aliceToken, cookie: `${name}=${aliceToken}` },
      body: initialize,
    });
    assert.equal(header.status, 401, name);
  }
  const form = await ask(server, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `access_token=${aliceToken}`,
  });
  assert.equal(form.status, 401);
  // The query string does not appear in the log either.
  assert.doesNotMatch(JSON.stringify(server.logger.records), new RegExp(aliceToken));
});

test("a token may be checked asynchronously", async () => {
  const authenticate = async (authorization: string | undefined) => {
    await nextTurn();
    if (authorization === asBob.authorization) throw new Error("the identity provider is unreachable");
    return authorization === asAlice.authorization ? localIdentity("token", "alice") : undefined;
  };
  await using server = await startTestServer({ deps: { authenticate } });
  for (const path of closedPaths) {
    const answer = await ask(server, { path, ...(path.startsWith("/m") ? { body: initialize } : undefined) });
    assert.equal(answer.status, 401, path);
  }
  const headers = { ...asAlice, "mcp-session-id": await openSession(server, asAlice) };
  assert.equal((await ask(server, { headers, body: rpc("tools/list") })).status, 200);
  assert.deepEqual(server.service.callers, [{ view: "", identity: "token:alice" }]);
  const failed = await ask(server, { headers: asBob, body: initialize });
  assert.equal(failed.status, 500);
  assert.doesNotMatch(failed.text, /provider/);
});

/** Waits for the next request to any HTTP server of this process, and returns the server's socket. */
function nextArrival(): Promise<Socket> {
  const name = "http.server.request.start";
  return new Promise((resolve) => {
    subscribe(name, function take(message) {
      unsubscribe(name, take);
      resolve((message as { readonly socket: Socket }).socket);
    });
  });
}

test("a client that disconnects while its token is checked keeps no session", async () => {
  const started = Promise.withResolvers<void>();
  const checked = Promise.withResolvers<void>();
  const authenticate = async () => {
    started.resolve();
    await checked.promise;
    return localIdentity("token", "alice");
  };
  await using server = await startTestServer({ deps: { authenticate }, limits: { maxSessions: 1 } });
  const arrival = nextArrival();
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await started.promise;
  const disconnected = once(await arrival, "close");
  socket.destroy();
  await disconnected;
  // The request of the disconnected client continues before the next request arrives.
  checked.resolve();
  const other = await fetch(`${server.url}/sse`);
  assert.equal(other.status, 200);
  await other.body?.cancel();
});

test("a session is not found for another identity", async () => {
  await using server = await startTestServer();
  const session = await openSession(server, asAlice);
  const asThief = { ...asBob, "mcp-session-id": session };
  const check = async (question: Parameters<typeof ask>[1]) => {
    const answer = await ask(server, { headers: asThief, ...question });
    assert.equal(answer.status, 404);
    // The same response as for an unknown session.
    const unknown = await ask(server, { ...question, headers: { ...asBob, "mcp-session-id": "nobody's" } });
    assert.equal(answer.text, unknown.text);
  };
  await check({ body: rpc("tools/call", { name: "echo" }) });
  await check({ body: { jsonrpc: "2.0", method: "notifications/initialized" } });
  await check({ method: "GET" });
  await check({ method: "DELETE" });
  assert.equal(server.service.sessions.size, 1);
  assert.deepEqual(server.service.callers, []);
  const own = await ask(server, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/list"),
  });
  assert.equal(own.status, 200);
});

test("a session is not found in another view", async () => {
  await using server = await startTestServer();
  const session = await openSession(server, asAlice, "/mcp/s/files");
  const headers = { ...asAlice, "mcp-session-id": session };
  for (const path of ["/mcp", "/mcp/s/web"]) {
    const answer = await ask(server, { path, headers, body: rpc("tools/list") });
    assert.equal(answer.status, 404, path);
  }
  assert.equal((await ask(server, { path: "/mcp/s/files", headers, body: rpc("tools/list") })).status, 200);
});

test("an SSE session is not found for another identity, nor as a session of /mcp", async () => {
  await using server = await startTestServer();
  const stream = await fetch(`${server.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  const opened = (await reader.read()).value ?? "";
  const path = /data: (\S+)/.exec(opened)?.[1] ?? "";
  const stolen = await ask(server, { path, headers: asBob, body: initialize });
  assert.equal(stolen.status, 404);
  const sessionId = new URLSearchParams(path.split("?")[1]).get("sessionId") ?? "";
  const other = await ask(server, {
    headers: { ...asAlice, "mcp-session-id": sessionId },
    body: rpc("tools/list"),
  });
  assert.equal(other.status, 404);
  assert.equal((await ask(server, { path, headers: asAlice, body: initialize })).status, 202);
  await reader.cancel();
});

test("a session id without its token is refused", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const answer = await ask(server, { headers: { "mcp-session-id": session }, body: rpc("tools/list") });
  assert.equal(answer.status, 401);
});

test("each modern request has the identity of its token, also on the same connection", async () => {
  await using server = await startTestServer();
  const { headers, body } = modern("tools/call", { name: "echo", arguments: {} });
  const texts = await Promise.all(
    [asAlice, asBob, asAlice].map(async (who) => {
      const answer = await fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          ...headers,
          ...who,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(body),
      });
      return answer.text();
    }),
  );
  assert.deepEqual(
    texts.map((text) => /token:\w+/.exec(text)?.[0]),
    ["token:alice", "token:bob", "token:alice"],
  );
});

test("refusals do not fill the log", async () => {
  await using server = await startTestServer();
  for (let index = 0; index < 50; index += 1) await ask(server, { body: initialize });
  const refused = server.logger.records.filter(({ message }) => message === "request refused");
  assert.equal(refused.length, 1);
  const { text } = await ask(server, { path: "/metrics", headers: asAlice });
  assert.match(text, /^toolcrib_http_refused_total\{code="HTTP_UNAUTHORIZED"\} 50$/m);
});

test("a token that is revoked ends the streams of its client, and those of no other", async () => {
  const tokens = new Map([
    [asAlice.authorization, "alice"],
    [asBob.authorization, "bob"],
  ]);
  await using server = await startTestServer({
    limits: { lateCheckMs: 20 },
    deps: {
      authenticate: (given = "") => {
        const name = tokens.get(given);
        return name === undefined ? undefined : localIdentity("token", name);
      },
    },
  });
  const open = async (path: string, headers: { readonly [name: string]: string }) => {
    const response = await fetch(`${server.url}${path}`, {
      headers: { accept: "text/event-stream", ...headers },
    });
    assert.equal(response.status, 200);
    let isOpen = true;
    void response
      .text()
      .catch(() => undefined)
      .finally(() => (isOpen = false));
    return { isOpen: () => isOpen };
  };
  const withSession = async (headers: { readonly [name: string]: string }) => ({
    ...headers,
    "mcp-session-id": await openSession(server, headers),
  });
  const streams = [
    await open("/mcp", await withSession(asAlice)),
    await open("/sse", asAlice),
    await open("/mcp", await withSession(asBob)),
    await open("/sse", asBob),
  ] as const;
  const slow = modern("tools/call", { name: "slow", arguments: {} });
  const call = ask(server, { path: "/mcp", ...slow, headers: { ...slow.headers, ...asAlice } }).then(
    () => "answered",
    () => "closed",
  );
  await waitUntil(() => server.service.waiting.size === 1);
  tokens.delete(asAlice.authorization);
  await waitUntil(() => !streams[0].isOpen() && !streams[1].isOpen());
  assert.equal(await call, "closed");
  await waitUntil(() => server.service.waiting.size === 0);
  assert.deepEqual([streams[2].isOpen(), streams[3].isOpen()], [true, true]);
  // The next token of the same client is another one.
  tokens.set(asBob.authorization, "carol");
  await waitUntil(() => !streams[2].isOpen() && !streams[3].isOpen());
});

test("the end of a token closes the streams that it opened, and neither calls nor streams of other tokens", async () => {
  const ends = new Map<string, number>();
  const clock = { aheadMs: 0 };
  const identities = {
    [asAlice.authorization]: { ...localIdentity("token", "alice"), issuer: "https://issuer.example" },
    [asBob.authorization]: { ...localIdentity("token", "bob"), issuer: "https://issuer.example" },
  };
  await using server = await startTestServer({
    limits: { lateCheckMs: 20 },
    deps: {
      now: () => Date.now() + clock.aheadMs,
      authenticate: (given = "") => identities[given],
      tokenEndOf: ({ name }) => ends.get(name),
    },
  });
  ends.set("alice", Date.now() + 1_000_000);
  const open = async (path: string, init: RequestInit) => {
    const response = await fetch(`${server.url}${path}`, init);
    assert.equal(response.status, 200);
    const stream = { isOpen: true };
    void response
      .text()
      .catch(() => undefined)
      .finally(() => (stream.isOpen = false));
    return stream;
  };
  const get = async (path: string, headers: { readonly [name: string]: string }) => {
    const session = path === "/mcp" ? { "mcp-session-id": await openSession(server, headers) } : {};
    return await open(path, { headers: { accept: "text/event-stream", ...headers, ...session } });
  };
  const listen = (headers: { readonly [name: string]: string }) => {
    const { body, headers: own } = modern("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    const sent = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    return open("/mcp", {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { ...sent, ...own, ...headers },
    });
  };
  const ofAlice = [await get("/mcp", asAlice), await get("/sse", asAlice), await listen(asAlice)];
  const ofBob = [await get("/mcp", asBob), await get("/sse", asBob), await listen(asBob)];
  const slow = modern("tools/call", { name: "slow", arguments: {} });
  const call = ask(server, { path: "/mcp", ...slow, headers: { ...slow.headers, ...asAlice } }).then(
    () => "answered",
    () => "closed",
  );
  await waitUntil(() => server.service.waiting.size === 1);
  clock.aheadMs = 1_000_001;
  await waitUntil(() => ofAlice.every(({ isOpen }) => !isOpen));
  assert.deepEqual(
    ofBob.map(({ isOpen }) => isOpen),
    [true, true, true],
  );
  assert.equal(server.service.waiting.size, 1);
  for (const answer of server.service.waiting) answer();
  assert.equal(await call, "answered");
});

test("a stream of legacy SSE whose token ends delivers the answers of calls in flight, and takes no other call", async () => {
  const nextToken = { authorization: "Bearer next" };
  const alice = () => ({ ...localIdentity("token", "alice"), issuer: "https://issuer.example" });
  const [first, next] = [alice(), alice()];
  const clock = { aheadMs: 0 };
  const end = Date.now() + 1_000_000;
  await using server = await startTestServer({
    limits: { lateCheckMs: 20 },
    deps: {
      now: () => Date.now() + clock.aheadMs,
      authenticate: (given = "") =>
        given === asAlice.authorization ? first : given === nextToken.authorization ? next : undefined,
      tokenEndOf: (identity) => (identity === first ? end : undefined),
    },
  });
  const stream = await fetch(`${server.url}/sse`, { headers: asAlice });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  const path = /\/messages\?sessionId=\S+/.exec((await reader.read()).value ?? "")?.[0] ?? assert.fail();
  assert.equal((await ask(server, { path, headers: asAlice, body: initialize })).status, 202);
  await waitUntil(() => server.service.sessions.size === 1);
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  await ask(server, { path, headers: asAlice, body: JSON.stringify(initialized) });
  const slow = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "slow", arguments: {} } };
  assert.equal((await ask(server, { path, headers: asAlice, body: JSON.stringify(slow) })).status, 202);
  await waitUntil(() => server.service.waiting.size === 1);
  clock.aheadMs = 1_000_001;
  await waitUntil(() => JSON.stringify(server.logger.records).includes("access token has ended"));
  const other = await ask(server, { path, headers: nextToken, body: JSON.stringify({ ...slow, id: 8 }) });
  assert.equal(other.status, 404);
  assert.match(other.text, /The access token that opened this stream has ended: open another stream/);
  assert.equal(server.service.waiting.size, 1, "the call in flight goes on");
  for (const answer of server.service.waiting) answer();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
  assert.match(rest, /"id":7,"result"/);
  assert.doesNotMatch(rest, /"id":8/);
  await waitUntil(() => server.service.sessions.size === 0);
});

test("a request whose body arrives after its token was revoked is refused", async () => {
  for (const path of ["/mcp", "/messages"]) {
    let isValid = true;
    let checks = 0;
    await using server = await startTestServer({
      limits: { lateCheckMs: 60_000 },
      deps: {
        authenticate: () => {
          checks += 1;
          return isValid ? localIdentity("token", "alice") : undefined;
        },
      },
    });
    const session = await openSession(server, asAlice);
    const events = await fetch(`${server.url}/sse`, { headers: { accept: "text/event-stream", ...asAlice } });
    const reader = events.body?.getReader();
    const endpoint = new TextDecoder().decode((await reader?.read())?.value).match(/data: (\S+)/)?.[1];
    const { hostname, port } = new URL(server.url);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "slow" } });
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    await once(socket, "connect");
    const head = [
      `POST ${path === "/mcp" ? path : endpoint} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: ${asAlice.authorization}`,
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      `Mcp-Session-Id: ${session}`,
      `Content-Length: ${body.length}`,
    ];
    const callersBefore = server.service.callers.length;
    const checksBefore = checks;
    socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 10)}`);
    await waitUntil(() => checks > checksBefore);
    isValid = false;
    socket.write(body.slice(10));
    await waitUntil(() => text.includes("\r\n\r\n"));
    assert.match(text, /^HTTP\/1\.1 401 /, path);
    assert.equal(server.service.callers.length, callersBefore);
    socket.destroy();
    await reader?.cancel();
  }
});
