/** Texts that tell a new user what happens: switched off servers, missing secrets, errors of servers, other files. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { onTerminal, shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

const serve = { listen: "127.0.0.1:0", auth: "none" };

for (const isRunning of [false, true]) {
  test(`approve of a disabled server says how to enable it, ${isRunning ? "with" : "without"} a gateway`, async () => {
    await using directory = await makeTemporaryDirectory();
    const setting = { directory: directory.path };
    const config = { tool_servers: [{ ...echoServer("off"), enabled: false }], serve };
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
    await using _gateway = isRunning ? await startServe([], setting) : undefined;
    const { code, stderr } = await runToolcrib(["approve", "off"], setting);
    assert.equal(code, 5);
    assert.match(
      stderr,
      /The server "off" is disabled: .*\nhint: toolcrib enable server off starts it; then toolcrib approve off/,
    );
  });
}

/** A server at a URL whose token is a secret. */
function at(id: string, ref: unknown): object {
  const headers = { Authorization: { prefix: "Bearer ", secret_key_ref: ref } };
  return { id, transport: { kind: "streamable_http", url: "https://mcp.example.com/mcp", headers } };
}

test("config check names secrets and variables that are missing, and is no error for them", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = (env: { readonly [name: string]: string } = {}) =>
    runToolcrib(["config", "check"], { directory: directory.path, env });
  const tool_servers = [at("acme", { env: "ACME_TOKEN" }), at("crm", "crm-token")];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers }, undefined, 2));
  const missing = await run();
  assert.equal(missing.code, 0, missing.stdout);
  assert.match(
    missing.stdout,
    /warning CONFIG_SECRET_NOT_FOUND\nThe server "acme" does not start here: .*ACME_TOKEN is not set/,
  );
  assert.match(missing.stdout, /The server "crm" does not start here: .*"crm-token"/);
  assert.match(missing.stdout, /\nOK toolcrib\.json\n$/);
  const set = await run({ ACME_TOKEN: "aB3dE6fG7hI8", TOOLCRIB_SECRET_CRM_TOKEN: "aB3dE6fG7hI8" });
  assert.equal(set.stdout, "OK toolcrib.json\n");
});

test("config check asks no keychain, and warns of no secret that is stored with a key of the keychain", {
  skip: process.platform !== "linux",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const called = directory.join("called");
  mkdirSync(directory.join("bin"));
  const key = Buffer.alloc(32, 7).toString("base64");
  const script = `#!/bin/sh\necho "$@" >> "${called}"\nprintf '${key}'\n`;
  writeFileSync(directory.join("bin/secret-tool"), script, { mode: 0o700 });
  const env = {
    PATH: `${directory.join("bin")}:${process.env["PATH"]}`,
    TOOLCRIB_SECRETS_KEY: "keychain:store-key",
  };
  const setting = { directory: directory.path, env };
  for (const name of ["crm-token", "wiki-token"]) {
    const set = await runToolcrib(["secret", "set", name], { ...setting, stdin: "aB3dE6fG7hI8" });
    assert.equal(set.code, 0, set.stderr);
  }
  assert.ok(existsSync(called));
  rmSync(called);
  const tool_servers = [
    at("crm", "crm-token"),
    at("wiki", { store: "wiki-token" }),
    at("chat", { keychain: "chat-token" }),
    at("gone", { store: "gone-token" }),
  ];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers }, undefined, 2));
  const { code, stdout } = await runToolcrib(["config", "check"], setting);
  assert.equal(code, 0, stdout);
  assert.deepEqual(
    [...stdout.matchAll(/The server "(\w+)" does not start here/g)].map(([, id]) => id),
    ["gone"],
  );
  assert.equal(existsSync(called), false, "the keychain was asked");
});

test("connect and import --move say when the running gateway serves another file", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("one"));
  mkdirSync(directory.join("two"));
  mkdirSync(directory.join(".cursor"));
  writeFileSync(directory.join(".cursor/mcp.json"), '{"mcpServers":{"notes":{"command":"notes-mcp"}}}');
  for (const folder of ["one", "two"])
    writeFileSync(directory.join(`${folder}/toolcrib.json`), JSON.stringify({ tool_servers: [], serve }));
  const env = { HOME: directory.path, TOOLCRIB_HOME: directory.join(".toolcrib") };
  const own = { directory: directory.join("one"), env };
  const other = { directory: directory.join("two"), env };
  await using gateway = await startServe([], own);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const warning = /the gateway that runs for this home serves \S+one\/toolcrib\.json, not toolcrib\.json: /;
  const connect = await runToolcrib(["connect", "cursor"], other);
  assert.match(connect.stderr, new RegExp(`${warning.source}the clients get the servers of that gateway`));
  const move = await runToolcrib(["import", "--move"], other);
  assert.match(move.stderr, new RegExp(`${warning.source}the clients lose the moved servers until`));
  assert.doesNotMatch((await runToolcrib(["connect", "cursor"], own)).stderr, warning);
});

test("serve, status and the summary of a gateway without a server name the commands that add some", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve }));
  await using gateway = await startServe([], setting);
  const next = "toolcrib add NAME adds one, toolcrib import takes over those of your clients";
  const { stdout } = await runToolcrib(["status"], setting);
  assert.match(stdout, new RegExp(`^servers +none yet; ${next}\\ntools +0 and`, "m"));
  const named = / {2}Next: \S.* add NAME adds one, \S.* import takes over those of your clients/;
  await waitUntil(() => /Press Ctrl-C/.test(gateway.stdout()));
  assert.match(gateway.stdout(), named);
  if (skipWithoutTerminal !== false) return;
  assert.match(
    (await onTerminal([], setting)).replace(/\s+/g, " "),
    /Next: \S.* add NAME adds one, \S.* import takes/,
  );
});

test("status counts the tools of servers, those of the gateway, and what the operator lists", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const config = { tool_servers: [{ ...echoServer("files"), trust_state: "certified" }], serve };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  await using gateway = await startServe([], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const { stdout } = await runToolcrib(["status"], setting);
  const [, own = "", more = "", listed = "", sum = ""] =
    /^tools +(\d+) and (\d+) of the gateway itself; the operator lists (\d+) of these (\d+)$/m.exec(stdout) ??
    [];
  assert.equal(Number(own) + Number(more), Number(sum), stdout);
  assert.ok(Number(listed) <= Number(sum) && Number(own) > 0, stdout);
  assert.match(stdout, /^servers +1 ready\n[\s\S]*^sessions +0\ncalls +0 in flight$/m);
});

for (const isRunning of [false, true]) {
  test(`an error of a server has one code, ${isRunning ? "with" : "without"} a gateway`, async () => {
    await using directory = await makeTemporaryDirectory();
    const setting = { directory: directory.path };
    const program = directory.join("server.mjs");
    writeFileSync(program, failingServer);
    const server = {
      id: "bad",
      transport: { kind: "stdio", command: process.execPath, args: [program] },
      trust_state: "certified",
    };
    const config = { tool_servers: [server], serve, sandbox: { mode: "preferred" } };
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
    await using gateway = isRunning ? await startServe([], setting) : undefined;
    if (gateway !== undefined) await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const { code, stderr } = await runToolcrib(["call", "bad:fail", "{}"], setting);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^error UPSTREAM_ERROR: disk full$/m);
  });
}

/** A server whose tool answers with a JSON-RPC error. */
const failingServer = `
import { createInterface } from "node:readline";
const answer = (id, body) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize")
    return answer(id, { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bad", version: "1" } } });
  if (method === "tools/list") return answer(id, { result: { tools: [{ name: "fail", inputSchema: { type: "object" } }] } });
  if (method === "tools/call") return answer(id, { error: { code: -32050, message: "disk full" } });
  answer(id, { error: { code: -32601, message: "no such method" } });
});
`;

test("the hint about a server that is not ready names its log only where there is one", async () => {
  await using directory = await makeTemporaryDirectory();
  const remote = { id: "remote", transport: { kind: "streamable_http", url: "http://127.0.0.1:9/mcp" } };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [{ ...remote, trust_state: "certified" }] }),
  );
  const { stderr } = await runToolcrib(["list", "--server", "remote"], { directory: directory.path });
  assert.match(stderr, /error CLI_SERVER_NOT_READY: [\s\S]*\nhint: see toolcrib doctor\n/);
});

test("why without a client says that calls of clients need an approval, where they do", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const write = (trust_state: string, policy: object = {}) =>
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({
        tool_servers: [{ ...echoServer("files"), trust_state }],
        sandbox: { mode: "preferred" },
        policy,
      }),
    );
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  const line = /^Each call of a client needs an approval, because the server is unverified; your own calls/m;
  write("unverified");
  assert.equal((await run("approve", "files", "--yes")).code, 0);
  const own = await run("why", "files:env");
  assert.deepEqual([own.code, line.test(own.stdout)], [0, true], own.stdout);
  const ofClient = (await run("why", "files:env", "--client", "desk")).stdout;
  assert.match(ofClient, /^Each call also needs an approval of the operator/m);
  assert.doesNotMatch(ofClient, line);
  // A call of the operator that is recorded is no question about clients.
  assert.equal((await run("call", "files:env", "{}")).code, 0);
  const [record] = JSON.parse((await run("audit", "list", "--json", "--limit", "1")).stdout);
  assert.doesNotMatch((await run("why", record.data.callId)).stdout, line);
  write("unverified", { waive_approval: ["files:env"] });
  assert.doesNotMatch((await run("why", "files:env")).stdout, line);
  write("certified");
  assert.doesNotMatch((await run("why", "files:env")).stdout, line);
});

test("toolcrib alone after init says that there is no server yet, and how to add one", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const { stdout } = await runToolcrib(["init"], setting);
  assert.match(stdout, /\nNext:\n {2}\S.* add NAME +[\s\S]* serve +start the gateway\n$/);
  const shown = (await onTerminal([], setting)).replaceAll("\r", "");
  assert.match(
    shown.replace(/\s+/g, " "),
    /No client on this machine has a server to import\. The configuration has no server yet: \S.* add NAME adds one/,
  );
  assert.doesNotMatch(shown, /Everything that clients have|\n\n\n|edit toolcrib\.yaml/);
});

test("disconnect says that no client is connected", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const words of [["disconnect"], ["disconnect", "--all"], ["disconnect", "cursor"]]) {
    const { code, stderr } = await runToolcrib(words, { directory: directory.path });
    assert.equal(code, 4, stderr);
    assert.match(
      stderr,
      /CLI_CONNECTION_NOT_FOUND: .*(?:no client is|not) connected to this home\nhint: toolcrib connect lists/,
    );
  }
});

test("add with an empty secret adds nothing, and says how to give the secret later", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  await using terminal = new Terminal(shellLine(["add", "github"]), { directory: directory.path });
  await terminal.untilShown(/Add it to toolcrib\.yaml\? \[Y\/n\] /);
  terminal.press("y\n");
  await terminal.untilShown(/Value of github-token \(it is not shown\): /);
  terminal.press("\n");
  assert.equal(await terminal.end(), 2);
  assert.match(
    stripVTControlCharacters(terminal.text).replace(/\s+/g, " "),
    /Nothing was added: no value was entered for the secret github-token hint: .* --without-secrets, .* secret set github-token/,
  );
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});
