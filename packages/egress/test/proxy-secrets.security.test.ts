import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createPlaceholder } from "@toolcrib/egress";
import { fastSample, ManualTimers, waitUntil } from "@toolcrib/testing";
import { credential, host } from "./fixture.ts";
import { openSession, protocols, readToEnd, sendHttp2, startProxyFixture } from "./proxy-fixture.ts";

const secret = "s3cr3t/of+an~API=key";
/** Encodings in which an origin may return the secret. */
const forms: readonly (readonly [what: string, text: string])[] = [
  ["plain", secret],
  ["base64", Buffer.from(secret).toString("base64")],
  ["base64url", Buffer.from(secret).toString("base64url")],
  ["base64 within", Buffer.from(`user:${secret}`).toString("base64")],
  ["hexadecimal", Buffer.from(secret).toString("hex")],
  ["in a URL", encodeURIComponent(secret)],
  ["in JSON", JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/")],
  ["escaped", [...secret].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")],
];

for (const protocol of protocols) {
  test(`the proxy replaces the placeholder by the secret, and emits an event, over ${protocol}`, async () => {
    const places = [
      credential(secret),
      credential("second-secret", {
        id: "key",
        place: { kind: "header", name: "X-Key", format: "{token}" },
        secretName: "second",
      }),
      credential("third-secret", {
        id: "query",
        place: { kind: "query", name: "key", format: "{token}" },
        secretName: "third",
      }),
      credential("user:password", {
        id: "basic",
        place: { kind: "header", name: "X-Basic", format: "Basic {token}" },
        encoding: "basic",
        secretName: "fourth",
      }),
      credential("12:bot", {
        id: "path",
        place: { kind: "pathPrefix", format: "/bot{token}" },
        secretName: "fifth",
      }),
    ] as const;
    const [token, key, query, basic, path] = places;
    const seen: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
    await using fixture = await startProxyFixture({
      credentials: places,
      respond({ url, headers }, response) {
        seen.push({ url, headers });
        response.end("{}");
      },
    });
    await fixture.send({
      protocol,
      path: `/bot${path.placeholder}/send?a=1&key=${query.placeholder}&b=2`,
      headers: {
        authorization: `Bearer ${token.placeholder}`,
        "x-key": key.placeholder,
        "x-basic": `Basic ${basic.placeholder}`,
      },
    });
    const [request] = seen;
    assert.equal(request?.url, "/bot12:bot/send?a=1&key=third-secret&b=2");
    assert.equal(request?.headers["authorization"], `Bearer ${secret}`);
    assert.equal(request?.headers["x-key"], "second-secret");
    assert.equal(request?.headers["x-basic"], `Basic ${btoa("user:password")}`);
    assert.deepEqual(
      fixture.events.map((event) => [event.kind, "secretName" in event ? event.secretName : ""]).sort(),
      ["api-token", "fifth", "fourth", "second", "third"].map((name) => ["secret.used", name]),
    );
    assert.doesNotMatch(JSON.stringify(fixture.events), /s3cr3t|-secret|password|12:bot/);
  });

  test(`the proxy refuses a placeholder in any other place, sends nothing, and raises an alarm, over ${protocol}`, async () => {
    const own = credential(secret);
    const foreign = createPlaceholder(randomBytes);
    let requests = 0;
    await using fixture = await startProxyFixture({
      credentials: [own],
      respond(request, response) {
        requests += 1;
        request.resume();
        request.once("end", () => response.end("{}"));
      },
    });
    const at = (text: string) => ({ body: text, method: "POST" });
    const rows: readonly (readonly [where: string, request: object])[] = [
      ["header:x-other", { headers: { "x-other": `Bearer ${own.placeholder}` } }],
      ["header:authorization", { headers: { authorization: own.placeholder } }],
      ["header:authorization", { headers: { authorization: `Bearer ${own.placeholder} x` } }],
      ["header:authorization", { headers: { authorization: `bearer ${own.placeholder}` } }],
      ["header:authorization", { headers: { authorization: `Bearer ${foreign}` } }],
      ["header:cookie", { headers: { cookie: `a=1; b=${own.placeholder}` } }],
      ["header:x-b64", { headers: { "x-b64": btoa(`user:${own.placeholder}`) } }],
      ["url", { path: `/x?token=${own.placeholder}` }],
      ["url", { path: `/${own.placeholder}/x` }],
      ["url", { path: `/x?token=${own.placeholder.replace("-", "%2D")}` }],
      ["body", at(`{"token": "${own.placeholder}"}`)],
      ["body", at(`token=${foreign}`)],
      ["body", at(btoa(`xx${own.placeholder}`))],
      ["body", at("x".repeat(200_000) + own.placeholder)],
    ];
    for (const [where, request] of rows) {
      fixture.events.length = 0;
      const { status, json } = await fixture.send({ protocol, ...request });
      assert.equal(status, 403, where);
      assert.equal(json()["code"], "EGRESS_PLACEHOLDER_MISPLACED");
      const alarm = fixture.events.find(({ kind }) => kind === "egress.alarm");
      assert.ok(
        alarm?.kind === "egress.alarm" && alarm.where === where,
        `${where}: ${JSON.stringify(fixture.events)}`,
      );
      const isForeign = JSON.stringify(request).includes(foreign);
      assert.equal(alarm.owner, isForeign ? undefined : "process:test");
      assert.doesNotMatch(JSON.stringify(fixture.events), /toolcrib-ph-[0-9a-f]|s3cr3t/);
    }
    // Only the body is scanned while it is sent.
    assert.ok(requests <= rows.filter(([where]) => where === "body").length);
  });

  test(`the proxy finds a placeholder in a body that arrives byte by byte, and aborts the request, over ${protocol}`, async () => {
    const own = credential(secret);
    let received = "";
    let wasWhole = false;
    await using fixture = await startProxyFixture({
      credentials: [own],
      respond(request) {
        request.on("data", (piece: Buffer) => {
          received += piece.toString();
        });
        request.on("end", () => {
          wasWhole = request.complete && !request.aborted;
        });
        request.on("error", () => {});
      },
    });
    const inside = await fixture.secure({ protocols: [protocol] });
    const text = `before ${own.placeholder} after`;
    if (protocol === "h2") {
      await using opened = openSession(inside);
      const stream = opened.session.request({ ":method": "POST", ":path": "/" });
      stream.on("error", () => {});
      const response = once(stream, "response");
      for (const character of text) {
        stream.write(character);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await response)[0][":status"], 403);
    } else {
      inside.write(
        `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`,
      );
      const answer = readToEnd(inside);
      for (const character of text) {
        // The proxy can end the connection before the last character.
        if (!inside.writable) break;
        inside.write(character);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.match(await answer, /^HTTP\/1\.1 403 /);
    }
    assert.equal(wasWhole, false);
    assert.ok(!received.includes(own.placeholder));
  });

  test(`the proxy removes the secret, in every form, from headers, body and trailers of a response, over ${protocol}`, async () => {
    const own = credential(secret);
    await using fixture = await startProxyFixture({
      credentials: [own],
      respond(request, response) {
        const text = forms[Number(request.url.slice(1))]?.[1] ?? "";
        response.setHeader("x-echo", `<${text}>`);
        response.setHeader("trailer", "x-after");
        response.write(`before ${text} after`);
        response.addTrailers({ "x-after": text });
        response.end();
      },
    });
    for (const [index, [what, text]] of forms.entries()) {
      fixture.events.length = 0;
      const { headers, body, trailers } = await fixture.send({
        protocol,
        path: `/${index}`,
        headers: { authorization: `Bearer ${own.placeholder}`, te: "trailers" },
      });
      for (const got of [headers["x-echo"], body.toString(), trailers["x-after"]]) {
        if (got === undefined && protocol === "http/1.1") continue;
        assert.ok(String(got).includes(own.placeholder), `${what}: ${got}`);
        assert.ok(!String(got).includes(text), what);
      }
      assert.equal(headers["content-length"], undefined);
      const places = fixture.events.flatMap((event) => (event.kind === "secret.echoed" ? [event.where] : []));
      assert.ok(places.includes("header:x-echo") && places.includes("body"), what);
    }
  });

  test(`the proxy removes the secret from a body that is cut at any place, over ${protocol}`, async () => {
    const own = credential(secret);
    const text = `{"token":"${secret}"}`;
    const timers = new ManualTimers();
    let firstPart = Promise.withResolvers<void>();
    await using fixture = await startProxyFixture({
      credentials: [own],
      timers,
      async respond(request, response) {
        const at = Number(request.url.slice(1));
        response.write(text.slice(0, at));
        // The proxy passes on the beginning of the first part as soon as it has read it.
        await firstPart.promise;
        response.end(text.slice(at));
      },
    });
    await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
    for (const isReleased of [false, true]) {
      for (const at of fastSample(Array.from({ length: text.length - 1 }, (_, index) => index + 1))) {
        firstPart = Promise.withResolvers();
        const request = {
          protocol,
          path: `/${at}`,
          headers: { authorization: `Bearer ${own.placeholder}` },
          onPiece() {
            if (isReleased) timers.fire();
            firstPart.resolve();
          },
        };
        const { body } =
          protocol === "h2" ? await sendHttp2(opened.session, request) : await fixture.send(request);
        const got = body.toString();
        assert.ok(!got.includes(secret), got);
        assert.ok(got.includes(own.placeholder), got);
        // The released bytes reveal nothing.
        const held = Math.max(0, at - text.indexOf(secret));
        const released = isReleased && held < 4 ? held : 0;
        assert.equal(got, `{"token":"${secret.slice(0, released)}${own.placeholder}"}`);
      }
    }
  });

  test(`an origin that sends a secret slowly, byte by byte, reveals only its first letters, over ${protocol}`, async () => {
    const own = credential(secret);
    const timers = new ManualTimers();
    let arrived = "";
    await using fixture = await startProxyFixture({
      credentials: [own],
      timers,
      async respond(_request, response) {
        response.write("<");
        await waitUntil(() => arrived === "<", { intervalMs: 1 });
        for (let count = 1; count < 4; count += 1) {
          response.write(secret.charAt(count - 1));
          await waitUntil(() => timers.delays.length > 0, { intervalMs: 1 });
          timers.fire();
          await waitUntil(() => arrived === `<${secret.slice(0, count)}`, { intervalMs: 1 });
        }
        for (const character of secret.slice(3)) {
          response.write(character);
          // Usually the proxy reads each letter on its own; nothing is released for it, however long it waits.
          for (let turn = 0; turn < 20; turn += 1) await nextTurn();
          timers.fire();
        }
        response.end(">");
      },
    });
    const headers = { authorization: `Bearer ${own.placeholder}` };
    await fixture.send({
      protocol,
      headers,
      onPiece(pieces) {
        arrived = pieces.toString();
      },
    });
    assert.equal(arrived, `<${secret.slice(0, 3)}${own.placeholder}>`);
  });

  test(`the proxy scrubs compressed responses, over ${protocol}`, async () => {
    const own = credential(secret);
    const plain = Buffer.from(`${"x".repeat(100_000)}${secret}${"y".repeat(100_000)}`);
    const encoded: { readonly [name: string]: Buffer } = {
      gzip: gzipSync(plain),
      deflate: deflateSync(plain),
      br: brotliCompressSync(plain),
      zstd: zstdCompressSync(plain),
      "gzip, br": brotliCompressSync(gzipSync(plain)),
      identity: plain,
    };
    await using fixture = await startProxyFixture({
      credentials: [own],
      respond(request, response) {
        const name = decodeURIComponent(request.url.slice(1));
        response.setHeader("content-encoding", name);
        response.end(encoded[name] ?? plain);
      },
    });
    const headers = { authorization: `Bearer ${own.placeholder}`, "accept-encoding": "gzip, br" };
    for (const name of Object.keys(encoded)) {
      const { body, headers: got } = await fixture.send({
        protocol,
        path: `/${encodeURIComponent(name)}`,
        headers,
      });
      assert.equal(body.toString(), plain.toString().replace(secret, own.placeholder), name);
      assert.equal(got["content-encoding"], undefined);
    }
    // A body that cannot be decoded is not forwarded.
    for (const name of ["compress", "gzip, x", "gzip, gzip, gzip, gzip", "GZIP;q=1"]) {
      const { status, json } = await fixture.send({
        protocol,
        path: `/${encodeURIComponent(name)}`,
        headers,
      });
      assert.equal(status, 502, name);
      assert.equal(json()["code"], "EGRESS_RESPONSE_INVALID");
    }
  });

  test(`the proxy requests supported encodings only, over ${protocol}`, async () => {
    const own = credential(secret);
    await using fixture = await startProxyFixture({ credentials: [own] });
    const token = { authorization: `Bearer ${own.placeholder}` };
    for (const [asked, more, expected] of [
      ["gzip, br", token, "gzip, br"],
      ["gzip;q=0.5, compress, dcb, *", token, "gzip;q=0.5"],
      ["compress", token, "identity"],
      ["gzip", { ...token, range: "bytes=0-9" }, "identity"],
    ] as const) {
      const received = await fixture.send({ protocol, headers: { "accept-encoding": asked, ...more } });
      const { headers } = received.json() as { headers: { [name: string]: string } };
      assert.equal(headers["accept-encoding"], expected, asked);
    }
  });
}

test("a compressed response passes unchanged while the source has used no secret", async () => {
  const plain = Buffer.from("x".repeat(1000));
  await using fixture = await startProxyFixture({
    credentials: [credential(secret)],
    respond(_request, response) {
      response.setHeader("content-encoding", "gzip");
      response.setHeader("etag", '"1"');
      response.end(gzipSync(plain));
    },
  });
  for (const protocol of protocols) {
    const { headers, body } = await fixture.send({ protocol });
    assert.equal(headers["content-encoding"], "gzip");
    assert.deepEqual(body, gzipSync(plain));
  }
});

test("a secret that cannot be read stops the request, and the reason contains its name only", async () => {
  const own = credential(secret, {
    read: () => {
      throw new Error("nothing at /home/ada/.toolcrib/secrets");
    },
  });
  await using fixture = await startProxyFixture({ credentials: [own] });
  for (const protocol of protocols) {
    const headers = { authorization: `Bearer ${own.placeholder}` };
    const { status, body } = await fixture.send({ protocol, headers });
    assert.equal(status, 503);
    assert.match(body.toString(), /"code":"EGRESS_SECRET_UNAVAILABLE".*api-token/);
    assert.doesNotMatch(body.toString(), /ada/);
  }
  assert.equal(fixture.connectionCount(), 0);
});
