/** `toolcrib import`: configurations of all clients become entries, completely, and their secrets are in no output. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { tryLock } from "@toolcrib/files";
import {
  checkGolden,
  echoStdioPath,
  makeTemporaryDirectory,
  type TemporaryDirectory,
} from "@toolcrib/testing";
import { importSamples } from "./import-samples.ts";
import { normalize, runToolcrib, startServe } from "./transcript.ts";

const golden = (name: string) => new URL(`golden/${name}.txt`, import.meta.url);

/** Texts of the samples that are secrets. */
const secrets = ["ghp_aB3dE6", "4f9d3b7c1a8e6520", "s3cretpw", "hunter2", "hf_aBcDeF", "NzY4ZDk3Y2Et"];

function write(directory: TemporaryDirectory, path: string, text: string | Uint8Array): string {
  const file = directory.join(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** A user with a project folder, and runs of the command in it. */
async function setUp() {
  const directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("webapp"));
  const setting = {
    directory: directory.join("webapp"),
    env: { HOME: directory.path, TOOLCRIB_HOME: directory.join(".toolcrib") },
  };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  const config = () => readFileSync(directory.join("webapp/toolcrib.yaml"), "utf8");
  return { directory, setting, run, config, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

test("configurations of all clients, each after its documentation, are imported completely", async () => {
  const parts: string[] = [];
  for (const { title, from, path, text } of importSamples) {
    await using user = await setUp();
    const file = write(user.directory, path, text);
    const { code, stdout, stderr } = await user.run("import", "--yes");
    const after = await user.run("config", "check");
    const yaml = code === 0 && stdout.includes("✓") ? user.config() : "";
    const [, entries = ""] = /^(tool_servers:\n[\s\S]*?)\n# Examples/m.exec(yaml) ?? [];
    const next = stdout.indexOf("\nClients still start");
    // The widths of columns follow from the folder of the test.
    const shown = (next === -1 ? stdout : stdout.slice(0, next)).replace(/ {3,}/g, "  ");
    parts.push(
      normalize(`=== ${title}\n(${from})\n${shown}${stderr}[${code}]\n${entries}\n`, user.directory.path),
    );
    if (yaml !== "") assert.equal(after.code, 0, `${title}\n${after.stdout}${after.stderr}\n${yaml}`);
    for (const secret of secrets)
      assert.equal(`${stdout}${stderr}${yaml}`.includes(secret), false, `${title}: ${secret}`);
    assert.equal(readFileSync(file, "utf8"), text);
  }
  checkGolden(golden("import-clients"), parts.join("\n"));
});

test("all clients together: duplicates are one entry, and the next import finds nothing new", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const server = {
    command: "npx",
    args: ["-y", "files-mcp", "."],
    env: { FILES_TOKEN: "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6" },
  };
  write(directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: { files: server } }));
  write(
    directory,
    ".codeium/windsurf/mcp_config.json",
    JSON.stringify({ mcpServers: { "my-files": { ...server, env: {} } } }),
  );
  write(
    directory,
    ".lmstudio/mcp.json",
    JSON.stringify({ mcpServers: { files: { ...server, env: { FILES_TOKEN: "another" } } } }),
  );
  write(
    directory,
    "webapp/toolcrib.yaml",
    "# mine\ntool_servers:\n  - id: kept # as it is\n    transport: { kind: stdio, command: kept-mcp }\n\n# the end\n",
  );
  const first = await run("import", "--yes", "--json");
  assert.equal(first.code, 0, first.stderr);
  const { servers } = JSON.parse(first.stdout) as {
    servers: { id: string; origins: { client: string }[] }[];
  };
  assert.deepEqual(
    servers.map(({ id, origins }) => [id, ...origins.map(({ client }) => client)]),
    [
      ["files", "cursor", "windsurf"],
      ["files-2", "lm-studio"],
    ],
  );
  const text = user.config();
  assert.match(text, /^# mine\ntool_servers:\n {2}- id: kept # as it is\n/);
  assert.match(text, /\n# the end\n/);
  assert.equal(
    (await run("secret", "test", "files-files-token")).stdout,
    "40 characters, from the secret store\n",
  );
  assert.equal(
    (await run("secret", "test", "files-2-files-token")).stdout,
    "7 characters, from the secret store\n",
  );
  const again = await run("import", "--yes");
  assert.match(again.stdout, /Nothing new to import/);
  assert.equal(user.config(), text);
});

test("mcp-remote becomes the transport that it decides: its option, else the path of the URL", async () => {
  const cases: readonly (readonly [url: string, words: readonly string[], kind: string])[] = [
    ["https://a.example.com/sse", [], "sse"],
    ["https://a.example.com/sse/", [], "sse"],
    ["https://a.example.com/v1/sse?team=1", [], "sse"],
    ["https://a.example.com/mcp", [], "streamable_http"],
    ["https://a.example.com/mcp?next=/sse", [], "streamable_http"],
    ["https://a.example.com/assess", [], "streamable_http"],
    ["https://a.example.com/sse", ["--transport", "http-first"], "sse"],
    ["https://a.example.com/sse", ["--transport", "http-only"], "streamable_http"],
    ["https://a.example.com/mcp", ["--transport", "http-first"], "streamable_http"],
    ["https://a.example.com/mcp", ["--transport", "sse-first"], "sse"],
    ["https://a.example.com/mcp", ["--transport", "sse-only"], "sse"],
  ];
  await using user = await setUp();
  const servers = cases.map(([url, words], at) => [
    `s${at}`,
    { command: "npx", args: ["mcp-remote", url, "--header", `X-Team: ${at}`, ...words] },
  ]);
  write(user.directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  const { stdout } = await user.run("import", "--dry-run", "--json");
  const plan = JSON.parse(stdout) as {
    servers: { entry: { transport: { kind: string; url: string } } }[];
  };
  const found = plan.servers.map(({ entry: { transport } }) => [transport.url, transport.kind]);
  assert.deepEqual(
    found,
    cases.map(([url, , kind]) => [url, kind]),
  );
});

test("--measure starts servers with their secrets, and leaves nothing in the home", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const args = [echoStdioPath, "--builtin", "echo", "--name", "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"];
  const servers = { echo: { command: process.execPath, args }, gone: { command: "/nonexistent/mcp" } };
  write(directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
  write(directory, "webapp/toolcrib.yaml", "sandbox: { mode: preferred }\n");
  const refused = await run("import", "--measure");
  assert.match(refused.stderr, /Nothing was started: confirm with --yes/);
  const { stdout } = await run("import", "--measure", "--yes", "--dry-run");
  assert.match(stdout, /^echo .* \d{2,3} \(1 tool\)$/m);
  assert.match(stdout, /^gone .* unknown$/m);
  assert.match(stdout, /Not measured:\n {2}gone: Cannot launch command "\/nonexistent\/mcp"/);
  assert.equal(existsSync(directory.join(".toolcrib")), false);
  assert.equal((await run("import", "--yes")).code, 0);
  // The gateway itself passes the secret as the argument.
  assert.match(user.config(), /"--name", \{ secret_key_ref: echo-name \}\]/);
  assert.match((await run("approve", "echo", "--yes")).stdout, /Approved \d definitions? of echo/);
});

test("beside a gateway that serves the file, the next step is not to start one", async () => {
  await using user = await setUp();
  write(user.directory, "webapp/toolcrib.yaml", "tool_servers: []\n");
  const entry = { url: "http://127.0.0.1:9/mcp", alwaysAllow: ["read"] };
  write(user.directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: { wiki: entry } }));
  await using _served = await startServe(["--listen", "127.0.0.1:0"], user.setting);
  const { stdout } = await user.run("import", "--yes");
  assert.match(stdout, /wiki: alwaysAllow is not taken over: .* trust_state: verified\n/);
  assert.match(stdout, /The running gateway starts these servers now\.\n/);
  assert.doesNotMatch(stdout, /toolcrib serve /);
});

test("without an answer nothing is written", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  assert.match((await run("import")).stdout, /No client on this machine has a server/);
  write(directory, ".cursor/mcp.json", '{"mcpServers":{"a":{"command":"a-mcp"}}}');
  for (const words of [["import"], ["import", "--dry-run"], ["import", "clients", "cursor", "--json"]]) {
    const { stderr, code } = await run(...words);
    assert.equal(code, words.includes("--dry-run") ? 0 : 1);
    assert.equal(stderr, words.includes("--dry-run") ? "" : "Nothing was written: confirm with --yes\n");
  }
  assert.throws(() => user.config());
  assert.equal((await run("import", "clients", "cursr")).code, 4);
  assert.equal((await run("import", "--from", join(directory.path, "absent.json"))).code, 2);
  const file = write(
    directory,
    "backup.json",
    '{"servers":{"b":{"type":"http","url":"https://b.example.com/mcp"}}}',
  );
  assert.equal((await run("import", "--from", file, "--yes")).code, 0);
  assert.match(user.config(), /- id: b\n/);
  assert.doesNotMatch(user.config(), /- id: a\n/);
});

test("a variable that names a file is noted, with the line that lets its server keep data there", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const data = directory.join("data");
  mkdirSync(data);
  const memory = {
    command: process.execPath,
    args: [echoStdioPath],
    env: { MEMORY_FILE_PATH: join(data, "memory.json"), NODE_PATH: data, LEVEL: "debug" },
  };
  const open = { ...memory, args: [echoStdioPath, "--builtin", "echo"], env: { DATA_FOLDER: data } };
  write(directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: { memory, open } }));
  const { code, stdout } = await run("import", "--yes");
  assert.equal(code, 0, stdout);
  const shown = stdout.replaceAll(/\s+/g, " ");
  const line = `containment: { filesystem_write: scoped, write_paths: [${data}] }`;
  assert.ok(
    shown.includes(
      `memory: it does not see ${data}/memory.json (MEMORY_FILE_PATH), and what it writes there is lost when it ends; where it keeps data there, write into its entry: ${line}`,
    ),
    stdout,
  );
  assert.ok(shown.includes(`open: it does not see ${data} (DATA_FOLDER), and`), stdout);
  assert.equal(stdout.includes("NODE_PATH"), false);
});

test("a variable that names a file in the home is noted, with a folder of its own that a sandbox gives", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  const memory = {
    command: process.execPath,
    args: [echoStdioPath],
    env: { MEMORY_FILE_PATH: join(directory.path, "memory.json") },
  };
  write(directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: { memory } }));
  const { code, stdout } = await run("import", "--yes");
  assert.equal(code, 0, stdout);
  const shown = stdout.replaceAll(/\s+/g, " ");
  const own = directory.join("memory-data");
  assert.ok(shown.includes(`because ${directory.path} holds "${directory.path}/`), stdout);
  assert.ok(shown.includes(`mkdir -p ${own}`), stdout);
  assert.ok(shown.includes(`MEMORY_FILE_PATH: ${own}/memory.json in env`), stdout);
  assert.ok(shown.includes(`write_paths: [${own}]`), stdout);
  assert.equal(shown.includes(`write_paths: [${directory.path}]`), false, stdout);
});

test("a server with other settings than a removed one is imported, and the removed one is not", async () => {
  await using user = await setUp();
  const client = (servers: object) =>
    write(user.directory, ".cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
  const server = (host: string, token: string) => ({
    command: "npx",
    args: ["-y", "gh-server"],
    env: { GITHUB_HOST: host, GITHUB_TOKEN: token },
  });
  const imported = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await user.run("import", ...words, "--yes");
    assert.equal(code, 0, stderr);
    return stdout;
  };
  client({ "gh-old": server("work.example", "old-0123456789abcdef") });
  assert.match(await imported(), /added 1 server/);
  const { code, stderr } = await user.run("remove", "gh-old", "--purge", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(await imported(), /gh-old \(cursor, .*\): you removed it on/);
  // Its name is no setting.
  client({ renamed: server("work.example", "old-0123456789abcdef") });
  assert.match(await imported(), /renamed \(cursor, .*\): you removed it on/);
  client({ "gh-other": server("work.example", "other-0123456789abcdef") });
  assert.match(await imported(), /added 1 server/);
  assert.equal((await user.run("remove", "gh-other", "--yes")).code, 0);
  client({ "gh-private": server("private.example", "old-0123456789abcdef") });
  assert.match(await imported(), /added 1 server/);
  assert.equal((await user.run("remove", "gh-private", "--yes")).code, 0);
  client({ "gh-old": server("work.example", "old-0123456789abcdef") });
  assert.match(await imported("--with-removed"), /added 1 server/);
  const records = readFileSync(user.directory.join(".toolcrib/unwanted-servers.json"), "utf8");
  assert.equal(JSON.parse(records).length, 2);
  for (const secret of ["0123456789abcdef", "work.example", "private.example"])
    assert.equal(records.includes(secret), false, secret);
});

test("a removal while another command changes what is unwanted is done, and says that it is not remembered", async () => {
  await using user = await setUp();
  write(
    user.directory,
    "webapp/toolcrib.yaml",
    `tool_servers:\n  - id: a\n    transport: { kind: stdio, command: node }\n`,
  );
  const locks = user.directory.join(".toolcrib/locks");
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  using lock = tryLock(locks, "unwanted-servers", "exclusive");
  assert.notEqual(lock, undefined);
  const { code, stderr } = await user.run("remove", "a", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(
    stderr.replace(/\s+/g, " "),
    /not wanted is not remembered in .*: another command has kept it busy for 5 s/,
  );
  assert.doesNotMatch(user.config(), /id: a/);
});
