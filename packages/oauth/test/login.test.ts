import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { AccessTokens, logout, readLoginState } from "@toolcrib/oauth";
import {
  browse,
  type IdentityProviderOptions,
  slowTest,
  startIdentityProvider,
  startProtectedServer,
} from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { defaultMetadata, startHostileProvider } from "./hostile-provider.ts";
import { createTestDeps, logIn, serverAt, tokenOf } from "./oauth-harness.ts";

/** Starts a provider and a server that takes its tokens. */
async function start(options: IdentityProviderOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await startIdentityProvider(options));
  const server = stack.use(
    await startProtectedServer({
      check: (token) => provider.find(token),
      authorizationServers: [provider.issuer],
    }),
  );
  const deps = stack.use(await createTestDeps());
  const moved = stack.move();
  return { provider, server, deps, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Sends one call with the current token, as the gateway does. @returns the status of the last response */
async function callOnce(tokens: AccessTokens, url: string, name = "whoami"): Promise<number> {
  const signal = AbortSignal.timeout(20_000);
  const credentials = tokens.credentialsFor(undefined);
  for (let attempt = 1; ; attempt += 1) {
    const headers = await credentials({ signal });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
    const response = await fetch(url, { method: "POST", headers: { ...headers }, body });
    await response.text();
    const { status } = response;
    if (status < 400 || attempt > 1) return status;
    const challenge = response.headers.get("www-authenticate") ?? undefined;
    if (!(await credentials.refused({ status, challenge, headers: { ...headers }, signal }))) return status;
  }
}

test("a login registers a client, and its token is accepted by the server that it is for", async () => {
  await using run = await start();
  const { server, deps, provider } = run;
  const settings = serverAt(server.url);
  assert.equal((await readLoginState(settings, deps)).kind, "login needed");
  const result = await logIn(settings, deps);
  assert.equal(result.issuer, provider.issuer);
  assert.equal(result.canRefresh, true);
  const tokens = new AccessTokens(settings, deps);
  assert.equal(await callOnce(tokens, server.url), 200);
  const found = await provider.find(await tokenOf(tokens));
  assert.equal(found?.audience, server.url);
  assert.equal((await readLoginState(settings, deps)).kind, "logged in");
  assert.ok(provider.paths.includes("/reg"));
});

test("without a login, a request fails with the command that logs in", async () => {
  await using run = await start();
  const tokens = new AccessTokens(serverAt(run.server.url), run.deps);
  await assert.rejects(tokenOf(tokens), { code: "OAUTH_LOGIN_REQUIRED", hint: "run toolcrib login notes" });
});

test("twenty requests with an expiring token refresh it once, also where two programs share the login", async () => {
  await using run = await start({ accessTokenSeconds: 600 });
  const { server, deps, provider } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  const others = new AccessTokens(settings, deps);
  const old = await tokenOf(tokens);
  assert.equal(await tokenOf(others), old);
  deps.advance(550_000);
  const both = [tokens, others];
  const got = await Promise.all(Array.from({ length: 20 }, (_, at) => tokenOf(both[at % 2] as AccessTokens)));
  assert.equal(new Set(got).size, 1);
  assert.notEqual(got[0], old);
  assert.deepEqual(
    provider.tokenRequests.filter((grant) => grant === "refresh_token"),
    ["refresh_token"],
  );
});

test("a refresh token that rotates is replaced at each refresh", async () => {
  await using run = await start({ accessTokenSeconds: 600 });
  const { server, deps } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  const seen = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    seen.add(await tokenOf(tokens));
    deps.advance(550_000);
  }
  assert.equal(seen.size, 3);
  for (const token of seen) assert.ok(deps.learned.has(token));
});

test("a token that the server refuses is refreshed, once for all requests", async () => {
  await using run = await start();
  const { server, deps, provider } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  server.refuse(await tokenOf(tokens));
  const statuses = await Promise.all(Array.from({ length: 20 }, () => callOnce(tokens, server.url)));
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.equal(provider.tokenRequests.filter((grant) => grant === "refresh_token").length, 1);
  // A server that refuses the new one too does not get one after the other, although the refresh changed the store.
  assert.deepEqual(await tokens.changed([...deps.secrets.keys()][0] as string), {
    owner: undefined,
    isReplaced: false,
  });
  server.refuse(await tokenOf(tokens));
  await assert.rejects(callOnce(tokens, server.url), { code: "OAUTH_LOGIN_REQUIRED" });
  assert.equal(provider.tokenRequests.filter((grant) => grant === "refresh_token").length, 1);
  // A later refresh that succeeds says that no login is missing, so that no client is asked for one.
  const client = localIdentity("token", "ci");
  assert.equal(tokens.missingFor(client), "access");
  deps.advance(31_000);
  assert.equal(await callOnce(tokens, server.url), 200);
  assert.equal(tokens.missingFor(client), undefined);
});

test("a login that was revoked at the provider ends, and a new one is used without a restart", async () => {
  await using run = await start({ accessTokenSeconds: 600 });
  const { server, deps } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  await tokenOf(tokens);
  const [name, stored] = [...deps.secrets][0] as [string, string];
  const { refreshToken } = JSON.parse(stored) as { refreshToken: string };
  deps.secrets.set(name, stored.replace(refreshToken, "not-the-token"));
  deps.advance(590_000);
  await assert.rejects(tokenOf(tokens), { code: "OAUTH_LOGIN_REQUIRED", hint: "run toolcrib login notes" });
  assert.equal((await readLoginState(settings, deps)).kind, "login needed");
  await logIn(settings, deps);
  assert.deepEqual(await tokens.changed(name), { owner: undefined, isReplaced: true });
  assert.equal(await tokens.changed("another secret"), undefined);
  assert.equal(await callOnce(tokens, server.url), 200);
});

test("scopes that a call needs are asked for at the next login, and not again when they are refused", async () => {
  await using run = await start({ grants: ["read", "offline_access"] });
  const { server, deps } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  await assert.rejects(callOnce(tokens, server.url, "change"), {
    code: "OAUTH_LOGIN_REQUIRED",
    message: /"write" are missing in the login to "notes"/,
    hint: "run toolcrib login notes",
  });
  assert.deepEqual((await readLoginState(settings, deps)).missingScopes, ["write"]);
  const { scopes } = await logIn(settings, deps);
  assert.equal(scopes.includes("write"), false);
  await tokens.changed([...deps.secrets.keys()][0] as string);
  await assert.rejects(callOnce(tokens, server.url, "change"), {
    code: "OAUTH_LOGIN_REQUIRED",
    message: /were asked for and are not enough/,
  });
});

test("a login with the missing scopes keeps those that it had", async () => {
  await using run = await start();
  const { server, deps } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  await assert.rejects(callOnce(tokens, server.url, "change"), { code: "OAUTH_LOGIN_REQUIRED" });
  await logIn(settings, deps);
  await tokens.changed([...deps.secrets.keys()][0] as string);
  assert.equal(await callOnce(tokens, server.url, "change"), 200);
  assert.equal(await callOnce(tokens, server.url), 200);
});

test("a refresh renews a login, and another login or none replaces it", async () => {
  await using run = await start({ accessTokenSeconds: 600 });
  const { server, deps } = run;
  const settings = serverAt(server.url);
  const tokens = new AccessTokens(settings, deps);
  await assert.rejects(tokenOf(tokens), { code: "OAUTH_LOGIN_REQUIRED" });
  await logIn(settings, deps);
  const name = [...deps.secrets.keys()][0] as string;
  assert.deepEqual(await tokens.changed(name), { owner: undefined, isReplaced: true });
  const first = await tokenOf(tokens);
  // Another process refreshes it.
  deps.advance(590_000);
  const other = new AccessTokens(settings, deps);
  assert.notEqual(await tokenOf(other), first);
  assert.deepEqual(await tokens.changed(name), { owner: undefined, isReplaced: false });
  assert.equal(await tokenOf(tokens), await tokenOf(other));
  await logIn(settings, deps);
  assert.deepEqual(await tokens.changed(name), { owner: undefined, isReplaced: true });
  await tokenOf(tokens);
  await logout(settings, deps, { signal: AbortSignal.timeout(20_000) });
  assert.deepEqual(await tokens.changed(name), { owner: undefined, isReplaced: true });
});

test("a login of another process is used before the gateway is notified of it", async () => {
  await using run = await start();
  const { server, deps } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  await assert.rejects(callOnce(tokens, server.url, "change"), { code: "OAUTH_LOGIN_REQUIRED" });
  await logIn(settings, deps);
  assert.equal(await callOnce(tokens, server.url, "change"), 200);
  // Without a refresh token, only a new login helps.
  for (const [name, text] of deps.secrets) {
    const { refreshToken: _refresh, ...rest } = JSON.parse(text) as { readonly refreshToken?: string };
    deps.secrets.set(name, JSON.stringify(rest));
    await tokens.changed(name);
  }
  server.refuse(await tokenOf(tokens));
  await assert.rejects(callOnce(tokens, server.url), { code: "OAUTH_LOGIN_REQUIRED" });
  await logIn(settings, deps);
  assert.equal(await callOnce(tokens, server.url), 200);
});

test("a registration without the end of the secret is accepted, and credentials are escaped as forms are", async () => {
  const client = {
    client_id: "the-client_1.0 a",
    client_secret: "s~cr/t",
    token_endpoint_auth_method: "client_secret_basic",
  };
  for (const status of [200, 201]) {
    await using provider = await startHostileProvider({
      metadata: (origin) => ({
        ...defaultMetadata(origin),
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      }),
      registration: () => ({ status, text: JSON.stringify(client) }),
    });
    await using deps = await createTestDeps();
    await logIn(serverAt(provider.url), deps);
    const [, credentials = ""] = provider.authorizations[0]?.split(" ") ?? [];
    assert.equal(Buffer.from(credentials, "base64").toString(), "the-client_1.0+a:s%7Ecr%2Ft");
  }
});

test("logout revokes the tokens at the provider and deletes them", async () => {
  await using run = await start();
  const { server, deps, provider } = run;
  const settings = serverAt(server.url);
  await logIn(settings, deps);
  const token = await tokenOf(new AccessTokens(settings, deps));
  const signal = AbortSignal.timeout(20_000);
  assert.deepEqual(await logout(settings, deps, { signal }), { existed: true, isRevoked: true });
  assert.equal(await provider.find(token), undefined);
  assert.equal(deps.secrets.size, 0);
  assert.deepEqual(await logout(settings, deps, { signal }), { existed: false, isRevoked: false });
});

test("a device login shows a code, and waits until it was entered", slowTest, async () => {
  await using run = await start();
  const { server, deps } = run;
  const settings = serverAt(server.url);
  let code = "";
  await logIn(settings, deps, {
    method: "device",
    show: (prompt) => {
      if (prompt.kind === "device") code = prompt.code;
      browse(prompt.url).catch(() => {});
    },
  });
  assert.match(code, /^[A-Z-]{8,}$/);
  assert.equal(await callOnce(new AccessTokens(settings, deps), server.url), 200);
});

test("each identity has a login of its own", async () => {
  await using run = await start();
  const { server, deps } = run;
  const settings = serverAt(server.url, { per: "identity" });
  const ci = localIdentity("token", "ci");
  await logIn(settings, deps, { identity: ci });
  const tokens = new AccessTokens(settings, deps);
  const { signal } = new AbortController();
  assert.match((await tokens.credentialsFor(ci)({ signal })).authorization, /^Bearer /);
  for (const other of [undefined, localIdentity("token", "other"), localIdentity("cli", "ci")]) {
    await assert.rejects(tokens.credentialsFor(other)({ signal }), { code: "OAUTH_LOGIN_REQUIRED" });
  }
});

test("client credentials give the gateway a token of its own: one for twenty requests", async () => {
  const client = {
    client_id: "robot",
    client_secret: "s3cret-of-the-robot",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  await using run = await start({ clients: [client] });
  const { server, deps, provider } = run;
  const settings = serverAt(server.url, {
    grant: "client_credentials",
    clientId: "robot",
    clientSecret: async () => client.client_secret,
    issuer: provider.issuer,
    scopes: ["read"],
  });
  const tokens = new AccessTokens(settings, deps);
  await Promise.all(Array.from({ length: 20 }, () => tokenOf(tokens)));
  assert.deepEqual(provider.tokenRequests, ["client_credentials"]);
  assert.ok(deps.learned.has(client.client_secret));
  assert.equal(deps.secrets.size, 0);
});

test("client credentials are authenticated with a private key", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), use: "sig", kid: "one" };
  const client = {
    client_id: "robot",
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [jwk] },
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  await using run = await start({ clients: [client] });
  const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  const options = { grant: "client_credentials", clientId: "robot", privateKey: async () => pem } as const;
  assert.ok(await tokenOf(new AccessTokens(serverAt(run.server.url, options), run.deps)));
});

test("a refresh and a request with client credentials go to the same client and resource, by the clock of the gateway", async () => {
  const secret = "s3cret-of-the-client";
  const wanted = { authorization_code: "refresh_token", client_credentials: "client_credentials" } as const;
  for (const grant of ["authorization_code", "client_credentials"] as const) {
    let refuses = false;
    await using provider = await startHostileProvider({
      metadata: (origin) => ({
        ...defaultMetadata(origin),
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      }),
      token: () =>
        refuses
          ? {
              status: 400,
              text: JSON.stringify({ error: "server_error", error_description: `of ${secret}` }),
            }
          : { access_token: "access", refresh_token: "refresh", token_type: "Bearer", expires_in: 600 },
    });
    await using deps = await createTestDeps();
    const settings = serverAt(provider.url, { grant, clientId: "robot", clientSecret: async () => secret });
    if (grant === "authorization_code") await logIn(settings, deps);
    const tokens = new AccessTokens(settings, deps);
    await tokenOf(tokens);
    deps.advance(700_000);
    await tokenOf(tokens);
    const form = provider.tokenForms.at(-1);
    assert.equal(form?.get("grant_type"), wanted[grant]);
    assert.equal(form?.get("resource"), provider.url);
    const credentials = Buffer.from(provider.authorizations.at(-1)?.split(" ")[1] ?? "", "base64").toString();
    assert.equal(credentials, `robot:${secret}`);
    const state = tokens.state();
    const expiresAt = state?.kind === "logged in" ? (state.expiresAt ?? 0) : 0;
    assert.ok(expiresAt > deps.now() + 500_000 && expiresAt <= deps.now() + 600_000, grant);
    refuses = true;
    deps.advance(700_000);
    await assert.rejects(tokenOf(tokens), (error: Error & { code: string }) => {
      assert.equal(error.code, "OAUTH_TOKEN_FAILED", grant);
      assert.match(error.message, /server_error \(of \[secret\]\)$/);
      return true;
    });
  }
});
