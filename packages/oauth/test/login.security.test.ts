import assert from "node:assert/strict";
import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { test } from "node:test";
import { AccessTokens, readLoginState } from "@toolcrib/oauth";
import { browse, ownAddresses } from "@toolcrib/testing";
import {
  defaultMetadata,
  defaultResource,
  type HostileBehaviour,
  startHostileProvider,
} from "./hostile-provider.ts";
import { createTestDeps, logIn, serverAt, tokenOf } from "./oauth-harness.ts";

/** Expects that a login at a provider with `behaviour` fails, and that nothing is stored. */
async function checkRefused(
  behaviour: HostileBehaviour,
  expected: { readonly code: string; readonly message: RegExp },
  { tokenRequests = 0, host = "127.0.0.1" } = {},
): Promise<void> {
  await using provider = await startHostileProvider(behaviour, host);
  await using deps = await createTestDeps();
  await assert.rejects(logIn(serverAt(provider.url), deps), (error: Error & { code: string }) => {
    assert.equal(error.code, expected.code, error.message);
    assert.match(error.message, expected.message);
    for (const secret of ["the-code", provider.tokenForms[0]?.get("code_verifier")]) {
      if (secret != null) assert.equal(`${error.stack}`.includes(secret), false);
    }
    return true;
  });
  assert.equal(deps.secrets.size, 0);
  assert.equal(provider.tokenForms.length, tokenRequests);
}

test("the hostile provider gives access where it behaves", async () => {
  await using provider = await startHostileProvider({});
  await using deps = await createTestDeps();
  const settings = serverAt(provider.url);
  await logIn(settings, deps);
  assert.equal(await tokenOf(new AccessTokens(settings, deps)), "access-1-of-the-provider");
  const [form] = provider.tokenForms;
  assert.equal(form?.get("resource"), provider.url);
  assert.ok((form?.get("code_verifier") ?? "").length >= 43);
});

for (const server of [
  "https://169.254.169.254",
  "https://10.0.0.1",
  "https://192.168.1.1/tenant",
  "https://[fd00::1]",
  "https://[::ffff:10.0.0.1]",
  "https://0x7f000001.example:443@10.0.0.1",
  "http://example.com",
  "ftp://example.com",
  "file:///etc/passwd",
]) {
  test(`an authorization server at ${server} is refused before a request`, () =>
    checkRefused(
      { resource: (origin) => ({ ...defaultResource(origin), authorization_servers: [server] }) },
      { code: "OAUTH_ADDRESS_REFUSED", message: /Cannot use / },
    ));
}

const hasName = await lookup(hostname()).then(
  () => true,
  () => false,
);
test(
  "a name with an address that is not public is refused",
  {
    skip: hasName ? false : "the name of this machine has no address",
  },
  () =>
    checkRefused(
      {
        resource: (origin) => ({
          ...defaultResource(origin),
          authorization_servers: [`https://${hostname()}:9`],
        }),
      },
      { code: "OAUTH_ADDRESS_REFUSED", message: /its address is not public/ },
    ),
);

const [ownAddress] = ownAddresses().filter(
  (one) => /^\d+\.\d+\.\d+\.\d+$/.test(one) && !one.startsWith("127."),
);
test("a server that is not on this machine's loopback cannot name one that is", {
  skip: ownAddress === undefined ? "this machine has no other address" : false,
}, async () => {
  await using victim = await startHostileProvider({});
  await checkRefused(
    { resource: (origin) => ({ ...defaultResource(origin), authorization_servers: [victim.origin] }) },
    { code: "OAUTH_ADDRESS_REFUSED", message: /it is not https/ },
    { host: ownAddress as string },
  );
  assert.deepEqual(victim.requests, []);
});

test("endpoints of the metadata are checked like the authorization server", async () => {
  for (const field of ["token_endpoint", "registration_endpoint"]) {
    const metadata = (origin: string) => ({ ...defaultMetadata(origin), [field]: "https://10.0.0.1/x" });
    await checkRefused({ metadata }, { code: "OAUTH_ADDRESS_REFUSED", message: /10\.0\.0\.1/ });
  }
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "http://evil.example/"]) {
    const metadata = (origin: string) => ({ ...defaultMetadata(origin), authorization_endpoint: url });
    await checkRefused({ metadata }, { code: "OAUTH_ADDRESS_REFUSED", message: /authorization_endpoint/ });
  }
});

test("the secret of a client is sent only to an issuer that the configuration names, or at the origin of the server", async () => {
  const metadata = (origin: string) => ({
    ...defaultMetadata(origin),
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  });
  const client = { clientId: "robot", clientSecret: async () => "s3cret-of-the-robot" };
  await using other = await startHostileProvider({ metadata });
  await using named = await startHostileProvider({
    metadata,
    resource: (origin) => ({ ...defaultResource(origin), authorization_servers: [other.origin] }),
  });
  await using own = await startHostileProvider({ metadata });
  await using deps = await createTestDeps();
  const robot = (url: string, issuer?: string) =>
    new AccessTokens(serverAt(url, { ...client, grant: "client_credentials", issuer }), deps);
  const refusal = { code: "OAUTH_SETTING_INVALID", message: /secret .* is not sent to http/ };
  await assert.rejects(tokenOf(robot(named.url)), refusal);
  await assert.rejects(logIn(serverAt(named.url, client), deps), refusal);
  assert.deepEqual(other.tokenForms, []);
  await tokenOf(robot(named.url, other.origin));
  await tokenOf(robot(own.url));
  assert.deepEqual(
    [other, own].map(({ tokenForms }) => tokenForms.map((form) => form.get("client_secret"))),
    [["s3cret-of-the-robot"], ["s3cret-of-the-robot"]],
  );
});

test("a login of an earlier configuration is none for another issuer or client", async () => {
  const metadata = (origin: string) => ({
    ...defaultMetadata(origin),
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
  });
  const expiring = {
    access_token: "access-1",
    refresh_token: "refresh-1",
    token_type: "Bearer",
    expires_in: 60,
  };
  await using provider = await startHostileProvider({ metadata, token: () => expiring });
  await using deps = await createTestDeps();
  await logIn(serverAt(provider.url, { clientId: "before" }), deps);
  deps.advance(120_000);
  const changes = [{ issuer: "https://login.example.com", clientId: "before" }, { clientId: "after" }];
  for (const change of changes) {
    const settings = serverAt(provider.url, { ...change, clientSecret: async () => "s3cret-of-another" });
    await assert.rejects(tokenOf(new AccessTokens(settings, deps)), { code: "OAUTH_LOGIN_REQUIRED" });
    assert.equal((await readLoginState(settings, deps)).kind, "login needed");
  }
  assert.equal(provider.tokenForms.length, 1);
});

test("metadata of another issuer or resource is refused", async () => {
  await checkRefused(
    { metadata: (origin) => ({ ...defaultMetadata(origin), issuer: "https://honest.example" }) },
    { code: "OAUTH_DISCOVERY_FAILED", message: /honest\.example/ },
  );
  await checkRefused(
    { metadata: (origin) => ({ ...defaultMetadata(origin), issuer: `${origin}/` }) },
    { code: "OAUTH_DISCOVERY_FAILED", message: /not of/ },
  );
  for (const resource of ["https://other.example/mcp", undefined, "/mcp", "ORIGIN/mc", "ORIGIN/mcp/below"]) {
    const named = (origin: string) => resource?.replace("ORIGIN", origin);
    await checkRefused(
      { resource: (origin) => ({ ...defaultResource(origin), resource: named(origin) }) },
      { code: "OAUTH_DISCOVERY_FAILED", message: /resource/ },
    );
  }
});

test("large metadata and large tokens are not read to their end", async () => {
  const text = JSON.stringify({ padding: "x".repeat(600_000) });
  const large = () => ({ status: 200, text });
  await checkRefused({ metadata: large }, { code: "OAUTH_UNREACHABLE", message: /larger than 524288 bytes/ });
  await checkRefused(
    { token: large },
    { code: "OAUTH_UNREACHABLE", message: /larger than/ },
    { tokenRequests: 1 },
  );
  const deep = () => ({ status: 200, text: `${'{"a":'.repeat(100)}1${"}".repeat(100)}` });
  await checkRefused({ metadata: deep }, { code: "OAUTH_DISCOVERY_FAILED", message: /no metadata/ });
});

test("a switch of the protocol ends the login with an error", async () => {
  for (const headers of [{}, { connection: "upgrade", upgrade: "websocket" }]) {
    const switched = () => ({ status: 101, headers });
    const expected = { code: "OAUTH_UNREACHABLE", message: /answers HTTP 101/ };
    await checkRefused({ resource: switched }, expected);
    await checkRefused({ metadata: switched }, expected);
    await checkRefused({ registration: switched }, expected);
    await checkRefused({ token: switched }, expected, { tokenRequests: 1 });
  }
});

test("redirects to another host are not followed, for metadata and for tokens", async () => {
  await using other = await startHostileProvider({});
  const away = () => ({ status: 307, headers: { location: `${other.origin}/token` } });
  await checkRefused({ metadata: away }, { code: "OAUTH_ADDRESS_REFUSED", message: /redirects to/ });
  await checkRefused(
    { token: away },
    { code: "OAUTH_ADDRESS_REFUSED", message: /redirects to/ },
    { tokenRequests: 1 },
  );
  assert.deepEqual(other.requests, []);
});

test("an answer of another issuer is refused before its code is sent (mix-up)", async () => {
  for (const iss of ["https://honest.example", "ORIGIN/"]) {
    await checkRefused(
      { redirect: (origin) => ({ code: "the-code", iss: iss.replace("ORIGIN", origin) }) },
      { code: "OAUTH_LOGIN_FAILED", message: /iss/ },
    );
  }
  await checkRefused(
    { redirect: () => ({ code: "the-code" }) },
    { code: "OAUTH_LOGIN_FAILED", message: /iss/ },
  );
  // One that is not announced is compared too.
  await checkRefused(
    {
      metadata: (origin) => ({
        ...defaultMetadata(origin),
        authorization_response_iss_parameter_supported: false,
      }),
      redirect: () => ({ code: "the-code", iss: "https://honest.example" }),
    },
    { code: "OAUTH_LOGIN_FAILED", message: /iss/ },
  );
  // The text of an error of another issuer is not shown.
  await checkRefused(
    {
      redirect: () => ({
        error: "access_denied",
        error_description: "call +1 555",
        iss: "https://honest.example",
      }),
    },
    { code: "OAUTH_LOGIN_FAILED", message: /^(?!.*555)/ },
  );
});

test("no part of a secret is left in a text of a server that is cut, wherever the cut is", async () => {
  // With spaces: a cut between words would leave its beginning.
  const secret = "a long pass phrase which is the secret of this client";
  for (let before = 140; before <= 200; before += 10) {
    await using provider = await startHostileProvider({
      metadata: (origin) => ({
        ...defaultMetadata(origin),
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      }),
      registration: () => ({
        status: 201,
        text: JSON.stringify({
          client_id: "the-client",
          client_secret: secret,
          token_endpoint_auth_method: "client_secret_basic",
        }),
      }),
      token: () => ({
        status: 400,
        headers: { "content-type": "application/json" },
        text: JSON.stringify({
          error: "invalid_client",
          error_description: `${"x".repeat(before - 1)} ${secret}${" y".repeat(100)}`,
        }),
      }),
    });
    await using deps = await createTestDeps();
    await assert.rejects(logIn(serverAt(provider.url), deps), (error: Error & { code: string }) => {
      assert.equal(error.code, "OAUTH_LOGIN_FAILED", error.message);
      assert.match(error.message, /invalid_client \(x{100}/);
      assert.doesNotMatch(error.message, / a /);
      return true;
    });
  }
});

test("a person who refuses ends the login with the reason", () =>
  checkRefused(
    { redirect: (origin) => ({ error: "access_denied", error_description: "\u001b[31mno\n", iss: origin }) },
    { code: "OAUTH_LOGIN_FAILED", message: /access_denied \( \[31mno \)$/ },
  ));

test("an authorization server without PKCE is refused", () =>
  checkRefused(
    { metadata: (origin) => ({ ...defaultMetadata(origin), code_challenge_methods_supported: ["plain"] }) },
    { code: "OAUTH_LOGIN_FAILED", message: /PKCE/ },
  ));

test("tokens that are no bearer tokens, or that a header cannot carry, are refused", async () => {
  for (const answer of [
    { access_token: "x", token_type: "DPoP" },
    { access_token: "a b", token_type: "Bearer" },
    { access_token: "a\r\nX-Evil: 1", token_type: "Bearer" },
    { access_token: "x".repeat(20_000), token_type: "Bearer" },
  ]) {
    await checkRefused(
      { token: () => answer },
      { code: "OAUTH_TOKEN_FAILED", message: /cannot be used/ },
      { tokenRequests: 1 },
    );
  }
});

test("answers with another state change nothing, and a used answer is not accepted again", async () => {
  await using provider = await startHostileProvider({});
  await using deps = await createTestDeps();
  const statuses: number[] = [];
  let answer = "";
  await logIn(serverAt(provider.url), deps, {
    show(prompt) {
      const visit = async () => {
        const back = new URL(new URL(prompt.url).searchParams.get("redirect_uri") ?? "");
        for (const query of ["?code=x&state=wrong", "?code=x", "?code=x&state=", "?state=a&state=b"]) {
          statuses.push((await fetch(back.href + query)).status);
        }
        const authorized = await fetch(prompt.url, { redirect: "manual" });
        answer = authorized.headers.get("location") ?? "";
        statuses.push((await fetch(answer)).status);
      };
      visit().catch(() => {});
    },
  });
  assert.deepEqual(statuses.slice(0, 4), [400, 400, 400, 400]);
  // The listener is closed: a replayed answer reaches nobody.
  await assert.rejects(browse(answer));
  assert.equal(provider.tokenForms.length, 1);
});

test("challenges of any form give the scopes that are named, and no more", async () => {
  await using provider = await startHostileProvider({});
  await using deps = await createTestDeps();
  const settings = serverAt(provider.url);
  await logIn(settings, deps);
  const tokens = new AccessTokens(settings, deps);
  const headers = { authorization: `Bearer ${await tokenOf(tokens)}` };
  const { signal } = new AbortController();
  const refused = (challenge: string) =>
    tokens.credentialsFor(undefined).refused({ status: 403, challenge, headers, signal });
  for (const challenge of [
    'Bearer error="insufficient_scope", scope="a b"',
    'Basic realm="x, Bearer error=no", bearer   error=insufficient_scope,scope="a b"',
    'Negotiate, Bearer scope = "a b" , error = "insufficient_scope"',
    'Bearer realm="q\\"uote", error="insufficient_scope", scope="a b", scope="c"',
    'Bearer error="insufficient_scope", scope="a b", Digest scope="c"',
  ]) {
    await assert.rejects(
      refused(challenge),
      { code: "OAUTH_LOGIN_REQUIRED", message: /the scopes "a b"/ },
      challenge,
    );
  }
  for (const challenge of [
    "",
    "Bearer",
    'Basic error="insufficient_scope"',
    `Bearer ${"x".repeat(10_000)}`,
    'XBearer error="insufficient_scope"',
  ]) {
    assert.equal(await refused(challenge), false, challenge);
  }
});

test("a server that repeats the code and the verifier of a login gets neither shown", async () => {
  await using provider = await startHostileProvider({
    redirect: (origin) => ({ code: "a-code-of-this-login", iss: origin }),
    token: (_origin, form) => ({
      status: 400,
      headers: { "content-type": "application/json" },
      text: JSON.stringify({
        error: "invalid_grant",
        error_description: `${form.get("code")} ${form.get("code_verifier")}`,
      }),
    }),
  });
  await using deps = await createTestDeps();
  await assert.rejects(logIn(serverAt(provider.url), deps), (error: Error) => {
    const [form] = provider.tokenForms;
    assert.equal(form?.get("code"), "a-code-of-this-login");
    assert.match(error.message, /invalid_grant \(\[secret login\] \[secret login\]\)/);
    assert.ok(!error.message.includes(form?.get("code_verifier") ?? ""));
    return true;
  });
});
