import assert from "node:assert/strict";
import { once } from "node:events";
import { request as requestHttp1 } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { waitUntil } from "@toolcrib/testing";
import { host } from "./fixture.ts";
import { openSession, type Protocol, protocols, readToEnd, startProxyFixture } from "./proxy-fixture.ts";

/** Every combination of the client's protocol and the origin's protocol. */
const pairs = protocols.flatMap((client) =>
  ([["h2", "http/1.1"], ["http/1.1"]] as const).map((offered) => ({ client, offered })),
);
/** The protocol of the request to the origin. */
const spoken = (client: Protocol, offered: readonly Protocol[]) =>
  client === "h2" && offered.includes("h2") ? "2.0" : "1.1";

for (const { client, offered } of pairs) {
  const between = `a client of ${client} and an origin of ${offered.join(" and ")}`;

  test(`the proxy forwards method, path, headers and body unchanged, between ${between}`, async () => {
    await using fixture = await startProxyFixture({ protocols: offered });
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const path = "/a/%2e%2E/b//c;d=1?x=%00&y=a+b&z[]=%F0%9F%A6%8A&=&?/:@!$'()*,;~";
    const headers = { "X-Team": "core", accept: "*/*", "x-empty": "", "user-agent": "a test/1.0 (it)" };
    for (const [method, body] of [
      ["GET", undefined],
      ["DELETE", undefined],
      ["POST", every],
      ["POST", ""],
      ["PUT", Buffer.alloc(300_000, every)],
      ["PATCH", "{}"],
      ["GET", "a body of a GET"],
      ["DELETE", "a body of a DELETE"],
    ] as const) {
      const received = await fixture.send({ protocol: client, method, path, headers, body });
      const got = received.json() as { headers: Record<string, string>; [name: string]: unknown };
      assert.equal(received.status, 200);
      assert.equal(got["method"], method);
      assert.equal(got["url"], path);
      assert.equal(got["version"], spoken(client, offered));
      assert.equal(got["body"], Buffer.from(body ?? "").toString("latin1"));
      assert.equal(got.headers["x-team"], "core");
      assert.equal(got.headers["x-empty"], "");
      assert.equal(got.headers["user-agent"], headers["user-agent"]);
      assert.equal(got.headers["host"] ?? got.headers[":authority"], host);
      for (const name of ["via", "forwarded", "x-forwarded-for", "proxy-connection"]) {
        assert.equal(got.headers[name], undefined);
      }
    }
    assert.deepEqual(fixture.events, []);
  });

  test(`the proxy forwards trailers in both directions, between ${between}`, async () => {
    await using fixture = await startProxyFixture({
      protocols: offered,
      async respond(request, response) {
        request.resume();
        await once(request, "end");
        response.setHeader("trailer", "x-sum");
        response.write("body");
        response.addTrailers({ "x-sum": `of ${request.trailers["x-part"]}`, "x-more": "1" });
        response.end();
      },
    });
    const inside = await fixture.secure({ protocols: [client] });
    if (client === "h2") {
      await using opened = openSession(inside);
      const stream = opened.session.request(
        { ":method": "POST", ":path": "/", te: "trailers" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-part": "7" }));
      const trailers = once(stream, "trailers");
      stream.end("x");
      stream.resume();
      const [got] = await trailers;
      assert.equal(got["x-sum"], "of 7");
      assert.equal(got["x-more"], "1");
    } else {
      inside.write(
        `POST / HTTP/1.1\r\nHost: ${host}\r\nTE: trailers\r\nConnection: TE, close\r\nTransfer-Encoding: chunked\r\nTrailer: x-part\r\n\r\n1\r\nx\r\n0\r\nx-part: 7\r\n\r\n`,
      );
      const text = await readToEnd(inside);
      assert.match(text, /\r\n4\r\nbody\r\n0\r\nx-sum: of 7\r\nx-more: 1\r\n\r\n$/i);
    }
  });

  test(`the proxy forwards responses without a body unchanged, between ${between}`, async () => {
    await using fixture = await startProxyFixture({
      protocols: offered,
      respond(request, response) {
        const status = Number(request.url.slice(1));
        response.statusCode = status;
        response.setHeader("x-status", String(status));
        if (request.method === "HEAD") response.setHeader("content-length", "1234");
        if (status === 304) response.setHeader("etag", '"x"');
        response.end();
      },
    });
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
      ["GET", 304],
      ["GET", 200],
      ["POST", 205],
      ["HEAD", 404],
    ] as const) {
      const received = await fixture.send({ protocol: client, method, path: `/${status}` });
      assert.equal(received.status, status);
      assert.equal(received.headers["x-status"], String(status));
      assert.equal(received.body.length, 0);
      if (method === "HEAD") assert.equal(received.headers["content-length"], "1234");
    }
  });

  test(`the proxy forwards interim responses, between ${between}`, async () => {
    await using fixture = await startProxyFixture({
      protocols: offered,
      respond(request, response) {
        response.writeEarlyHints({ link: "</style.css>; rel=preload" });
        request.resume();
        request.once("end", () => response.end("done"));
      },
    });
    const inside = await fixture.secure({ protocols: [client] });
    if (client === "h2") {
      await using opened = openSession(inside);
      const stream = opened.session.request({ ":path": "/" });
      const [interim] = await once(stream, "headers");
      assert.equal(interim[":status"], 103);
      assert.equal(interim["link"], "</style.css>; rel=preload");
      const [response] = await once(stream, "response");
      assert.equal(response[":status"], 200);
    } else {
      const sent = requestHttp1({ createConnection: () => inside, path: "/", headers: { host } });
      sent.end();
      const [interim] = await once(sent, "information");
      assert.equal(interim.statusCode, 103);
      assert.equal(interim.headers.link, "</style.css>; rel=preload");
      const [response] = await once(sent, "response");
      assert.equal(response.statusCode, 200);
      response.resume();
    }
  });

  test(`the proxy forwards the answer of the origin to "Expect: 100-continue", between ${between}`, async () => {
    await using fixture = await startProxyFixture({ protocols: offered });
    const inside = await fixture.secure({ protocols: [client] });
    const headers = { expect: "100-continue", "content-length": "5" };
    if (client === "h2") {
      await using opened = openSession(inside);
      const stream = opened.session.request({ ":method": "POST", ":path": "/", ...headers });
      await once(stream, "continue");
      stream.end("hello");
      let text = "";
      for await (const piece of stream as AsyncIterable<Buffer>) text += piece.toString();
      assert.equal(JSON.parse(text).body, "hello");
    } else {
      const sent = requestHttp1({
        createConnection: () => inside,
        method: "POST",
        headers: { host, ...headers },
      });
      sent.flushHeaders();
      await once(sent, "continue");
      sent.end("hello");
      const [response] = await once(sent, "response");
      let text = "";
      for await (const piece of response as AsyncIterable<Buffer>) text += piece.toString();
      assert.equal(JSON.parse(text).body, "hello");
    }
  });

  test(`the proxy streams a response in pieces, at the pace of its reader, between ${between}`, async () => {
    let written = 0;
    await using fixture = await startProxyFixture({
      protocols: offered,
      respond(_request, response) {
        response.write("first");
        response.once("drain", () => {});
        const piece = Buffer.alloc(64 * 1024, "x");
        const more = (): void => {
          if (response.destroyed) return;
          written += piece.length;
          if (written > 256 << 20) response.end();
          else if (response.write(piece)) setImmediate(more);
          else response.once("drain", more);
        };
        // The origin continues only after its first piece has arrived at the client.
        if (_request.url === "/all") more();
      },
    });
    const inside = await fixture.secure({ protocols: [client] });
    await using opened = client === "h2" ? openSession(inside) : undefined;
    const slow = await startReading(opened, inside, "/all");
    const [first] = await once(slow, "data");
    assert.match(String(first), /^first/);
    slow.pause();
    // The origin stops when all buffers on the way are full. The origin, the proxy and the client share this
    // event loop, so it has stopped when it writes nothing in many turns.
    for (let before = -1; written !== before || written === 0; ) {
      before = written;
      for (let turn = 0; turn < 200; turn += 1) await nextTurn();
    }
    assert.ok(written < 64 << 20, `${written} bytes were sent to a reader that does not read`);
    slow.destroy();
    inside.destroy();
  });

  test(`the proxy ends the request to the origin when the client disconnects, between ${between}`, async () => {
    let isGone = false;
    let response: Http2ServerResponse | undefined;
    await using fixture = await startProxyFixture({
      protocols: offered,
      respond(_request, given) {
        response = given;
        given.write("first");
        given.once("close", () => {
          isGone = true;
        });
      },
    });
    const inside = await fixture.secure({ protocols: [client] });
    if (client === "h2") {
      await using opened = openSession(inside);
      const stream = opened.session.request({ ":path": "/" });
      await once(stream, "data");
      assert.equal(isGone, false);
      stream.close(8);
      await waitUntil(() => isGone, { what: "the origin's response is closed" });
    } else {
      inside.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await once(inside, "data");
      assert.equal(isGone, false);
      inside.destroy();
      await waitUntil(() => isGone, { what: "the origin's response is closed" });
      await waitUntil(() => fixture.openConnections() === 0, { what: "its connection is closed" });
    }
    assert.ok(response !== undefined);
  });

  test(`a response that the origin aborts is aborted for the client, between ${between}`, async () => {
    let abort = (): void => {};
    await using fixture = await startProxyFixture({
      protocols: offered,
      respond(_request, response) {
        response.setHeader("content-length", "1000");
        response.write("the beginning");
        abort = () => response.stream?.close?.(2) ?? response.socket.destroy();
      },
    });
    const inside = await fixture.secure({ protocols: [client] });
    await using opened = client === "h2" ? openSession(inside) : undefined;
    const response = await startReading(opened, inside, "/");
    await once(response, "data");
    abort();
    await assert.rejects(once(response, "end"), /aborted|STREAM|ECONNRESET|hang up|terminated/i);
    inside.destroy();
  });
}

async function startReading(
  opened: ReturnType<typeof openSession> | undefined,
  inside: Parameters<typeof openSession>[0],
  path: string,
) {
  if (opened !== undefined) return opened.session.request({ ":path": path });
  const sent = requestHttp1({ createConnection: () => inside, path, headers: { host } });
  sent.on("error", () => {});
  sent.end();
  const [response] = await once(sent, "response");
  response.on("error", () => {});
  return response;
}

test("the proxy forwards a bidirectional stream in which each side waits for the other, as in gRPC", async () => {
  await using fixture = await startProxyFixture({
    onStream(stream) {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.on("data", (piece: Buffer) => stream.write(Buffer.concat([Buffer.from("re: "), piece])));
      stream.on("end", () => stream.end());
    },
  });
  await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
  const stream = opened.session.request({ ":method": "POST", ":path": "/a.B/C", te: "trailers" });
  const trailers = once(stream, "trailers");
  for (let turn = 0; turn < 50; turn += 1) {
    stream.write(`message ${turn}`);
    const [answer] = await once(stream, "data");
    assert.equal(String(answer), `re: message ${turn}`);
  }
  stream.end();
  const [got] = await trailers;
  assert.equal(got["grpc-status"], "0");
});

test("the proxy preserves an HTTP/2 response without a body, and the code of a reset stream", async () => {
  await using fixture = await startProxyFixture({
    onStream(stream, headers) {
      if (headers[":path"] === "/alone") {
        stream.respond({ ":status": 200, "grpc-status": "12" }, { endStream: true });
      } else {
        stream.on("error", () => {});
        stream.close(11);
      }
    },
  });
  await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
  const alone = opened.session.request({ ":path": "/alone" });
  const [head, flags] = await once(alone, "response");
  assert.equal(head["grpc-status"], "12");
  assert.equal(flags & 1, 1);
  const reset = opened.session.request({ ":path": "/reset" });
  reset.on("error", () => {});
  await waitUntil(() => reset.closed, { what: "the stream is reset" });
  assert.equal(reset.rstCode, 11);
});

test("the proxy serves simultaneous requests over one connection to the origin if both sides use HTTP/2", async () => {
  await using fixture = await startProxyFixture();
  await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
  const { session } = opened;
  const bodies = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const stream = session.request({ ":method": "POST", ":path": `/${index}` });
      stream.end(`body ${index}`);
      let text = "";
      for await (const piece of stream as AsyncIterable<Buffer>) text += piece.toString();
      return JSON.parse(text);
    }),
  );
  assert.deepEqual(
    bodies.map(({ url, body }) => [url, body]),
    Array.from({ length: 100 }, (_, index) => [`/${index}`, `body ${index}`]),
  );
  assert.equal(fixture.connectionCount(), 1);
});

test("the proxy keeps the connection of an HTTP/1.1 client and that to the origin", async () => {
  await using fixture = await startProxyFixture();
  const inside = await fixture.secure();
  for (let turn = 0; turn < 5; turn += 1) {
    inside.write(`GET /${turn} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    let text = "";
    while (!text.endsWith("}")) text += (await once(inside, "data"))[0];
    assert.match(text, /^HTTP\/1\.1 200 /);
  }
  assert.equal(fixture.connectionCount(), 1);
  inside.destroy();
  await waitUntil(() => fixture.openConnections() === 0, { what: "the connection to the origin is closed" });
});

test("the proxy answers pipelined requests in their order", async () => {
  const others = Promise.withResolvers<void>();
  let answered = 0;
  await using fixture = await startProxyFixture({
    async respond(request, response) {
      // The origin answers the first request last.
      if (request.url === "/0") await others.promise;
      response.end(request.url);
      answered += 1;
      if (answered === 2) others.resolve();
    },
  });
  const inside = await fixture.secure();
  const all = [0, 1, 2].map((index) => `GET /${index} HTTP/1.1\r\nHost: ${host}\r\n`);
  inside.write(`${all.join("\r\n")}Connection: close\r\n\r\n`);
  const text = await readToEnd(inside);
  assert.deepEqual(text.match(/\/\d$|\/\d(?=HTTP)|(?<=\r\n)\/\d/gm), ["/0", "/1", "/2"]);
});

test("the proxy answers 502 and 504 with the reason if the origin is unreachable or does not answer", async () => {
  await using nowhere = await startProxyFixture({ settings: { connectTo: { [host]: "127.0.0.1:1" } } });
  await using untrusted = await startProxyFixture({ settings: { caCertificates: [] } });
  await using denied = await startProxyFixture({ settings: { internalRanges: [] } });
  await using silent = await startProxyFixture({ onConnection: (connection) => connection.end() });
  await using invalid = await startProxyFixture({
    onConnection: (connection) => connection.end("no HTTP at all\r\n\r\n"),
    protocols: ["http/1.1"],
  });
  for (const [fixture, status, code] of [
    [nowhere, 502, "EGRESS_UNREACHABLE"],
    [untrusted, 502, "EGRESS_TLS_FAILED"],
    [denied, 403, "EGRESS_ADDRESS_DENIED"],
    [silent, 502, "EGRESS_CONNECTION_LOST"],
    [invalid, 502, "EGRESS_RESPONSE_INVALID"],
  ] as const) {
    const received = await fixture.send({ protocol: "http/1.1" });
    assert.equal(received.status, status, code);
    const { code: got, reason } = received.json();
    assert.equal(got, code);
    assert.ok(typeof reason === "string" && reason !== "");
  }
  assert.deepEqual(
    denied.events.map(({ kind }) => kind),
    ["egress.denied"],
  );
});

test("disposing a proxy closes its connections, and disposing the egress closes its proxies", async () => {
  const fixture = await startProxyFixture({ respond: (_request, response) => void response.write("first") });
  const inside = await fixture.secure();
  inside.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(inside, "data");
  const closed = once(inside, "close");
  await fixture.proxy[Symbol.asyncDispose]();
  await fixture.proxy[Symbol.asyncDispose]();
  await closed;
  await waitUntil(() => fixture.openConnections() === 0, { what: "the connection to the origin is closed" });
  await fixture[Symbol.asyncDispose]();
});
