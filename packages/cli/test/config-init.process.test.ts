import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory } from "@toolcrib/testing";
import { golden, launcherPath, normalize, runToolcrib, transcript } from "./transcript.ts";

test("config check prints OK or every problem, and config schema prints the schema", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("good.yaml"), "tool_servers: []\n");
  writeFileSync(directory.join("bad.yaml"), "tool_server: []\nserve:\n  listen: 7420\n");
  const absent = "{ kind: stdio, command: toolcrib-test-no-such-command }";
  const own = "{ kind: stdio, command: ./tool.sh, cwd: tools }";
  writeFileSync(
    directory.join("commands.yaml"),
    `tool_servers:\n  - { id: a, transport: ${absent} }\n  - { id: own, transport: ${own} }\n  - { id: a, transport: ${absent} }\n`,
  );
  writeFileSync(
    directory.join("host.json"),
    JSON.stringify({ mcpServers: { one: { command: "./none.sh" }, two: { command: `\${SHELL}` } } }),
  );
  mkdirSync(directory.join("tools"));
  writeFileSync(directory.join("tools/tool.sh"), "#!/bin/sh\n", { mode: 0o700 });
  const setting = { directory: directory.path };
  const text = await transcript(
    [
      ["config", "check", "good.yaml"],
      ["config", "check", "good.yaml", "bad.yaml"],
      ["config", "check", "bad.yaml", "--json"],
      ["config", "check", "none.yaml"],
      ["config", "check", "commands.yaml", "host.json"],
      ["config", "check"],
      ["list", "-c", "bad.yaml"],
      ["list", "-c", "good.yaml", "-c", "none.yaml", "--json"],
    ],
    setting,
  );
  checkGolden(golden("config-check.txt"), text);
  const { stdout } = await runToolcrib(["config", "schema"], setting);
  assert.equal(JSON.parse(stdout).title, "Toolcrib configuration");
});

test("init writes a valid configuration, suggests files to import, and overwrites nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("project/.vscode"), { recursive: true });
  mkdirSync(directory.join(".cursor"));
  writeFileSync(
    directory.join("project/.vscode/mcp.json"),
    '{"servers": {"time": {"command": "uvx", "args": ["t"]}}}',
  );
  writeFileSync(
    directory.join(".cursor/mcp.json"),
    '{"mcpServers": {"linear": {"url": "https://linear.test/sse"}}}',
  );
  const setting = { directory: directory.join("project"), env: { HOME: directory.path } };
  const lines: string[] = [];
  for (const args of [["init"], ["init"], ["config", "check"], ["init", "other", "--json"]]) {
    lines.push(await transcript([args], setting));
  }
  checkGolden(golden("init.txt"), normalize(lines.join("\n"), directory.path));
  const written = readFileSync(directory.join("project/toolcrib.yaml"), "utf8");
  assert.match(written, /^# yaml-language-server: \$schema=\.\/toolcrib\.schema\.json\n/);
  const schema = JSON.parse(readFileSync(directory.join("project/toolcrib.schema.json"), "utf8"));
  assert.equal(schema.title, "Toolcrib configuration");
  // Every commented-out example must be valid too. Lines of prose start with a capital letter.
  const uncommented = written
    .replace("tool_servers: []", "tool_servers:")
    .split("\n")
    .slice(1)
    .filter((line) => !/^#(?: [A-Z]|$)/.test(line))
    .map((line) => line.replace(/^# /, ""))
    .join("\n");
  await runToolcrib(["token", "create", "ci"], setting);
  assert.match(uncommented, /^serve:\n {2}listen: 127/m);
  assert.match(uncommented, /^tool_servers:\n - id: files\n {3}transport:\n/m);
  writeFileSync(directory.join("project/examples.yaml"), uncommented);
  // Without the secrets that the examples name, there is a warning about each.
  const env = { TOOLCRIB_SECRET_SEARCH_TOKEN: "aB3dE6fG7hI8", TOOLCRIB_SECRET_GITHUB_TOKEN: "aB3dE6fG7hI8" };
  const { stdout, stderr } = await runToolcrib(["config", "check", "examples.yaml"], {
    ...setting,
    env: { ...setting.env, ...env },
  });
  assert.equal(stdout, "OK examples.yaml\n");
  // The examples name tools of a server that never started.
  assert.match(stderr, /^note: patterns are not compared with the tools of files, [^\n]*\n$/);
});

test("init does not suggest to import Toolcrib itself, whatever its entry in a client", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("project/.vscode"), { recursive: true });
  mkdirSync(directory.join(".cursor"));
  const own = {
    toolcrib: { url: "http://127.0.0.1:7420/mcp" },
    bridged: { command: "npx", args: ["toolcrib", "bridge"] },
  };
  const time = { command: "uvx", args: ["t"] };
  const vscode = directory.join("project/.vscode/mcp.json");
  writeFileSync(vscode, JSON.stringify({ servers: { time, ...own } }));
  writeFileSync(directory.join(".cursor/mcp.json"), JSON.stringify({ mcpServers: own }));
  const setting = { directory: directory.join("project"), env: { HOME: directory.path } };
  const { stdout } = await runToolcrib(["init", "--json"], setting);
  assert.deepEqual(JSON.parse(stdout).found, [{ file: vscode, servers: ["time"] }]);
});

test("init imports servers without their credentials", async () => {
  await using directory = await makeTemporaryDirectory();
  const secret = "ghp_abcdefghijklmnop1234567890";
  const servers = {
    github: {
      type: "http",
      url: "https://github.test/mcp",
      headers: { Authorization: `Bearer ${secret}`, "X-Team": "a" },
    },
    "my files": {
      command: "npx",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the other program
      args: ["-y", "server", "${workspaceFolder}/data", "# no comment", "yes"],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the other program
      env: { API_KEY: secret, DEBUG: "1", TOKEN: "${MY_TOKEN}" },
      cwd: "sub",
    },
    argument: { command: "npx", args: ["--token", secret] },
    url: { url: `https://x.test/mcp?key=${secret}` },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the other program
    ask: { command: "npx", env: { A: "${input:foo}" } },
    off: { command: "x", disabled: true },
  };
  writeFileSync(directory.join(".mcp.json"), JSON.stringify({ mcpServers: servers }, undefined, 1));
  const setting = { directory: directory.path };
  const text = await transcript([["init", "--import", ".mcp.json"]], setting);
  const written = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  checkGolden(
    golden("init-import.txt"),
    `${text}\n${normalize(written.split("\n# The endpoint")[0] ?? "", directory.path)}`,
  );
  assert.doesNotMatch(text + written, new RegExp(secret));
  const checked = await runToolcrib(["config", "check"], setting);
  // The credentials are not there yet: a warning names each.
  assert.deepEqual([checked.code, checked.stderr], [0, ""]);
  const codes = [...checked.stdout.matchAll(/ (?:warning|error) (\w+)$/gm)].map(([, code]) => code);
  assert.deepEqual([...new Set(codes)], ["CONFIG_SECRET_NOT_FOUND"]);
  assert.match(checked.stdout, /\nOK toolcrib\.yaml\n$/);
  writeFileSync(directory.join("same.json"), '{"mcpServers": {"github": {"command": "x"}}}');
  const both = await runToolcrib(["init", "d", "--import", ".mcp.json", "--import", "same.json"], setting);
  assert.match(both.stdout, /imported 1 of 1 servers from same\.json: github-2/);
  writeFileSync(directory.join("damaged.json"), '{"mcpServers": {"a": 5}}');
  const refused = await transcript(
    [
      ["init", "a", "--import", "none.json"],
      ["init", "b", "--import", "toolcrib.yaml"],
      ["init", "c", "--import", "damaged.json"],
    ],
    setting,
  );
  checkGolden(golden("init-refused.txt"), refused);
  for (const folder of ["a", "b", "c"])
    assert.equal(statSync(directory.join(folder), { throwIfNoEntry: false }), undefined);
});

test("printed commands use toolcrib where the PATH has it, and not a folder that npm added for one run", async () => {
  await using directory = await makeTemporaryDirectory();
  const bin = directory.join("checkout/node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(launcherPath, join(bin, "toolcrib"));
  const next = async (folder: string, npm: { [name: string]: string | undefined }) => {
    const env = { PATH: `${bin}:/usr/bin:/bin`, npm_lifecycle_event: undefined, ...npm };
    const { stdout } = await runToolcrib(["init", folder], { directory: directory.path, env });
    return /^ {2}(\S.*) serve --config/m.exec(stdout)?.[1];
  };
  assert.equal(await next("own", { npm_command: undefined }), "toolcrib");
  assert.ok((await next("npx", { npm_command: "exec" }))?.endsWith(launcherPath));
});
