/** Secrets of packages: which of them a package gets, where they are sent, and where they do not appear. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, type RecordedRequest } from "@toolcrib/testing";
import { dataOf, startTestGateway, textOf } from "./gateway-harness.ts";
import { type PackageContent, putPackages, startLoopbackServer } from "./package-harness.ts";
import { canary, startTestApi, type TestApi } from "./toolspec-harness.ts";

function httpPackage(auth: JsonObject, endpoint: JsonObject = {}): PackageContent {
  return {
    manifest: {
      toolId: "acme.api.get",
      name: "Get",
      version: "1.0.0",
      description: "Gets an item.",
      capabilities: [],
      endpoint: {
        type: "http",
        method: "GET",
        url: "https://api.acme.example/items/{id}?fixed=1",
        ...endpoint,
      },
      auth,
      input_schema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      output_schema: {},
    },
  };
}

const bearer = { type: "bearer", configHints: { env: ["ACME_KEY"] } };

interface Run {
  readonly entry?: JsonObject;
  readonly args?: JsonObject;
  readonly secrets?: { readonly [name: string]: string };
  readonly environment?: { readonly [name: string]: string };
}

/** Calls the package once at `api`. */
async function call(
  api: TestApi,
  one: PackageContent,
  { entry = {}, args = { id: "7" }, ...options }: Run = {},
) {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [one]);
  await using gateway = await startTestGateway(
    { egress: api.egress, policy: { waive_approval: ["*"] }, packages: { "acme.api.get": entry } },
    { home, files: {}, ...options },
  );
  const client = await gateway.connect();
  const answer = await client
    .callTool({ name: "acme.api.get", arguments: args })
    .then(textOf, (error: Error) => error.message);
  const { health } = gateway.gateway.status().packages[0] ?? {};
  await gateway.stop();
  return { answer, health, audit: gateway.audit(), log: JSON.stringify(gateway.logger.records) };
}

test("a secret that the operator names is inserted by the egress, and appears nowhere else", async () => {
  await using api = await startTestApi((request: RecordedRequest, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ target: request.target, echoed: request.headers }));
  });
  const entry = { credentials: { token: { secret_key_ref: "stored" } } };
  const { answer, audit, log } = await call(api, httpPackage(bearer), { entry, secrets: { stored: canary } });
  assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${canary}`]);
  assert.match(answer, /"target":"\/items\/7\?fixed=1"/);
  for (const text of [answer, JSON.stringify(audit), log]) assert.ok(!text.includes(canary));
  assert.deepEqual(
    dataOf(audit, "secret.used").map(({ server, host, secret }) => [server, host, secret]),
    [["acme.api.get", "api.acme.example", "stored"]],
  );
});

test("the manifest of an unverified package does not choose a secret; that of a verified one does", async () => {
  await using api = await startTestApi();
  const options = { environment: { ACME_KEY: canary } };
  const unverified = await call(api, httpPackage(bearer), options);
  assert.equal(unverified.health?.state, "unavailable");
  assert.match(
    unverified.health?.reason ?? "",
    /needs a secret; its manifest proposes ACME_KEY.*secret_key_ref: ACME_KEY/,
  );
  assert.deepEqual(api.server.requests, []);
  const verified = await call(api, httpPackage(bearer), { ...options, entry: { trust_state: "verified" } });
  assert.match(verified.answer, /"method":"GET"/);
  assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${canary}`]);
});

test("an API key goes into the header or the query parameter that the manifest names", async () => {
  const entry = { credentials: { token: { secret_key_ref: "stored" } } };
  const keyIn = async (hints: JsonObject) => {
    await using api = await startTestApi();
    await call(api, httpPackage({ type: "api_key", configHints: hints }), {
      entry,
      secrets: { stored: canary },
    });
    const [request] = api.server.requests;
    return `${request?.target} ${request?.headers.map(([name, value]) => `${name}: ${value}`).join(" ")}`;
  };
  assert.match(await keyIn({}), new RegExp(`x-api-key: ${canary}`, "i"));
  assert.match(await keyIn({ header: "Acme-Token" }), new RegExp(`acme-token: ${canary}`, "i"));
  assert.match(await keyIn({ query: "key" }), new RegExp(`[?&]key=${canary}`));
});

test("client credentials of OAuth 2 get an access token, which is used until it expires", async () => {
  const grants: string[] = [];
  await using api = await startTestApi((request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    if (request.target === "/token") {
      grants.push(request.body.toString());
      response.end(JSON.stringify({ access_token: "access-1", token_type: "bearer", expires_in: 3600 }));
    } else response.end("{}");
  });
  const auth = {
    type: "oauth2",
    scopes: ["read"],
    configHints: { tokenUrl: "https://api.beta.example/token" },
  };
  const entry = {
    credentials: { client_id: { secret_key_ref: "id" }, client_secret: { secret_key_ref: "secret" } },
  };
  const { audit, answer } = await call(api, httpPackage(auth), {
    entry,
    secrets: { id: "client", secret: canary },
  });
  assert.equal(answer, "{}");
  assert.deepEqual(grants, ["grant_type=client_credentials&scope=read"]);
  assert.deepEqual(api.headersNamed("authorization"), [
    `Basic ${Buffer.from(`client:${canary}`).toString("base64")}`,
    "Bearer access-1",
  ]);
  assert.ok(!JSON.stringify(audit).includes("access-1"));
});

test("a refresh token that is replaced outlasts the gateway, and one that is revoked is not sent again and again", async () => {
  const grants: string[] = [];
  let valid = "refresh-0-of-the-operator";
  let status = 200;
  await using api = await startTestApi((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.target !== "/token") {
      response.writeHead(status).end("{}");
      return;
    }
    const token = new URLSearchParams(request.body.toString()).get("refresh_token") ?? "";
    grants.push(token);
    if (token !== valid) {
      response.writeHead(400).end(JSON.stringify({ error: "invalid_grant" }));
      return;
    }
    valid = `refresh-${grants.length}-of-the-endpoint`;
    const answer = { access_token: `access-${grants.length}-token`, expires_in: 3600, refresh_token: valid };
    response.writeHead(200).end(JSON.stringify(answer));
  });
  const auth = { type: "oauth2", configHints: { tokenUrl: "https://api.beta.example/token" } };
  const entry = { credentials: { refresh_token: { secret_key_ref: "refresh" } } };
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [httpPackage(auth)]);
  const config = {
    egress: api.egress,
    policy: { waive_approval: ["*"] },
    packages: { "acme.api.get": entry },
  };
  const texts: string[] = [];
  const withGateway = async (stored: string, calls: number) => {
    await using gateway = await startTestGateway(config, { home, files: {}, secrets: { refresh: stored } });
    const client = await gateway.connect();
    for (let count = 0; count < calls; count += 1) {
      const args = { name: "acme.api.get", arguments: { id: "7" } };
      texts.push(await client.callTool(args).then(textOf, (error: Error) => error.message));
    }
    await gateway.stop();
    texts.push(JSON.stringify(gateway.audit()), JSON.stringify(gateway.logger.records));
  };
  await withGateway("refresh-0-of-the-operator", 2);
  assert.deepEqual(grants, ["refresh-0-of-the-operator"]);
  // Another process of the home, in which the API refuses an access token: the next call refreshes.
  status = 401;
  await withGateway("refresh-0-of-the-operator", 2);
  assert.deepEqual(grants.slice(1), ["refresh-1-of-the-endpoint", "refresh-2-of-the-endpoint"]);
  status = 200;
  valid = "refresh-new-of-the-operator";
  await withGateway("refresh-0-of-the-operator", 3);
  // It was revoked: one attempt, and a message that says what to do.
  assert.deepEqual(grants.slice(3), ["refresh-3-of-the-endpoint"]);
  assert.match(texts.join("\n"), /its refresh token was revoked, or it expired: authorize the package again/);
  await withGateway("refresh-new-of-the-operator", 1);
  assert.deepEqual(grants.slice(4), ["refresh-new-of-the-operator"]);
  assert.doesNotMatch(texts.join("\n"), /refresh-[0-9]-of|access-[0-9]-token/);
});

test("no part of a refresh token is left in an error of the token endpoint that is cut", async () => {
  await using api = await startTestApi((request, response) => {
    const token = new URLSearchParams(request.body.toString()).get("refresh_token") ?? "";
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: `${"x".repeat(190)} ${token} ${"y".repeat(190)}` }));
  });
  const auth = { type: "oauth2", configHints: { tokenUrl: "https://api.beta.example/token" } };
  const entry = { credentials: { refresh_token: { secret_key_ref: "refresh" } } };
  const secrets = { refresh: "refresh-0-of-the-operator" };
  const { answer, audit, health, log } = await call(api, httpPackage(auth), { entry, secrets });
  assert.match(health?.reason ?? answer, /answered HTTP 400: x{190}/);
  assert.doesNotMatch(JSON.stringify([answer, audit, health, log]), /refresh-/);
});

test("a package reaches the host of its URL only, and no input changes the path or the host", async () => {
  await using api = await startTestApi((_request, response) => {
    response.writeHead(302, { location: "https://api.beta.example/elsewhere" }).end();
  });
  const redirected = await call(api, httpPackage({ type: "none" }));
  assert.match(redirected.answer, /redirects are followed on the same host only/);
  assert.equal(api.server.requests.length, 1);
  const before = api.server.requests.length;
  for (const id of ["..", "a/../..", "%2e%2e", "a\u0000b", ""]) {
    const { answer } = await call(api, httpPackage({ type: "none" }), { args: { id } });
    if (id === "a/../..") assert.match(answer, /path/, JSON.stringify(id));
    assert.doesNotMatch(answer, /redirects/, JSON.stringify(id));
  }
  assert.equal(api.server.requests.length, before);
  const [slash] = [await call(api, httpPackage({ type: "none" }), { args: { id: "x/y?z#w" } })];
  assert.equal(api.server.requests.at(-1)?.target, "/items/x%2Fy%3Fz%23w?fixed=1", slash.answer);
});

test("no manifest names a server of this machine or plain http; the configuration does", async () => {
  await using api = await startTestApi();
  await using server = await startLoopbackServer(() => ({ body: '{"from":"loopback"}' }));
  const urls = [`${server.url}/x`, "http://example.com/x", "https://127.0.0.1/x", "https://localhost/x"];
  for (const url of urls) {
    const { health } = await call(api, httpPackage({ type: "none" }, { url }));
    assert.equal(health?.state, "unavailable", url);
    assert.match(health?.reason ?? "", /the URL of a package is https with a host name/, url);
  }
  assert.equal(server.requests.length, 0);
  const entry = {
    endpoint: { url: `${server.url}/items/{id}` },
    credentials: { token: { secret_key_ref: "stored" } },
  };
  const { answer, audit } = await call(api, httpPackage(bearer), { entry, secrets: { stored: canary } });
  assert.equal(answer, '{"from":"loopback"}');
  const received = server.requests.map(({ method, url, headers }) => [method, url, headers.authorization]);
  assert.deepEqual(received, [["GET", "/items/7", `Bearer ${canary}`]]);
  assert.ok(!JSON.stringify(audit).includes(canary));
});
