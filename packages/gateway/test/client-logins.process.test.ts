/**
 * Clients that are asked to log in to a server, at a real provider: the page of the gateway, who may use it, and what
 * is left behind.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { readToken } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import { login } from "@toolcrib/oauth";
import { openSecretStore } from "@toolcrib/secrets";
import {
  browse,
  type IdentityProviderOptions,
  startIdentityProvider,
  startProtectedServer,
  waitUntil,
} from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { configOf, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const urlCapability = { elicitation: { url: {} } };
const whoami = { name: "notes__whoami", arguments: {} };

/** Starts a provider, a server that takes its tokens, and a gateway with the clients `ada` and `bob`. */
async function start(
  auth: JsonObject = {},
  serve: JsonObject = {},
  { isAddedLater = false, ...options }: IdentityProviderOptions & { readonly isAddedLater?: boolean } = {},
) {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await startIdentityProvider(options));
  const server = stack.use(
    await startProtectedServer({
      check: (token) => provider.find(token),
      authorizationServers: [provider.issuer],
    }),
  );
  const transport = { kind: "streamable_http", url: server.url, auth: { type: "oauth", ...auth } };
  const document = { tool_servers: [{ id: "notes", transport, trust_state: "verified" }], serve };
  const first = isAddedLater ? { ...document, tool_servers: [] } : document;
  const gateway = stack.use(await startTestGateway(first, { clients: ["ada", "bob"], isAwaited: false }));
  if (isAddedLater) {
    await gateway.endpoint();
    const whole = configOf({ ...document, serve: { listen: "127.0.0.1:0", auth: "token", ...serve } });
    const { error, applied, needsRestart } = await gateway.gateway.applyConfig(whole, ["toolcrib.json"]);
    assert.deepEqual([error, applied, needsRestart], [undefined, ["tool_servers.notes"], []]);
  }
  await logInGateway(gateway, server.url, auth["per"] === "identity" ? "identity" : "gateway");
  await waitUntil(() =>
    gateway.gateway.listTools(localIdentity("cli", "cli")).some(({ id }) => id === "notes:whoami"),
  );
  const moved = stack.move();
  return { provider, server, gateway, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Logs the gateway in, as `toolcrib login` in another process does. */
async function logInGateway({ home }: TestGateway, url: string, per: "gateway" | "identity"): Promise<void> {
  await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
  await login(
    { id: "notes", url, grant: "authorization_code", per },
    {
      store,
      lockFolder: join(home, "oauth"),
      now: Date.now,
      learn() {},
      scrub: (text) => text,
      internalRanges: [],
      loginCommand: () => "",
    },
    {
      method: "browser",
      show: ({ url: page }) => void browse(page),
      signal: AbortSignal.timeout(20_000),
    },
  );
}

/** Sends the form of a page with a token. @returns the answer, and where the browser continues */
async function prove(page: string, token: string, cookies = new Map<string, string>()) {
  const { origin, searchParams } = new URL(page);
  const response = await fetch(`${origin}/oauth/login`, {
    method: "POST",
    headers: { origin },
    body: new URLSearchParams({ ticket: searchParams.get("ticket") ?? "", token }),
  });
  for (const line of response.headers.getSetCookie()) {
    assert.match(line, /; HttpOnly; SameSite=Lax$/);
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const text = await response.text();
  const link = /href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&#38;", "&");
  return { status: response.status, text, link, cookies };
}

/** Logs in at a page as the person at the client with `token`. @returns the last page */
async function logInAt(page: string, token: string) {
  const { link, cookies, text } = await prove(page, token);
  return await browse(link ?? assert.fail(text), cookies);
}

/** Calls as a legacy client, which takes pages. @returns the page that it is asked to show */
async function pageFor(
  client: Client,
  call = whoami,
): Promise<{ readonly id: string; readonly url: string }> {
  const error = await client.callTool(call).then(
    (result) => assert.fail(JSON.stringify(result)),
    (thrown: { code?: number; data?: unknown }) => thrown,
  );
  assert.equal(error.code, -32042, String(error));
  const { elicitations } = error.data as { elicitations: JsonObject[] };
  assert.equal(elicitations.length, 1);
  const [{ mode, url, elicitationId, message }] = elicitations as [JsonObject];
  assert.equal(mode, "url");
  assert.match(String(message), /"notes" needs you to log in/);
  return { id: String(elicitationId), url: String(url) };
}

/** All that a gateway wrote: its files, and its log. */
function writtenBy({ home, logger }: TestGateway): string {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files
    // The tokens of clients are in files of their own, for these clients.
    .filter(({ parentPath }) => !parentPath.endsWith("tokens"))
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
  return [...texts, JSON.stringify(logger.records)].join("\n");
}

test("a server with logins that is added to a gateway without any has its pages at once", async () => {
  await using run = await start({ per: "identity" }, {}, { isAddedLater: true });
  const ada = await run.gateway.connect({ as: "ada", capabilities: urlCapability });
  const { url } = await pageFor(ada);
  assert.match((await logInAt(url, readToken(run.gateway.home, "ada"))).text, /Logged in to &#34;notes&#34;/);
  assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
  // A call that is in flight when the server leaves can still ask for a login; a page of it is over later.
  const bob = await run.gateway.connect({ as: "bob", capabilities: urlCapability });
  const page = await pageFor(bob);
  const { origin } = await run.gateway.endpoint();
  const without = configOf({ tool_servers: [], serve: { listen: "127.0.0.1:0", auth: "token" } });
  assert.equal((await run.gateway.gateway.applyConfig(without, ["toolcrib.json"])).error, undefined);
  assert.equal((await fetch(`${origin}/oauth/login?ticket=none`)).status, 404);
  assert.ok([200, 404].includes((await fetch(page.url)).status));
});

test("a legacy client is asked with -32042, notified of the end, and its next call has a login of its own", async () => {
  await using run = await start({ per: "identity" });
  const { gateway, server, provider } = run;
  const ada = await gateway.connect({ as: "ada", capabilities: urlCapability });
  const completed: string[] = [];
  ada.fallbackNotificationHandler = async ({ method, params }) => {
    completed.push(`${method} ${(params as JsonObject)["elicitationId"]}`);
  };
  const { id, url } = await pageFor(ada);
  assert.ok(url.startsWith(`${(await gateway.endpoint()).origin}/oauth/login?ticket=`));
  // Until the login is complete, it is the same page, also through a meta-tool.
  assert.equal((await pageFor(ada)).url, url);
  assert.equal((await pageFor(ada, { name: "call_tool", arguments: whoami } as typeof whoami)).url, url);
  const before = new Set(server.tokens);
  const done = await logInAt(url, readToken(gateway.home, "ada"));
  assert.match(done.text, /Logged in to &#34;notes&#34;/);
  assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
  await waitUntil(() => completed.includes(`notifications/elicitation/complete ${id}`));
  const own = server.tokens.filter((token) => !before.has(token));
  assert.ok(own.length > 0, "it used the login of the gateway");
  // The login is not that of another client.
  const bob = await gateway.connect({ as: "bob", capabilities: urlCapability });
  const bobPage = await pageFor(bob);
  assert.notEqual(bobPage.url, url);
  // A client that takes no pages gets the command.
  const plain = await gateway.connect({ as: "bob", capabilities: { elicitation: {} } });
  const refused = await plain.callTool(whoami);
  assert.equal(refused.isError, true);
  assert.match(textOf(refused), /toolcrib login notes --client bob/);
  await gateway.stop();
  const written = writtenBy(gateway);
  const secrets = [
    ...server.tokens,
    new URL(url).searchParams.get("ticket"),
    new URL(bobPage.url).searchParams.get("ticket"),
  ];
  for (const one of new Set(secrets)) assert.equal(written.includes(one as string), false);
  assert.ok(provider.paths.includes("/reg"));
});

test("a modern client gets the page as a question, and its repeated call waits for the login", async () => {
  await using run = await start({ per: "identity" });
  const { gateway } = run;
  const token = readToken(gateway.home, "ada");
  let pages = 0;
  let answer: "accept" | "decline" = "decline";
  const ada = await gateway.connectModern({ as: "ada", capabilities: urlCapability });
  ada.setRequestHandler("elicitation/create", async ({ params }) => {
    const { mode, url } = params as { mode?: string; url: string };
    assert.equal(mode, "url");
    pages += 1;
    if (answer === "accept") void logInAt(url, token);
    return { action: answer };
  });
  const declined = await ada.callTool(whoami);
  assert.equal(declined.isError, true);
  assert.match(textOf(declined), /was declined/);
  assert.equal(declined._meta?.["toolcrib/code"], "UPSTREAM_LOGIN_NEEDED");
  answer = "accept";
  assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
  assert.equal(pages, 2);
  assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
  assert.equal(pages, 2);
});

test("nobody but the person at the client gets through its page, and an answer counts once and in one browser", async () => {
  await using run = await start({ per: "identity" });
  const { gateway, provider } = run;
  const { origin } = await gateway.endpoint();
  const [token, other] = [readToken(gateway.home, "ada"), readToken(gateway.home, "bob")];
  const ada = await gateway.connect({ as: "ada", capabilities: urlCapability });
  const { url } = await pageFor(ada);
  const page = await fetch(url);
  assert.equal(page.status, 200);
  assert.match(
    page.headers.get("content-security-policy") ?? "",
    /default-src 'none'.*frame-ancestors 'none'/,
  );
  assert.equal((await page.text()).includes(token), false);
  // Another person, or nobody, does not prove to be this client.
  for (const wrong of ["", "x", other, token.slice(1)]) assert.equal((await prove(url, wrong)).status, 403);
  assert.equal((await prove(`${origin}/oauth/login?ticket=unknown`, token)).status, 404);
  const asked = provider.paths.length;
  const foreign = await fetch(`${origin}/oauth/login`, {
    method: "POST",
    headers: { origin: "https://evil.example" },
    body: new URLSearchParams({ ticket: new URL(url).searchParams.get("ticket") ?? "", token }),
  });
  assert.equal(foreign.status, 403);
  assert.equal(provider.paths.length, asked);
  const large = await fetch(`${origin}/oauth/login`, {
    method: "POST",
    body: new URLSearchParams({ ticket: "x".repeat(20_000) }),
  });
  assert.equal(large.status, 400);

  const { link = "", cookies } = await prove(url, token);
  const state = new URL(link).searchParams.get("state") ?? "";
  assert.equal(new URL(link).searchParams.get("redirect_uri"), `${origin}/oauth/callback`);
  const answer = `${origin}/oauth/callback?code=c&state=${state}`;
  // Another browser, an unknown state, and two of them.
  assert.equal((await fetch(answer)).status, 403);
  assert.equal((await fetch(`${origin}/oauth/callback?code=c&state=unknown`)).status, 404);
  assert.equal((await fetch(`${answer}&state=${state}`)).status, 404);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  // An answer of another issuer is refused before its code is sent (mix-up), and uses the state up.
  const mixed = await fetch(`${answer}&iss=https://evil.example`, { headers: { cookie } });
  assert.equal(mixed.status, 502);
  assert.equal(provider.paths.filter((path) => path === "/token").length, 1);
  assert.equal((await fetch(answer, { headers: { cookie } })).status, 404);
  // The page is still good for its person, once.
  const second = await prove(url, token);
  const last = await browse(second.link ?? "", second.cookies);
  assert.equal(last.status, 200);
  const replayed = await fetch(last.url, {
    headers: { cookie: [...second.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
  });
  assert.equal(replayed.status, 404);
  assert.equal((await fetch(url)).status, 404);
  assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
});

test("one login for all is offered to every client of this machine, and to operators where others reach the gateway", async () => {
  {
    await using run = await start({}, {}, { accessTokenSeconds: 3600 });
    const ada = await run.gateway.connect({ as: "ada", capabilities: urlCapability });
    assert.match(textOf(await ada.callTool(whoami)), /whoami for the client/);
    const { url } = await pageFor(ada, { name: "notes__change", arguments: {} });
    assert.match((await logInAt(url, readToken(run.gateway.home, "ada"))).text, /Logged in/);
    // Another client has the scope, too.
    const bob = await run.gateway.connect({ as: "bob" });
    assert.match(
      textOf(await bob.callTool({ name: "notes__change", arguments: {} })),
      /change for the client/,
    );
  }
  const auth = {
    resource: "https://tools.example.com/mcp",
    jwt: [{ issuer: "https://login.example.com", jwks_uri: "http://127.0.0.1:9/jwks" }],
  };
  await using run = await start({}, { auth });
  const ada = await run.gateway.connect({ as: "ada", capabilities: urlCapability });
  const refused = await ada.callTool({ name: "notes__change", arguments: {} });
  assert.match(textOf(refused), /toolcrib login notes/);
});
