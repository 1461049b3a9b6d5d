/** `toolcrib connect` and `disconnect`: files of clients changed, used and restored. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type ClientProgram, clientPrograms, filesOf } from "@toolcrib/clients";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, echoServer, runToolcrib, startServe } from "./transcript.ts";

const cursorText = '{\n  // mine\n  "mcpServers": {\n    "files": { "command": "npx" }, // kept\n  },\n}\n';

/** A user with a configuration, and runs of the command as that user. */
async function setUp(config: object = {}) {
  const directory = await makeTemporaryDirectory();
  const configuration = {
    tool_servers: [echoServer("echo")],
    serve: { listen: "127.0.0.1:7499" },
    ...config,
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(configuration));
  const run = (...words: readonly string[]) => runToolcrib(words, { directory: directory.path });
  return { directory, run, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

function write(directory: TemporaryDirectory, path: string, text: string): string {
  const file = directory.join(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test("a client connects with what was written into its file, and the file is restored", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory, run } = user;
  const file = write(directory, ".cursor/mcp.json", cursorText);
  chmodSync(file, 0o640);
  await using _gateway = await startServe([], { directory: directory.path });
  const preview = await run("connect", "cursor");
  assert.equal(preview.code, 1);
  assert.match(preview.stderr, /Nothing was written: confirm with --yes/);
  assert.match(preview.stdout, /changes .*mcp\.json: "toolcrib" in "mcpServers"/);
  assert.match(preview.stdout, /Bearer TOKEN/);
  assert.equal(readFileSync(file, "utf8"), cursorText);
  const { code, stdout } = await run("connect", "cursor", "--yes");
  assert.equal(code, 0);
  const token = readFileSync(directory.join(".toolcrib/tokens/cursor"), "utf8").trim();
  assert.equal(stdout.includes(token), false);
  const text = readFileSync(file, "utf8");
  assert.match(text, /"files": \{ "command": "npx" \}, \/\/ kept\n {4}"toolcrib": \{\n/);
  assert.equal(statSync(file).mode & 0o777, 0o640);
  const written = JSON.parse(/"toolcrib": (\{[\s\S]*?\n {4}\})/.exec(text)?.[1] ?? "") as {
    url: string;
    headers: { Authorization: string };
  };
  assert.equal(written.headers.Authorization, `Bearer ${token}`);
  const client = new Client({ name: "cursor", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(written.url), { requestInit: { headers: written.headers } }),
  );
  assert.equal(
    (await client.listTools()).tools.some((tool) => tool.name === "echo__echo"),
    true,
  );
  await client.close();
  const back = await run("disconnect", "cursor");
  assert.match(back.stdout, /Cursor: restored as it was before/);
  assert.equal(readFileSync(file, "utf8"), cursorText);
  assert.equal(existsSync(directory.join(".toolcrib/tokens/cursor")), false);
  assert.equal((await run("disconnect", "cursor")).code, 4);
});

test("a client that only starts servers gets a bridge to the running gateway", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory, run } = user;
  await using _gateway = await startServe([], { directory: directory.path });
  const file = directory.join(".config/Claude/claude_desktop_config.json");
  mkdirSync(dirname(file), { recursive: true });
  assert.equal((await run("connect", "claude-desktop", "--yes")).code, 0);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { command, args } = (
    JSON.parse(readFileSync(file, "utf8")) as {
      mcpServers: { toolcrib: { command: string; args: string[] } };
    }
  ).mcpServers.toolcrib;
  assert.deepEqual(args.slice(-3), ["bridge", "--as", "claude-desktop"]);
  // The token stays in the home.
  const token = readFileSync(directory.join(".toolcrib/tokens/claude-desktop"), "utf8").trim();
  assert.equal(readFileSync(file, "utf8").includes(token), false);
  const client = new Client({ name: "claude-desktop", version: "1.0.0" });
  // From another folder, without a PATH, as programs with windows start it.
  await client.connect(
    new StdioClientTransport({ command, args, cwd: "/", env: { HOME: directory.path }, stderr: "ignore" }),
  );
  assert.equal(
    (await client.listTools()).tools.some((tool) => tool.name === "echo__echo"),
    true,
  );
  await client.close();
  assert.match((await run("disconnect", "--all")).stdout, /removed, as there was no file before/);
  assert.equal(existsSync(file), false);
});

test("a gateway that a client starts finds the programs of the terminal in which it was connected", async () => {
  for (const [client, words, variables] of [
    ["claude-desktop", [], "env"],
    ["claude-code", ["--stdio"], "env"],
    ["opencode", ["--stdio"], "environment"],
  ] as const) {
    const echo = { ...(echoServer("echo") as { transport: { args: readonly string[] } }) };
    const transport = { ...echo.transport, command: "node-of-this-terminal" };
    await using user = await setUp({
      tool_servers: [{ ...echo, transport }],
      serve: { listen: "127.0.0.1:0" },
    });
    const { directory } = user;
    mkdirSync(directory.join("programs"));
    symlinkSync(process.execPath, directory.join("programs/node-of-this-terminal"));
    const { code, stdout, stderr } = await runToolcrib(["--json", "connect", client, ...words, "--yes"], {
      directory: directory.path,
      env: { PATH: `${directory.join("programs")}:${cleanEnvironment(directory.path)["PATH"]}` },
    });
    assert.equal(code, 0, stderr);
    const { connected } = JSON.parse(stdout) as { connected: readonly { file: string }[] };
    const written = JSON.parse(readFileSync(connected[0]?.file ?? "", "utf8"));
    const entry = (written.mcpServers ?? written.mcp).toolcrib;
    const [command, ...args] = [entry.command, entry.args ?? []].flat();
    const env = { HOME: directory.path, PATH: "/usr/bin:/bin", ...entry[variables] };
    const mcp = new Client({ name: client, version: "1.0.0" });
    try {
      await mcp.connect(new StdioClientTransport({ command, args, cwd: "/", env, stderr: "ignore" }));
      const { tools } = await mcp.listTools();
      assert.ok(
        tools.some(({ name }) => name === "echo__echo"),
        `${client}: ${JSON.stringify(entry)}`,
      );
    } finally {
      await mcp.close();
      await endGateways(directory.path);
    }
  }
});

/** Ends the gateways that bridges of a home started. */
async function endGateways(directory: string): Promise<void> {
  const folder = `${directory}/.toolcrib/run`;
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^gateway-\d+\.json$/.test(name))
    : [];
  for (const name of files) {
    const { pid } = JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as { pid: number };
    process.kill(pid);
    await waitUntil(() => !existsSync(`${folder}/${name}`));
  }
}

test("in another folder, a bridge gets the configuration of the running gateway", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory } = user;
  await using _gateway = await startServe([], { directory: directory.path });
  mkdirSync(directory.join("elsewhere"));
  const home = ["--home", directory.join(".toolcrib")];
  const setting = { directory: directory.join("elsewhere"), env: { HOME: directory.path } };
  const { code, stdout, stderr } = await runToolcrib(
    [...home, "connect", "claude-desktop", "--print"],
    setting,
  );
  assert.equal(code, 0, stderr);
  const config = JSON.stringify(["--config", directory.join("toolcrib.json")]).slice(1, -1);
  assert.ok(stdout.replace(/\s+/g, "").includes(config), stdout);
});

test("--all leaves out a client whose file cannot be read, says why, and connects the others", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const cursor = write(directory, ".cursor/mcp.json", cursorText);
  const broken = '{ "context_servers": { "a": ';
  const zed = write(directory, ".config/zed/settings.json", broken);
  const { code, stdout, stderr } = await run("connect", "--all", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /✗ Zed is left out: Cannot change .*settings\.json/);
  assert.match(stderr, /Not connected: zed\. Fix what is said above, then: .* connect zed\n/);
  assert.match(stdout, /✓ Cursor: /);
  assert.match(stdout, /Take it back with .* disconnect cursor\n/);
  assert.match(readFileSync(cursor, "utf8"), /"toolcrib"/);
  assert.equal(readFileSync(zed, "utf8"), broken);
  const again = await run("connect", "--all", "--yes", "--json");
  const { connected, skipped } = JSON.parse(again.stdout);
  assert.deepEqual([connected.length, skipped.length, skipped[0].client], [1, 1, "zed"]);
  assert.equal(skipped[0].code, "CLI_FILE_UNUSABLE");
  // A client that is named is not left out.
  assert.equal((await run("connect", "cursor", "zed", "--yes")).code !== 0, true);
});

test("what a client or its user changed since stays when the gateway is taken out", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const cursor = write(directory, ".cursor/mcp.json", cursorText);
  const codex = write(directory, ".codex/config.toml", '# mine\nmodel = "x"\n');
  const goose = write(directory, ".config/goose/config.yaml", "GOOSE_MODE: auto # mine\n");
  assert.equal((await run("connect", "--all", "--yes")).code, 0);
  assert.match(readFileSync(codex, "utf8"), /\n\[mcp_servers\.toolcrib\]\nurl = "http:/);
  // A program that parses and prints its file, and users with editors.
  writeFileSync(cursor, readFileSync(cursor, "utf8").replace("// kept", "// changed"));
  writeFileSync(codex, `${readFileSync(codex, "utf8")}\n[mcp_servers.other]\ncommand = "a"\n`);
  writeFileSync(goose, readFileSync(goose, "utf8").replace("auto", "chat"));
  const { code, stdout } = await run("disconnect", "--all");
  assert.equal(code, 0);
  assert.equal(stdout.match(/the entry is removed; what changed since stays/g)?.length, 3);
  assert.equal(readFileSync(cursor, "utf8"), cursorText.replace("// kept", "// changed"));
  assert.equal(readFileSync(codex, "utf8"), '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "a"\n');
  assert.match(readFileSync(goose, "utf8"), /^GOOSE_MODE: chat # mine\n/);
});

test("each client's file is what the client alone would have made of it, also with a first server", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const places = { platform: "linux", home: directory.path, settings: directory.join(".config") } as const;
  // With servers, and without a section of servers, also in the forms of some editors.
  const texts: { readonly [kind: string]: readonly string[] } = {
    json: [
      '{\n  "theme": "dark", // mine\n  "SECTION": {\n    "a": { "command": "b" }\n  }\n}\n',
      '{\n  "theme": "dark" // mine\n}\n',
      '{"theme": "dark"}',
      '\uFEFF{\r\n\t"theme": "dark",\r\n}\r\n',
    ],
    toml: ['theme = "dark"\n[SECTION.a]\ncommand = "b" # mine\n', 'theme = "dark" # mine\n'],
    list: [
      "theme: dark # mine\nSECTION:\n  - name: a\n    command: b\n",
      "\uFEFFtheme: dark\nb: 1\n\n# end\n",
    ],
    yaml: ["theme: dark # mine\nSECTION:\n  a:\n    cmd: b\n", "\uFEFFtheme: dark\r\nb: 1\r\n"],
  };
  const kindOf = ({ isList, format }: ClientProgram) => (isList === true ? "list" : format);
  for (const index of [0, 1, 2, 3]) {
    const files = clientPrograms.flatMap((program) => {
      const text = texts[kindOf(program)]?.[index]?.replaceAll("SECTION", program.section);
      // Without the section, another member is a server.
      if (text === undefined || (program.isSectionOptional === true && index > 0)) return [];
      const path = filesOf(program, places)[0] as string;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return [{ id: program.id, path, text }];
    });
    const ids = files.map(({ id }) => id);
    for (const change of [(text: string) => text, (text: string) => text.replace("dark", "light")]) {
      assert.equal((await run("connect", ...ids, "--yes")).code, 0);
      for (const { path } of files) writeFileSync(path, change(readFileSync(path, "utf8")));
      assert.equal((await run("disconnect", ...ids)).code, 0);
      for (const { id, path, text } of files) assert.equal(readFileSync(path, "utf8"), change(text), id);
    }
  }
});

test("of the places of a client's file, the one of the version that is here is written", async () => {
  const entry = '"toolcrib": {';
  const check = async (client: string, present: readonly string[], written: string) => {
    await using user = await setUp();
    for (const path of present) {
      if (path.endsWith("/")) mkdirSync(user.directory.join(path), { recursive: true });
      else write(user.directory, path, "{}\n");
    }
    assert.equal((await user.run("connect", client, "--yes")).code, 0);
    assert.ok(readFileSync(user.directory.join(written), "utf8").includes(entry), `${client}: ${written}`);
    assert.equal((await user.run("disconnect", client, "--yes")).code, 0);
    const isNew = !present.includes(written);
    assert.equal(existsSync(user.directory.join(written)), !isNew);
  };
  const [devin, windsurf] = [".config/devin/mcp_config.json", ".codeium/windsurf/mcp_config.json"];
  await check("windsurf", [], devin);
  await check("windsurf", [windsurf], windsurf);
  await check("windsurf", [windsurf, ".config/devin/"], devin);
  const folder = ".config/opencode/";
  await check("opencode", [folder], `${folder}opencode.json`);
  await check("opencode", [`${folder}opencode.jsonc`], `${folder}opencode.jsonc`);
  // It reads both, and the second one last.
  const both = [`${folder}opencode.json`, `${folder}opencode.jsonc`];
  await check("opencode", both, `${folder}opencode.jsonc`);
  const settings = "settings/cline_mcp_settings.json";
  const code = `.config/Code/User/globalStorage/saoudrizwan.claude-dev/${settings}`;
  await check("cline", [code], code);
  await check("cline", [code, `.cline/data/${settings}`], `.cline/data/${settings}`);
});

test("connecting again keeps the file of before the first time", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const file = write(directory, ".cursor/mcp.json", cursorText);
  await run("connect", "cursor", "--yes");
  const first = readFileSync(file, "utf8");
  await run("connect", "cursor", "--yes");
  assert.equal(readFileSync(file, "utf8"), first);
  await run("connect", "cursor", "--yes", "--stdio");
  assert.match(readFileSync(file, "utf8"), /"--stdio"/);
  await run("disconnect", "cursor");
  assert.equal(readFileSync(file, "utf8"), cursorText);
});

test("a home takes back its own entry only, and not one that another home wrote with --force", async () => {
  for (const flags of [[], ["--stdio"]]) {
    await using user = await setUp();
    const { directory, run } = user;
    const file = write(directory, ".cursor/mcp.json", cursorText);
    const other = ["--home", directory.join("other")];
    assert.equal((await run("connect", "cursor", "--yes", ...flags)).code, 0);
    assert.equal((await run(...other, "connect", "cursor", "--yes", ...flags)).code, 2);
    assert.equal((await run(...other, "connect", "cursor", "--yes", "--force", ...flags)).code, 0);
    const forced = readFileSync(file, "utf8");
    // The first home does not write over it without --force.
    const again = await run("connect", "cursor", "--yes", ...flags);
    assert.match(again.stderr, /has a server "toolcrib" that this home did not write/);
    const taken = await run("disconnect", "cursor");
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stdout, /Cursor: its entry is for another gateway, and stays/);
    assert.equal(readFileSync(file, "utf8"), forced);
    assert.equal((await run(...other, "disconnect", "cursor")).code, 0);
    assert.notEqual(readFileSync(file, "utf8"), forced);
  }
});

test("the entry of a home that was disconnected since is not restored, and one that may be is named", async () => {
  for (const isFirstGone of [true, false]) {
    for (const flags of [["--stdio"], []]) {
      await using user = await setUp();
      const { directory, run } = user;
      const file = write(directory, ".cursor/mcp.json", cursorText);
      const other = ["--home", directory.join("other")];
      assert.equal((await run("connect", "cursor", "--yes", ...flags)).code, 0);
      const first = readFileSync(file, "utf8");
      assert.equal((await run(...other, "connect", "cursor", "--yes", "--force", ...flags)).code, 0);
      if (isFirstGone)
        assert.match((await run("disconnect", "cursor")).stdout, /for another gateway, and stays/);
      const { code, stdout, stderr } = await run(...other, "disconnect", "cursor");
      assert.equal(code, 0, stderr);
      const isKnownGone = isFirstGone && flags.length > 0;
      assert.equal(readFileSync(file, "utf8"), isKnownGone ? cursorText : first);
      const said = {
        gone: /Cursor: restored as it was before, without the entry of a home .*\n.*\n +disconnected home: .*\.toolcrib$/m,
        unknown: /its entry "toolcrib" of before is for the gateway of another home; if that was/,
      };
      assert.equal(said.gone.test(stdout), isKnownGone, stdout);
      assert.equal(said.unknown.test(stdout.replaceAll(/\s+/g, " ")), flags.length === 0, stdout);
    }
  }
});

test("an entry of a home without a record of its disconnect is restored, and the home is named", async () => {
  const cases: readonly {
    readonly damage: (home: string) => void;
    readonly edit?: (text: string) => string;
    readonly isReconnected?: boolean;
  }[] = [
    { damage: (home) => rmSync(home, { recursive: true, force: true }) },
    { damage: (home) => writeFileSync(join(home, "connections/cursor.json"), "{") },
    {
      damage: (home) => rmSync(join(home, "connections"), { recursive: true }),
      edit: (text) => text.replace(/"--home",\s*"([^"]*)"/, '"--home=$1"'),
    },
    // Printed and pasted once more after its disconnect, which it recorded.
    { damage() {}, isReconnected: true },
  ];
  for (const { damage, edit = (text: string) => text, isReconnected = false } of cases) {
    await using user = await setUp();
    const { directory, run } = user;
    const file = write(directory, ".cursor/mcp.json", cursorText);
    const other = ["--home", directory.join("other")];
    assert.equal((await run("connect", "cursor", "--yes", "--stdio")).code, 0);
    const first = edit(readFileSync(file, "utf8"));
    writeFileSync(file, first);
    assert.equal((await run(...other, "connect", "cursor", "--yes", "--force", "--stdio")).code, 0);
    if (isReconnected) {
      assert.match((await run("disconnect", "cursor")).stdout, /for another gateway, and stays/);
      assert.equal((await run("connect", "cursor", "--print", "--stdio")).code, 0);
    }
    damage(directory.join(".toolcrib"));
    const { code, stdout, stderr } = await run(...other, "disconnect", "cursor");
    assert.equal(code, 0, stderr);
    assert.equal(readFileSync(file, "utf8"), first);
    assert.match(
      stdout.replaceAll(/\s+/g, " "),
      /Cursor: restored as it was before .* of before is for the gateway of the home \S*\.toolcrib, which has no record of a connection to this file; if that was disconnected/,
    );
  }
});

test("a home takes back its own entry after its user changed the address, the token or the arguments in it", async () => {
  const edits: readonly (readonly [flags: readonly string[], edit: (text: string) => string])[] = [
    [[], (text) => text.replace("127.0.0.1", "localhost")],
    [[], (text) => text.replace(":7499", ":7500")],
    [[], (text) => text.replace(/Bearer tcb_[\w-]+/, "Bearer $${env:TOOLCRIB_TOKEN}")],
    [["--stdio"], (text) => text.replace(/"--home",\s*"[^"]*",\s*/, "")],
  ];
  for (const [flags, edit] of edits) {
    await using user = await setUp();
    const { directory, run } = user;
    const file = write(directory, ".cursor/mcp.json", cursorText);
    assert.equal((await run("connect", "cursor", "--yes", ...flags)).code, 0);
    const written = readFileSync(file, "utf8");
    writeFileSync(file, edit(written));
    assert.notEqual(readFileSync(file, "utf8"), written);
    const taken = await run("disconnect", "cursor");
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stdout, /Cursor: the entry is removed; what changed since stays/, String(edit));
    assert.doesNotMatch(readFileSync(file, "utf8"), /toolcrib/);
  }
});

test("a home takes back its own entry with a token that it replaced, or another of its own", async () => {
  for (const isOld of [true, false]) {
    await using user = await setUp();
    const { directory, run } = user;
    const file = write(directory, ".cursor/mcp.json", cursorText);
    assert.equal((await run("connect", "cursor", "--yes")).code, 0);
    assert.equal((await run("token", "revoke", "cursor")).code, 0);
    assert.equal((await run("token", "create", "cursor")).code, 0);
    const token = readFileSync(directory.join(".toolcrib/tokens/cursor"), "utf8").trim();
    const text = readFileSync(file, "utf8").replace("127.0.0.1", "localhost");
    writeFileSync(file, isOld ? text : text.replace(/tcb_[\w-]+/, token));
    const taken = await run("disconnect", "cursor");
    assert.match(taken.stdout, /Cursor: the entry is removed; what changed since stays/, taken.stderr);
    assert.doesNotMatch(readFileSync(file, "utf8"), /toolcrib/);
  }
});

test("nothing is written where a file cannot be edited, has a foreign entry, or is no file of a client", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const damaged = write(directory, ".cursor/mcp.json", '{ "mcpServers": ');
  const good = write(directory, ".codex/config.toml", "");
  const both = await run("connect", "codex", "cursor", "--yes");
  assert.equal(both.code, 1);
  assert.match(both.stderr, /Cannot change .*mcp\.json\. It is not readable JSON: line 1, column 17/);
  assert.equal(readFileSync(damaged, "utf8"), '{ "mcpServers": ');
  // Of several clients all are connected, or none.
  assert.equal(readFileSync(good, "utf8"), "");
  writeFileSync(damaged, '{ "mcpServers": { "toolcrib": { "command": "mine" } } }');
  const foreign = await run("connect", "cursor", "--yes");
  assert.equal(foreign.code, 2);
  assert.match(foreign.stderr, /has a server "toolcrib" that this home did not write/);
  assert.equal((await run("connect", "cursor", "--yes", "--force")).code, 0);
  const unknown = await run("connect", "cursr");
  assert.match(unknown.stderr, /No client is called "cursr"\nhint: did you mean cursor\?/);
  const listed = await run("connect");
  assert.match(listed.stdout, /codex +no .*config\.toml\ncursor +yes /);
  const printed = await run("connect", "zed", "--print");
  assert.match(printed.stdout, /Zed .*settings\.json\n\{\n {2}"context_servers": \{/);
});

test("read-only files, loops, foreign values and empty sections are treated as their users mean them", async () => {
  await using user = await setUp({ serve: { listen: "0.0.0.0:7499", allowed_hosts: ["x"] } });
  const { directory, run } = user;
  const cursor = write(directory, ".cursor/mcp.json", '{ "mcpServers": { "toolcrib": 5 } }\n');
  assert.match(
    (await run("connect", "cursor", "--yes")).stderr,
    /has a server "toolcrib" that this home did not write/,
  );
  writeFileSync(cursor, '{\n  "mcpServers": null\n}\n');
  chmodSync(cursor, 0o444);
  const { code, stderr } = await run("connect", "cursor", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /Cannot write .*mcp\.json: it is read-only\nhint: /);
  chmodSync(cursor, 0o644);
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.match(readFileSync(cursor, "utf8"), /"url": "http:\/\/127\.0\.0\.1:7499\/mcp"/);
  await run("disconnect", "cursor");
  assert.equal(readFileSync(cursor, "utf8"), '{\n  "mcpServers": null\n}\n');
  const goose = write(directory, ".config/goose/config.yaml", "extensions: # none yet\nGOOSE_MODE: auto\n");
  assert.equal((await run("connect", "goose", "--yes")).code, 0);
  assert.match(readFileSync(goose, "utf8"), /^extensions: # none yet\n {2}toolcrib:\n/);
  mkdirSync(directory.join(".lmstudio"));
  symlinkSync("mcp.json", directory.join(".lmstudio/mcp.json"));
  assert.match((await run("connect", "lm-studio", "--yes")).stderr, /Cannot read .*mcp\.json: .*ELOOP/);
});

test("disconnect says that the file of a client was deleted", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const file = write(directory, ".cursor/mcp.json", "{}\n");
  await run("connect", "cursor", "--yes");
  rmSync(file);
  const { code, stdout } = await run("disconnect", "cursor");
  assert.equal(code, 0);
  assert.match(stdout, /^✓ Cursor: its file was deleted since, so nothing is changed; only the record/);
  assert.equal(existsSync(file), false);
  assert.equal(existsSync(directory.join(".toolcrib/tokens/cursor")), false);
});

test("of two commands that connect a client at once, the token is removed with the client", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  write(directory, ".cursor/mcp.json", "{}\n");
  await Promise.all([run("connect", "cursor", "--yes"), run("connect", "cursor", "--yes")]);
  assert.ok(existsSync(directory.join(".toolcrib/tokens/cursor")));
  await run("disconnect", "cursor");
  assert.equal(existsSync(directory.join(".toolcrib/tokens/cursor")), false);
  assert.equal(readFileSync(directory.join(".cursor/mcp.json"), "utf8"), "{}\n");
});

test("what a client wrote into its file since the preview stays", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory, run } = user;
  const file = write(directory, ".cursor/mcp.json", "{}\n");
  await using _gateway = await startServe([], { directory: directory.path });
  const connecting = run("connect", "cursor", "--yes");
  // The command now waits until the gateway knows the token.
  await waitUntil(() => existsSync(directory.join(".toolcrib/tokens/cursor")));
  writeFileSync(file, '{ "history": ["asked"] }\n');
  assert.equal((await connecting).code, 0);
  assert.match(readFileSync(file, "utf8"), /"history": \["asked"\].*"toolcrib"/s);
  await run("disconnect", "cursor");
  assert.equal(readFileSync(file, "utf8"), '{ "history": ["asked"] }\n');
});

test("a link to a file stays, and a damaged record removes no other file", async () => {
  await using user = await setUp({ serve: { listen: "[::1]:7499" } });
  const { directory, run } = user;
  mkdirSync(directory.join(".cursor"));
  mkdirSync(directory.join("settings"));
  const target = directory.join("settings/mcp.json");
  symlinkSync(target, directory.join(".cursor/mcp.json"));
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.match(readFileSync(target, "utf8"), /"url": "http:\/\/\[::1\]:7499\/mcp"/);
  const record = directory.join(".toolcrib/connections/cursor.json");
  const named = { ...JSON.parse(readFileSync(record, "utf8")), createdToken: "../../toolcrib.json" };
  writeFileSync(record, JSON.stringify(named));
  assert.equal((await run("disconnect", "cursor")).code, 0);
  assert.equal(existsSync(target), false);
  assert.equal(readlinkSync(directory.join(".cursor/mcp.json")), target);
  assert.ok(existsSync(directory.join("toolcrib.json")));
  // Nor one that is no file of the client.
  await run("connect", "cursor", "--yes");
  const other = write(directory, "precious", "text");
  const moved = { ...named, file: other, writtenSha256: createHash("sha256").update("text").digest("hex") };
  writeFileSync(record, JSON.stringify({ ...moved, before: undefined }));
  const refused = await run("disconnect", "cursor");
  assert.match(refused.stderr, /is no file of Cursor/);
  assert.equal(readFileSync(other, "utf8"), "text");
});

test("a preview has the notation of the file, and says that no gateway runs at the address", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  write(directory, ".codex/config.toml", "");
  const preview = await run("connect", "codex");
  assert.match(
    preview.stdout,
    /\n {2}\[mcp_servers\.toolcrib\]\n {2}url = "http:\/\/127\.0\.0\.1:7499\/mcp"\n/,
  );
  assert.doesNotMatch(preview.stdout, /"url":/);
  assert.match(
    preview.stdout,
    /No gateway runs for this home now\. .* address of serve\.listen, http:\/\/127\.0\.0\.1:7499\/mcp, .* serve\n/,
  );
});

test("the list says whose token was revoked", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory, run } = user;
  write(directory, ".cursor/mcp.json", "{}\n");
  await using _gateway = await startServe([], { directory: directory.path });
  const connected = await run("connect", "cursor", "--yes");
  assert.equal(connected.code, 0);
  assert.doesNotMatch(connected.stdout, /No gateway runs/);
  assert.match((await run("connect")).stdout, /^cursor +yes /m);
  assert.equal((await run("token", "revoke", "cursor")).code, 0);
  const listed = await run("connect");
  assert.match(listed.stdout, /^cursor +token revoked /m);
  assert.match(listed.stdout, /The token of a client was revoked: .* connect cursor, .* disconnect cursor/);
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.match((await run("connect")).stdout, /^cursor +yes /m);
});

test("a client whose token was revoked and created again is not shown as connected", async () => {
  await using user = await setUp({ serve: { listen: "127.0.0.1:0" } });
  const { directory, run } = user;
  write(directory, ".cursor/mcp.json", "{}\n");
  await using _gateway = await startServe([], { directory: directory.path });
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.equal((await run("token", "revoke", "cursor")).code, 0);
  assert.equal((await run("token", "create", "cursor")).code, 0);
  const listed = await run("connect");
  assert.match(listed.stdout, /^cursor +token replaced /m);
  assert.match(
    listed.stdout,
    /revoked, and its file has the old one: .* connect cursor, .* disconnect cursor/,
  );
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.match((await run("connect")).stdout, /^cursor +yes /m);
});
