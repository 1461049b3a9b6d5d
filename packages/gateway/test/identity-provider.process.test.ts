/**
 * A gateway between a real provider and a real server: as the client of a server that wants the provider's tokens, and
 * as a resource whose clients have them. No token is in anything that the gateway wrote.
 */

import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { login } from "@toolcrib/oauth";
import { openSecretStore } from "@toolcrib/secrets";
import { browse, startIdentityProvider, startProtectedServer, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const robotSecret = "s3cret-of-the-robot";
const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const clientFields = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
const robot = { client_id: "robot", client_secret: robotSecret, ...clientFields };
const keyed = {
  client_id: "keyed",
  token_endpoint_auth_method: "private_key_jwt",
  jwks: { keys: [{ ...keys.publicKey.export({ format: "jwk" }), use: "sig", kid: "one" }] },
  ...clientFields,
};
const cli = localIdentity("cli", "cli");

/** A login as it is stored. */
interface Stored {
  accessToken: string;
  refreshToken: string;
  expiresAt: number;
  receivedAt: number;
  client: { id: string };
}

/** Runs `work` with the secret store of a home, as another process does. */
async function inStore<Result>(
  { home }: Pick<TestGateway, "home">,
  work: (store: Awaited<ReturnType<typeof openSecretStore>>) => Promise<Result>,
): Promise<Result> {
  await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
  return await work(store);
}

async function storedLogin(gateway: TestGateway): Promise<{ readonly name: string; readonly login: Stored }> {
  return await inStore(gateway, async (store) => {
    const name = (await store.list()).map((one) => one.name).find((one) => one.startsWith("oauth.")) ?? "";
    return { name, login: JSON.parse((await store.get(name)) ?? "{}") as Stored };
  });
}

function assertNowhere(gateway: TestGateway, tokens: readonly string[], more = ""): void {
  const files = readdirSync(gateway.home, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((one) => one.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
  const written = [...texts, JSON.stringify(gateway.logger.records), more].join("\n");
  assert.ok(tokens.length > 0);
  for (const token of new Set(tokens)) assert.equal(written.includes(token), false);
}

test("a gateway is a client of a server behind the provider, from its login to the end of it", async (t) => {
  await using provider = await startIdentityProvider({ clients: [robot, keyed] });
  await using server = await startProtectedServer({
    check: (token) => provider.find(token),
    authorizationServers: [provider.issuer],
  });
  const own = { grant: "client_credentials", issuer: provider.issuer, scopes: ["read"] };
  const auths: { readonly [id: string]: JsonObject } = {
    notes: {},
    robot: { ...own, client_id: "robot", client_secret: { secret_key_ref: { store: "robot" } } },
    keyed: { ...own, client_id: "keyed", private_key: { secret_key_ref: { store: "key" } } },
  };
  const tool_servers = Object.entries(auths).map(([id, auth]) => ({
    id,
    transport: { kind: "streamable_http", url: server.url, auth: { type: "oauth", ...auth } },
    trust_state: "verified",
  }));
  const key = String(keys.privateKey.export({ type: "pkcs8", format: "pem" }));
  const secrets = { robot: robotSecret, key };
  await using gateway = await startTestGateway({ tool_servers }, { secrets, isAwaited: false });
  const seen: string[] = [];
  const call = async (name: string) => {
    const outcome = await gateway.gateway.call(cli, name, {});
    const text =
      outcome.kind === "result"
        ? textOf(outcome.result)
        : outcome.kind === "failed"
          ? `${outcome.error.message} ${(outcome.error as { hint?: string }).hint}`
          : outcome.reason;
    seen.push(text);
    return text;
  };
  const isListed = (id: string) => gateway.gateway.listTools(cli).some((tool) => tool.id === id);
  const grants = (kind: string) => provider.tokenRequests.filter((one) => one === kind).length;
  const twenty = async (name: string) =>
    new Set(await Promise.all(Array.from({ length: 20 }, () => call(name))));

  for (const id of ["robot", "keyed"] as const) {
    await t.test(
      `client credentials of "${id}" give one token for twenty calls, and another one after a refusal`,
      async () => {
        await waitUntil(() => isListed(`${id}:whoami`));
        const before = grants("client_credentials");
        assert.deepEqual(await twenty(`${id}__whoami`), new Set([`whoami for the client ${id}`]));
        assert.equal(grants("client_credentials"), before);
        for (const token of server.tokens) {
          if ((await provider.find(token))?.clientId === id) server.refuse(token);
        }
        assert.deepEqual(await twenty(`${id}__whoami`), new Set([`whoami for the client ${id}`]));
        assert.equal(grants("client_credentials"), before + 1);
      },
    );
  }
  await t.test("a device login is used without a restart, for the server that it is for", async () => {
    assert.match(await call("notes__whoami"), /toolcrib login notes/);
    await inStore(gateway, async (store) => {
      await login(
        { id: "notes", url: server.url, grant: "authorization_code", per: "gateway" },
        {
          store,
          lockFolder: join(gateway.home, "oauth"),
          now: Date.now,
          learn() {},
          scrub: (text) => text,
          internalRanges: [],
          loginCommand: () => "",
        },
        {
          method: "device",
          show: ({ url }) => void browse(url).catch(() => {}),
          signal: AbortSignal.timeout(30_000),
        },
      );
    });
    await waitUntil(() => isListed("notes:whoami"));
    const { login: stored } = await storedLogin(gateway);
    assert.equal(await call("notes__whoami"), `whoami for the client ${stored.client.id}`);
    assert.equal((await provider.find(stored.accessToken))?.audience, server.url);
  });
  await t.test(
    "twenty calls with an expiring token refresh it once, and the refresh token rotates",
    async () => {
      const { name, login: old } = await storedLogin(gateway);
      const now = Date.now();
      const due = { ...old, receivedAt: now - 3_600_000, expiresAt: now + 5000 };
      await inStore(gateway, (store) => store.set(name, JSON.stringify(due)));
      // The gateway notices the change in moments.
      const before = grants("refresh_token");
      await waitUntil(async () => {
        await twenty("notes__whoami");
        return grants("refresh_token") > before;
      });
      assert.equal(grants("refresh_token"), before + 1);
      const { login: fresh } = await storedLogin(gateway);
      assert.notEqual(fresh.accessToken, old.accessToken);
      assert.notEqual(fresh.refreshToken, old.refreshToken);
      assert.deepEqual(await twenty("notes__whoami"), new Set([`whoami for the client ${old.client.id}`]));
    },
  );
  await t.test("twenty calls with a token that the server refuses refresh it once", async () => {
    const { login: old } = await storedLogin(gateway);
    const before = grants("refresh_token");
    server.refuse(old.accessToken);
    assert.deepEqual(await twenty("notes__whoami"), new Set([`whoami for the client ${old.client.id}`]));
    assert.equal(grants("refresh_token"), before + 1);
  });
  await t.test("a login that is revoked at the provider ends with the command", async () => {
    const { name, login: stored } = await storedLogin(gateway);
    for (const token of [stored.refreshToken, stored.accessToken]) {
      const body = new URLSearchParams({ client_id: stored.client.id, token });
      const response = await fetch(`${provider.issuer}/token/revocation`, { method: "POST", body });
      assert.equal(response.status, 200, await response.text());
    }
    // A login of the time before, so that the next refusal refreshes it.
    const due = { ...stored, receivedAt: 0, expiresAt: 1 };
    await inStore(gateway, (store) => store.set(name, JSON.stringify(due)));
    await waitUntil(async () => {
      assert.match(await call("notes__whoami"), /toolcrib login notes/);
      return (await storedLogin(gateway)).login.accessToken === undefined;
    });
    await waitUntil(() => {
      const { servers } = gateway.gateway.status();
      const notes = servers.find(({ id }) => id === "notes") as { login?: { state: string } } | undefined;
      return notes?.login?.state === "login needed";
    });
    seen.push(JSON.stringify(gateway.gateway.status()));
  });
  await gateway.stop();
  assertNowhere(gateway, [...server.tokens, robotSecret, key.split("\n")[1] as string], seen.join("\n"));
});

test("a gateway takes the tokens of its clients from the provider, and no others", async () => {
  const resource = "http://127.0.0.1/mcp";
  const agent = { ...robot, client_id: "agent" };
  await using signing = await startIdentityProvider({ hasJwtTokens: true, clients: [agent] });
  await using opaque = await startIdentityProvider({ clients: [agent] });
  await using foreign = await startIdentityProvider({ hasJwtTokens: true, clients: [agent] });
  await using server = await startProtectedServer({ check: () => undefined, authorizationServers: [] });
  const introspection = { client_id: "agent", client_secret: { secret_key_ref: { store: "agent" } } };
  const auth = {
    resource,
    jwt: [{ issuer: signing.issuer }, { issuer: opaque.issuer, introspection }],
    tokens: false,
  };
  const tool_servers = [
    { id: "notes", transport: { kind: "streamable_http", url: server.url }, trust_state: "verified" },
  ];
  await using gateway = await startTestGateway(
    { tool_servers, serve: { auth } },
    { secrets: { agent: robotSecret }, isAwaited: false },
  );
  const url = await gateway.endpoint();
  const basic = { authorization: `Basic ${btoa(`agent:${robotSecret}`)}` };
  const tokens: string[] = [];
  const tokenOf = async ({ issuer }: { readonly issuer: string }, audience = resource) => {
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: basic,
      body: new URLSearchParams({ grant_type: "client_credentials", resource: audience, scope: "read" }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    tokens.push(token);
    return token;
  };
  const revoked = await tokenOf(opaque);
  const body = new URLSearchParams({ token: revoked });
  await fetch(`${opaque.issuer}/token/revocation`, { method: "POST", headers: basic, body });
  const signed = await tokenOf(signing);
  const table: readonly (readonly [what: string, token: string, status: number])[] = [
    ["a JWT", signed, 200],
    ["an opaque token", await tokenOf(opaque), 200],
    ["a JWT for another resource", await tokenOf(signing, "https://other.example/mcp"), 401],
    ["an opaque token for another resource", await tokenOf(opaque, "https://other.example/mcp"), 401],
    ["a JWT of another issuer", await tokenOf(foreign), 401],
    ["a revoked token", revoked, 401],
    [
      "a JWT whose end was changed",
      `${signed.slice(0, -4)}${signed.endsWith("AAAA") ? "BBBB" : "AAAA"}`,
      401,
    ],
    ["the secret of a client", robotSecret, 401],
  ];
  for (const [what, token, status] of table) {
    const response = await fetch(`${url.origin}/api/v1/status`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(response.status, status, `${what}: ${await response.text()}`);
  }
  // A client's token is not passed on to a server, which asks for one here.
  const client = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${signed}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await client.text();
  assert.deepEqual(server.tokens, []);
  await gateway.stop();
  assertNowhere(gateway, [...tokens, robotSecret]);
});
