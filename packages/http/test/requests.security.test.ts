/** Requests that are malformed, ambiguous or too large. */

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

const head = (line: string, ...headers: readonly string[]) =>
  [line, "Host: localhost", `Authorization: Bearer ${aliceToken}`, ...headers, "", ""].join("\r\n");

test("a path is matched byte for byte", async () => {
  await using server = await startTestServer();
  const paths = [
    "/",
    "//mcp",
    "/mcp/",
    "/MCP",
    "/mcp/../",
    "/mcp/..",
    "/mcp/../api/v1/status",
    "/./mcp",
    "/%6dcp",
    "/mcp%2fs%2ffiles",
    "/mcp%00",
    "/mcp/s",
    "/mcp/s/",
    "/mcp/s/%2e%2e",
    "/mcp/s/..",
    "/mcp/s/files/",
    "/mcp/s/files/../web",
    "/mcp/s/%66iles",
    "/mcp/s/FILES",
    "/mcp/s/files%00",
    "/mcp/s/__proto__",
    "/mcp/s/constructor",
    "/healthz/",
    "/api/v1/servers/../status",
    "/api/v1/servers/%2e%2e/log",
    "/api/v1/servers/files/log/",
    "/__proto__",
    "/constructor",
    "/sse/",
    "http://localhost/mcp",
    "http://evil.example/mcp",
    "*",
    "mcp",
  ];
  for (const path of paths) {
    const answer = await talk(
      server.port,
      `${head(`POST ${path} HTTP/1.1`, "Content-Type: application/json", "Content-Length: 2", "Connection: close")}{}`,
    );
    assert.match(answer, /^HTTP\/1\.1 40[04] /, path);
    assert.doesNotMatch(answer, /mcp-session-id/i, path);
  }
  assert.equal(server.service.sessions.size, 0);
});

test("the response repeats the name of an unknown server only when it is a valid name", async () => {
  await using server = await startTestServer();
  const answer = await ask(server, { path: "/mcp/s/<script>", headers: asAlice, body: initialize });
  assert.equal(answer.status, 404);
  assert.doesNotMatch(answer.text, /script/);
});

test("each path accepts only its methods", async () => {
  await using server = await startTestServer();
  const check = async (method: string, path: string, allow: string) => {
    const answer = await ask(server, { method, path, headers: asAlice });
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.equal(answer.headers["allow"], allow, `${method} ${path}`);
  };
  for (const method of ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "PROPFIND"]) {
    await check(method, "/mcp", "GET, POST, DELETE");
  }
  for (const method of ["HEAD", "OPTIONS", "POST", "DELETE"]) await check(method, "/sse", "GET");
  for (const method of ["HEAD", "OPTIONS", "GET", "PUT"]) await check(method, "/messages", "POST");
  for (const path of [
    "/healthz",
    "/metrics",
    "/api/v1/status",
    "/api/v1/tools",
    "/api/v1/servers/files/log",
  ]) {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) await check(method, path, "GET, HEAD");
  }
});

test("CONNECT and upgrades are refused", async () => {
  await using server = await startTestServer();
  assert.equal(await talk(server.port, head("CONNECT 127.0.0.1:22 HTTP/1.1")), "");
  const upgrade = head("GET /mcp HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade, close");
  assert.doesNotMatch(await talk(server.port, upgrade), /^HTTP\/1\.1 101/);
});

test("a request that repeats a security-relevant header is refused", async () => {
  await using server = await startTestServer();
  const bob = "Authorization: Bearer of-somebody-else-entirely";
  const twice = [
    ["host", "Host: evil.example"],
    ["authorization", bob],
    ["origin", "Origin: http://localhost", "Origin: https://evil.example"],
    ["content-type", "Content-Type: application/json", "content-type: text/plain"],
    ["mcp-session-id", "Mcp-Session-Id: a", "mcp-session-id: a"],
    ["mcp-protocol-version", "MCP-Protocol-Version: 2025-11-25", "Mcp-Protocol-Version: 2026-07-28"],
  ] as const;
  for (const [name, ...headers] of twice) {
    const answer = await talk(server.port, head("GET /mcp HTTP/1.1", ...headers));
    assert.match(answer, /^HTTP\/1\.1 400 .*HTTP_HEADER_DUPLICATE/s, name);
  }
});

test("a body of ambiguous length is refused", async () => {
  await using server = await startTestServer();
  const json = "Content-Type: application/json";
  const ambiguous = [
    head("POST /mcp HTTP/1.1", json, "Content-Length: 5", "Content-Length: 6"),
    head("POST /mcp HTTP/1.1", json, "Content-Length: 5", "Transfer-Encoding: chunked"),
    head("POST /mcp HTTP/1.1", json, "Transfer-Encoding: chunked", "Content-Length: 5"),
    head("POST /mcp HTTP/1.1", json, "Transfer-Encoding: chunked, identity"),
    head("POST /mcp HTTP/1.1", json, "Transfer-Encoding : chunked"),
    head("POST /mcp HTTP/1.1", json, "Content-Length: +5"),
    head("POST /mcp HTTP/1.1", json, "Content-Length: 0x5"),
    head("POST /mcp HTTP/1.1", json, "Content-Length: -1"),
    head("POST /mcp HTTP/1.1", json, "X-Folded: a", " Content-Length: 5"),
    head("POST /mcp HTTP/1.1", json, "X-Bare: a\nContent-Length: 5"),
    `${head("POST /mcp HTTP/1.1", json, "Transfer-Encoding: chunked")}zz\r\n`,
  ];
  for (const text of ambiguous) {
    const answer = await talk(
      server.port,
      `${text}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(text));
    assert.equal(answer.split("HTTP/1.1 ").length - 1, 1, `one answer to ${JSON.stringify(text)}`);
  }
});

test("invalid HTTP is refused with a JSON body", async () => {
  await using server = await startTestServer();
  for (const text of [
    "\x16\x03\x01\x02\x00",
    "hello\r\n\r\n",
    "GET /mcp HTTP/9.9\r\n\r\n",
    "GET  HTTP/1.1\r\n\r\n",
  ]) {
    const answer = await talk(server.port, text);
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n.*"code":"HTTP_MALFORMED"/s, JSON.stringify(text));
  }
});

test("invalid HTTP after a request closes the connection and cancels the request", async () => {
  await using server = await startTestServer();
  const { headers, body } = modern("tools/call", { name: "slow" });
  const text = JSON.stringify(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const request = head(
    "POST /mcp HTTP/1.1",
    ...lines,
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  );
  assert.equal(await talk(server.port, `${request}${text}not HTTP at all\r\n\r\n`), "");
  await waitUntil(() => server.service.waiting.size === 0);
});

test("a connection that a client closes or resets is not reported as a refused request", async () => {
  await using server = await startTestServer();
  const whole = head("GET /healthz HTTP/1.1");
  for (const text of [
    "",
    whole,
    "POST /mcp HTT",
    head("POST /mcp HTTP/1.1", "Content-Length: 50"),
    `${whole}GET`,
  ]) {
    for (const close of ["end", "resetAndDestroy"] as const) {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      if (text !== "") await new Promise((resolve) => socket.write(text, resolve));
      // The server has read the text when it has answered a later request.
      await ask(server, { path: "/healthz", method: "GET" });
      socket[close]();
      socket.resume();
    }
  }
  await ask(server, { body: "{" });
  await waitUntil(() => server.logger.records.some(({ message }) => message === "request refused"));
  const { text } = await ask(server, { path: "/metrics", headers: asAlice });
  assert.doesNotMatch(text, /HTTP_MALFORMED/);
});

test("headers above the limit are refused with 431", async () => {
  await using server = await startTestServer();
  const answer = await talk(server.port, head("GET /mcp HTTP/1.1", `X-Large: ${"x".repeat(20_000)}`));
  assert.match(answer, /^HTTP\/1\.1 431 .*HTTP_HEADERS_TOO_LARGE/s);
  const many = Array.from({ length: 3000 }, (_, index) => `x${index}: 1`);
  assert.match(await talk(server.port, head("GET /mcp HTTP/1.1", ...many)), /^HTTP\/1\.1 431 /);
});

test("malformed messages are refused and have no other effect", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const check = async (body: string, rpcCode: number) => {
    for (const headers of [asAlice, { ...asAlice, "mcp-session-id": session }]) {
      const answer = await ask(server, { headers, body });
      assert.equal(answer.status, 400, body.slice(0, 80));
      const code = answer.json["error"]?.["code"];
      assert.equal(code, rpcCode, body.slice(0, 80));
    }
  };
  await check("", -32700);
  await check("{", -32700);
  await check("{'a': 1}", -32700);
  await check('{"a": 1}}', -32700);
  await check('{"a": 1e999999', -32700);
  await check("\u0000", -32700);
  await check("[".repeat(100_000), -32700);
  await check(
    JSON.stringify(initialize).replace('"params":{', `"params":{"deep":${"[".repeat(65)}${"]".repeat(65)},`),
    -32700,
  );
  await check("1", -32600);
  await check("null", -32600);
  await check('"initialize"', -32600);
  await check("[]", -32600);
  await check("{}", -32600);
  await check('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600);
  await check('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600);
  await check('{"jsonrpc":"2.0","id":1,"method":1}', -32600);
  const own = await ask(server, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/list"),
  });
  assert.equal(own.status, 200);
  assert.deepEqual(
    server.logger.records.filter(({ level }) => level === "error"),
    [],
  );
});

test("a message cannot change a prototype", async () => {
  await using server = await startTestServer();
  const { headers } = modern("tools/call", { name: "echo" });
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"polluted":true}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`;
  await ask(server, { headers: { ...asAlice, ...headers }, body });
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test("a client that disconnects during a request leaves no session and no call", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const send = (text: string) =>
    new Promise<void>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: server.port }, () => {
        socket.write(text, () => {
          socket.destroy();
          resolve();
        });
      });
    });
  await send("POST /mcp HT");
  await send(head("POST /mcp HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000"));
  await send(
    `${head("POST /mcp HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000")}{"jsonrpc`,
  );
  const answer = await ask(server, {
    headers: { ...asAlice, "mcp-session-id": session },
    body: rpc("tools/list"),
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(
    server.logger.records.filter(({ level }) => level === "error"),
    [],
  );
});
