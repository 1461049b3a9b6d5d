/** Bundles that the official command (`mcpb` of @anthropic-ai/mcpb) built, imported, contained and called. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeArchive } from "@toolcrib/mcpkg";
import { makeTemporaryDirectory, runProcess, type TemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const mcpb = join(import.meta.dirname, "../../../node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

/** A server of MCP without libraries, with one tool: it reads a note of its folder, and says which key it has. */
const server = `
const { createInterface } = require("node:readline");
const { readFileSync } = require("node:fs");
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" } }),
  "tools/list": () => ({ tools: [{ name: "read_note", description: "Reads a note.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: readFileSync(process.argv[3] + "/note.txt", "utf8") + ":" + process.env.KEY } ] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const make = results[method];
  const answer = make ? { result: make(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

const userConfig = {
  folder: { type: "directory", title: "Folder", description: "Folder of the notes", required: true },
  api_key: { type: "string", title: "Key", description: "API key", sensitive: true, required: true },
};

const manifest = {
  manifest_version: "0.3",
  name: "notes",
  display_name: "Notes",
  version: "1.0.0",
  description: "Reads notes.",
  author: { name: "Example" },
  server: {
    type: "node",
    entry_point: "server/index.js",
    mcp_config: {
      command: "node",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of bundles
      args: ["${__dirname}/server/index.js", "--folder", "${user_config.folder}"],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
      env: { KEY: "key-${user_config.api_key}" },
    },
  },
  tools: [{ name: "read_note", description: "Reads a note." }],
  compatibility: { platforms: ["linux", "darwin", "win32"], runtimes: { node: ">=18" } },
  user_config: userConfig,
};

/** Builds a bundle with the official command. */
async function build(directory: TemporaryDirectory, changes: object = {}, name = "notes"): Promise<Buffer> {
  writeFiles(directory.path, {
    [`${name}/manifest.json`]: JSON.stringify({ ...manifest, ...changes }),
    [`${name}/server/index.js`]: server,
    [`${name}/node_modules/a/node_modules/b/node_modules/c/node_modules/d/lib/deep/file.js`]: "0",
  });
  await official(directory, "pack", name, `${name}.mcpb`);
  return readFileSync(directory.join(`${name}.mcpb`));
}

/** The official command does not pack servers of uv without a command, which version 0.4 allows. */
function uvBundle(content: object): Uint8Array {
  const files = { "manifest.json": JSON.stringify(content), "server/index.js": "", "pyproject.toml": "" };
  const entries = Object.entries(files).map(
    ([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: false }] as const,
  );
  return writeArchive(new Map(entries));
}

async function official(directory: TemporaryDirectory, ...args: readonly string[]): Promise<void> {
  const outcome = await runProcess(process.execPath, [mcpb, ...args], {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
  });
  assert.equal(outcome.code, 0, outcome.stdout + outcome.stderr);
}

test("a bundle is unpacked, added with its settings, approved and called in its sandbox", async () => {
  await using directory = await makeTemporaryDirectory();
  const bytes = await build(directory);
  writeFiles(directory.path, { "data/note.txt": "hello", "home/secrets/notes-api-key": "s3cret" });
  const setting = { directory: directory.path, env: { TOOLCRIB_SECRET_NOTES_API_KEY: "s3cret" } };
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const imported = await runToolcrib(
    ["import", "bundle", "notes.mcpb", "--set", "folder=data", "--sha256", sha256, "--json"],
    setting,
  );
  assert.equal(imported.code, 0, imported.stderr);
  const result = JSON.parse(imported.stdout);
  assert.equal(result.sha256, sha256);
  assert.equal(result.signature, "none");
  assert.deepEqual(result.tools, ["read_note"]);
  assert.deepEqual(result.entry.transport.env, { KEY: { prefix: "key-", secret_key_ref: "notes-api-key" } });
  assert.deepEqual(result.entry.containment, {
    read_arguments: false,
    read_paths: [directory.join("data")],
  });
  assert.ok(existsSync(join(result.folder, "server/index.js")));
  assert.deepEqual(readdirSync(directory.join(".toolcrib/bundles")), [result.folder.split("/").at(-1)]);
  const approved = await runToolcrib(["approve", "notes", "--yes"], setting);
  assert.equal(approved.code, 0, approved.stdout + approved.stderr);
  const called = await runToolcrib(["call", "notes__read_note"], setting);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.match(called.stdout, /hello:key-/);
  const again = await runToolcrib(["import", "bundle", "notes.mcpb", "--set", "folder=data"], setting);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /already has an entry with the id "notes"/);
});

test("a signature of a bundle is checked against its bytes, and its certificate is shown and not believed", async () => {
  await using directory = await makeTemporaryDirectory();
  await build(directory);
  await official(directory, "sign", "notes.mcpb", "--self-signed");
  const args = ["import", "bundle", "notes.mcpb", "--set", "folder=data", "--dry-run"];
  const imported = await runToolcrib(args, { directory: directory.path });
  assert.equal(imported.code, 0, imported.stderr);
  assert.match(imported.stdout, /its signature fits, by a certificate that nothing vouches for/);
  assert.match(
    imported.stderr,
    /The bundle was signed with the certificate ".*CN=.*" \(SHA-256 [0-9a-f]{64}\), which its holder made alone: nothing/,
  );
  assert.match(imported.stderr, /What the server needs is not checked: node >=18/);
  const signed = readFileSync(directory.join("notes.mcpb"));
  const start = signed.lastIndexOf("MCPB_SIG_V1");
  await build(directory, { version: "1.0.1" }, "other");
  const moved = Buffer.concat([readFileSync(directory.join("other.mcpb")), signed.subarray(start)]);
  const cases: readonly (readonly [content: Buffer, message: RegExp])[] = [
    [moved, /not valid: the bundle was changed after it was signed/],
    ...[start + 15, start + 300, signed.length - 40].map((at) => {
      const damaged = Buffer.from(signed);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      return [damaged, /SERVER_IMPORT_SIGNATURE_INVALID|The signature of the bundle is not/] as const;
    }),
  ];
  for (const [content, message] of cases) {
    writeFileSync(directory.join("notes.mcpb"), content);
    const refused = await runToolcrib(args, { directory: directory.path });
    assert.equal(refused.code, 2, refused.stdout);
    assert.match(refused.stderr, message);
  }
});

test("types and versions of bundles: node, python, binary and uv, and overrides of the platform", async () => {
  await using directory = await makeTemporaryDirectory();
  const of = (type: string, config: object | undefined, changes: object = {}) => ({
    server: { type, entry_point: "server/index.js", ...(config === undefined ? {} : { mcp_config: config }) },
    user_config: {},
    ...changes,
  });
  const cases: readonly (readonly [changes: object, command: RegExp, args: RegExp])[] = [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
      of("python", { command: "python3", args: ["${__dirname}/server/index.js"] }),
      /^python3$/,
      /bundles\/b0.*\/server\/index\.js/,
    ],
    [of("binary", { command: "server/index.js" }), /bundles\/b1.*\/server\/index\.js$/, /^\[\]$/],
    [
      of("node", {
        command: "node",
        args: ["x"],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
        platform_overrides: { [process.platform]: { args: ["${HOME}${/}y"] } },
      }),
      /^node$/,
      /\/y"\]$/,
    ],
    [
      of("uv", undefined, { manifest_version: "0.4" }),
      /^uv$/,
      /"run","--directory",".*bundles\/b3.*","server\/index\.js"/,
    ],
    [
      of("node", { command: "node", args: [] }, { manifest_version: undefined, dxt_version: "0.1" }),
      /^node$/,
      /^\[\]$/,
    ],
  ];
  for (const [index, [changes, command, args]] of cases.entries()) {
    const name = `b${index}`;
    if (name === "b3") writeFileSync(directory.join("b3.mcpb"), uvBundle({ ...manifest, name, ...changes }));
    else await build(directory, { name, ...changes }, name);
    const imported = await runToolcrib(["import", "bundle", `${name}.mcpb`, "--json"], {
      directory: directory.path,
    });
    assert.equal(imported.code, 0, `${name}\n${imported.stderr}`);
    const { entry, folder, diagnostics } = JSON.parse(imported.stdout);
    assert.match(entry.transport.command, command);
    assert.match(JSON.stringify(entry.transport.args ?? []), args);
    if (name === "b1") assert.equal(statSync(join(folder, "server/index.js")).mode & 0o111, 0o111);
    const codes = diagnostics.map((one: { code: string }) => one.code);
    assert.equal(codes.includes("SERVER_IMPORT_CONTAINMENT"), name === "b3");
  }
});

test("a bundle that is not what it should be is refused, and nothing is written", async () => {
  await using directory = await makeTemporaryDirectory();
  const bytes = await build(directory);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
  const other = { server: { ...manifest.server, mcp_config: { command: "./missing", args: ["${NOPE}"] } } };
  await build(directory, other, "other");
  await build(directory, { compatibility: { platforms: ["win32"] } }, "elsewhere");
  writeFileSync(directory.join("cut.mcpb"), bytes.subarray(0, -10));
  writeFileSync(directory.join("prefixed.mcpb"), Buffer.concat([Buffer.from("#!/bin/sh\n"), bytes]));
  writeFileSync(directory.join("trailing.mcpb"), Buffer.concat([bytes, Buffer.from("x".repeat(50))]));
  writeFileSync(directory.join("fake.mcpb"), Buffer.concat([bytes, Buffer.from("xMCPB_SIG_END")]));
  writeFileSync(directory.join("server.json"), '{"name": "x"}');
  const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["server.json"], /the file is no ZIP archive\nhint: .*pass the folder/],
    [["notes.mcpb"], /setting folder needs a value \(Folder of the notes\)\n.*write --set folder=VALUE/],
    [
      ["notes.mcpb", "--set", "folder=x", "--set", "api_key=abc"],
      /setting api_key is a secret: it is not taken from the command line/,
    ],
    [
      ["notes.mcpb", "--set", "folder=x", "--sha256", "0".repeat(64)],
      /its SHA-256 is [0-9a-f]{64}, and 0{64} was expected/,
    ],
    [["other.mcpb"], /argument 1 has the variable \$\{NOPE\}/],
    [["other.mcpb"], /The command "\.\/missing" is not a file of the bundle/],
    [["elsewhere.mcpb", "--set", "folder=x"], /The server runs on win32, and this machine is/],
    [["cut.mcpb"], /Cannot read the archive/],
    [["prefixed.mcpb"], /Cannot read the archive/],
    [["trailing.mcpb"], /Cannot read the archive/],
    [["fake.mcpb"], /Cannot read the archive/],
    [["http://127.0.0.1:1/notes.mcpb"], /only https URLs are fetched/],
  ];
  for (const [args, message] of cases) {
    const outcome = await runToolcrib(["import", "bundle", ...args], { directory: directory.path });
    assert.notEqual(outcome.code, 0, args.join(" "));
    assert.match(outcome.stderr, message);
  }
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
  assert.equal(existsSync(directory.join(".toolcrib/bundles")), false);
});

test("import server adds a server of a file, lists its packages, and shows what it would write", async () => {
  await using directory = await makeTemporaryDirectory();
  const packages = [
    {
      registryType: "npm",
      identifier: "@example/db",
      version: "3.1.0",
      transport: { type: "stdio" },
      environmentVariables: [{ name: "API_KEY", isSecret: true, isRequired: true }],
    },
  ];
  const remotes = [
    {
      type: "streamable-http",
      url: "https://{tenant}.example.com/mcp",
      variables: { tenant: { isRequired: true } },
    },
  ];
  writeFileSync(
    directory.join("server.json"),
    JSON.stringify({ name: "io.example/db", version: "3.1.0", packages, remotes }),
  );
  const run = (...args: readonly string[]) =>
    runToolcrib(["import", "server", "server.json", ...args], { directory: directory.path });
  assert.match(
    (await run("--list")).stdout,
    /1\. npm @example\/db 3\.1\.0\n {2}2\. streamable-http https:\/\/\{tenant\}/,
  );
  assert.match((await run("--dry-run")).stdout, /Would add io\.example\/db 3\.1\.0/);
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
  assert.equal((await run()).code, 0);
  assert.equal((await run("--use", "2", "--id", "remote", "--set", "tenant=acme")).code, 0);
  assert.equal((await run("--use", "3")).code, 2);
  const text = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.match(
    text,
    /args: \["-y", "@example\/db@3\.1\.0"\]\n {6}env:\n {8}API_KEY: \{ secret_key_ref: db-api-key \}/,
  );
  assert.match(text, /url: "https:\/\/acme\.example\.com\/mcp"/);
  const checked = await runToolcrib(["config", "check"], { directory: directory.path });
  assert.equal(checked.code, 0, checked.stderr);
});

test("a default of the publisher opens no path: it is a finding with the line to add", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = {
    type: "directory",
    title: "Folder",
    description: "Folder of the notes",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
    default: "${HOME}/Documents",
  };
  await build(directory, { user_config: { ...userConfig, folder } });
  const imported = await runToolcrib(["import", "bundle", "notes.mcpb", "--dry-run", "--json"], {
    directory: directory.path,
  });
  assert.equal(imported.code, 0, imported.stderr);
  const { entry, diagnostics } = JSON.parse(imported.stdout);
  assert.deepEqual(entry.containment, { read_arguments: false });
  assert.ok(entry.transport.args.some((one: string) => one.endsWith("/Documents")));
  const [found] = diagnostics.filter(({ code }: { code: string }) => code === "SERVER_IMPORT_CONTAINMENT");
  assert.match(found.hint, /add to the containment of its entry: read_paths: \["\/.*\/Documents"\]/);
  const chosen = await runToolcrib(
    ["import", "bundle", "notes.mcpb", "--set", "folder=data", "--dry-run", "--json"],
    { directory: directory.path },
  );
  assert.deepEqual(JSON.parse(chosen.stdout).entry.containment, {
    read_arguments: false,
    read_paths: [directory.join("data")],
  });
});

test("a bundle chooses the code that programs load only among its own files, unless the user says so", async () => {
  await using directory = await makeTemporaryDirectory();
  const importOf = async (env: object, ...flags: readonly string[]) => {
    const config = { command: "python3", args: ["server/index.js"], env };
    const content = {
      ...manifest,
      user_config: {},
      server: { type: "python", entry_point: "server/index.js", mcp_config: config },
    };
    writeFileSync(directory.join("p.mcpb"), uvBundle(content));
    return await runToolcrib(["import", "bundle", "p.mcpb", "--dry-run", "--json", ...flags], {
      directory: directory.path,
    });
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
  const own = await importOf({ PYTHONPATH: "${__dirname}/server/lib:${__dirname}/more" });
  assert.equal(own.code, 0, own.stderr);
  assert.match(JSON.parse(own.stdout).entry.transport.env.PYTHONPATH, /bundles.*lib:.*more$/);
  for (const env of [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
    { PYTHONPATH: "${__dirname}/../lib" },
    { PYTHONPATH: "/usr/share/x" },
    { LD_PRELOAD: "server/x.so" },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
    { NODE_OPTIONS: "--require ${__dirname}/x.js" },
  ]) {
    const [name = ""] = Object.keys(env);
    const refused = await importOf(env);
    assert.notEqual(refused.code, 0, name);
    assert.match(refused.stdout + refused.stderr, new RegExp(`The file sets the variable ${name}, `));
    const chosen = await importOf(env, "--set", `${name}=mine`);
    assert.equal(JSON.parse(chosen.stdout).entry.transport.env[name], "mine");
  }
});
