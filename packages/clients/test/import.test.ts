/** Where clients list their servers on each platform, and that no text of such a file stops its reader. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { projectSources, readClientServers, sourceOfFile, userSources } from "@toolcrib/clients";
import { runCount } from "@toolcrib/testing";
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
    assert.equal(clients.size, 15);
    check(
      platform,
      "codex",
      [places[platform].home, ".codex", "config.toml"].join(platform === "win32" ? "\\" : "/"),
    );
  }
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
    fc.string({ unit: "binary" }),
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
