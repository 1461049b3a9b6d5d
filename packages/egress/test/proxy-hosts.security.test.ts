import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ConnectCase,
  connectCases,
  type InsideCase,
  type InsideHttp2Case,
  insideCases,
  insideHttp2Cases,
  serverNameCases,
} from "@toolcrib/testing";
import { host } from "./fixture.ts";
import { openSession, readToEnd, sendHttp2, startProxyFixture } from "./proxy-fixture.ts";

test("the proxy refuses CONNECT to any other than an allowed host and port, and connects to nothing", async () => {
  await using fixture = await startProxyFixture({ allow: [host, "*.wild.example.com"] });
  const got: ConnectCase[] = [];
  for (const { authority, headers } of connectCases) {
    const { status, text, socket } = await fixture.connect(authority, headers);
    socket.destroy();
    if (status === 200) {
      got.push({ authority, ...(headers === undefined ? {} : { headers }), status, code: "none" });
      continue;
    }
    const { code, reason } = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4) || "{}");
    got.push({ authority, ...(headers === undefined ? {} : { headers }), status, code });
    assert.ok(typeof reason === "string" && reason !== "", text);
    assert.match(text, /^Content-Type: application\/json\r$/im);
    assert.doesNotMatch(text, /^Proxy-Authenticate:/im);
  }
  assert.deepEqual(got, connectCases);
  assert.equal(fixture.connectionCount(), 0);
  assert.ok(fixture.events.length > 0);
  for (const event of fixture.events) {
    assert.equal(event.kind, "egress.denied");
    assert.match(event.host, /^[ -~]{0,100}$/);
  }
});

test("the proxy aborts a handshake for another name than that of CONNECT", async () => {
  await using fixture = await startProxyFixture();
  for (const servername of serverNameCases) {
    await assert.rejects(fixture.secure({ servername }), /refused|ECONNRESET|socket/, servername);
  }
  // Names are compared without letter case, and a client may omit the name.
  for (const servername of [host, host.toUpperCase(), ""]) {
    const inside = await fixture.secure({ servername });
    assert.equal(inside.getPeerX509Certificate()?.subjectAltName, `DNS:${host}`);
    inside.destroy();
  }
  assert.equal(fixture.connectionCount(), 0);
});

test("the proxy answers 421 or 400 to a request of HTTP/1.1 that names another host, or none, or two", async () => {
  await using fixture = await startProxyFixture();
  const got: InsideCase[] = [];
  for (const { lines } of insideCases) {
    const inside = await fixture.secure();
    inside.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`, "latin1");
    const text = await readToEnd(inside);
    got.push({ lines, status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]) });
  }
  assert.deepEqual(got, insideCases);
  assert.equal(fixture.connectionCount(), insideCases.filter(({ status }) => status === 200).length);
});

test("the proxy answers 421 or 400 to a stream of HTTP/2 that names another host, scheme or target", async () => {
  await using fixture = await startProxyFixture();
  await using opened = openSession(await fixture.secure({ protocols: ["h2"] }));
  const got: InsideHttp2Case[] = [];
  for (const { headers } of insideHttp2Cases) {
    const status = await sendHttp2(opened.session, { protocol: "h2", headers }).then(
      (response) => response.status,
      // Node's own HTTP/2 refuses the stream.
      () => "reset" as const,
    );
    got.push({ headers, status });
  }
  assert.deepEqual(got, insideHttp2Cases);
  assert.equal(fixture.connectionCount(), 1);
});

test("the tables have at least 120 rows", () => {
  const count = connectCases.length + serverNameCases.length + insideCases.length + insideHttp2Cases.length;
  assert.ok(count >= 120, String(count));
});
