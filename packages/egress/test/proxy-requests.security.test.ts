import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import { host } from "./fixture.ts";
import { openSession, readToEnd, startProxyFixture } from "./proxy-fixture.ts";

const head = (...lines: readonly string[]) => [`Host: ${host}`, ...lines].join("\r\n");

/** Raw requests of a client inside of the tunnel, and the status of each response. */
const rows: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
  [
    "a length and chunks",
    `POST / HTTP/1.1\r\n${head("Content-Length: 6", "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\nX`,
    [400],
  ],
  [
    "chunks and a length",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: chunked", "Content-Length: 6")}\r\n\r\n0\r\n\r\nX`,
    [400],
  ],
  ["two lengths", `POST / HTTP/1.1\r\n${head("Content-Length: 1", "Content-Length: 2")}\r\n\r\nxx`, [400]],
  ["a list of lengths", `POST / HTTP/1.1\r\n${head("Content-Length: 1, 1")}\r\n\r\nx`, [400]],
  ["a signed length", `POST / HTTP/1.1\r\n${head("Content-Length: +1")}\r\n\r\nx`, [400]],
  ["a negative length", `POST / HTTP/1.1\r\n${head("Content-Length: -1")}\r\n\r\nx`, [400]],
  ["a hexadecimal length", `POST / HTTP/1.1\r\n${head("Content-Length: 0x1")}\r\n\r\nx`, [400]],
  ["a length with a space", `POST / HTTP/1.1\r\n${head("Content-Length : 1")}\r\n\r\nx`, [400]],
  [
    "an unknown coding",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: xchunked")}\r\n\r\n0\r\n\r\n`,
    [400, 400],
  ],
  [
    "chunks that are not last",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: chunked, identity")}\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "another coding before chunks",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: gzip, chunked", "Connection: close")}\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "chunks twice",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "Connection: close")}\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "a coding with a tab",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding:\x0bchunked")}\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "a chunk without a size",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: chunked")}\r\n\r\nX\r\n\r\n`,
    [400],
  ],
  [
    "a chunk longer than its size",
    `POST / HTTP/1.1\r\n${head("Transfer-Encoding: chunked")}\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
    [400],
  ],
  ["a folded line", `GET / HTTP/1.1\r\n${head("X-A: 1", "\tTransfer-Encoding: chunked")}\r\n\r\n`, [400]],
  ["a bare line feed", `GET / HTTP/1.1\nHost: ${host}\n\n`, [400]],
  ["a line feed in a head", `GET / HTTP/1.1\r\n${head("X-A: 1\nX-B: 2")}\r\n\r\n`, [400]],
  ["a bare carriage return", `GET / HTTP/1.1\r\n${head("X-A: 1\rX-B: 2")}\r\n\r\n`, [400]],
  ["a null", `GET / HTTP/1.1\r\n${head("X-A: 1\0")}\r\n\r\n`, [400]],
  ["a name with a space", `GET / HTTP/1.1\r\n${head("X A: 1")}\r\n\r\n`, [400]],
  ["an empty name", `GET / HTTP/1.1\r\n${head(": 1")}\r\n\r\n`, [400]],
  ["a name with a slash", `GET / HTTP/1.1\r\n${head("X/A: 1")}\r\n\r\n`, [400]],
  [
    "letters outside of ASCII",
    `GET / HTTP/1.1\r\n${head("X-A: caf\xe9", "Connection: close")}\r\n\r\n`,
    [400],
  ],
  ["an unknown method", `HACK / HTTP/1.1\r\n${head()}\r\n\r\n`, [400]],
  ["TRACE", `TRACE / HTTP/1.1\r\n${head("Connection: close")}\r\n\r\n`, [400]],
  ["another version", `GET / HTTP/3.1\r\n${head()}\r\n\r\n`, [400]],
  ["HTTP/0.9", "GET /\r\n\r\n", [400]],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  ["an endless head", `GET / HTTP/1.1\r\n${head(`X-A: ${"x".repeat(70_000)}`)}\r\n\r\n`, [400]],
  [
    "two authorizations",
    `GET / HTTP/1.1\r\n${head("Authorization: a", "Authorization: b", "Connection: close")}\r\n\r\n`,
    [400],
  ],
  [
    "two types",
    `POST / HTTP/1.1\r\n${head("Content-Type: a/b", "Content-Type: c/d", "Content-Length: 0", "Connection: close")}\r\n\r\n`,
    [400],
  ],
  [
    "a connection option that is the host",
    `GET / HTTP/1.1\r\n${head("Connection: close, Host")}\r\n\r\n`,
    [400],
  ],
  [
    "a connection option that is the length",
    `POST / HTTP/1.1\r\n${head("Content-Length: 1", "Connection: close, content-length")}\r\n\r\nx`,
    [400],
  ],
  [
    "a connection option that is a credential",
    `GET / HTTP/1.1\r\n${head("Authorization: a", "Connection: close, authorization")}\r\n\r\n`,
    [400],
  ],
  [
    "an unknown expectation",
    `GET / HTTP/1.1\r\n${head("Expect: a miracle", "Connection: close")}\r\n\r\n`,
    [417],
  ],
  [
    "WebSocket",
    `GET / HTTP/1.1\r\n${head("Upgrade: websocket", "Connection: Upgrade, close", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")}\r\n\r\n`,
    [501],
  ],
  [
    "another protocol",
    `GET / HTTP/1.1\r\n${head("Upgrade: h2c, websocket", "Connection: Upgrade, close")}\r\n\r\n`,
    [501],
  ],
  [
    "an upgrade to HTTP/2 without TLS",
    `GET / HTTP/1.1\r\n${head("Upgrade: h2c", "HTTP2-Settings: AAA", "Connection: Upgrade, HTTP2-Settings, close")}\r\n\r\n`,
    [200],
  ],
  [
    "a request after a complete one",
    `POST / HTTP/1.1\r\n${head("Content-Length: 1")}\r\n\r\nxGET /2 HTTP/1.1\r\n${head("Connection: close")}\r\n\r\n`,
    [200, 200],
  ],
  [
    "another host after a complete request",
    `POST / HTTP/1.1\r\n${head("Content-Length: 1")}\r\n\r\nxGET /2 HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n`,
    [200, 421],
  ],
];

test("the proxy refuses ambiguous requests, and does not pass them on", async () => {
  const got: { what: string; statuses: number[] }[] = [];
  const passed: string[] = [];
  await using fixture = await startProxyFixture({
    respond(request, response) {
      passed.push(`${request.method} ${request.url}`);
      request.resume();
      request.once("end", () => response.end("{}"));
    },
  });
  for (const [what, bytes] of rows) {
    const inside = await fixture.secure();
    inside.write(bytes, "latin1");
    const text = await readToEnd(inside);
    got.push({
      what,
      statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    });
  }
  assert.deepEqual(
    got,
    rows.map(([what, , statuses]) => ({ what, statuses })),
  );
  assert.deepEqual(passed, ["GET /", "POST /", "GET /2", "POST /"]);
});

test("the proxy removes the connection headers of the client, also those that Connection lists", async () => {
  await using fixture = await startProxyFixture();
  const inside = await fixture.secure();
  const lines = [
    "Connection: close, X-Hop",
    "Keep-Alive: timeout=5",
    "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic eDp5",
    "TE: gzip",
    "X-Hop: 1",
    "X-End: 1",
    "Accept: a/b",
    "Accept: c/d",
    "Cookie: a=1",
    "Cookie: b=2",
  ];
  inside.write(`GET / HTTP/1.1\r\n${head(...lines)}\r\n\r\n`);
  const text = await readToEnd(inside);
  const { rawHeaders } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  assert.deepEqual(
    rawHeaders,
    [
      ["Host", host],
      ["X-End", "1"],
      ["Accept", "a/b, c/d"],
      ["Cookie", "a=1; b=2"],
      ["Connection", "keep-alive"],
    ].flat(),
  );
});

/** Raw responses of an origin, and the response that the client receives. */
const responses: readonly (readonly [what: string, bytes: string, expected: RegExp])[] = [
  [
    "a length and chunks",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", /^HTTP\/1\.1 502 /],
  [
    "another coding",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  ["an endless head", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 502 /],
  ["a folded line", "HTTP/1.1 200 OK\r\nX: 1\r\n Y: 2\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  ["a line feed alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", /^HTTP\/1\.1 502 /],
  [
    "an empty line before the status line",
    "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/,
  ],
  [
    "many empty lines before the status line",
    `${"\r\n".repeat(8)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    /^HTTP\/1\.1 502 /,
  ],
  [
    "a carriage return within a line",
    "HTTP/1.1 200 OK\r\nX: 1\rY: 2\r\nContent-Length: 0\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  ["a null byte", "HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", /^HTTP\/1\.1 502 /],
  ["a header without a name", "HTTP/1.1 200 OK\r\n: 2\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  ["a line without a colon", "HTTP/1.1 200 OK\r\nX\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  ["a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", /^HTTP\/1\.1 502 /],
  ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", /^HTTP\/1\.1 502 /],
  [
    "chunks in HTTP/1.0",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  [
    "chunks twice",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  ["another version", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  ["a status of two digits", "HTTP/1.1 99 OK\r\nContent-Length: 0\r\n\r\n", /^HTTP\/1\.1 502 /],
  [
    "an unrequested upgrade",
    "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    /^HTTP\/1\.1 502 /,
  ],
  [
    "a body up to the end of the connection",
    "HTTP/1.1 200 OK\r\nX: 1\r\n\r\nbody",
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n4\r\nbody\r\n0\r\n\r\n$/,
  ],
  [
    "a connection header",
    "HTTP/1.1 200 Fine\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: x\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nok",
    /^HTTP\/1\.1 200 Fine\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok$/,
  ],
  [
    "407",
    "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    /^HTTP\/1\.1 407 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n$/,
  ],
];

test("the proxy refuses ambiguous responses", async () => {
  for (const [what, bytes, expected] of responses) {
    await using fixture = await startProxyFixture({
      protocols: ["http/1.1"],
      onConnection(connection) {
        connection.on("error", () => {});
        connection.once("data", () => connection.end(bytes, "latin1"));
      },
    });
    const inside = await fixture.secure();
    inside.write(`GET / HTTP/1.1\r\n${head("Connection: close")}\r\n\r\n`);
    assert.match(await readToEnd(inside), expected, what);
  }
});

test("the proxy sends no body that differs from its announced length", async () => {
  let received = "";
  await using fixture = await startProxyFixture({
    protocols: ["http/1.1"],
    onConnection(connection) {
      connection.on("error", () => {});
      connection.on("data", (piece: Buffer) => {
        received += piece.toString("latin1");
      });
    },
  });
  for (const [said, sent] of [
    ["5", "0123456789GET /smuggled HTTP/1.1\r\n\r\n"],
    ["50", "0123456789"],
    ["5", ""],
    ["5, 5", "01234"],
    ["+5", "01234"],
  ] as const) {
    received = "";
    await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
    const stream = opened.session.request({ ":method": "POST", ":path": "/", "content-length": said });
    stream.on("error", () => {});
    stream.resume();
    stream.end(sent);
    await waitUntil(() => stream.closed, { what: `a body of ${said} is refused` });
    const body = received.slice(received.indexOf("\r\n\r\n") + 4);
    assert.ok(body.length <= 10 && !body.includes("GET"), `${said}: ${received}`);
  }
});
