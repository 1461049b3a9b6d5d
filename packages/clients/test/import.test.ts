/** Places in which clients list their servers on each platform; no text of such a file stops its reader. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clientPrograms,
  filesOf,
  projectSources,
  readClientServers,
  sourceOfFile,
  userSources,
} from "@toolcrib/clients";
import { anyCharacter, runCount, slowTest } from "@toolcrib/testing";
import fc from "fast-check";

const places = {
  linux: { platform: "linux", home: "/home/ada", settings: "/home/ada/.config" },
  darwin: { platform: "darwin", home: "/Users/ada", settings: "/Users/ada/Library/Application Support" },
  win32: { platform: "win32", home: "C:\\Users\\ada", settings: "C:\\Users\\ada\\AppData\\Roaming" },
} as const;

test("userSources() has the files of all clients on each platform", () => {
  const check = (platform: keyof typeof places, client: string, path: string) => {
    const paths = userSources(places[platform]).flatMap((source) =>
      source.client === client ? [source.path] : [],
    );
    assert.ok(paths.includes(path), `${client} on ${platform}: ${paths.join()}`);
  };
  const settings = "/Users/ada/Library/Application Support";
  check("darwin", "claude-desktop", `${settings}/Claude/claude_desktop_config.json`);
  check("win32", "claude-desktop", "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json");
  check(
    "win32",
    "claude-desktop",
    "C:\\Users\\ada\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json",
  );
  check("darwin", "vscode", `${settings}/Code/User/mcp.json`);
  check("win32", "vscode", "C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\settings.json");
  check("darwin", "zed", "/Users/ada/.config/zed/settings.json");
  check("win32", "zed", "C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json");
  check("win32", "goose", "C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml");
  check("darwin", "goose", "/Users/ada/.config/goose/config.yaml");
  check("linux", "amazon-q", "/home/ada/.aws/amazonq/mcp.json");
  for (const platform of ["linux", "darwin", "win32"] as const) {
    const clients = new Set(userSources(places[platform]).map(({ client }) => client));
    assert.equal(clients.size, 16);
    check(
      platform,
      "codex",
      [places[platform].home, ".codex", "config.toml"].join(platform === "win32" ? "\\" : "/"),
    );
  }
});

test("variables of the environment move the files of clients", () => {
  const check = (env: Readonly<Record<string, string>>, client: string, path: string) => {
    const moved = { ...places.linux, env };
    const paths = userSources(moved).flatMap((source) => (source.client === client ? [source.path] : []));
    assert.ok(paths.includes(path), `${client}: ${paths.join()}`);
    const program = clientPrograms.find(({ id }) => id === client);
    assert.ok(program);
    return filesOf(program, moved)[0] === path;
  };
  const isWritten = [
    check({ CODEX_HOME: "/c" }, "codex", "/c/config.toml"),
    check({ CLAUDE_CONFIG_DIR: "/c/" }, "claude-code", "/c/.claude.json"),
    check({ GEMINI_CLI_HOME: "/c" }, "gemini-cli", "/c/.gemini/settings.json"),
    check({ CONTINUE_GLOBAL_DIR: "/c" }, "continue", "/c/config.yaml"),
    check({ GOOSE_PATH_ROOT: "/c" }, "goose", "/c/config/config.yaml"),
    check({ CLINE_DIR: "/c" }, "cline", "/c/data/settings/cline_mcp_settings.json"),
    check({ CLINE_DATA_DIR: "/d", CLINE_DIR: "/c" }, "cline", "/d/settings/cline_mcp_settings.json"),
    check({ CLINE_MCP_SETTINGS_PATH: "/s.json", CLINE_DIR: "/c" }, "cline", "/s.json"),
  ];
  assert.deepEqual(new Set(isWritten), new Set([true]));
  // Read in addition to the file of the user.
  assert.equal(check({ OPENCODE_CONFIG: "/c/x.json" }, "opencode", "/c/x.json"), false);
  assert.equal(check({ OPENCODE_CONFIG_DIR: "/c" }, "opencode", "/c/opencode.jsonc"), false);
  const mac = { ...places.darwin, env: { XDG_CONFIG_HOME: "/x" } };
  const files = clientPrograms.flatMap((program) => filesOf(program, mac));
  assert.ok(files.includes("/x/goose/config.yaml") && files.includes("/x/opencode/opencode.json"));
  assert.ok(files.includes("/Users/ada/.config/zed/settings.json"));
});

test("readClientServers() reads the settings of an IDE, and refuses what else XML can have", () => {
  const source = sourceOfFile("/home/ada/llm.mcpServers.xml", "/home/ada");
  const entry =
    '<McpServerCommand><option name="name" value="a" /><option name="programPath" value="a&amp;&#x62;" /></McpServerCommand>';
  const wrap = (inner: string) =>
    `<?xml version="1.0"?>\n<!-- <component> -->\n<application><component name="McpApplicationServerCommands">${inner}</component></application>`;
  const { servers, problems } = readClientServers(wrap(entry), source);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    servers.map(({ name, transport }) => [name, transport.kind === "stdio" && transport.command.join("")]),
    [["a", "a&b"]],
  );
  const check = (text: string, place: readonly [number, number], words: RegExp) => {
    const [problem] = readClientServers(text, source).problems;
    assert.deepEqual(
      [problem?.line, problem?.column, problem?.code],
      [...place, "CLIENTS_FILE_SYNTAX"],
      text,
    );
    assert.match(problem?.message ?? "", words);
  };
  check('<!DOCTYPE x [<!ENTITY a "b">]>\n<application/>', [1, 1], /readable XML: it is no tag/);
  check("<application>\n  <component name=x/>\n</application>", [2, 3], /it is no tag/);
  check("<application>\n<component>\n</application>", [3, 1], /<\/application> ends no open element/);
  check("<application>", [1, 1], /<application> has no end/);
  check("<a/>\n<b/>", [2, 1], /second root/);
  check(wrap('\n<option name="&unknown;"/>'), [4, 1], /no character/);
  check("<a>".repeat(200), [1, 301], /nested too deeply/);
});

test("readClientServers() reads any text, and says where what it does not read is", () => {
  const sources = [
    ...userSources(places.linux),
    ...projectSources("/work", "linux"),
    sourceOfFile("/x/y.toml", "/x"),
  ];
  const words = fc.constantFrom(
    "mcpServers",
    "servers",
    "command",
    "args",
    "url",
    "type",
    "enabled",
    "oauth",
    "extensions",
    "name",
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      words,
      fc.boolean(),
      fc.constant(null),
      fc.integer(),
      tie("list"),
      tie("map"),
    ),
    list: fc.array(tie("any"), { maxLength: 4 }),
    map: fc.dictionary(fc.oneof(words, fc.string()), tie("any"), { maxKeys: 5 }),
  })).map;
  const text = fc.oneof(
    value.map((one) => JSON.stringify(one)),
    value.map((one) => JSON.stringify({ mcpServers: one })),
    fc.string({ unit: anyCharacter(fc) }),
  );
  fc.assert(
    fc.property(text, fc.nat(sources.length - 1), (content, at) => {
      const { servers, problems } = readClientServers(content, sources[at]!);
      const lines = content.split("\n").length;
      for (const { line, column } of [...servers, ...problems])
        assert.ok(line >= 1 && line <= lines && column >= 1);
    }),
    { numRuns: runCount(300) },
  );
});

test(
  "readClientServers() reads a file with very many names, and reports a bounded number of problems",
  slowTest,
  () => {
    const source = sourceOfFile("/home/ada/mcp.json", "/home/ada");
    const names = Array.from({ length: 60_000 }, (_, at) => `"k${at}": 1`).join(",\n");
    const many = readClientServers(`{ "mcpServers": {\n${names} } }`, source);
    assert.equal(many.problems.length, 201);
    assert.deepEqual(
      many.problems.slice(1, 3).map(({ line, column, server }) => [line, column, server]),
      [
        [2, 7, "k0"],
        [3, 7, "k1"],
      ],
    );
    const repeated = `{ "mcpServers": {}${', "a": 1'.repeat(60_000)} }`;
    assert.equal(readClientServers(repeated, source).problems.length, 100);
    const tables = Array.from({ length: 20_000 }, (_, at) => `[mcp_servers.k${at}]\ncommand = "a"\n`).join(
      "",
    );
    const toml = sourceOfFile("/home/ada/config.toml", "/home/ada");
    assert.equal(readClientServers(tables, toml).servers.length, 200);
  },
);
