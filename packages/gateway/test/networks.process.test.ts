/** Upstream servers in corporate networks: proxies, authorities, client certificates, and servers that stop answering. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  startRawServer,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";

const serverAt = (url: string, more: JsonObject = {}): JsonObject => ({
  tool_servers: [
    {
      id: "s",
      trust_state: "certified",
      transport: { kind: "streamable_http", url, allow_http: true, ...more },
    },
  ],
});

/** Calls the tool of the only server. */
async function callOnce(document: JsonObject, options: Parameters<typeof startTestGateway>[1] = {}) {
  await using gateway = await startTestGateway(document, options);
  const client = await gateway.connect();
  const result = await client.callTool({ name: "s__act", arguments: {} });
  return { text: JSON.stringify(result["content"]), records: JSON.stringify(gateway.logger.records) };
}

/** An HTTP proxy that connects every host to this machine. */
async function startProxy() {
  const seen: string[] = [];
  const server = createServer((incoming, response) => {
    const { method, headers, url = "" } = incoming;
    seen.push(`${new URL(url).hostname} ${headers["proxy-authorization"] ?? ""}`.trim());
    const { port, pathname } = new URL(url);
    const outgoing = request({ host: "127.0.0.1", port, path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.on("connect", ({ url = "", headers }, socket) => {
    const [host, port] = url.split(":");
    seen.push(`CONNECT ${host} ${headers["proxy-authorization"] ?? ""}`.trim());
    const target = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    for (const one of [target, socket]) one.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test("a server is reached through its proxy: plain HTTP is forwarded, and HTTPS is tunnelled", async () => {
  await using proxy = await startProxy();
  await using plain = await startRawServer();
  const environment = {
    ...process.env,
    TOOLCRIB_SECRET_PROXY: `http://user:pass-word-1@127.0.0.1:${proxy.port}`,
  };
  const viaSecret = { proxy: { secret_key_ref: "PROXY" } };
  const first = await callOnce(serverAt(`http://intern.test:${plain.port}/mcp`, viaSecret), { environment });
  assert.match(first.text, /done/);
  assert.ok(!first.records.includes("pass-word-1"));
  assert.equal(proxy.seen[0], `intern.test Basic ${btoa("user:pass-word-1")}`);

  proxy.seen.length = 0;
  const authority = createTestAuthority();
  await using directory = await makeTemporaryDirectory();
  await writeFiles(directory.path, { "ca.pem": authority.certificate });
  const certificate = authority.sign({ hosts: ["secure.test"] });
  await using secure = await startRawServer(undefined, { certificate });
  const document = serverAt(`https://secure.test:${secure.port}/mcp`, {
    proxy: "env",
    ca_file: join(directory.path, "ca.pem"),
  });
  const environmentOf = { ...process.env, HTTPS_PROXY: `127.0.0.1:${proxy.port}`, NO_PROXY: "" };
  assert.match((await callOnce(document, { environment: environmentOf })).text, /done/);
  assert.equal(proxy.seen[0], "CONNECT secure.test");
});

test("a private authority and a client certificate are used for the server that declares them", async () => {
  const authority = createTestAuthority();
  const certificate = authority.sign({ hosts: ["localhost"] });
  const own = authority.sign({ hosts: ["client"] });
  await using directory = await makeTemporaryDirectory();
  await writeFiles(directory.path, { "ca.pem": authority.certificate, "certificate.pem": own.certificate });
  const ca_file = join(directory.path, "ca.pem");
  await using server = await startRawServer(undefined, {
    certificate,
    clientAuthority: authority.certificate,
  });
  const environment = {
    ...process.env,
    TOOLCRIB_SECRET_CERTIFICATE: own.certificate,
    TOOLCRIB_SECRET_KEY: own.key,
  };
  const client_certificate = { secret_key_ref: "CERTIFICATE" };
  const client_key = { secret_key_ref: "KEY" };
  const whole = serverAt(server.url, { ca_file, client_certificate, client_key });
  const { text, records } = await callOnce(whole, { environment });
  assert.match(text, /done/);
  assert.ok(!records.includes(own.key.split("\n")[1] ?? ""));
  for (const incomplete of [{ ca_file }, { client_certificate, client_key }]) {
    const document = serverAt(server.url, incomplete);
    await using gateway = await startTestGateway(document, { environment, isAwaited: false });
    await waitUntil(() => /not available/.test(JSON.stringify(gateway.logger.records)));
  }
  assert.equal(server.effects, 1);
});

test("SSL_CERT_FILE names authorities that are trusted for all servers", async () => {
  const authority = createTestAuthority();
  await using directory = await makeTemporaryDirectory();
  await writeFiles(directory.path, { "ca.pem": authority.certificate });
  await using server = await startRawServer(undefined, {
    certificate: authority.sign({ hosts: ["localhost"] }),
  });
  const environment = { ...process.env, SSL_CERT_FILE: join(directory.path, "ca.pem") };
  assert.match((await callOnce(serverAt(server.url), { environment })).text, /done/);
});

test("the status notices a server that accepts requests but does not answer", async () => {
  let isHung = false;
  await using server = await startRawServer((exchange) => isHung && exchange.method === "POST");
  await using gateway = await startTestGateway(serverAt(server.url), {
    upstreamLimits: { pingIntervalMs: 50, pingTimeoutMs: 100 },
  });
  const isReady = () => gateway.gateway.status().servers[0]?.health.state === "ready";
  await waitUntil(isReady);
  isHung = true;
  await waitUntil(() => !isReady());
  await waitUntil(() => /does not answer/.test(JSON.stringify(gateway.logger.records)));
  isHung = false;
  await waitUntil(isReady);
  assert.equal(server.log.filter((entry) => entry === "POST initialize").length, 1, "the session is kept");
});
