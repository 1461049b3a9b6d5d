import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request as requestHttp1 } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { fastSample, waitUntil } from "@toolcrib/testing";
import { credential, host } from "./fixture.ts";
import { openSession, type Protocol, protocols, readToEnd, startProxyFixture } from "./proxy-fixture.ts";

const secret = "sk_test_51H8xYzAbCdEfGh";
/** Sizes near those of TLS records and of the buffers. */
const sizes = [1, 16_383, 16_384, 16_385, 65_536, 65_537, 262_143, 262_145, 3_000_000];

/** Returns bytes without repetition; with `hasSecrets`, they contain `secret` and beginnings of it. */
function createBody(size: number, hasSecrets: boolean): Buffer {
  const body = Buffer.alloc(size);
  let state = size;
  for (let at = 0; at < size; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    body[at] = 97 + ((state >>> 16) % 26);
  }
  if (!hasSecrets) return body;
  for (let at = 16_384 - 11; at + secret.length < size; at += 16_384) body.write(secret, at, "latin1");
  for (let at = 1000; at + secret.length < size; at += 7919) body.write(secret.slice(0, 12), at, "latin1");
  return body;
}

const digest = (body: string | Buffer): string => createHash("sha256").update(body).digest("hex");

async function respond(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  const [, framing, size, has] = request.url.split("/");
  const body = createBody(Number(size), has === "secrets");
  if (framing === "length") response.setHeader("content-length", body.length);
  // Pieces whose boundaries differ from all others.
  for (let at = 0; at < body.length; at += 50_021) response.write(body.subarray(at, at + 50_021));
  response.end();
}

/** Sends several requests over one connection. */
function createRequester(inside: TLSSocket, protocol: Protocol) {
  const opened = protocol === "h2" ? openSession(inside) : undefined;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => inside;
  return {
    async ask(path: string, headers: { readonly [name: string]: string }): Promise<Readable> {
      if (opened !== undefined) return opened.session.request({ ":path": path, ...headers });
      const sent = requestHttp1({ agent, path, headers: { host, ...headers } });
      sent.end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return response;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

async function readBody(stream: Readable, isSlow: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    if (isSlow && pieces.length % 8 === 0) await delay(1);
  }
  return Buffer.concat(pieces);
}

for (const protocol of protocols) {
  for (const offered of [["http/1.1"], ["h2", "http/1.1"]] as const) {
    const between = `between a client of ${protocol} and an origin of ${offered.join(" and ")}`;
    test(`bodies of any size arrive unchanged, one after the other, ${between}`, async () => {
      const own = credential(secret);
      await using fixture = await startProxyFixture({ protocols: offered, credentials: [own], respond });
      await using requester = createRequester(await fixture.secure({ protocols: [protocol] }), protocol);
      let count = 0;
      for (const has of ["nothing", "secrets"]) {
        const headers: Record<string, string> =
          has === "secrets" ? { authorization: `Bearer ${own.placeholder}` } : {};
        for (const framing of ["length", "chunks"]) {
          for (const size of fastSample(sizes)) {
            count += 1;
            const path = `/${framing}/${size}/${has}`;
            const got = await readBody(await requester.ask(path, headers), count % 2 === 0);
            const sent = createBody(size, has === "secrets").toString("latin1");
            // The proxy holds back the first letters of a secret; when the rest is slow to arrive, it releases them.
            const beginnings = new RegExp(`(?:s|sk|sk_)(?=${own.placeholder})`, "g");
            const clean = (text: string): string => text.replace(beginnings, "");
            const expected = sent.replaceAll(secret, own.placeholder);
            assert.equal(digest(clean(got.toString("latin1"))), digest(clean(expected)), path);
          }
        }
      }
      assert.equal(fixture.connectionCount(), 1);
    });
  }
}

/** Raw responses, with their expected body and trailers. */
const framed: readonly (readonly [what: string, bytes: string, body: string, trailer: string | undefined])[] =
  [
    ["a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", undefined],
    ["no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", "hello", undefined],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", "hello", undefined],
    ["the end of the connection", "HTTP/1.1 200 OK\r\n\r\nhello", "hello", undefined],
    [
      "chunks, extensions and a trailer",
      "HTTP/1.1 200 OK\r\ntransfer-encoding:Chunked \r\n\r\n2;a=b\r\nhe\r\n003 ; x\r\nllo\r\n0\r\nX-After: 1\r\n\r\n",
      "hello",
      "1",
    ],
    [
      "interim responses before it",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "hello",
      undefined,
    ],
  ];

test("the proxy reads an HTTP/1.1 response in any division into pieces", async () => {
  let [response, pieceLength] = ["", 1];
  await using fixture = await startProxyFixture({
    protocols: ["http/1.1"],
    onConnection(connection) {
      connection.on("error", () => {});
      connection.once("data", async () => {
        const [bytes, length] = [response, pieceLength];
        for (let at = 0; at < bytes.length; at += length) {
          connection.write(bytes.slice(at, at + length), "latin1");
          await nextTurn();
        }
        connection.end();
      });
    },
  });
  for (const [what, bytes, body, trailer] of framed) {
    for (const length of [1, 2, 3, 7, bytes.length]) {
      [response, pieceLength] = [bytes, length];
      const connections = fixture.connectionCount();
      const received = await fixture.send({ protocol: "http/1.1", headers: { te: "trailers" } });
      assert.equal(received.status, 200, what);
      assert.equal(received.body.toString(), body, `${what}, in pieces of ${length}`);
      assert.equal(received.trailers["x-after"], trailer, what);
      // Each division arrives over a connection of its own.
      await waitUntil(() => fixture.openConnections() === 0, { what: "the connection is closed" });
      assert.equal(fixture.connectionCount(), connections + 1);
    }
  }
});

test("an unrequested response is not the response to the next request", async () => {
  const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const isLate of [false, true]) {
    await using fixture = await startProxyFixture({
      protocols: ["http/1.1"],
      onConnection(connection) {
        connection.on("error", () => {});
        connection.on("data", () => {
          if (!isLate) return void connection.write(answer("asked") + answer("unasked"));
          connection.write(answer("asked"));
          setImmediate(() => connection.write(answer("unasked")));
        });
      },
    });
    const inside = await fixture.secure();
    const texts: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      inside.write(`GET /${turn} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const [piece] = await once(inside, "data");
      texts.push(String(piece));
      await waitUntil(() => fixture.openConnections() === 0, { what: "the connection is closed" });
    }
    for (const text of texts) assert.match(text, /\r\n\r\nasked$/);
    assert.equal(fixture.connectionCount(), 3);
    inside.destroy();
  }
});

/** Errors in the body, after the head was forwarded. */
const broken: readonly (readonly [what: string, body: string])[] = [
  ["a size that is not a number", "5\r\nhello\r\nno\r\n"],
  ["a size with a sign", "+5\r\nhello\r\n0\r\n\r\n"],
  ["an endless size", `${"0".repeat(5000)}5\r\nhello\r\n0\r\n\r\n`],
  ["a size with white space after it", "5 \r\nhello\r\n0\r\n\r\n"],
  ["an extension without a name", "5;\r\nhello\r\n0\r\n\r\n"],
  ["an extension with unbalanced quotes", '5;a="b\r\nhello\r\n0\r\n\r\n'],
  ["a chunk longer than its size", "5\r\nhello!\r\n0\r\n\r\n"],
  ["a line feed alone", "5\nhello\n0\n\n"],
  ["an invalid trailer", "5\r\nhello\r\n0\r\nno trailer\r\n\r\n"],
  ["endless trailers", `5\r\nhello\r\n0\r\n${"X-More: 1\r\n".repeat(8000)}\r\n`],
  ["an end before the last chunk", "5\r\nhello\r\n"],
];

test("a body with invalid chunks is aborted, and is never reported as complete", async () => {
  for (const [what, body] of broken) {
    await using fixture = await startProxyFixture({
      protocols: ["http/1.1"],
      onConnection(connection) {
        connection.on("error", () => {});
        connection.once("data", () => {
          connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n");
          setImmediate(() => connection.end(body, "latin1"));
        });
      },
    });
    const inside = await fixture.secure();
    inside.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const text = await readToEnd(inside);
    assert.match(text, /^HTTP\/1\.1 (?:200 OK|502 )/, what);
    if (text.startsWith("HTTP/1.1 200")) assert.ok(!text.endsWith("\r\n0\r\n\r\n"), `${what}: ${text}`);
  }
});
