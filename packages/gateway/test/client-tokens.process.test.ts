/** Access tokens of an identity provider at the HTTP server of a gateway. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateway } from "@toolcrib/gateway";
import { makeTemporaryDirectory, startIdentityProvider } from "@toolcrib/testing";
import { configOf, createTestLogger } from "./gateway-harness.ts";

const resource = "https://tools.example.com/mcp";

test("a client finds the issuer, and its token gives a name and nothing else", async () => {
  const client = {
    client_id: "agent",
    client_secret: "s3cret-of-the-agent",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  await using provider = await startIdentityProvider({ hasJwtTokens: true, clients: [client] });
  await using directory = await makeTemporaryDirectory();
  const logger = createTestLogger();
  const auth = { resource, jwt: [{ issuer: provider.issuer, scopes: ["read"] }] };
  await using gateway = await startGateway(
    configOf({ tool_servers: [], serve: { listen: "127.0.0.1:0", auth } }),
    {
      home: directory.path,
      env: { PATH: process.env["PATH"] },
      directory: directory.path,
      logger,
      version: "0.0.0",
      configFiles: [],
    },
  );
  const { url } = await gateway.listen();
  const metadata = await (await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)).json();
  assert.deepEqual(metadata, {
    resource,
    authorization_servers: [provider.issuer],
    bearer_methods_supported: ["header"],
    resource_name: "Toolcrib",
    scopes_supported: ["read"],
  });
  const ask = (headers: { readonly [name: string]: string }, method = "GET", path = "/api/v1/status") =>
    fetch(url + path, { method, headers });
  const place = 'resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"';
  const none = await ask({});
  assert.equal(none.status, 401);
  assert.equal(none.headers.get("www-authenticate"), `Bearer realm="toolcrib", scope="read", ${place}`);
  const bad = await ask({ authorization: "Bearer a.b.c" });
  assert.equal(
    bad.headers.get("www-authenticate"),
    `Bearer realm="toolcrib", error="invalid_token", scope="read", ${place}`,
  );

  const tokenFor = async (scope: string, audience = resource) => {
    const response = await fetch(`${provider.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource: audience, scope }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const token = await tokenFor("read");
  assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
  const few = await ask({ authorization: `Bearer ${await tokenFor("write")}` });
  assert.equal(few.status, 403);
  assert.match(await few.text(), /does not have the scopes read .*"HTTP_SCOPE_MISSING"/);
  assert.equal(
    few.headers.get("www-authenticate"),
    `Bearer realm="toolcrib", error="insufficient_scope", scope="read", ${place}`,
  );
  assert.equal(
    (await ask({ authorization: `Bearer ${await tokenFor("read", "https://other.example/")}` })).status,
    401,
  );
  // A client has no role, and a token of the home is still accepted.
  assert.equal((await ask({ authorization: `Bearer ${token}` }, "POST", "/api/v1/pauses/pause")).status, 403);
  assert.equal(JSON.stringify(logger).includes(token), false);
});

test("a stream is closed when the access token that opened it ends", async () => {
  const client = {
    client_id: "agent",
    client_secret: "s3cret-of-the-agent",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  await using provider = await startIdentityProvider({
    hasJwtTokens: true,
    clients: [client],
    accessTokenSeconds: 5,
  });
  await using directory = await makeTemporaryDirectory();
  const auth = { resource, jwt: [{ issuer: provider.issuer, clock_skew_seconds: 0 }] };
  await using gateway = await startGateway(
    configOf({ tool_servers: [], serve: { listen: "127.0.0.1:0", auth } }),
    {
      home: directory.path,
      env: { PATH: process.env["PATH"] },
      directory: directory.path,
      logger: createTestLogger(),
      version: "0.0.0",
      configFiles: [],
    },
  );
  const { url } = await gateway.listen();
  const answer = await fetch(`${provider.issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials", resource, scope: "read" }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const authorization = `Bearer ${token}`;
  const stream = await fetch(`${url}/sse`, { headers: { authorization, accept: "text/event-stream" } });
  assert.equal(stream.status, 200);
  await stream.text().catch(() => undefined);
  const { exp } = JSON.parse(atob(token.split(".")[1] ?? "")) as { exp: number };
  assert.ok(Date.now() >= exp * 1000, "not closed before its end");
  assert.equal((await fetch(`${url}/sse`, { headers: { authorization } })).status, 401);
});
