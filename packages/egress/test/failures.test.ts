import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { registerHooks } from "node:module";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { gzipSync } from "node:zlib";
import { isCodedError } from "@toolcrib/diagnostics";
import { createEgress, type EgressSettings } from "@toolcrib/egress";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  startTlsServer,
  type TestCertificate,
} from "@toolcrib/testing";
import { codeOf, type EgressRequest, host, patterns, startFixture } from "./fixture.ts";

/** Returns the error code of a request to a host at `endpoint`. */
async function failureAt(endpoint: string, settings: EgressSettings = {}): Promise<string> {
  await using egress = createEgress(
    { internalRanges: ["127.0.0.0/8"], connectTo: { [host]: endpoint }, ...settings },
    { directory: "/nowhere", now: Date.now, randomBytes, onEvent: () => {} },
  );
  const request: EgressRequest = { method: "GET", url: `https://${host}/`, headers: {} };
  return await codeOf(egress.fetch(request, { id: "test", allow: patterns(host), credentials: [] }));
}

/** A server without TLS. */
async function startPlainServer(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function checkTls(
  title: string,
  certificate: (trusted: ReturnType<typeof createTestAuthority>) => TestCertificate,
): void {
  test(`fetch() does not trust a host whose certificate ${title}`, async () => {
    const trusted = createTestAuthority();
    await using server = await startTlsServer({ certificate: certificate(trusted) });
    const settings = { caCertificates: [trusted.certificate] };
    assert.equal(await failureAt(server.endpoint, settings), "EGRESS_TLS_FAILED");
    assert.deepEqual(server.requests, []);
  });
}

checkTls("is signed by another authority", () => createTestAuthority().sign({ hosts: [host] }));
checkTls("is valid for another host", (trusted) => trusted.sign({ hosts: ["other.example.com"] }));
checkTls("is valid for the address only", (trusted) => trusted.sign({ hosts: ["127.0.0.1"] }));
checkTls("has a wildcard at another level", (trusted) =>
  trusted.sign({ hosts: ["*.api.example.com", "*.com"] }),
);
checkTls("has expired", (trusted) => trusted.sign({ hosts: [host], validMs: -1000 }));

test("fetch() trusts the configured certificates only", async () => {
  const authority = createTestAuthority();
  await using server = await startTlsServer({ certificate: authority.sign({ hosts: [host] }) });
  assert.equal(await failureAt(server.endpoint), "EGRESS_TLS_FAILED");
  assert.equal(await failureAt(server.endpoint, { caCertificates: [authority.certificate] }), "sent");
});

test("fetch() trusts the default certificates of Node as well as configured ones", async () => {
  const [standard, added] = [createTestAuthority(), createTestAuthority()];
  const before = getCACertificates("default");
  setDefaultCACertificates([standard.certificate]);
  try {
    for (const caCertificates of [[], [added.certificate]]) {
      await using server = await startTlsServer({ certificate: standard.sign({ hosts: [host] }) });
      assert.equal(await failureAt(server.endpoint, { caCertificates }), "sent");
    }
  } finally {
    setDefaultCACertificates(before);
  }
});

test("fetch() verifies certificates regardless of the environment", async () => {
  const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  try {
    await using server = await startTlsServer({ certificate: createTestAuthority().sign({ hosts: [host] }) });
    assert.equal(await failureAt(server.endpoint), "EGRESS_TLS_FAILED");
  } finally {
    if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
  }
});

test("fetch() reports a host as unreachable if nothing listens, and if it has no address", async () => {
  // A port on which no test listens.
  assert.equal(await failureAt("127.0.0.1:1"), "EGRESS_UNREACHABLE");
  await using none = await startFixture({ resolve: async () => [] });
  assert.equal(await codeOf(none.send()), "EGRESS_UNREACHABLE");
  await using many = await startFixture({
    resolve: async () => Array.from({ length: 65 }, () => "127.0.0.1"),
  });
  assert.equal(await codeOf(many.send()), "EGRESS_UNREACHABLE");
  await using broken = await startFixture({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
  assert.equal(await codeOf(broken.send()), "EGRESS_UNREACHABLE");
});

test("fetch() distinguishes a failed TLS handshake from an unreachable host", async () => {
  for (const onConnection of [
    (socket: Socket): void => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    (socket: Socket): void => void socket.end(),
  ]) {
    await using server = await startPlainServer(onConnection);
    assert.equal(await failureAt(server.endpoint), "EGRESS_TLS_FAILED");
  }
});

test("fetch() limits the time for DNS, the handshake, the head, the body, and the whole request", async () => {
  const settings = { connectTimeoutMs: 100 };
  await using dns = await startFixture({ settings, resolve: () => new Promise(() => {}) });
  assert.equal(await codeOf(dns.send()), "EGRESS_TIMED_OUT");
  await using silent = await startPlainServer(() => {});
  assert.equal(await failureAt(silent.endpoint, settings), "EGRESS_TIMED_OUT");
  await using head = await startFixture({ settings: { headersTimeoutMs: 100 }, respond: () => {} });
  assert.equal(await codeOf(head.send()), "EGRESS_TIMED_OUT");
  const respond = (_: unknown, response: ServerResponse): void => void response.write("beginning");
  await using body = await startFixture({ settings: { bodyTimeoutMs: 100 }, respond });
  assert.equal(await codeOf(body.send()), "EGRESS_TIMED_OUT");
  await using all = await startFixture({ settings: { requestTimeoutMs: 100 }, respond });
  assert.equal(await codeOf(all.send()), "EGRESS_TIMED_OUT");
});

/** Checks the error for a response that the server writes byte by byte. */
function checkResponse(
  title: string,
  code: string,
  write: (socket: Socket, response: ServerResponse) => void,
): void {
  test(`fetch() fails with ${code} when a response ${title}`, async () => {
    await using fixture = await startFixture({
      respond: (_, response) => write(response.socket as Socket, response),
    });
    assert.equal(await codeOf(fixture.send()), code);
    assert.equal(fixture.server.requests.length, 1, "nothing is sent twice");
  });
}

const invalid = "EGRESS_RESPONSE_INVALID";
const lost = "EGRESS_CONNECTION_LOST";
const ok = "HTTP/1.1 200 OK\r\n";
checkResponse("does not arrive", lost, (socket) => void socket.destroy());
checkResponse("ends within its head", lost, (socket) => void socket.end("HTTP/1.1 200 OK\r\nX-A: 1\r\nX-"));
checkResponse(
  "ends within its body",
  lost,
  (socket) => void socket.end(`${ok}Content-Length: 10\r\n\r\n12345`),
);
checkResponse(
  "ends within a chunk",
  lost,
  (socket) => void socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\na\r\n12345`),
);
checkResponse("is reset in its body", lost, (socket) => {
  socket.write(`${ok}Content-Length: 10\r\n\r\n12345`, () => socket.destroy());
});
checkResponse("is not HTTP", invalid, (socket) => void socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"));
checkResponse("has a NUL in a header", invalid, (socket) => void socket.end(`${ok}X-A: a\0b\r\n\r\n`));
checkResponse(
  "has a bare line feed in a header name",
  invalid,
  (socket) => void socket.end(`${ok}X-A\nB: c\r\n\r\n`),
);
checkResponse("has a space before a colon", invalid, (socket) => void socket.end(`${ok}X-A : b\r\n\r\n`));
checkResponse(
  "has two lengths",
  invalid,
  (socket) => void socket.end(`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
);
checkResponse(
  "has a length and chunks",
  invalid,
  (socket) =>
    void socket.end(`${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`),
);
checkResponse(
  "has a chunk without a size",
  invalid,
  (socket) => void socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`),
);
checkResponse(
  "has a head that is too large",
  invalid,
  (socket) => void socket.end(`${ok}X-Large: ${"a".repeat(100_000)}\r\n\r\n`),
);
checkResponse(
  "has an unknown content coding",
  invalid,
  (_, response) => void response.setHeader("content-encoding", "compress").end("x"),
);
checkResponse(
  "has too many content codings",
  invalid,
  (_, response) => void response.setHeader("content-encoding", "gzip, gzip, gzip").end("x"),
);
checkResponse(
  "does not match its content coding",
  invalid,
  (_, response) => void response.setHeader("content-encoding", "gzip").end("this is plain text"),
);
checkResponse(
  "has a truncated compressed body",
  invalid,
  (_, response) =>
    void response
      .setHeader("content-encoding", "gzip")
      .end(gzipSync(Buffer.alloc(10_000, "x")).subarray(0, 30)),
);
checkResponse(
  "expands beyond the limit",
  invalid,
  (_, response) => void response.setHeader("content-encoding", "gzip").end(gzipSync(Buffer.alloc(30 << 20))),
);

/** Checks that a request is refused before it is sent. */
function checkRequest(title: string, request: Partial<EgressRequest>): void {
  test(`fetch() does not send ${title}`, async () => {
    await using fixture = await startFixture();
    assert.equal(await codeOf(fixture.send(request)), "EGRESS_REQUEST_INVALID");
    assert.equal(fixture.events.at(-1)?.kind, "egress.denied");
    assert.equal(fixture.server.connectionCount, 0);
  });
}

for (const method of ["", "get", "CONNECT", "TRACE", "GET /x", "GET\r\nX: y", "GÉT", "A".repeat(33)]) {
  checkRequest(`the method ${JSON.stringify(method)}`, { method });
}
for (const name of ["", "X Y", "X:Y", "X\r\nY", "X\0", "é", "X\u212a", "(x)"]) {
  checkRequest(`a header called ${JSON.stringify(name)}`, { headers: { [name]: "value" } });
}
for (const value of ["a\r\nb", "a\nb", "a\rb", "a\0b", "é", " a", "a ", "\ta", "a\x7f", "日本"]) {
  checkRequest(`a header with the value ${JSON.stringify(value)}`, { headers: { "X-Value": value } });
}
for (const name of [
  "Connection",
  "Content-Length",
  "Transfer-Encoding",
  "TE",
  "Trailer",
  "Upgrade",
  "Expect",
]) {
  checkRequest(`a header "${name}" of its own`, { headers: { [name]: "0" } });
}
for (const name of ["Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "HTTP2-Settings"]) {
  checkRequest(`a header "${name}" of its own`, { headers: { [name]: "x" } });
}
checkRequest("a header twice", { headers: { "X-Twice": "1", "x-twice": "2" } });
checkRequest("too many headers", {
  headers: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`x-${at}`, "1"])),
});
checkRequest("too large headers", { headers: { "x-large": "a".repeat(70_000) } });

function checkSettings(title: string, settings: EgressSettings): void {
  test(`createEgress() refuses ${title}`, () => {
    assert.throws(
      () => createEgress(settings, { directory: "/nowhere", now: Date.now, randomBytes, onEvent: () => {} }),
      (error) => isCodedError(error) && error.code === "EGRESS_SETTINGS_INVALID",
    );
  });
}

for (const range of [
  "",
  "10.0.0.0",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/08",
  "10.0.0/8",
  "0x0a.0.0.0/8",
]) {
  checkSettings(`the internal range "${range}"`, { internalRanges: [range] });
}
for (const range of ["::/129", "fe80::1%eth0/64", "localhost/8", "10.0.0.0/8/8", "10.0.0.0/8 ", "::/x"]) {
  checkSettings(`the internal range "${range}"`, { internalRanges: [range] });
}
for (const endpoint of ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:0443"]) {
  checkSettings(`to connect to "${endpoint}"`, { connectTo: { [host]: endpoint } });
}
for (const endpoint of [
  "localhost:80",
  "127.1:80",
  "::1:80",
  "[::1]",
  "[127.0.0.1]:80",
  "[fe80::1%eth0]:80",
]) {
  checkSettings(`to connect to "${endpoint}"`, { connectTo: { [host]: endpoint } });
}
for (const name of [
  "",
  "*.example.com",
  "API.example.com",
  "127.0.0.1",
  "localhost",
  "api.example.com:443",
]) {
  checkSettings(`to connect "${name}" elsewhere`, { connectTo: { [name]: "127.0.0.1:443" } });
}
checkSettings("a certificate that is not valid", {
  caCertificates: ["-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----"],
});
checkSettings("a certificate that is not PEM", { caCertificates: ["no"] });

/** Runs `use` while the module of the proxies cannot be loaded. */
async function withoutProxies(use: () => Promise<void>): Promise<void> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (/\/proxy-set\.(?:ts|js)$/.test(specifier)) throw new Error("EMFILE: too many open files");
      return next(specifier, context);
    },
  });
  try {
    await use();
  } finally {
    hooks.deregister();
  }
}

test("an egress whose proxies could not be loaded loads them again, and ends without them", async () => {
  await using directory = await makeTemporaryDirectory();
  const deps = { directory: directory.path, now: Date.now, randomBytes, onEvent: () => {} };
  const source = { id: "test", allow: patterns(host), credentials: [] };
  await withoutProxies(async () => {
    const egress = createEgress({}, deps);
    await assert.rejects(egress.openProxy(source), /EMFILE/);
    await egress[Symbol.asyncDispose]();
  });
  await using egress = createEgress({}, deps);
  await withoutProxies(async () => await assert.rejects(egress.openProxy(source), /EMFILE/));
  await using proxy = await egress.openProxy(source);
  assert.ok(proxy);
});

test("a proxy that is asked for while the egress ends is refused", async () => {
  const deps = { directory: "/nowhere", now: Date.now, randomBytes, onEvent: () => {} };
  const egress = createEgress({}, deps);
  const asked = codeOf(egress.openProxy({ id: "test", allow: patterns(host), credentials: [] }));
  await egress[Symbol.asyncDispose]();
  assert.equal(await asked, "EGRESS_CLOSED");
});
