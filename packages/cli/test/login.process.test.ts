/** Logins to a server with OAuth, at a real provider: the command, a running gateway, and what is left behind. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  browse,
  makeTemporaryDirectory,
  startIdentityProvider,
  startProtectedServer,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { runToolcrib, startServe } from "./transcript.ts";

async function setUp(auth: object = {}) {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await startIdentityProvider());
  const server = stack.use(
    await startProtectedServer({
      check: (token) => provider.find(token),
      authorizationServers: [provider.issuer],
    }),
  );
  const directory = stack.use(await makeTemporaryDirectory());
  const transport = { kind: "streamable_http", url: server.url, auth: { type: "oauth", ...auth } };
  const config = {
    tool_servers: [{ id: "notes", transport, trust_state: "verified" }],
    serve: { listen: "127.0.0.1:0" },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const opened = directory.join("opened");
  writeFileSync(
    directory.join("browser"),
    `#!/bin/sh\nprintf '%s' "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`,
  );
  chmodSync(directory.join("browser"), 0o755);
  const setting = { directory: directory.path, env: { BROWSER: directory.join("browser") } };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  /** Runs a login whose browser agrees. */
  const logIn = async (...words: readonly string[]) => {
    rmSync(opened, { force: true });
    const running = run("login", "notes", ...words);
    await waitUntil(() => readdirSync(directory.path).includes("opened"));
    await browse(readFileSync(opened, "utf8"));
    return await running;
  };
  const moved = stack.move();
  return {
    provider,
    server,
    directory,
    setting,
    run,
    logIn,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** Texts of all files of the home, which may contain no token. */
function filesBelow(directory: TemporaryDirectory): string {
  const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  return files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1")).join("\n");
}

test("a call names the command, a login lets the next one pass, and logout ends it", async () => {
  await using setup = await setUp();
  const { run, logIn, server, provider, directory } = setup;
  const before = await run("call", "notes__whoami");
  assert.notEqual(before.code, 0);
  assert.match(before.stderr, /toolcrib login notes/);
  assert.match(
    (await run("doctor")).stdout,
    /✗ login notes: nobody is logged in\n {4}fix: .*toolcrib login notes/,
  );
  assert.match((await run("status")).stdout, /login notes: nobody is logged in \(toolcrib login notes\)/);
  const login = await logIn();
  assert.equal(login.code, 0, login.stderr);
  assert.match((await run("status")).stdout, /login notes: logged in at http\S+, scopes read/);
  assert.match(login.stdout, /^Logged in to notes at http:\/\/127\.0\.0\.1:\d+, with the scopes read\n$/);
  const call = await run("call", "notes__whoami");
  assert.equal(call.code, 0, call.stderr);
  assert.match(call.stdout, /whoami for the client/);
  assert.match((await run("doctor")).stdout, /✓ login notes: logged in at http\S+, scopes read/);
  const [token] = server.tokens;
  assert.ok(token !== undefined && (await provider.find(token)) !== undefined);
  const out = await run("logout", "notes");
  assert.match(out.stdout, /^Logged out of notes; its tokens are revoked\n$/);
  assert.equal(await provider.find(token), undefined);
  assert.notEqual((await run("call", "notes__whoami")).code, 0);
  const texts = filesBelow(directory) + login.stdout + login.stderr + call.stdout + call.stderr;
  for (const one of new Set(server.tokens)) assert.equal(texts.includes(one), false);
});

test("a running gateway uses a login, and the scopes of another one, without a restart", async () => {
  await using setup = await setUp();
  const { run, logIn, setting, directory, server } = setup;
  await using gateway = await startServe([], setting);
  await waitUntil(async () => (await run("status")).stdout.includes("toolcrib login notes"));
  assert.equal((await logIn()).code, 0);
  await waitUntil(async () => /login notes: logged in at/.test((await run("status")).stdout));
  assert.equal((await run("call", "notes__whoami")).code, 0);
  const refused = await run("call", "notes__change");
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr + refused.stdout, /the scopes "write" are missing[\s\S]*toolcrib login notes/);
  assert.match((await logIn()).stdout, /with the scopes read .*write/);
  await waitUntil(async () => (await run("call", "notes__change")).code === 0);
  assert.equal((await run("logout", "notes")).code, 0);
  await waitUntil(async () => (await run("call", "notes__whoami")).code !== 0);
  await gateway.stop();
  const texts = filesBelow(directory) + gateway.stdout() + gateway.stderr();
  for (const one of new Set(server.tokens)) assert.equal(texts.includes(one), false);
});

test("each client of a server with per: identity needs a login of its own", async () => {
  await using setup = await setUp({ per: "identity" });
  const { run, logIn } = setup;
  assert.equal((await logIn()).code, 0);
  const refused = await run("call", "notes__whoami");
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr + refused.stdout, /toolcrib login notes --client cli/);
  assert.match((await logIn("--client", "cli")).stdout, /^Logged in to notes as cli at /);
  assert.equal((await run("call", "notes__whoami")).code, 0);
});

test("login says what is wrong with the server that is named", async () => {
  await using setup = await setUp();
  const { run } = setup;
  assert.match((await run("login", "note")).stderr, /No tool server has the id "note"/);
  assert.match((await run("login", "notes", "--client", "ci")).stderr, /All clients use one login/);
  assert.match((await run("logout", "notes")).stdout, /^Nobody is logged in to notes\n$/);
});

test("issuers of client tokens that cannot be reached are named by doctor and serve, and why knows their clients", async () => {
  await using provider = await startIdentityProvider({ hasJwtTokens: true });
  await using directory = await makeTemporaryDirectory();
  const unreachable = "http://127.0.0.1:9";
  const auth = {
    resource: "https://tools.example.com/mcp",
    jwt: [{ issuer: provider.issuer }, { issuer: unreachable }],
  };
  const serve = { listen: "127.0.0.1:0", allowed_hosts: ["tools.example.com"], auth };
  const policy = {
    clients: { ada: { identity: { issuer: provider.issuer, subject: "ada" }, deny: ["*:*"] } },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [], serve, policy }));
  const setting = { directory: directory.path };
  const { stdout } = await runToolcrib(["doctor"], setting);
  assert.match(stdout, new RegExp(`✓ issuer ${provider.issuer}: its keys can be read`));
  assert.match(stdout, new RegExp(`✗ issuer ${unreachable}: its tokens cannot be checked: Cannot reach`));
  for (const [subject, code] of [
    ["ada", 3],
    ["eva", 0],
  ] as const) {
    const why = await runToolcrib(
      ["why", "toolcrib:search_tools", "--client", `${subject}@${provider.issuer}`],
      setting,
    );
    assert.equal(why.code, code, why.stdout + why.stderr);
    assert.match(why.stderr, /the roles and labels that tokens of .* have are not known here/);
  }
  await using gateway = await startServe([], setting);
  await waitUntil(() => gateway.stderr().includes("tokens of an issuer cannot be checked at the moment"));
  assert.match(gateway.stderr(), new RegExp(unreachable));
  assert.equal(gateway.stderr().includes(`"issuer":"${provider.issuer}"`), false);
});

test("secrets of clients are set by name, and status shows whose there are without their values", async () => {
  await using directory = await makeTemporaryDirectory();
  const headers = { Authorization: { secret_key_ref: { store: "notes", per: "identity" } } };
  const transport = { kind: "streamable_http", url: "http://127.0.0.1:9/mcp", headers };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [{ id: "notes", transport, trust_state: "verified" }] }),
  );
  const value = "s3cret-of-one-client";
  const setting = { directory: directory.path, env: { ITS_SECRET: value } };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  const outputs = [await run("status")];
  assert.match(outputs[0]?.stdout ?? "", /secret notes of notes, one for each client: no client yet/);
  for (const client of ["default", "ada@https://login.example.com"]) {
    const set = await run("secret", "set", "notes", "--identity", client, "--from-env", "ITS_SECRET");
    assert.match(set.stdout, /secret_key_ref: \{ store: notes, per: identity \}/);
    outputs.push(set, await run("secret", "test", "notes", "--identity", client));
  }
  outputs.push(await run("status"));
  assert.match(
    outputs.at(-1)?.stdout ?? "",
    /secret notes of notes, one for each client: default and 1 of an identity provider/,
  );
  assert.equal((await run("secret", "rm", "notes", "--identity", "default")).code, 0);
  const gone = await run("secret", "rm", "notes", "--identity", "default");
  assert.equal(gone.code, 4);
  assert.match(gone.stderr, /"notes" of the client "default"/);
  for (const { stdout, stderr } of outputs) assert.equal((stdout + stderr).includes(value), false);
  const check = async (document: object) => {
    writeFileSync(directory.join("bad.json"), JSON.stringify(document));
    return (await run("config", "check", "bad.json")).stdout;
  };
  const stdio = {
    kind: "stdio",
    command: "true",
    env: { TOKEN: { secret_key_ref: { store: "a", per: "identity" } } },
  };
  assert.match(
    await check({ tool_servers: [{ id: "s", transport: stdio }] }),
    /only headers of tool servers/,
  );
  const inFile = { Authorization: { secret_key_ref: { file: "a", per: "identity" } } };
  assert.match(
    await check({ tool_servers: [{ id: "s", transport: { ...transport, headers: inFile } }] }),
    /per: identity needs a secret of the store/,
  );
});
