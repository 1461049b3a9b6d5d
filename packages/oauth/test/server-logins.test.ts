/** The clients that are asked to log in, and the number of their pages. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ServerLogins } from "@toolcrib/oauth";
import { browse, startIdentityProvider, startProtectedServer } from "@toolcrib/testing";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { createTestDeps, serverAt } from "./oauth-harness.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const operator: Identity = { ...localIdentity("token", "op"), roles: ["operator"] };
const client = localIdentity("token", "ci");
const stdio = localIdentity("stdio", "stdio");

async function start({ areClientsLocal = true }: { readonly areClientsLocal?: boolean } = {}) {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await startIdentityProvider());
  const check = (token: string) => provider.find(token);
  const authorizationServers = [provider.issuer];
  const server = stack.use(await startProtectedServer({ check, authorizationServers }));
  const deps = stack.use(await createTestDeps());
  const store = {
    ...deps.store,
    watch: async () => ({ async [Symbol.asyncDispose]() {} }),
    async [Symbol.asyncDispose]() {},
  };
  const { now } = deps;
  const logins = stack.use(new ServerLogins({ store, now, randomBytes, logger: quiet, areClientsLocal }));
  const { signal } = new AbortController();
  const known = new Map<string, ReturnType<ServerLogins["add"]>>();
  /** Asks for a login to a server that was added. */
  const ask = (id: string, identity: Identity, isUnavailable: boolean) =>
    logins.askForLogin(known.get(id) as ReturnType<ServerLogins["add"]>, identity, isUnavailable);
  /** Adds a server, to which a request of `identity` fails. */
  const add = async (id: string, per: "gateway" | "identity", identity: Identity) => {
    const tokens = known.get(id) ?? logins.add(serverAt(server.url, { id, per }), deps);
    known.set(id, tokens);
    await assert.rejects(tokens.credentialsFor(identity)({ signal }), { code: "OAUTH_LOGIN_REQUIRED" });
    return tokens;
  };
  const moved = stack.move();
  const forget = (id: string) => known.delete(id);
  return { logins, ask, add, forget, deps, signal, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

test("a client over standard input logs in on this machine, at one page for all calls that wait", async () => {
  await using run = await start();
  const { ask, add, signal } = run;
  const tokens = await add("notes", "identity", stdio);
  const asked = await Promise.all(Array.from({ length: 20 }, () => ask("notes", stdio, false)));
  const [page] = asked;
  assert.ok(page !== undefined);
  assert.deepEqual(new Set(asked.map((one) => one?.url)), new Set([page.url]));
  assert.match(
    new URL(page.url).searchParams.get("redirect_uri") ?? "",
    /^http:\/\/127\.0\.0\.1:\d+\/callback$/,
  );
  await browse(page.url);
  assert.equal(await page.settled, true);
  assert.match((await tokens.credentialsFor(stdio)({ signal })).authorization, /^Bearer /);
  // Nothing is missing any more.
  assert.equal(await ask("notes", stdio, false), undefined);
});

test("one login for all is offered to those who may choose its account, one of its own to every client", async () => {
  for (const areClientsLocal of [true, false]) {
    await using run = await start({ areClientsLocal });
    const { logins, ask, add } = run;
    const former = await add("notes", "gateway", client);
    logins.remove(former);
    assert.equal(await ask("notes", client, false), undefined, "it is not known any more");
    run.forget("notes");
    await add("notes", "gateway", client);
    // Browsers cannot reach a gateway that does not listen.
    assert.equal(await ask("notes", operator, false), undefined);
    logins.pages.open("http://127.0.0.1:1");
    const offered = await ask("notes", client, false);
    assert.equal(offered !== undefined, areClientsLocal);
    assert.ok((await ask("notes", operator, true)) !== undefined);
    await add("own", "identity", client);
    assert.ok((await ask("own", client, false)) !== undefined);
    // The failure of another client's request is not the reason.
    assert.equal(await ask("own", operator, false), undefined);
  }
});

test("pages end after ten minutes, and the oldest one where a client has twenty", async () => {
  await using run = await start();
  const { logins, ask, add, deps } = run;
  logins.pages.open("http://127.0.0.1:1");
  const statusOf = (url: string | undefined) =>
    logins.pages.page(new URL(url ?? "").searchParams.get("ticket") ?? "").status;
  const urls: (string | undefined)[] = [];
  for (let at = 0; at < 21; at += 1) {
    await add(`s${at}`, "identity", client);
    urls.push((await ask(`s${at}`, client, false))?.url);
  }
  assert.deepEqual([urls[0], urls[1], urls[20]].map(statusOf), [404, 200, 200]);
  await add("other", "identity", operator);
  const page = await ask("other", operator, false);
  assert.equal(statusOf(page?.url), 200);
  deps.advance(9 * 60_000);
  // A page that is nearly over is not shown again.
  const later = await ask("other", operator, false);
  assert.notEqual(later?.url, page?.url);
  assert.equal(await page?.settled, false);
  deps.advance(10 * 60_000);
  assert.equal(statusOf(later?.url), 404);
  assert.equal(statusOf(urls[20]), 404);
});
