import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { waitUntil } from "@toolcrib/testing";
import { codeOf, credential, host, startFixture } from "./fixture.ts";

const url = `https://${host}`;

test("fetch() sends method, target, headers and body unchanged", async () => {
  await using fixture = await startFixture();
  const body = Buffer.from([0, 1, 2, 255, 13, 10, 0]);
  await fixture.send({
    method: "PATCH",
    url: `${url}/a%2Fb/./../c;x=1/?q=%20+&&a=b?c/d@:`,
    headers: {
      "X-One": "a, b\tc",
      accept: "application/json",
      "X-Empty": "",
      "Content-Type": "application/x-any",
    },
    body,
  });
  const [request] = fixture.server.requests;
  assert.equal(request?.method, "PATCH");
  assert.equal(request?.target, "/a%2Fb/./../c;x=1/?q=%20+&&a=b?c/d@:");
  assert.deepEqual(request?.body, body);
  assert.deepEqual(request?.headers, [
    ["host", host],
    ["connection", "keep-alive"],
    ["X-One", "a, b\tc"],
    ["accept", "application/json"],
    ["X-Empty", ""],
    ["Content-Type", "application/x-any"],
    ["accept-encoding", "gzip, deflate, br, zstd"],
    ["content-length", "7"],
  ]);
  assert.equal(request?.servername, host);
});

function checkTarget(suffix: string, expected: string): void {
  test(`fetch() requests ${expected} when the URL ends in "${suffix}"`, async () => {
    await using fixture = await startFixture();
    await fixture.send({ url: `${url}${suffix}` });
    assert.equal(fixture.server.requests[0]?.target, expected);
  });
}

checkTarget("", "/");
checkTarget("/", "/");
checkTarget("?a=b", "/?a=b");
checkTarget(":443/x", "/x");
checkTarget("//x//y", "//x//y");
checkTarget("/%2e%2e/x", "/%2e%2e/x");

test("fetch() requests a part of a body without compression", async () => {
  await using fixture = await startFixture();
  await fixture.send({ headers: { Range: "bytes=0-9", "Accept-Encoding": "gzip" } });
  const sent = fixture.server.requests[0]?.headers.filter(
    ([name]) => name.toLowerCase() === "accept-encoding",
  );
  assert.deepEqual(sent, [["accept-encoding", "identity"]]);
});

test("fetch() returns any status, follows no redirect, and sends nothing twice", async () => {
  const statuses = [200, 201, 204, 301, 302, 303, 304, 307, 308, 400, 401, 404, 429, 500, 502, 503];
  await using fixture = await startFixture({
    respond: ({ target }, response) => {
      response.writeHead(Number(target.slice(1)), { location: `${url}/elsewhere`, "retry-after": "0" }).end();
    },
  });
  for (const status of statuses) {
    const response = await fixture.send({ url: `${url}/${status}` });
    assert.equal(response.status, status);
    assert.equal(response.headers["location"], `${url}/elsewhere`);
    assert.equal(response.totalBytes, 0);
  }
  assert.equal(fixture.server.requests.length, statuses.length);
});

test("fetch() waits for the final response after interim ones", async () => {
  await using fixture = await startFixture({
    respond: (_, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.end("done");
    },
  });
  const response = await fixture.send();
  assert.deepEqual([response.status, Buffer.from(response.body).toString()], [200, "done"]);
  assert.equal(response.headers["link"], undefined);
});

test("fetch() reads no body of a response to HEAD", async () => {
  await using fixture = await startFixture({
    respond: (_, response) =>
      void response.writeHead(200, { "content-length": "1000", "content-encoding": "gzip" }).end(),
  });
  const response = await fixture.send({ method: "HEAD" });
  assert.deepEqual([response.status, response.totalBytes], [200, 0]);
});

test("fetch() joins the values of a header, cookies line by line, and omits connection headers", async () => {
  await using fixture = await startFixture({
    respond: (_, response) => {
      const headers = [
        "X-Multi",
        "a",
        "X-Multi",
        "b",
        "Set-Cookie",
        "a=1",
        "Set-Cookie",
        "b=2",
        "__proto__",
        "own",
      ];
      response
        .writeHead(200, [...headers, "X-Latin", "\u00e9", "Date", "now", "Keep-Alive", "timeout=5"])
        .end();
    },
  });
  const { headers } = await fixture.send();
  assert.deepEqual(Object.entries(headers), [
    ["x-multi", "a, b"],
    ["set-cookie", "a=1\nb=2"],
    ["__proto__", "own"],
    ["x-latin", "\u00e9"],
    ["date", "now"],
  ]);
});

test("fetch() returns at most maxBytes of a body, and counts all of it", async () => {
  await using fixture = await startFixture({
    respond: (_, response) => void response.end(Buffer.alloc(300_000, "x")),
  });
  for (const [maxBytes, kept] of [
    [0, 0],
    [1, 1],
    [100_000, 100_000],
    [300_000, 300_000],
    [1_000_000, 300_000],
  ] as const) {
    const response = await fixture.send({ maxBytes });
    assert.deepEqual([response.body.length, response.totalBytes], [kept, 300_000]);
  }
});

test("fetch() stops reading at the ceiling, and closes the connection", async () => {
  await using fixture = await startFixture({
    settings: { bodyMaxBytes: 100_000 },
    respond: (_, response) => {
      // Endless, as fast as it is read.
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, "x")));
      };
      response.on("drain", write);
      write();
    },
  });
  const response = await fixture.send({ maxBytes: 10 });
  assert.deepEqual([response.body.length, response.totalBytes], [10, 100_000]);
  await waitUntil(() => fixture.server.openCount === 0);
});

test("fetch() reuses a connection for the same source, and never shares it with another", async () => {
  await using fixture = await startFixture();
  for (const id of ["toolspec:a", "toolspec:a", "toolspec:b", "toolspec:a", "toolspec:b"]) {
    await fixture.send({}, { id });
    // A connection becomes reusable shortly after its response.
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  }
  const bySource = fixture.server.requests.map(({ connection }) => connection);
  assert.deepEqual(new Set([bySource[0], bySource[1], bySource[3]]).size, 1);
  assert.deepEqual(new Set([bySource[2], bySource[4]]).size, 1);
  assert.notEqual(bySource[0], bySource[2]);
});

test("fetch() tries the addresses of a host in turn", async () => {
  await using fixture = await startFixture({ resolve: async () => ["127.0.0.9", "127.0.0.1"] });
  const { port } = fixture.server;
  assert.equal((await fixture.send({ url: `${url}:${port}/` }, { ports: [port] })).status, 200);
});

test("fetch() never exceeds the limit of connections to a host", async () => {
  await using fixture = await startFixture({ settings: { connectionsPerHost: 3 } });
  await Promise.all(Array.from({ length: 30 }, () => fixture.send()));
  assert.equal(fixture.server.requests.length, 30);
  assert.ok(fixture.server.connectionCount <= 3);
});

test("fetch() closes the least recently used connections beyond their limit", async () => {
  await using fixture = await startFixture({ settings: { maxPools: 2 } });
  for (const id of ["a", "b", "c", "d"]) await fixture.send({}, { id });
  await waitUntil(() => fixture.server.openCount === 2);
  assert.equal((await fixture.send({}, { id: "a" })).status, 200);
});

test("disposing aborts requests in flight, leaves no connection, and is safe to repeat", async () => {
  await using fixture = await startFixture({ respond: () => {} });
  const waiting = [fixture.send(), fixture.send({ method: "POST", body: Buffer.from("x") })].map(codeOf);
  await waitUntil(() => fixture.server.requests.length === 2);
  await Promise.all([fixture.egress[Symbol.asyncDispose](), fixture.egress[Symbol.asyncDispose]()]);
  await fixture.egress[Symbol.asyncDispose]();
  assert.deepEqual(await Promise.all(waiting), ["EGRESS_CLOSED", "EGRESS_CLOSED"]);
  await waitUntil(() => fixture.server.openCount === 0);
  assert.equal(await codeOf(fixture.send()), "EGRESS_CLOSED");
});

test("fetch() rejects with the reason of its signal at any time", async () => {
  const reason = new Error("enough");
  const before = AbortSignal.abort(reason);
  const controllers = Array.from({ length: 3 }, () => new AbortController());
  const [early, during, late] = controllers as [AbortController, AbortController, AbortController];
  await using fixture = await startFixture({
    respond: ({ target }, response) => {
      if (target === "/late") response.write("beginning");
    },
  });
  await assert.rejects(fixture.send({ signal: before }), reason);
  assert.equal(fixture.server.connectionCount, 0);
  const slow = credential("s3cret", {
    read: () => new Promise(() => {}),
  });
  const headers = { Authorization: `Bearer ${slow.placeholder}` };
  const sent = fixture.send({ headers, signal: early.signal }, { credentials: [slow] });
  early.abort(reason);
  await assert.rejects(sent, reason);
  for (const [path, controller] of [
    ["/during", during],
    ["/late", late],
  ] as const) {
    const waiting = fixture.send({ url: url + path, signal: controller.signal });
    await waitUntil(() => fixture.server.requests.some(({ target }) => target === path));
    controller.abort(reason);
    await assert.rejects(waiting, reason);
  }
  assert.deepEqual(
    fixture.events.map(({ kind }) => kind),
    [],
    "no secret was used",
  );
  await waitUntil(() => fixture.server.openCount === 0);
});

test("a secret counts as used when it is sent, not when a connection fails", async () => {
  const one = credential("s3cret-value");
  await using fixture = await startFixture({ settings: { internalRanges: [] } });
  const headers = { Authorization: `Bearer ${one.placeholder}` };
  await codeOf(fixture.send({ headers }, { credentials: [one] }));
  assert.deepEqual(
    fixture.events.map(({ kind }) => kind),
    ["egress.denied"],
  );
});
