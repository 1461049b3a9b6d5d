/** Web pages must not reach the gateway: neither by DNS rebinding (Host) nor across sites (Origin). */

import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { asAlice, ask, type DoorOptions, initialize, openDoor, talk } from "./http-harness.ts";

/** Whether each Host is answered. */
async function checkHosts(
  options: DoorOptions,
  cases: readonly (readonly [host: string, isAnswered: boolean])[],
) {
  await using door = await openDoor(options);
  for (const [host, isAnswered] of cases) {
    const text = host.replaceAll("PORT", String(door.port));
    const answer = await ask(door, { headers: { ...asAlice, host: text }, body: initialize });
    assert.equal(answer.status, isAnswered ? 200 : 403, `Host: ${text}`);
    if (!isAnswered) assert.equal(answer.code, "HTTP_HOST_REFUSED");
  }
  // What was answered once is remembered; what was refused is refused again.
  for (const [host, isAnswered] of cases) {
    const text = host.replaceAll("PORT", String(door.port));
    const answer = await ask(door, { path: "/healthz", headers: { host: text } });
    assert.equal(answer.status, isAnswered ? 200 : 403, `Host: ${text}`);
  }
}

test("only Hosts of this machine are answered", () =>
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

test("allowed hosts are answered with any port, or with theirs", () =>
  checkHosts({ allowedHosts: ["Tools.Example", "ports.example:8443"] }, [
    ["tools.example", true],
    ["TOOLS.example:PORT", true],
    ["ports.example:8443", true],
    ["ports.example:8444", false],
    ["ports.example", false],
    ["sub.tools.example", false],
    ["localhost", true],
  ]));

test("the address and the name that is listened on are answered", async (context) => {
  await checkHosts({ listen: { host: "localhost", port: 0 } }, [["localhost:PORT", true]]);
  const own = ownAddress();
  if (own === undefined) return context.diagnostic("this machine has only loopback");
  await using door = await openDoor({ listen: { host: own, port: 0 } });
  const check = async (host: string, status: number) => {
    const text = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    assert.match(await talk(door.port, text, own), new RegExp(`^HTTP/1\\.1 ${status} `), host);
  };
  await check(own, 200);
  await check(`${own}:${door.port}`, 200);
  await check("localhost", 200);
  await check("evil.example", 403);
});

/** An address of this machine that others can reach, if it has one. */
function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.find((one) => one?.family === "IPv4" && !one.internal)?.address;
}

test("on all addresses, the one that the connection came in on is answered", async (context) => {
  await using door = await openDoor({ listen: { host: "0.0.0.0", port: 0 } });
  assert.equal(door.url, `http://127.0.0.1:${door.port}`);
  const check = async (host: string, status: number) => {
    const answer = await ask(door, { path: "/healthz", headers: { host } });
    assert.equal(answer.status, status, host);
  };
  await check("localhost", 200);
  await check("0.0.0.0", 403);
  await check("evil.example", 403);
  const own = ownAddress();
  if (own === undefined) return context.diagnostic("this machine has only loopback");
  // On loopback the connection comes in on 127.0.0.1.
  await check(own, 403);
  const answer = await fetch(`http://${own}:${door.port}/healthz`);
  assert.equal(answer.status, 200);
});

test("a request without Host is refused", async () => {
  await using door = await openDoor();
  const answer = await talk(door.port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  assert.match(answer, /^HTTP\/1\.1 403 .*HTTP_HOST_REFUSED/s);
  for (const text of ["GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.0\r\nHost:\r\n\r\n"]) {
    assert.match(await talk(door.port, text), /^HTTP\/1\.1 403 /);
  }
});

test("a refused Host opens no session and reaches no tool", async () => {
  await using door = await openDoor();
  await ask(door, { headers: { ...asAlice, host: "evil.example" }, body: initialize });
  assert.equal(door.service.sessions.size, 0);
  assert.deepEqual(door.service.callers, []);
});

test("only Origins of this machine and allowed ones are answered", async () => {
  await using door = await openDoor({ allowedOrigins: ["https://App.example"] });
  const check = async (origin: string | undefined, isAnswered: boolean) => {
    const answer = await ask(door, { headers: { ...asAlice, origin }, body: initialize });
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

test("a browser's preflight is answered for allowed origins only, and never with credentials", async () => {
  await using door = await openDoor();
  const preflight = (origin: string, path = "/mcp") =>
    ask(door, {
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
  await using door = await openDoor({ auth: "none" });
  for (const contentType of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]) {
    const body = JSON.stringify(initialize);
    const answer = await ask(door, { headers: { "content-type": contentType }, body });
    assert.equal(answer.status, 415, contentType);
  }
  assert.equal(door.service.sessions.size, 0);
});

test("auth none is refused on anything but loopback", async () => {
  const check = (host: string) =>
    assert.rejects(
      openDoor({ auth: "none", listen: { host, port: 0 } }),
      { code: "HTTP_AUTH_REQUIRED" },
      host,
    );
  await check("0.0.0.0");
  await check("::");
  await check("192.168.1.5");
  await check("tools.example");
  await check("::ffff:127.0.0.1");
  await using door = await openDoor({ auth: "none", listen: { host: "localhost", port: 0 } });
  assert.ok(door.port > 0);
});
