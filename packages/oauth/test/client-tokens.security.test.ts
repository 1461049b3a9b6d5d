import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ClientTokens, type TokenIssuer } from "@toolcrib/oauth";
import { slowTest } from "@toolcrib/testing";

const resource = "https://tools.example.com/mcp";

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function newKey(kid: string): Key {
  return { kid, ...generateKeyPairSync("rsa", { modulusLength: 2048 }) };
}

/** An issuer with keys that can change, and an introspection endpoint. */
async function startIssuer() {
  const state = {
    keys: [newKey("one")],
    keyRequests: 0,
    introspections: [] as string[],
    authorization: undefined as string | undefined,
    answer: {} as object,
    body: undefined as string | undefined,
    isSilent: false,
    jwksPath: "/jwks",
    metadataRequests: 0,
  };
  const server = createServer(async (request, response) => {
    const json = (value: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (state.isSilent) return;
    switch (request.url) {
      case "/.well-known/oauth-authorization-server":
        state.metadataRequests += 1;
        json({
          issuer,
          jwks_uri: issuer + state.jwksPath,
          introspection_endpoint: `${issuer}/introspect`,
        });
        return;
      case state.jwksPath:
        state.keyRequests += 1;
        if (state.body !== undefined) response.writeHead(200).end(state.body);
        else
          json({
            keys: state.keys.map(({ kid, publicKey }) => ({
              ...publicKey.export({ format: "jwk" }),
              kid,
              alg: "RS256",
              use: "sig",
            })),
          });
        return;
      case "/introspect":
        state.introspections.push(new URLSearchParams(body).get("token") ?? "");
        state.authorization = request.headers.authorization;
        json(state.answer);
        return;
      default:
        response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function segment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function jwt(key: Key, claims: object, header: object = {}): string {
  const signed = `${segment({ alg: "RS256", typ: "at+jwt", kid: key.kid, ...header })}.${segment(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key.privateKey).toString("base64url")}`;
}

function createTokens(issuers: readonly (Partial<TokenIssuer> & { readonly issuer: string })[]) {
  let offsetMs = 0;
  const logged: string[] = [];
  const note = (fields: object) => void logged.push(JSON.stringify(fields));
  const tokens = new ClientTokens(
    issuers.map((issuer) => ({
      audiences: [resource],
      jwksUri: undefined,
      algorithms: ["RS256", "ES256"],
      clockSkewSeconds: 5,
      scopes: [],
      claims: { name: undefined, roles: undefined, labels: {} },
      introspection: undefined,
      ...issuer,
    })),
    {
      now: () => Date.now() + offsetMs,
      logger: { debug: note, info: note, warn: note, error: note },
      learn() {},
      scrub: (text) => text,
      internalRanges: [],
    },
  );
  return {
    logged,
    problems: () => tokens.problems(AbortSignal.timeout(20_000)),
    check: async (token: string) => await tokens.check(`Bearer ${token}`),
    advance: (ms: number) => {
      offsetMs += ms;
    },
  };
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

test("a token of a configured issuer for this resource is accepted, and any other one is not", async () => {
  await using run = await startIssuer();
  await using other = await startIssuer();
  const { issuer, state } = run;
  const key = state.keys[0] as Key;
  const { check } = createTokens([{ issuer }]);
  const good = { iss: issuer, aud: resource, sub: "ada", exp: inAnHour() };
  assert.deepEqual(await check(jwt(key, good)), {
    issuer,
    subject: "ada",
    name: "ada",
    roles: [],
    attributes: { roles: [], labels: {} },
  });
  assert.ok(await check(jwt(key, { ...good, aud: ["x", resource] })));
  const bad: { [name: string]: string } = {
    "another audience": jwt(key, { ...good, aud: "https://other.example/mcp" }),
    "an audience above": jwt(key, { ...good, aud: "https://tools.example.com" }),
    "no audience": jwt(key, { ...good, aud: undefined }),
    "another issuer": jwt(key, { ...good, iss: other.issuer }),
    "no issuer": jwt(key, { ...good, iss: undefined }),
    "an end that has passed": jwt(key, { ...good, exp: Math.floor(Date.now() / 1000) - 60 }),
    "no end": jwt(key, { ...good, exp: undefined }),
    "a start in the future": jwt(key, { ...good, nbf: inAnHour() }),
    "no subject": jwt(key, { ...good, sub: undefined }),
    "a subject that is no text": jwt(key, { ...good, sub: 1 }),
    "another key with the same id": jwt(newKey("one"), good),
    "the type of an ID token": jwt(key, good, { typ: "id_token+jwt" }),
    "the type of a logout token": jwt(key, good, { typ: "logout+jwt" }),
    "a key of the client": jwt(key, { ...good, cnf: { jkt: "x" } }),
    "an embedded key": jwt({ ...newKey("x"), kid: "x" }, good, { jwk: {}, kid: "x" }),
    "a critical extension": jwt(key, good, { crit: ["x"], x: 1 }),
    "no signature": `${segment({ alg: "none" })}.${segment(good)}.`,
    "alg none with a signature": jwt(key, good, { alg: "none" }),
    "alg none in capitals": jwt(key, good, { alg: "NONE" }),
    "an algorithm that is not listed": jwt(key, good, { alg: "RS512" }),
    "a changed claim": jwt(key, good).replace(/\.[^.]+\./, `.${segment({ ...good, sub: "root" })}.`),
    "no JSON": `${segment(good)}.x.y`,
  };
  // The public key as the secret of HMAC (algorithm confusion).
  const pem = createPublicKey(key.privateKey).export({ type: "spki", format: "pem" });
  for (const secret of [String(pem), JSON.stringify(key.publicKey.export({ format: "jwk" }))]) {
    const signed = `${segment({ alg: "HS256", kid: "one" })}.${segment(good)}`;
    bad[`HMAC with ${secret.slice(0, 8)}`] =
      `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }
  for (const [what, token] of Object.entries(bad)) assert.equal(await check(token), undefined, what);
  assert.equal(other.state.keyRequests, 0);
});

test("the log says why a token is not accepted, once in a time and without the token", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const key = state.keys[0] as Key;
  const { check, advance, logged } = createTokens([{ issuer }]);
  const good = { iss: issuer, aud: resource, sub: "ada", exp: inAnHour() };
  const cases: readonly [object, RegExp][] = [
    [{ ...good, aud: "https://other.example/mcp" }, /aud/],
    [{ ...good, exp: 1 }, /exp/],
    [{ ...good, iss: "https://unknown.example" }, /its issuer is none of serve\.auth/],
  ];
  for (const [claims, reason] of cases) {
    const token = jwt(key, claims);
    assert.equal(await check(token), undefined);
    assert.equal(await check(token), undefined);
    assert.equal(logged.length, 1);
    const [line = ""] = logged.splice(0);
    assert.match(line, reason);
    assert.ok(!line.includes(token.slice(0, 20)));
    advance(10_000);
  }
});

test("keys that rotate are read again, and unknown keys do not make them be read for each token", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const { check } = createTokens([{ issuer }]);
  const claims = (sub: string) => ({ iss: issuer, aud: resource, sub, exp: inAnHour() });
  assert.ok(await check(jwt(state.keys[0] as Key, claims("a"))));
  assert.equal(state.keyRequests, 1);
  const stranger = newKey("stranger");
  for (let count = 0; count < 10; count += 1)
    assert.equal(await check(jwt(stranger, claims(`s${count}`))), undefined);
  assert.ok(state.keyRequests <= 2);
});

test("a key that is added is found", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const first = createTokens([{ issuer }]);
  const key = newKey("two");
  state.keys.push(key);
  assert.ok(await first.check(jwt(key, { iss: issuer, aud: resource, sub: "a", exp: inAnHour() })));
});

test("keys that are no keys, or too large, refuse tokens, and the log says why without a token", async () => {
  for (const body of [
    "<html>",
    JSON.stringify({ keys: "x" }),
    JSON.stringify({ keys: [], padding: "x".repeat(600_000) }),
  ]) {
    await using run = await startIssuer();
    const { issuer, state } = run;
    state.body = body;
    const { check, logged } = createTokens([{ issuer }]);
    const token = jwt(state.keys[0] as Key, { iss: issuer, aud: resource, sub: "a", exp: inAnHour() });
    assert.equal(await check(token), undefined);
    assert.equal(logged.length, 1);
    assert.equal(logged.join().includes(token.split(".")[1] as string), false);
  }
});

test("scopes that every request needs are named, and claims give only the roles of the configuration", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const key = state.keys[0] as Key;
  const roles = { claim: "realm.groups", values: { ops: "operator", dev: "developer" } };
  const claims = { name: "preferred_username", roles, labels: { team: "department" } };
  const { check } = createTokens([{ issuer, scopes: ["use", "more"], claims }]);
  const good = { iss: issuer, aud: resource, sub: "ada", exp: inAnHour(), scope: "use more" };
  assert.deepEqual(await check(jwt(key, { ...good, scope: "use" })), { missingScopes: ["more"] });
  assert.deepEqual(
    await check(
      jwt(key, { ...good, scope: undefined, scp: ["use", "more"], roles: ["admin"], groups: ["ops"] }),
    ),
    {
      issuer,
      subject: "ada",
      name: "ada",
      roles: [],
      attributes: { roles: [], labels: {} },
    },
  );
  const full = {
    ...good,
    preferred_username: "Ada\n\u202eL",
    department: "core",
    realm: { groups: ["ops", "dev", "x", "constructor"] },
  };
  assert.deepEqual(await check(jwt(key, full)), {
    issuer,
    subject: "ada",
    name: "Ada L",
    roles: ["operator"],
    attributes: { roles: ["developer"], labels: { team: "core" } },
  });
});

test("opaque tokens are checked by introspection, for a short time once, and only for this resource", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const introspection = {
    url: undefined,
    clientId: "the-gateway_1.example",
    clientSecret: async () => "s3cret-of-the:gateway",
  };
  const { check, advance } = createTokens([{ issuer, introspection }]);
  const good = { active: true, sub: "ada", aud: resource, iss: issuer, exp: inAnHour(), scope: "use" };
  state.answer = good;
  const found = await check("opaque-1");
  assert.ok(found !== undefined && "subject" in found && found.subject === "ada");
  // Issuers that do not decode the parts find the client as it was registered.
  const credentials = Buffer.from((state.authorization ?? "").slice("Basic ".length), "base64").toString();
  assert.equal(credentials, "the-gateway_1.example:s3cret-of-the%3Agateway");
  await Promise.all(Array.from({ length: 20 }, () => check("opaque-1")));
  assert.equal(state.introspections.length, 1);
  // A token that was revoked is refused after the short time.
  state.answer = { active: false };
  advance(16_000);
  assert.equal(await check("opaque-1"), undefined);
  for (const [at, answer] of [
    { ...good, active: "true" },
    { ...good, aud: undefined },
    { ...good, aud: "https://other.example" },
    { ...good, iss: "https://other.example" },
    { ...good, exp: 1 },
    { ...good, sub: undefined },
    { ...good, cnf: { jkt: "x" } },
    {},
  ].entries()) {
    state.answer = answer;
    assert.equal(await check(`opaque-bad-${at}`), undefined, JSON.stringify(answer));
  }
});

test("tokens of an issuer that does not answer do not keep those of another one out", async () => {
  await using slow = await startIssuer();
  await using quick = await startIssuer();
  slow.state.isSilent = true;
  const { check } = createTokens([{ issuer: slow.issuer }, { issuer: quick.issuer }]);
  const claims = (issuer: string, sub: string) => ({ iss: issuer, aud: resource, sub, exp: inAnHour() });
  const invalid = { kid: "none", privateKey: (quick.state.keys[0] as Key).privateKey } as Key;
  const waiting = Array.from({ length: 100 }, (_, at) => check(jwt(invalid, claims(slow.issuer, `s${at}`))));
  assert.ok(await check(jwt(quick.state.keys[0] as Key, claims(quick.issuer, "ada"))));
  await slow[Symbol.asyncDispose]();
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
});

test(
  "refused opaque tokens displace no valid one, and an issuer is not asked about all of them",
  slowTest,
  async () => {
    await using run = await startIssuer();
    const { issuer, state } = run;
    const introspection = { url: undefined, clientId: "gateway", clientSecret: async () => "s3cret" };
    const { check, advance, logged } = createTokens([{ issuer, introspection }]);
    state.answer = { active: true, sub: "ada", aud: resource, exp: inAnHour() };
    assert.ok(await check("opaque-good"));
    state.answer = { active: false };
    for (let at = 0; at < 300; at += 1) assert.equal(await check(`opaque-bad-${at}`), undefined);
    const asked = state.introspections.length;
    assert.ok(asked > 150 && asked < 290, `${asked} introspections`);
    assert.match(logged.join(), /refused too many opaque tokens/);
    assert.ok(await check("opaque-good"));
    assert.equal(state.introspections.length, asked);
    // A token that was valid is asked about although unknown ones have to wait.
    advance(16_000);
    for (let at = 0; at < 300; at += 1) await check(`opaque-worse-${at}`);
    state.answer = { active: true, sub: "ada", aud: resource, exp: inAnHour() };
    assert.equal(await check("opaque-new"), undefined);
    assert.ok(await check("opaque-good"));
    advance(1000);
    assert.ok(await check("opaque-new"));
  },
);

test("keys that moved to another place are found, and unknown keys cause no reading of metadata for each token", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const { check, advance } = createTokens([{ issuer }]);
  const claims = { iss: issuer, aud: resource, sub: "ada", exp: inAnHour() };
  assert.ok(await check(jwt(state.keys[0] as Key, claims)));
  state.jwksPath = "/jwks-of-today";
  state.keys = [newKey("two")];
  const { length } = Array.from({ length: 5 });
  for (let at = 0; at < length; at += 1) await check(jwt(state.keys[0] as Key, { ...claims, jti: `a${at}` }));
  assert.equal(state.metadataRequests, 1);
  advance(61_000);
  assert.ok(await check(jwt(state.keys[0] as Key, { ...claims, jti: "b" })));
  assert.equal(state.metadataRequests, 2);
  for (let at = 0; at < length; at += 1) await check(jwt(newKey("three"), { ...claims, jti: `c${at}` }));
  assert.equal(state.metadataRequests, 2);
  // Metadata that cannot be read change nothing, until they are known for too long to be asked for at each token.
  advance(3_600_000);
  state.isSilent = false;
  assert.ok(await check(jwt(state.keys[0] as Key, { ...claims, exp: inAnHour() + 7200, jti: "d" })));
  assert.equal(state.metadataRequests, 3);
});

test("an issuer that cannot be reached, or has no keys, is named", async () => {
  await using run = await startIssuer();
  await using other = await startIssuer();
  other.state.body = "no keys";
  const { problems } = createTokens([{ issuer: run.issuer }, { issuer: other.issuer }]);
  assert.deepEqual([...(await problems()).keys()], [other.issuer]);
  await run[Symbol.asyncDispose]();
  const found = await problems();
  assert.match(found.get(run.issuer) ?? "", /Cannot reach/);
});

test("headers that are no bearer tokens reach nobody", async () => {
  await using run = await startIssuer();
  const { issuer, state } = run;
  const introspection = {
    url: undefined,
    clientId: "gateway",
    clientSecret: async () => "s3cret-of-the-gateway",
  };
  const tokens = createTokens([{ issuer, introspection }]);
  for (const token of ["", "a b", "x".repeat(20_000), "ü", "a\nb"])
    assert.equal(await tokens.check(token), undefined);
  assert.deepEqual(state.introspections, []);
});
