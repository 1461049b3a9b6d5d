/** Hosts whose TLS is passed on unread: what the proxy still checks. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as requestHttp } from "node:http";
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcpServer,
  type Socket,
} from "node:net";
import { test } from "node:test";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { helloMessage, serverName, toRecords } from "./client-hello-bytes.ts";
import { host } from "./fixture.ts";
import { type ProxyFixture, readToEnd, sendInside, startProxyFixture } from "./proxy-fixture.ts";

/** Speaks TLS with the origin itself, in a tunnel. */
async function secureEndToEnd(
  fixture: ProxyFixture,
  { authority = `${host}:443`, servername = host } = {},
): Promise<TLSSocket> {
  const { status, socket, text } = await fixture.connect(authority);
  assert.equal(status, 200, text);
  const inside = connectTls({ socket, servername, ca: readFileSync(fixture.proxy.caBundleFile) });
  const failed = once(inside, "close").then(() => assert.fail("the handshake was refused"));
  inside.on("error", () => {});
  await Promise.race([once(inside, "secureConnect"), failed]);
  failed.catch(() => {});
  return inside;
}

async function answerTo(fixture: ProxyFixture, bytes: Buffer): Promise<string> {
  const { status, socket } = await fixture.connect();
  assert.equal(status, 200);
  socket.write(bytes);
  return await readToEnd(socket);
}

const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]).toString("latin1");

test("a client speaks TLS with the host itself, and the proxy does not see inside", async () => {
  await using fixture = await startProxyFixture({ allow: [], passthrough: [host] });
  const inside = await secureEndToEnd(fixture);
  assert.notEqual(inside.getPeerX509Certificate()?.issuer, readFileSync(fixture.proxy.caFile, "utf8"));
  const big = "x".repeat(3_000_000);
  const { status, json } = await sendInside(inside, { protocol: "http/1.1", method: "POST", body: big });
  assert.deepEqual([status, json()["body"]], [200, big]);
  inside.destroy();
  assert.deepEqual(fixture.events, []);
});

test("the name of the handshake must be the host of CONNECT, in clear text", async () => {
  await using fixture = await startProxyFixture({ allow: [], passthrough: [host, "*.wild.example.com"] });
  const hidden = [0xfe0d, Buffer.alloc(60)] as const;
  const refused: readonly Buffer[] = [
    toRecords(helloMessage([serverName("other.example.com")])),
    toRecords(helloMessage([serverName("a.wild.example.com")])),
    toRecords(helloMessage([serverName(`${host}.`)])),
    toRecords(helloMessage([])),
    toRecords(helloMessage([serverName(host), hidden])),
    Buffer.from("GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n"),
  ];
  for (const bytes of refused) assert.equal(await answerTo(fixture, bytes), unrecognizedName);
  assert.equal(fixture.connectionCount(), 0);
  const seen = fixture.events.map((event) => (event.kind === "egress.denied" ? event.code : event.kind));
  assert.deepEqual(seen, Array(refused.length).fill("EGRESS_AUTHORITY_MISMATCH"));
  const { socket } = await fixture.connect();
  const gone = once(socket, "close");
  socket.resume().end();
  await gone;
});

test("the name is found when the first message arrives in pieces and records", async () => {
  await using fixture = await startProxyFixture({ allow: [], passthrough: [host] });
  const { socket } = await fixture.connect();
  const bytes = toRecords(helloMessage([serverName(host)]), [1, 2, 30, 60]);
  for (let at = 0; at < bytes.length; at += 5) {
    socket.write(bytes.subarray(at, at + 5));
    await new Promise(setImmediate);
  }
  // The origin answers in TLS: with an alert, because the message offers too little.
  const [answer] = await once(socket, "data");
  assert.ok([21, 22].includes((answer as Buffer)[0] as number));
  assert.equal(fixture.connectionCount(), 1);
});

test("a host is read when any of its entries says nothing about TLS", async () => {
  await using fixture = await startProxyFixture({ allow: [host], passthrough: ["*.example.com"] });
  // The client trusts the authority of the proxy alone.
  const inside = await fixture.secure();
  const { json } = await sendInside(inside, { protocol: "http/1.1" });
  assert.equal(json()["method"], "GET");
});

test("an unread host still needs its port, its address and its entry", async () => {
  await using fixture = await startProxyFixture({
    allow: [],
    passthrough: [host],
    settings: { internalRanges: [] },
  });
  assert.equal((await fixture.connect(`${host}:8443`)).status, 403);
  assert.equal((await fixture.connect("other.example.com:443")).status, 403);
  const denied = Buffer.from([21, 3, 3, 0, 2, 2, 49]).toString("latin1");
  assert.equal(await answerTo(fixture, toRecords(helloMessage([serverName(host)]))), denied);
  assert.equal(fixture.events.at(-1)?.kind, "egress.denied");
});

test("an origin that the operator named is reached at any address, unread and by plain HTTP", async () => {
  const plain = createServer((request, response) => {
    response.setHeader("x-seen", JSON.stringify([request.method, request.url, request.headers["host"]]));
    response.setHeader("x-hops", String(request.headers["x-hop"]));
    response.setHeader("x-back", "ends here");
    response.setHeader("connection", "x-back");
    request.pipe(response);
  }).listen(0, "127.0.0.1");
  await once(plain, "listening");
  const { port } = plain.address() as AddressInfo;
  const origins = [{ scheme: "http", host: "127.0.0.1", port }] as const;
  try {
    await using fixture = await startProxyFixture({ allow: [], origins, settings: { internalRanges: [] } });
    const send = async (url: string): Promise<[number, unknown, string]> => {
      const proxy = new URL(fixture.proxy.url);
      const sent = requestHttp({
        host: proxy.hostname,
        port: proxy.port,
        method: "POST",
        path: url,
        headers: {
          host: "elsewhere.example",
          "proxy-authorization": "Basic x",
          "x-hop": "ends here",
          connection: "close, X-Hop",
        },
      });
      sent.end("hello");
      const [response] = await once(sent, "response");
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      if (response.statusCode === 200)
        assert.deepEqual([response.headers["x-hops"], response.headers["x-back"]], ["undefined", undefined]);
      return [response.statusCode, response.headers["x-seen"], Buffer.concat(pieces).toString()];
    };
    assert.deepEqual(await send(`http://127.0.0.1:${port}/a/b?c=d`), [
      200,
      JSON.stringify(["POST", "/a/b?c=d", `127.0.0.1:${port}`]),
      "hello",
    ]);
    for (const url of [
      `http://127.0.0.1:${port + 1}/`,
      `http://127.0.0.1.:${port}/`,
      `http://user@127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}@other.example/`,
      "http://other.example/",
    ]) {
      assert.equal((await send(url))[0], 403, url);
    }
    // Some clients open a tunnel for plain HTTP, too: it leads to this origin and to nothing beside it.
    const { status, socket } = await fixture.connect(`127.0.0.1:${port}`);
    assert.equal(status, 200);
    socket.write("GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert.match(await readToEnd(socket), /^HTTP\/1\.1 200 .*"GET","\/tunnel"/s);
    for (const authority of [
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.:${port}`,
      `localhost:${port}`,
      "127.0.0.1:443",
    ]) {
      assert.notEqual((await fixture.connect(authority)).status, 200, authority);
    }
  } finally {
    plain.close();
    plain.closeAllConnections();
  }
});

test("a plain request is not passed on where its headers would change what its bytes mean", async () => {
  const received: string[] = [];
  let answer = "";
  const origin = createTcpServer((client: Socket) => {
    client.on("error", () => {});
    received.push("");
    client.on("data", (piece: Buffer) => {
      if (received[received.length - 1] === "") client.end(answer);
      received[received.length - 1] += piece.toString("latin1");
    });
  }).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const { port } = origin.address() as AddressInfo;
  const authority = `127.0.0.1:${port}`;
  const origins = [{ scheme: "http", host: "127.0.0.1", port }] as const;
  try {
    await using fixture = await startProxyFixture({ allow: [], origins });
    const send = (target: string, lines: readonly string[], body = ""): Promise<string> => {
      const proxy = new URL(fixture.proxy.url);
      const socket = connectTcp(Number(proxy.port), proxy.hostname);
      const head = [`GET http://${authority}${target} HTTP/1.1`, `Host: ${authority}`, ...lines];
      socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
      return readToEnd(socket);
    };
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n";
    const length = `Content-Length: ${smuggled.length}`;
    const refused: readonly (readonly [reason: string, lines: readonly string[], body?: string])[] = [
      ["content-length", ["Connection: content-length", length], smuggled],
      ["content-length", ["Connection: close, CONTENT-LENGTH", length], smuggled],
      ["host", ["Connection: host"]],
      ["authorization", ["Connection: authorization", "Authorization: Bearer x"]],
      ["cookie", ["Connection: cookie", "Cookie: a=b"]],
      ["not chunked", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"],
    ];
    for (const [reason, lines, body] of refused) {
      const text = await send("/a", lines, body);
      assert.match(text, /^HTTP\/1\.1 400 .*EGRESS_REQUEST_INVALID/s, text);
      assert.ok(text.includes(reason), text);
    }
    assert.deepEqual(received, []);
    const codes = fixture.events.map((event) => (event.kind === "egress.denied" ? event.code : event.kind));
    assert.deepEqual(codes, Array(refused.length).fill("EGRESS_REQUEST_INVALID"));

    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert.match(await send("?q=1", ["Connection: close"]), /^HTTP\/1\.1 200 .*ok$/s);
    assert.match(received.at(-1) ?? "", /^GET \/\?q=1 HTTP/);
    answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert.match(await send("/a", ["Connection: close"]), /^HTTP\/1\.1 502 .*EGRESS_RESPONSE_INVALID/s);
  } finally {
    origin.close();
  }
});

test("the metadata of a cloud is no origin, even if a setting names it", async () => {
  const origins = [{ scheme: "http", host: "169.254.169.254", port: 80 }] as const;
  await using fixture = await startProxyFixture({ allow: [], origins });
  const proxy = new URL(fixture.proxy.url);
  const socket = connectTcp(Number(proxy.port), proxy.hostname);
  socket.write(
    "GET http://169.254.169.254/latest/meta-data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );
  assert.match(await readToEnd(socket), /^HTTP\/1\.1 403 .*EGRESS_ADDRESS_DENIED/s);
});

test("a named origin is reached through the proxy of the operator, with its credentials", async () => {
  const heads: string[] = [];
  const proxies = createTcpServer((client: Socket) => {
    client.once("data", (piece: Buffer) => {
      const head = piece.toString("latin1");
      heads.push(head);
      const target = /^CONNECT \S+:(\d+)/.exec(head);
      if (target === null) {
        client.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        return;
      }
      const server = connectTcp(originPort, "127.0.0.1");
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(server).pipe(client);
      client.on("error", () => server.destroy());
      server.on("error", () => {}).on("close", () => client.destroy());
    });
  }).listen(0, "127.0.0.1");
  await once(proxies, "listening");
  let originPort = 0;
  const via = () => `http://me:pa%20ss@127.0.0.1:${(proxies.address() as AddressInfo).port}`;
  const origins = [
    { scheme: "https", host, port: 443 },
    { scheme: "http", host: "registry", port: 8081 },
  ] as const;
  try {
    await using fixture = await startProxyFixture({ allow: [], origins, via });
    originPort = fixture.originPort;
    const inside = await secureEndToEnd(fixture);
    const { status } = await sendInside(inside, { protocol: "http/1.1" });
    assert.equal(status, 200);
    inside.destroy();
    const proxy = new URL(fixture.proxy.url);
    const socket = connectTcp(Number(proxy.port), proxy.hostname);
    socket.write("GET http://registry:8081/x HTTP/1.1\r\nHost: registry:8081\r\nConnection: close\r\n\r\n");
    assert.match(await readToEnd(socket), /^HTTP\/1\.1 200 .*ok/s);
    const credentials = `Proxy-Authorization: Basic ${Buffer.from("me:pa ss").toString("base64")}`;
    assert.ok(heads[0]?.startsWith(`CONNECT ${host}:443 HTTP/1.1`));
    assert.ok(heads[1]?.startsWith("GET http://registry:8081/x HTTP/1.1"));
    for (const head of heads) assert.ok(head.includes(credentials), head);
  } finally {
    proxies.close();
  }
});

test("a proxy of the operator whose password cannot be decoded is an error that says so, without the password", async () => {
  const origins = [{ scheme: "http", host: "registry", port: 8081 }] as const;
  for (const password of ["50%zz", "half%", "%ff"]) {
    await using fixture = await startProxyFixture({
      allow: [],
      origins,
      via: () => `http://me:${password}@127.0.0.1:9`,
    });
    const proxy = new URL(fixture.proxy.url);
    const socket = connectTcp(Number(proxy.port), proxy.hostname);
    socket.write("GET http://registry:8081/x HTTP/1.1\r\nHost: registry:8081\r\nConnection: close\r\n\r\n");
    const answer = await readToEnd(socket);
    assert.match(answer, /^HTTP\/1\.1 502 .*EGRESS_UNREACHABLE.*percent sign.*%25/s, answer);
    assert.equal(answer.includes(password), false, answer);
  }
});
