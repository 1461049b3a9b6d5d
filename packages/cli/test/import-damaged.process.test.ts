/** Damaged files of clients: each is an error with its place and code, the others are imported, and nothing is lost. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { leftOut, makeTemporaryDirectory, runsAll, sampled } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib } from "./transcript.ts";

const cursor = ".cursor/mcp.json";
const codex = ".codex/config.toml";
const goose = ".config/goose/config.yaml";
const zed = ".config/zed/settings.json";
const continueFile = ".continue/config.yaml";
const ideSettings = ".config/JetBrains/PyCharm2025.2/options/llm.mcpServers.xml";
const good = '{"command":"good-mcp"}';

interface Damage {
  readonly title: string;
  readonly path: string;
  /** The content, or what makes the file. */
  readonly make: string | Uint8Array | ((file: string) => void);
  /** `line:column: error CODE`, and words of the message. */
  readonly error: RegExp;
  /** Servers of the file that are imported. */
  readonly imported?: readonly string[];
}

const json = (title: string, make: Damage["make"], error: RegExp, imported?: readonly string[]): Damage => ({
  title: `JSON: ${title}`,
  path: cursor,
  make,
  error,
  ...(imported === undefined ? {} : { imported }),
});
const entry = (title: string, value: string, error: RegExp): Damage => ({
  title: `entry: ${title}`,
  path: cursor,
  make: `{\n  "mcpServers": {\n    "bad": ${value},\n    "fine": ${good}\n  }\n}\n`,
  error,
  imported: ["fine"],
});
const syntax = (place: string) => new RegExp(`:${place}: error CLIENTS_FILE_SYNTAX `);
const invalid = (place: string, words: string) =>
  new RegExp(`:${place}: error CLIENTS_ENTRY_INVALID .*${words}`);
const unusable = (words: string) => new RegExp(`:1:1: error CLI_FILE_UNUSABLE .*${words}`);
const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
const nested = (count: number) => `{"mcpServers":${'{"a":'.repeat(count)}1${"}".repeat(count)}}`;

const damages: readonly Damage[] = [
  json("cut off in a string", '{"mcpServers": {"a": {"command": "x', syntax("1:34")),
  json("cut off after a comma", '{\n  "mcpServers": {\n    "a": { "command": "x" },', syntax("3:29")),
  json("a missing comma", '{"mcpServers": {"a": {"command": "x"} "b": {"command": "y"}}}', syntax("1:39")),
  json("a missing colon", '{"mcpServers" {"a": {}}}', syntax("1:15")),
  json("a missing brace", '{"mcpServers": {"a": {"command": "x"}}', syntax("1:39")),
  json("a brace too many", '{"mcpServers": {"a": {"command": "x"}}}}', syntax("1:40")),
  json("single quotes", "{'mcpServers': {}}", syntax("1:2")),
  json("names without quotes", "{mcpServers: {}}", syntax("1:2")),
  json("an invalid escape", '{"mcpServers": {"a": {"command": "C:\\x"}}}', syntax("1:\\d+")),
  json("a line break in a string", '{"mcpServers": {"a": {"command": "x\ny"}}}', syntax("1:\\d+")),
  json("a comment that does not end", '{"mcpServers": {} /* open', syntax("1:\\d+")),
  json("a word", "servers", syntax("1:1")),
  json("HTML", "<!doctype html>", syntax("1:1")),
  json("a conflict of versions", '{\n<<<<<<< HEAD\n  "mcpServers": {}\n=======\n}\n', syntax("2:1")),
  json("NUL at the end", '{"mcpServers": {}}\0\0\0', syntax("1:19")),
  json("nothing but NUL", new Uint8Array(64), syntax("1:1")),
  json("a control character in a string", '{"mcpServers": {"a\u0001": {"command": "x"}}}', syntax("1:\\d+")),
  json("UTF-16", utf16('{"mcpServers": {}}'), /:1:1: error CLIENTS_FILE_SYNTAX .*UTF-16/),
  json(
    "Latin-1",
    Buffer.from('{\n  "mcpServers": {"caf\u00e9": {}}}', "latin1"),
    /:2:\d+: error CLIENTS_FILE_SYNTAX .*UTF-8/,
  ),
  json("random bytes", new Uint8Array([0x80, 0x81, 0xfe, 0x00, 0x12]), syntax("1:1")),
  json("a list at the top", "[1, 2]", /:1:1: error CLIENTS_FILE_SHAPE .*a list/),
  json("a number at the top", "5", /:1:1: error CLIENTS_FILE_SHAPE .*a number/),
  json("a text as section", '{"mcpServers": "none"}', /:1:16: error CLIENTS_FILE_SHAPE .*a text/),
  json("a number as section", '{\n "mcpServers": 5}', /:2:16: error CLIENTS_FILE_SHAPE .*a number/),
  json("a list without names", '{"mcpServers": [{"command": "x"}, 4]}', invalid("1:17", "needs a name")),
  json("deep nesting", nested(5000), syntax("1:\\d+")),
  json("very deep nesting", nested(200_000), syntax("1:\\d+")),
  json(
    "one name twice",
    `{"mcpServers": {\n"a": ${good},\n"a": {"command": "second"}}}`,
    invalid("3:1", "twice"),
    ["a"],
  ),
  json(
    "the section twice",
    `{"mcpServers": {"a": ${good}},\n"mcpServers": {"b": ${good}}}`,
    invalid("2:1", "twice"),
    ["b"],
  ),
  json(
    "more servers than are read",
    `{"mcpServers": {${Array.from({ length: 201 }, (_, at) => `"s${at}": {"command": "c${at}"}`).join()}}}`,
    /error CLIENTS_FILE_SHAPE .*more than 200/,
    ["s0", "s199"],
  ),
  entry("a text", '"npx"', invalid("3:12", "must be a map, but is a text")),
  entry("null", "null", invalid("3:12", "must be a map, but is null")),
  entry("a list", "[]", invalid("3:12", "must be a map, but is a list")),
  entry("nothing in it", "{}", invalid("3:5", "no command and no URL")),
  entry("an empty command", '{"command": " "}', invalid("3:\\d+", "empty")),
  entry("a number as command", '{"command": 5}', invalid("3:24", "must be a text, but is a number")),
  entry(
    "a text as args",
    '{"command": "x", "args": "-y foo"}',
    invalid("3:37", "must be a list, but is a text"),
  ),
  entry("a map in args", '{"command": "x", "args": ["a", {}]}', invalid("3:43", "a map")),
  entry("a list as env", '{"command": "x", "env": ["A=1"]}', invalid("3:36", "must be a map, but is a list")),
  entry(
    "a map in env",
    '{"command": "x", "env": {"A": {}}}',
    invalid("3:42", "must be a text, but is a map"),
  ),
  entry(
    "a text as headers",
    '{"url": "https://x.example/mcp", "headers": "A: b"}',
    invalid("3:\\d+", "must be a map"),
  ),
  entry(
    "an unknown type",
    '{"type": "carrier-pigeon", "command": "x"}',
    invalid("3:5", "is not stdio, http or sse"),
  ),
  entry("a WebSocket", '{"type": "ws", "url": "wss://x.example"}', invalid("3:5", "WebSocket")),
  entry(
    "a type without its field",
    '{"type": "stdio", "url": "https://x.example/mcp"}',
    invalid("3:5", "no command"),
  ),
  entry("a text as disabled", '{"command": "x", "disabled": "yes"}', invalid("3:41", "true or false")),
  {
    title: "TOML: a key twice",
    path: codex,
    make: '[mcp_servers.a]\ncommand = "x"\ncommand = "y"\n',
    error: syntax("3:\\d+"),
  },
  {
    title: "TOML: a table twice",
    path: codex,
    make: '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a]\ncommand = "y"\n',
    error: syntax("3:\\d+"),
  },
  { title: "TOML: cut off", path: codex, make: '[mcp_servers.a]\ncommand = "x', error: syntax("2:\\d+") },
  { title: "TOML: an invalid date", path: codex, make: "a = 2025-13-45\n", error: syntax("1:\\d+") },
  {
    title: "TOML: a text as section",
    path: codex,
    make: 'mcp_servers = "none"\n',
    error: /:1:\d+: error CLIENTS_FILE_SHAPE /,
  },
  {
    title: "TOML: a list of tables",
    path: codex,
    make: '[mcp_servers.a]\ncommand = ["x"]\nargs = "y"\n',
    error: invalid("3:8", "must be a list"),
  },
  {
    title: "YAML: a tab as indentation",
    path: goose,
    make: "extensions:\n\ta: 1\n",
    error: syntax("2:\\d+"),
  },
  {
    title: "YAML: a key twice",
    path: goose,
    make: "extensions:\n  a: { type: stdio, cmd: x }\n  a: { type: stdio, cmd: y }\n",
    error: syntax("3:\\d+"),
  },
  {
    title: "YAML: wrong indentation",
    path: continueFile,
    make: "mcpServers:\n  - name: a\n   command: x\n",
    error: syntax("3:\\d+"),
  },
  {
    title: "YAML: an alias without an anchor",
    path: goose,
    make: "extensions: *none\n",
    error: /:1:\d+: error CLIENTS_FILE_S/,
  },
  {
    title: "YAML: an explosion of aliases",
    path: goose,
    make: `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`).join("\n")}\nextensions: *a30\n`,
    error: /error CLIENTS_FILE_S/,
  },
  {
    title: "YAML: items of other types",
    path: continueFile,
    make: "mcpServers:\n  - name: fine\n    command: good-mcp\n  - 5\n",
    error: invalid("4:5", "must be a map, but is a number"),
    imported: ["fine"],
  },
  {
    title: "a folder in place of the file",
    path: cursor,
    make: (file) => mkdirSync(file),
    error: unusable("directory"),
  },
  {
    title: "a loop of links",
    path: cursor,
    make: (file) => symlinkSync("mcp.json", file),
    error: unusable("ELOOP"),
  },
  {
    title: "a link to nothing",
    path: zed,
    make: (file) => symlinkSync("absent.json", file),
    error: unusable("ENOENT"),
  },
  {
    title: "a pipe",
    path: cursor,
    make: (file) => void execFileSync("mkfifo", [file]),
    error: unusable("regular file"),
  },
  {
    title: "larger than is read",
    path: cursor,
    make: (file) => {
      writeFileSync(file, "{");
      truncateSync(file, 65 * 1024 * 1024);
    },
    error: /:1:1: error CLIENTS_FILE_TOO_LARGE /,
  },
  {
    title: "XML: cut off",
    path: ideSettings,
    make: '<application>\n  <component name="McpApplicationServerCommands"',
    error: syntax("2:3"),
  },
  { title: "XML: a document type", path: ideSettings, make: "<!DOCTYPE a>\n<a/>", error: syntax("1:1") },
  { title: "XML: an end too many", path: ideSettings, make: "<application/>\n</a>", error: syntax("2:1") },
  {
    title: "a profile of the editor",
    path: ".config/Code/User/profiles/5f2c1a90/mcp.json",
    make: '{"servers": {',
    error: syntax("1:14"),
  },
  {
    title: "an agent of Amazon Q",
    path: ".aws/amazonq/cli-agents/a.json",
    make: '{"mcpServers": {"bad": {"command": 3}, "fine": {"command": "good-mcp"}}}',
    error: invalid("1:36", "must be a text"),
    imported: ["fine"],
  },
  {
    title: "a transport of Cline without an address",
    path: ".cline/data/settings/cline_mcp_settings.json",
    make: `{"mcpServers": {"bad": {"transport": {"type": "sse"}}, "fine": ${good}}}`,
    error: invalid("1:17", "no command and no URL"),
    imported: ["fine"],
  },
  {
    title: "variables of Codex that are no names",
    path: codex,
    make: '[mcp_servers.bad]\ncommand = "a"\nenv_vars = [["b"]]\n\n[mcp_servers.fine]\ncommand = "good-mcp"\n',
    error: invalid("3:13", "must be a name, but is a list"),
    imported: ["fine"],
  },
  {
    title: "a list in the file of AI Assistant",
    path: ".ai/mcp/mcp.json",
    make: '[{"command": "a"}]',
    error: /:1:1: error CLIENTS_FILE_SHAPE /,
  },
  {
    title: "a file in place of the folder",
    path: ".continue/mcpServers",
    make: (file) => writeFileSync(file, "x"),
    error: unusable("not a directory"),
  },
  ...(process.getuid?.() === 0
    ? []
    : [
        {
          title: "no permission",
          path: cursor,
          make: (file: string) => {
            writeFileSync(file, "{}");
            chmodSync(file, 0);
          },
          error: unusable("EACCES"),
        },
      ]),
];

const step = 4;

test("a damaged file is an error with its place, and the other files are imported", async () => {
  assert.ok(damages.length >= 60);
  for (const { title, path, make, error, imported = [] } of sampled(damages, step)) {
    await using directory = await makeTemporaryDirectory();
    const file = directory.join(path);
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(directory.join(".lmstudio"));
    mkdirSync(directory.join("webapp"));
    writeFileSync(
      directory.join(".lmstudio/mcp.json"),
      `{"mcpServers": {"other": ${good.replace("good", "other")}}}`,
    );
    if (typeof make === "function") make(file);
    else writeFileSync(file, make);
    const kind = lstatSync(file);
    const setting = {
      directory: directory.join("webapp"),
      env: { HOME: directory.path, TOOLCRIB_HOME: directory.join("home") },
    };
    const { code, stdout, stderr } = await runToolcrib(["import", "--yes"], setting);
    assert.equal(code, 1, `${title}\n${stdout}${stderr}`);
    assert.match(stdout, error, title);
    assert.match(stdout, new RegExp(`${path.split("/").at(-1)}(?:/[^:]*)?:\\d+:\\d+: error`), title);
    const yaml = readFileSync(directory.join("webapp/toolcrib.yaml"), "utf8");
    for (const id of ["other", ...imported])
      assert.match(yaml, new RegExp(`^ {2}- id: ${id}$`, "m"), `${title}: ${id}`);
    assert.equal(lstatSync(file).mtimeMs, kind.mtimeMs, title);
    if (typeof make !== "function") assert.deepEqual(readFileSync(file), Buffer.from(make as string), title);
  }
});

test("the other damaged files", leftOut(step), () => {});

const byteOrderMark = "\uFEFF";

test("a byte order mark, line ends of Windows and an empty file are no damage", async () => {
  await using directory = await makeTemporaryDirectory();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(directory.join(path)), { recursive: true });
    writeFileSync(directory.join(path), text);
  };
  write(cursor, `${byteOrderMark}{\r\n  "mcpServers": {\r\n    "a": {"command": "a-mcp"}\r\n  }\r\n}\r\n`);
  write(codex, `${byteOrderMark}[mcp_servers.b]\r\ncommand = "b-mcp"\r\n`);
  write(
    goose,
    `${byteOrderMark}extensions:\r\n  c:\r\n    type: stdio\r\n    cmd: c-mcp\r\n    enabled: true\r\n`,
  );
  write(zed, "");
  write(".lmstudio/mcp.json", "{}");
  write(".codeium/windsurf/mcp_config.json", '{"mcpServers": null}');
  const setting = { directory: directory.path, env: { TOOLCRIB_HOME: directory.join("home") } };
  const { code, stdout } = await runToolcrib(["import", "--yes"], setting);
  assert.equal(code, 0, stdout);
  const yaml = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.deepEqual(
    [...yaml.matchAll(/^ {2}- id: (.*)$/gm)].map(([, id]) => id),
    ["a", "b", "c"],
  );
});

/** Ends the process at its n-th change of the file system. */
const killer = `
import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.KILL_AT);
const mark = process.env.KILL_BELOW;
const concerns = (args) => args.some((arg) => typeof arg === "number" || (typeof arg === "string" && arg.startsWith(mark)));
const wrap = (object, name) => {
  const original = object[name];
  object[name] = function (...args) {
    if (concerns(args) && --left === 0) process.kill(process.pid, "SIGKILL");
    return original.apply(this, args);
  };
};
for (const name of ["writeFileSync", "writeSync", "renameSync", "mkdirSync", "rmSync", "unlinkSync", "linkSync", "fsyncSync", "chmodSync"]) wrap(fs, name);
for (const name of ["writeFile", "rename", "mkdir", "rm", "unlink", "link", "chmod", "open"]) wrap(promises, name);
syncBuiltinESMExports();
`;

test("an import that is killed at any change of a file leaves a valid configuration, and the next one completes it", async () => {
  const before = "# mine\ntool_servers:\n  - id: kept\n    transport: { kind: stdio, command: kept-mcp }\n";
  const client =
    '{"mcpServers": {"a": {"command": "a-mcp", "env": {"A_TOKEN": "s3cret-value-a"}}, "b": {"command": "b-mcp"}}}';
  let killed = 0;
  const points = sampled(
    Array.from({ length: 60 }, (_, at) => at + 1),
    6,
  );
  for (const at of points) {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join(".cursor"));
    writeFileSync(directory.join(cursor), client);
    writeFileSync(directory.join("toolcrib.yaml"), before);
    writeFileSync(directory.join("killer.mjs"), killer);
    const env = {
      ...process.env,
      ...cleanEnvironment(directory.path),
      NODE_COMPILE_CACHE: undefined,
      NODE_DISABLE_COMPILE_CACHE: "1",
      KILL_AT: String(at),
      KILL_BELOW: directory.path,
      XDG_CACHE_HOME: "/nonexistent",
    };
    const args = ["--import", directory.join("killer.mjs"), ...commandLine, "import", "--yes"];
    const { signal } = spawnSync(process.execPath, args, { cwd: directory.path, env, stdio: "ignore" });
    if (signal === "SIGKILL") killed += 1;
    assert.equal(readFileSync(directory.join(cursor), "utf8"), client);
    const text = readFileSync(directory.join("toolcrib.yaml"), "utf8");
    assert.ok(text === before || /- id: b\n/.test(text), text);
    assert.ok(text.startsWith(before));
    const setting = { directory: directory.path };
    const next = await runToolcrib(["import", "--yes"], setting);
    assert.equal(next.code, 0, `${at}: ${next.stdout}${next.stderr}`);
    const after = readFileSync(directory.join("toolcrib.yaml"), "utf8");
    assert.match(after, /- id: a\n[\s\S]*A_TOKEN: \{ secret_key_ref: a-a-token \}[\s\S]*- id: b\n/);
    assert.equal(
      (await runToolcrib(["secret", "test", "a-a-token"], setting)).stdout,
      "14 characters, from the secret store\n",
    );
    if (signal !== "SIGKILL") break;
  }
  assert.ok(killed > 0);
  if (runsAll) assert.ok(killed > 8, String(killed));
  assert.equal(existsSync("/nonexistent"), false);
});
