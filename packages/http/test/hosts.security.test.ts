/** Web pages must not reach the gateway, neither through DNS rebinding (Host) nor through cross-site requests (Origin). */

import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { asAlice, ask, initialize, startTestServer, type TestServerOptions, talk } from "./http-harness.ts";

/** Checks whether each Host is accepted. */
async function checkHosts(
  options: TestServerOptions,
  cases: readonly (readonly [host: string, isAnswered: boolean])[],
) {
  await using server = await startTestServer(options);
  for (const [host, isAnswered] of cases) {
    const text = host.replaceAll("PORT", String(server.port));
    const answer = await ask(server, { headers: { ...asAlice, host: text }, body: initialize });
    assert.equal(answer.status, isAnswered ? 200 : 403, `Host: ${text}`);
    if (!isAnswered) assert.equal(answer.code, "HTTP_HOST_REFUSED");
  }
  // Accepted hosts are cached; refused hosts are refused again.
  for (const [host, isAnswered] of cases) {
    const text = host.replaceAll("PORT", String(server.port));
    const answer = await ask(server, { path: "/healthz", headers: { host: text } });
    assert.equal(answer.status, isAnswered ? 200 : 403, `Host: ${text}`);
  }
}

test("only requests with a Host of this machine are accepted", () =>
  checkHosts({}, [
    ["localhost", true],
    ["localhost:PORT", true],
    ["localhost:1", true],
    ["LocalHost:PORT", true],
    ["127.0.0.1:PORT", true],
    ["[::1]:PORT", true],
    ["evil.example", false],
    ["evil.example:PORT", false],
    ["localhost.evil.example", false],
    ["127.0.0.1.evil.example", false],
    ["127.0.0.1.nip.io:PORT", false],
    ["evil-localhost", false],
    ["sub.localhost:PORT", false],
    ["localhost.", false],
    ["127.0.0.2", false],
    ["127.1", false],
    ["2130706433", false],
    ["0x7f000001", false],
    ["0.0.0.0:PORT", false],
    ["[::]:PORT", false],
    ["[::ffff:127.0.0.1]", false],
    ["localhost:PORT:PORT", false],
    ["localhost:", false],
    ["localhost:port", false],
    ["localhost@evil.example", false],
    ["localhost, evil.example", false],
    ["localhost/evil.example", false],
    ["[::1", false],
  ]));

test("allowed hosts are accepted with any port, or only with the configured port", () =>
  checkHosts({ allowedHosts: ["Tools.Example", "ports.example:8443"] }, [
    ["tools.example", true],
    ["TOOLS.example:PORT", true],
    ["ports.example:8443", true],
    ["ports.example:8444", false],
    ["ports.example", false],
    ["sub.tools.example", false],
    ["localhost", true],
  ]));

test("the listening address and its name are accepted as Host", async (context) => {
  await checkHosts({ listen: { host: "localhost", port: 0 } }, [["localhost:PORT", true]]);
  const own = ownAddress();
  if (own === undefined) return context.diagnostic("this machine has only loopback");
  await using server = await startTestServer({ listen: { host: own, port: 0 } });
  const check = async (host: string, status: number) => {
    const text = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    assert.match(await talk(server.port, text, own), new RegExp(`^HTTP/1\\.1 ${status} `), host);
  };
  await check(own, 200);
  await check(`${own}:${server.port}`, 200);
  await check("localhost", 200);
  await check("evil.example", 403);
});

/** An address of this machine other than loopback, if it has one. */
function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.find((one) => one?.family === "IPv4" && !one.internal)?.address;
}

test("when listening on all addresses, the local address of the connection is accepted as Host", async (context) => {
  await using server = await startTestServer({ listen: { host: "0.0.0.0", port: 0 } });
  assert.equal(server.url, `http://127.0.0.1:${server.port}`);
  const check = async (host: string, status: number) => {
    const answer = await ask(server, { path: "/healthz", headers: { host } });
    assert.equal(answer.status, status, host);
  };
  await check("localhost", 200);
  await check("0.0.0.0", 403);
  await check("evil.example", 403);
  const own = ownAddress();
  if (own === undefined) return context.diagnostic("this machine has only loopback");
  // On loopback the local address of the connection is 127.0.0.1.
  await check(own, 403);
  const answer = await fetch(`http://${own}:${server.port}/healthz`);
  assert.equal(answer.status, 200);
});

test("a request without Host is refused", async () => {
  await using server = await startTestServer();
  const answer = await talk(server.port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  assert.match(answer, /^HTTP\/1\.1 403 .*HTTP_HOST_REFUSED/s);
  for (const text of ["GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.0\r\nHost:\r\n\r\n"]) {
    assert.match(await talk(server.port, text), /^HTTP\/1\.1 403 /);
  }
});

test("a request with a refused Host opens no session and calls no tool", async () => {
  await using server = await startTestServer();
  await ask(server, { headers: { ...asAlice, host: "evil.example" }, body: initialize });
  assert.equal(server.service.sessions.size, 0);
  assert.deepEqual(server.service.callers, []);
});

test("only Origins of this machine and allowed ones are accepted", async () => {
  await using server = await startTestServer({ allowedOrigins: ["https://App.example"] });
  const check = async (origin: string | undefined, isAnswered: boolean) => {
    const answer = await ask(server, { headers: { ...asAlice, origin }, body: initialize });
    assert.equal(answer.status, isAnswered ? 200 : 403, `Origin: ${origin}`);
    if (!isAnswered) assert.equal(answer.code, "HTTP_ORIGIN_REFUSED");
    const shared = isAnswered && origin !== undefined ? origin : undefined;
    assert.equal(answer.headers["access-control-allow-origin"], shared, `Origin: ${origin}`);
  };
  await check(undefined, true);
  await check("http://localhost:6274", true);
  await check("http://127.0.0.1", true);
  await check("https://[::1]:1", true);
  await check("https://app.example", true);
  await check("http://app.example", false);
  await check("https://app.example:8443", false);
  await check("https://evil.example", false);
  await check("null", false);
  await check("", false);
  await check("http://localhost.evil.example", false);
  await check("http://localhost@evil.example", false);
  await check("http://localhost:1/evil", false);
  await check("file://", false);
  await check("http://127.0.0.1.nip.io", false);
  await check("chrome-extension://abcdef", false);
});

test("a browser's preflight succeeds only for allowed origins, and never with credentials", async () => {
  await using server = await startTestServer();
  const preflight = (origin: string, path = "/mcp") =>
    ask(server, {
      method: "OPTIONS",
      path,
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "Authorization, content-type, mcp-param-region, x-evil, cookie",
      },
    });
  const answer = await preflight("http://localhost:6274");
  assert.equal(answer.status, 204);
  assert.equal(answer.headers["access-control-allow-origin"], "http://localhost:6274");
  assert.equal(
    answer.headers["access-control-allow-headers"],
    "authorization, content-type, mcp-param-region",
  );
  assert.equal(answer.headers["access-control-allow-credentials"], undefined);
  assert.equal(answer.headers["vary"], "origin");
  assert.equal((await preflight("https://evil.example")).status, 403);
  assert.equal((await preflight("http://localhost:6274", "/nowhere")).status, 404);
});

test("a form of a web page cannot send a message", async () => {
  await using server = await startTestServer({ auth: "none" });
  for (const contentType of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]) {
    const body = JSON.stringify(initialize);
    const answer = await ask(server, { headers: { "content-type": contentType }, body });
    assert.equal(answer.status, 415, contentType);
  }
  assert.equal(server.service.sessions.size, 0);
});

test("auth none is refused on addresses other than loopback", async () => {
  const check = (host: string) =>
    assert.rejects(
      startTestServer({ auth: "none", listen: { host, port: 0 } }),
      { code: "HTTP_AUTH_REQUIRED" },
      host,
    );
  await check("0.0.0.0");
  await check("::");
  await check("192.168.1.5");
  await check("tools.example");
  await check("::ffff:127.0.0.1");
  await using server = await startTestServer({ auth: "none", listen: { host: "localhost", port: 0 } });
  assert.ok(server.port > 0);
});
