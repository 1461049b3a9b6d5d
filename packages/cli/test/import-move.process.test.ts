/** `toolcrib import --move`: servers leave the files of clients for the gateway, and `disconnect` brings them back. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { echoStdioPath, makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib, startServe } from "./transcript.ts";

const cursor = ".cursor/mcp.json";
const codex = ".codex/config.toml";
const goose = ".config/goose/config.yaml";
const continued = ".continue/config.yaml";

const cursorText = `{
  // mine
  "mcpServers": {
    "wiki": { "url": "https://wiki.example.com/mcp" }, // kept in mind
    "files": { "command": "files-mcp", "args": ["--root", "/srv"] },
    "secret": { "command": "secret-mcp", "env": { "SECRET_TOKEN": "\${env:NOT_SET_HERE}" } },
  },
  "other": true,
}
`;
const codexText =
  '# mine\nmodel = "x"\n\n[mcp_servers.files]\ncommand = "files-mcp"\nargs = ["--root", "/srv"]\n';
const gooseText =
  "GOOSE_MODE: auto # mine\nextensions:\n  developer: { type: builtin, enabled: true }\n  notes:\n    type: stdio\n    enabled: true\n    name: notes\n    cmd: notes-mcp\n    args: []\n";
const continueText = "name: mine # mine\nmcpServers:\n  - name: notes\n    command: notes-mcp\n";

/** A user with a folder, and runs of the command in it. */
async function setUp(files: Readonly<Record<string, string>>) {
  const directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("work"));
  const setting = {
    directory: directory.join("work"),
    env: { HOME: directory.path, TOOLCRIB_HOME: directory.join(".toolcrib") },
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(directory.join(path)), { recursive: true });
    writeFileSync(directory.join(path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  const read = (path: string) => readFileSync(directory.join(path), "utf8");
  return {
    directory,
    setting,
    run,
    read,
    write,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const all = { [cursor]: cursorText, [codex]: codexText, [goose]: gooseText, [continued]: continueText };

test("servers move out of the files of clients, and disconnect restores every byte", async () => {
  await using user = await setUp(all);
  const { run, read } = user;
  const preview = await run("import", "--move");
  assert.equal(preview.code, 1);
  assert.match(preview.stderr, /Nothing was written: confirm with --yes/);
  assert.match(
    preview.stdout,
    /Move out of the clients, which get the gateway in their place:\n {2}Codex, .*config\.toml: files\n/,
  );
  assert.match(preview.stdout, / {2}Cursor, .*mcp\.json: wiki, files\n/);
  assert.match(
    preview.stdout,
    /Stay in the clients:\n {2}secret \(cursor, .*mcp\.json:6\): it needs NOT_SET_HERE in the environment/,
  );
  assert.match((await run("import", "--move", "--dry-run")).stdout, /Nothing was written \(--dry-run\)/);
  for (const [path, text] of Object.entries(all)) assert.equal(read(path), text);
  const { code, stdout } = await run("import", "--move", "--yes");
  assert.equal(code, 0);
  assert.match(stdout, /Cursor: 2 servers moved; switch the server on/);
  assert.match(stdout, /Take it back with .*disconnect codex continue cursor goose\. Next:/);
  assert.match(read(cursor), /\{\n {2}\/\/ mine\n {2}"mcpServers": \{[^}]*"secret": \{/);
  assert.doesNotMatch(read(cursor), /"wiki"|"files"/);
  assert.match(read(cursor), /"toolcrib": \{\n {6}"url": "http:/);
  assert.doesNotMatch(read(codex), /files-mcp/);
  assert.match(read(goose), /^GOOSE_MODE: auto # mine\nextensions:\n {2}developer: .*\n {2}toolcrib:\n/);
  assert.doesNotMatch(read(continued), /notes-mcp/);
  const again = await run("import", "--move", "--yes", "--json");
  assert.deepEqual((JSON.parse(again.stdout) as { moved: unknown }).moved, []);
  assert.equal((await run("disconnect", "--all")).code, 0);
  for (const [path, text] of Object.entries(all)) assert.equal(read(path), text, path);
  // They are in the configuration now, and can move again.
  const later = await run("import", "clients", "codex", "--move", "--yes", "--json");
  const { moved, servers } = JSON.parse(later.stdout) as { moved: object[]; servers: object[] };
  assert.deepEqual(servers, []);
  assert.deepEqual(moved, [{ client: "codex", file: user.directory.join(codex), servers: ["files"] }]);
  assert.doesNotMatch(read(codex), /files-mcp/);
});

test("a server whose secret only its user has moves once the secret is stored", async () => {
  const text =
    '{"mcpServers": {"tickets": {"command": "tickets-mcp", "env": {"TICKETS_TOKEN": "<your token>"}}}}\n';
  await using user = await setUp({ [cursor]: text });
  const { run, read, setting } = user;
  const first = await run("import", "--move", "--yes");
  assert.match(first.stdout, / {2}tickets \(.*: it needs tickets-tickets-token, which only you have\n/);
  assert.match(
    (await run("import", "--move", "--yes")).stdout,
    /it needs tickets-tickets-token[\s\S]*Nothing new/,
  );
  assert.equal(read(cursor), text);
  const set = await runToolcrib(["secret", "set", "tickets-tickets-token"], {
    ...setting,
    stdin: "hunter2x",
  });
  assert.equal(set.code, 0, set.stderr);
  assert.match((await run("import", "--move", "--yes")).stdout, /Cursor: 1 server moved/);
  assert.doesNotMatch(read(cursor), /tickets-mcp/);
});

const keyed = (url: string) =>
  `{"mcpServers": {"wiki": {"url": "${url}", "headers": {"X-Api-Key": "hunter2x"}}}}\n`;
const unsetCodex = (url: string) =>
  `[mcp_servers.wiki]\nurl = "${url}"\nbearer_token_env_var = "WIKI_TOKEN"\n`;

test("a server that works moves alone, where another client has it with a variable that is not set", async () => {
  const url = "https://wiki.example.com/mcp";
  await using user = await setUp({ [cursor]: keyed(url), [codex]: unsetCodex(url) });
  const { run, read, directory } = user;
  const { code, stdout } = await run("import", "--move", "--yes", "--json");
  assert.equal(code, 0);
  const { servers, moved } = JSON.parse(stdout) as {
    servers: { id: string; entry: { transport: { headers: object } }; origins: { client: string }[] }[];
    moved: object[];
  };
  const found = servers.map(({ entry, origins }) => [
    origins.map(({ client }) => client).join(),
    Object.keys(entry.transport.headers).join(),
  ]);
  assert.deepEqual(found.sort(), [
    ["codex", "Authorization"],
    ["cursor", "X-Api-Key"],
  ]);
  assert.deepEqual(moved, [{ client: "cursor", file: directory.join(cursor), servers: ["wiki"] }]);
  assert.equal(read(codex), unsetCodex(url));
  // Both are in the configuration now: each client is compared with the entry that has its headers.
  assert.equal((await run("disconnect", "--all")).code, 0);
  const again = JSON.parse((await run("import", "--move", "--yes", "--json")).stdout) as object;
  assert.deepEqual(again, { ...again, servers: [], moved });
});

test("a server stays where the entry of the configuration needs a variable that is not set", async () => {
  const url = "https://wiki.example.com/mcp";
  await using user = await setUp({ [cursor]: keyed(url) });
  const { run, read, write } = user;
  const headers =
    '{ X-Api-Key: { secret_key_ref: mine }, Authorization: { prefix: "Bearer ", secret_key_ref: { env: WIKI_TOKEN } } }';
  write(
    "work/toolcrib.yaml",
    `tool_servers:\n  - id: wiki\n    transport: { kind: streamable_http, url: "${url}", headers: ${headers} }\n`,
  );
  const { stdout } = await run("import", "--move", "--yes");
  assert.match(stdout, / {2}wiki \(cursor, .*: it needs WIKI_TOKEN in the environment of the gateway\n/);
  assert.equal(read(cursor), keyed(url));
});

test("servers whose headers name different variables are two, and one that only has a value serves both", async () => {
  const url = "https://wiki.example.com/mcp";
  const bearer = (value: string) =>
    `{"mcpServers": {"wiki": {"url": "${url}", "headers": {"Authorization": "Bearer ${value}"}}}}\n`;
  const clientsOf = async (value: string) => {
    await using user = await setUp({ [cursor]: bearer(value), [codex]: unsetCodex(url) });
    const { stdout } = await user.run("import", "--move", "--yes", "--json");
    const { servers, moved } = JSON.parse(stdout) as {
      servers: { origins: { client: string }[] }[];
      moved: { client: string }[];
    };
    return [
      servers.map(({ origins }) => origins.map(({ client }) => client).sort()),
      moved.map(({ client }) => client),
    ];
  };
  const [two, none] = await clientsOf(`\${env:OTHER_TOKEN}`);
  assert.deepEqual(two?.flat().sort(), ["codex", "cursor"]);
  assert.equal(two?.length, 2);
  assert.deepEqual(none, []);
  assert.deepEqual(await clientsOf(`\${env:WIKI_TOKEN}`), [[["codex", "cursor"]], []]);
  assert.deepEqual(await clientsOf("hunter2xhunter2x"), [[["codex", "cursor"]], ["codex", "cursor"]]);
});

test("what changed since stays, and the servers that were moved come back", async () => {
  await using user = await setUp(all);
  const { run, read, write } = user;
  assert.equal((await run("import", "--move", "--yes")).code, 0);
  write(cursor, read(cursor).replace("// mine", "// changed"));
  write(codex, `${read(codex)}\n[mcp_servers.new]\ncommand = "new-mcp"\n`);
  write(goose, read(goose).replace("auto", "chat"));
  // Connecting again keeps what is known of the file of before.
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  const { stdout } = await run("disconnect", "--all");
  assert.equal(stdout.match(/the servers that were moved are back; what changed since stays/g)?.length, 2);
  assert.match(stdout, /Continue: restored as it was before/);
  assert.match(read(cursor), /\/\/ changed/);
  const { mcpServers } = JSON.parse(read(cursor).replaceAll(/\/\/ .*|,(?=\s*[}\]])/g, "")) as {
    mcpServers: Record<string, unknown>;
  };
  assert.deepEqual(Object.keys(mcpServers).sort(), ["files", "secret", "wiki"]);
  assert.deepEqual(mcpServers["files"], { command: "files-mcp", args: ["--root", "/srv"] });
  assert.match(read(codex), /\[mcp_servers\.new\]/);
  assert.match(read(codex), /\[mcp_servers\.files\]\ncommand = "files-mcp"/);
  assert.match(read(goose), /^GOOSE_MODE: chat # mine\n[\s\S]* {2}notes:\n/);
});

test("what is not the client's own file, and what cannot be changed, stays", async () => {
  const server = (name: string) => `{"mcpServers": {"${name}": {"command": "${name}-mcp"}}}\n`;
  const claude = JSON.stringify({
    mcpServers: { mine: { command: "mine-mcp" } },
    projects: { "/srv/shop": { mcpServers: { shop: { command: "shop-mcp" } } } },
  });
  const foreign = '{"mcpServers": {"one": {"command": "one-mcp"}, "toolcrib": {"command": "other"}}}\n';
  await using user = await setUp({
    ".claude.json": claude,
    "work/.mcp.json": server("team"),
    ".lmstudio/mcp.json": foreign,
    ".config/Code/User/settings.json": '{"mcp": {"servers": {"old": {"command": "old-mcp"}}}}\n',
    [cursor]: server("locked"),
  });
  const { run, read, directory } = user;
  chmodSync(directory.join(cursor), 0o400);
  const { code, stdout } = await run("import", "--move", "--yes");
  assert.equal(code, 0);
  assert.match(stdout, /Claude Code: 1 server moved/);
  const stays = (name: string, reason: string) =>
    assert.match(stdout, new RegExp(` {2}${name} \\(.*: ${reason}`));
  stays("shop", "it belongs to a project");
  stays("team", "it belongs to a project");
  stays("one", 'the file has a server "toolcrib" that this home did not write');
  stays("old", "toolcrib connect does not write this file");
  stays("locked", "Cannot write .* it is read-only");
  assert.equal(read("work/.mcp.json"), server("team"));
  assert.equal(read(".lmstudio/mcp.json"), foreign);
  assert.equal(read(cursor), server("locked"));
  const { mcpServers, projects } = JSON.parse(read(".claude.json")) as {
    mcpServers: Record<string, unknown>;
    projects: object;
  };
  assert.deepEqual(Object.keys(mcpServers), ["toolcrib"]);
  assert.deepEqual(projects, (JSON.parse(claude) as { projects: object }).projects);
  const refused = await run("import", "--move", "--from", directory.join(cursor));
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--move takes servers out of the files of clients/);
});

test("a client whose servers moved calls them through the gateway", async () => {
  const args = [echoStdioPath, "--builtin", "echo"];
  const text = JSON.stringify({ mcpServers: { echo: { command: process.execPath, args } } });
  await using user = await setUp({ [cursor]: text, "work/toolcrib.yaml": "sandbox: { mode: preferred }\n" });
  const { run, read, setting } = user;
  await using _served = await startServe(["--listen", "127.0.0.1:0"], setting);
  assert.match((await run("import", "--yes")).stdout, /The running gateway starts these servers now/);
  const moved = await run("import", "--move", "--yes");
  assert.equal(moved.code, 0, moved.stderr);
  // It served them before.
  assert.doesNotMatch(moved.stdout, /starts these servers now/);
  assert.equal((await run("approve", "echo", "--yes")).code, 0);
  const { toolcrib } = (
    JSON.parse(read(cursor)) as {
      mcpServers: { toolcrib: { url: string; headers: Record<string, string> } };
    }
  ).mcpServers;
  const client = new Client({ name: "cursor", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(toolcrib.url), { requestInit: { headers: toolcrib.headers } }),
  );
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "echo__echo"));
  await client.close();
});
