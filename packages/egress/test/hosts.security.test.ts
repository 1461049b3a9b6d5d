import assert from "node:assert/strict";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import { parseAuthority } from "@toolcrib/egress";
import { addressCases, benignHosts, caseHosts, hostCases, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { codeOf, host, patterns, startFixture } from "./fixture.ts";

test("fetch() refuses every other spelling of a host before it asks DNS", async () => {
  let lookups = 0;
  await using fixture = await startFixture({
    resolve: async () => {
      lookups += 1;
      return ["127.0.0.1"];
    },
  });
  assert.ok(hostCases.length >= 200);
  for (const { url, code } of hostCases) {
    const sent = fixture.send({ url }, { allow: patterns(...caseHosts) });
    assert.equal(await codeOf(sent), code, JSON.stringify(url));
    const event = fixture.events.at(-1);
    assert.ok(event?.kind === "egress.denied" && event.code === code, JSON.stringify(url));
    assert.match(event.host, /^[ -~]{0,100}$/);
  }
  assert.equal(fixture.events.length, hostCases.length);
  assert.equal(lookups, 0);
  assert.equal(fixture.server.connectionCount, 0);
});

test("fetch() reaches hosts with unusual names, in canonical form", async () => {
  const names = benignHosts.map((name) => name.toLowerCase());
  const lookedUp: string[] = [];
  await using fixture = await startFixture({
    hosts: names,
    resolve: async (name) => {
      lookedUp.push(name);
      return ["127.0.0.1"];
    },
  });
  const { port } = fixture.server;
  assert.ok(benignHosts.length >= 40);
  for (const [at, name] of benignHosts.entries()) {
    const { status } = await fixture.send({ url: `https://${name}:${port}/` }, { ports: [port] });
    assert.equal(status, 200, name);
    const request = fixture.server.requests[at];
    assert.equal(request?.servername, names[at]);
    assert.deepEqual(
      request?.headers.find(([header]) => header.toLowerCase() === "host")?.[1],
      `${names[at]}:${port}`,
    );
  }
  // One connection for one host, regardless of letter case.
  assert.deepEqual(lookedUp, [...new Set(names)]);
});

test("fetch() connects to public addresses only, and to none if one of several is not public", async () => {
  for (const addresses of addressCases) {
    await using fixture = await startFixture({
      resolve: async () => addresses,
      settings: { internalRanges: [] },
    });
    assert.equal(await codeOf(fixture.send()), "EGRESS_ADDRESS_DENIED", JSON.stringify(addresses));
    const [event, ...more] = fixture.events;
    assert.ok(event?.kind === "egress.denied" && event.host === host);
    assert.deepEqual(more, []);
    // The message must not show addresses of an internal network.
    for (const address of addresses)
      assert.ok(address.trim() === "" || !event.reason.includes(address.trim()));
  }
});

test("fetch() checks the address of connectTo like one of DNS", async () => {
  await using fixture = await startFixture({ settings: { internalRanges: ["10.0.0.0/8"] } });
  assert.equal(await codeOf(fixture.send()), "EGRESS_ADDRESS_DENIED");
  assert.equal(fixture.server.connectionCount, 0);
});

test("fetch() resolves a host once for each connection, and connects to the checked addresses", async () => {
  const rebound = ["10.0.0.1"];
  let lookups = 0;
  await using fixture = await startFixture({
    resolve: async () => {
      lookups += 1;
      return lookups === 2 ? rebound : ["127.0.0.1"];
    },
    settings: { internalRanges: ["127.0.0.1/32"] },
    respond: (request, response) => {
      // The first connection ends, so that the second request needs a new one.
      if (request.target === "/first") response.setHeader("connection", "close");
      response.end("ok");
    },
  });
  const { port } = fixture.server;
  const url = `https://${host}:${port}`;
  assert.equal((await fixture.send({ url: `${url}/first` }, { ports: [port] })).status, 200);
  assert.equal(lookups, 1);
  assert.equal(
    await codeOf(fixture.send({ url: `${url}/second` }, { ports: [port] })),
    "EGRESS_ADDRESS_DENIED",
  );
  assert.equal((await fixture.send({ url: `${url}/third` }, { ports: [port] })).status, 200);
  assert.equal((await fixture.send({ url: `${url}/fourth` }, { ports: [port] })).status, 200);
  // One for each connection, and one for the refused request.
  assert.equal(lookups, fixture.server.connectionCount + 1);
  assert.deepEqual(
    fixture.server.requests.map(({ target }) => target),
    ["/first", "/third", "/fourth"],
  );
});

test("fetch() sends a Host header of the URL only", async () => {
  await using fixture = await startFixture();
  for (const value of ["evil.example", `${host}.`, `${host}:80`, "127.0.0.1", `${host}, evil.example`]) {
    assert.equal(await codeOf(fixture.send({ headers: { Host: value } })), "EGRESS_AUTHORITY_INVALID", value);
  }
  for (const value of [host, "API.example.com", `${host}:443`]) {
    assert.equal((await fixture.send({ headers: { host: value } })).status, 200);
  }
  for (const { headers } of fixture.server.requests) {
    assert.deepEqual(
      headers.filter(([name]) => name.toLowerCase() === "host"),
      [["host", host]],
    );
  }
});

test("parseAuthority() and the URL standard parse the same host and port, or the text is refused", () => {
  const odd = fc.constantFrom(
    ..."abcxyzABC0127.:-_@/\\\\?#%[]&+~* \t\n\0\u00ad\u200b\u212a\uff0e\u3002é例".split(""),
  );
  const words = fc.constantFrom(
    "api.example.com",
    "xn--",
    "127",
    "0x7f",
    ":443",
    ":80",
    "..",
    "%2e",
    "@",
    "::1",
    "[",
    "]",
  );
  const text = fc
    .array(fc.oneof({ weight: 3, arbitrary: words }, odd), { maxLength: 8 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (authority) => {
      let read: ReturnType<typeof parseAuthority>;
      try {
        read = parseAuthority(authority);
      } catch (error) {
        assert.ok(isCodedError(error) && error.code === "EGRESS_AUTHORITY_INVALID");
        return;
      }
      // Node refuses names whose "xn--" labels decode to nothing; such a name has no certificate either.
      if (!URL.canParse(`https://${authority}/`)) return assert.match(authority, /xn--/i);
      const url = new URL(`https://${authority}/`);
      assert.deepEqual([url.hostname, url.port || "443"], [read.host, String(read.port)]);
      assert.deepEqual([url.username, url.password, url.pathname], ["", "", "/"]);
    }),
    { numRuns: runCount(5000) },
  );
});

test("fetch() asks DNS once for connections that are opened at the same time, and again for later ones", async () => {
  let lookups = 0;
  let answer = Promise.withResolvers<readonly string[]>();
  await using fixture = await startFixture({
    resolve: () => {
      lookups += 1;
      return answer.promise;
    },
    // Long enough for ten connections on a busy machine.
    settings: { internalRanges: ["127.0.0.1/32"], connectTimeoutMs: 4000 },
    respond: (_, response) => response.setHeader("connection", "close").end("ok"),
  });
  const { port } = fixture.server;
  const send = () => fixture.send({ url: `https://${host}:${port}/` }, { ports: [port] });
  const sent = Array.from({ length: 10 }, send);
  await new Promise((resolve) => setImmediate(resolve));
  answer.resolve(["127.0.0.1"]);
  assert.deepEqual(
    (await Promise.all(sent)).map(({ status }) => status),
    Array(10).fill(200),
  );
  assert.equal(lookups, 1);
  // A lookup that hangs is left behind with the connections that waited for it.
  answer = Promise.withResolvers();
  assert.deepEqual(await Promise.all([codeOf(send()), codeOf(send())]), Array(2).fill("EGRESS_TIMED_OUT"));
  assert.equal(lookups, 2);
  answer.resolve(["127.0.0.1"]);
  assert.equal((await send()).status, 200);
  assert.equal(lookups, 3);
});
