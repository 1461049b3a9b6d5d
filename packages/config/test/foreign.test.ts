import assert from "node:assert/strict";
import { test } from "node:test";
import { formatConfigReport, parseConfig, type ToolServerConfig } from "@toolcrib/config";

/** Returns the servers of another program's file, and the codes of the findings. */
function read(
  text: string,
  name = ".mcp.json",
): { servers: readonly ToolServerConfig[]; codes: readonly string[] } {
  const { value, diagnostics } = parseConfig([{ name, text }]);
  assert.ok(value, formatConfigReport([], diagnostics));
  return { servers: value.toolServers, codes: diagnostics.map(({ code }) => code) };
}

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, part) => (key === "span" || key === "source" ? undefined : part)),
  );
}

const literal = (text: string): unknown => ({ kind: "literal", text, isSecret: false });

test("parseConfig() reads mcpServers", () => {
  const { servers, codes } = read(`{
    "mcpServers": {
      "files": { "command": "npx", "args": ["-y", "server", 8080], "env": { "PORT": 8080, "DEBUG": true }, "cwd": "sub" },
      "remote": { "type": "http", "url": "https://tool.internal/mcp", "headers": { "X-Team": "core" } },
      "old": { "type": "sse", "url": "http://localhost:1/sse" },
      "guessed": { "url": "https://tool.internal/sse" },
      "gemini": { "httpUrl": "https://tool.internal/mcp" },
      "typed": { "type": "streamable-http", "url": "https://tool.internal/mcp" }
    }
  }`);
  assert.deepEqual(codes, []);
  assert.deepEqual(
    servers.map(({ id, transport }) => [id, transport.kind]),
    [
      ["files", "stdio"],
      ["remote", "streamable_http"],
      ["old", "sse"],
      ["guessed", "sse"],
      ["gemini", "streamable_http"],
      ["typed", "streamable_http"],
    ],
  );
  assert.deepEqual(plain(servers[0]?.transport), {
    kind: "stdio",
    command: literal("npx"),
    args: [literal("-y"), literal("server"), literal("8080")],
    env: { PORT: literal("8080"), DEBUG: literal("true") },
    cwd: literal("sub"),
  });
  const { trustState, mutabilityClass, containment } = servers[0] ?? {};
  assert.deepEqual([trustState, mutabilityClass, containment?.needsSandbox], ["unverified", "unknown", true]);
  assert.equal(containment?.effective.networkEgress, "deny");
});

test("parseConfig() reads servers whose transport or section is nested", () => {
  const { servers, codes } = read(`{
    "mcp": { "mcpServers": {
      "files": { "transport": { "type": "stdio", "command": "npx", "args": ["-y", "server"] }, "env": { "A": "b" } },
      "remote": { "transport": { "kind": "sse", "url": "https://tool.internal/events" } },
      "plain": { "transport": "sse", "url": "https://tool.internal/events" }
    } }
  }`);
  assert.deepEqual(codes, []);
  assert.deepEqual(
    servers.map(({ id, transport }) => [id, transport.kind]),
    [
      ["files", "stdio"],
      ["remote", "sse"],
      ["plain", "sse"],
    ],
  );
  const [files] = servers;
  assert.deepEqual(plain(files?.transport), {
    kind: "stdio",
    command: literal("npx"),
    args: [literal("-y"), literal("server")],
    env: { A: literal("b") },
  });
});

test("parseConfig() says what to do with a file of a client whose servers are elsewhere", () => {
  for (const text of ['{ "projects": { "/x": { "mcpServers": {} } } }', '{ "mcp": { "x": 1 } }']) {
    const [finding] = parseConfig([{ name: ".claude.json", text }]).diagnostics;
    assert.match(finding?.hint ?? "", /toolcrib import/);
  }
});

test("parseConfig() recognizes the format of a file by its content, not by its name", () => {
  const text =
    '{ "mcpServers": { "a": { "command": "x" } }, "globalShortcut": "Ctrl+Space", "projects": {} }';
  for (const name of ["toolcrib.yaml", "claude_desktop_config.json", "anything"]) {
    assert.deepEqual(
      read(text, name).servers.map(({ id }) => id),
      ["a"],
      name,
    );
  }
  assert.deepEqual(read("mcpServers:\n  a:\n    command: x\n", "x.yaml").servers.length, 1);
});

test("parseConfig() reads the servers of VS Code, in mcp.json and in settings", () => {
  const servers = '"servers": { "a": { "type": "stdio", "command": "x", "dev": { "watch": "*" } } }';
  assert.equal(read(`// comment\n{ "inputs": [], ${servers}, }`).servers.length, 1);
  assert.equal(read(`{ "editor.fontSize": 12, "mcp": { ${servers} } }`).servers.length, 1);
});

test("parseConfig() reads variables of other programs as templates", () => {
  const { servers, codes } = read(
    `{ "mcpServers": { "a": { "url": "\${BASE:-https://tool.internal}/mcp", "headers": { "Authorization": "Bearer \${TOKEN}", "X-Home": "\${env:HOME}" } } } }`,
  );
  assert.deepEqual(codes, []);
  assert.deepEqual(plain(servers[0]?.transport), {
    kind: "streamable_http",
    url: {
      kind: "template",
      text: `\${BASE:-https://tool.internal}/mcp`,
      parts: [{ variable: "BASE", fallback: "https://tool.internal" }, "/mcp"],
      isSecret: false,
    },
    headers: {
      Authorization: {
        kind: "template",
        text: `Bearer \${TOKEN}`,
        parts: ["Bearer ", { variable: "TOKEN" }],
        isSecret: true,
      },
      "X-Home": { kind: "template", text: `\${env:HOME}`, parts: [{ variable: "HOME" }], isSecret: false },
    },
    allowHttp: false,
  });
});

test("parseConfig() keeps a server that cannot start, with its reason, and the other servers work", () => {
  const { servers, codes } = read(
    `{ "servers": { "asks": { "command": "x", "args": ["\${input:token}"] }, "works": { "command": "y" } } }`,
  );
  assert.deepEqual(codes, ["CONFIG_VARIABLE_NOT_AVAILABLE"]);
  assert.deepEqual(
    servers.map(({ id, problems }) => [id, problems.map(({ severity, code }) => [severity, code])]),
    [
      ["asks", [["error", "CONFIG_VARIABLE_NOT_AVAILABLE"]]],
      ["works", []],
    ],
  );
});

test("parseConfig() marks literal credentials as secrets", () => {
  const { servers, codes } = read(
    '{ "mcpServers": { "a": { "command": "x", "env": { "API_KEY": "hunter2", "MODE": "fast" } } } }',
  );
  assert.deepEqual(codes, ["CONFIG_INLINE_SECRET"]);
  const transport = servers[0]?.transport;
  assert.ok(transport?.kind === "stdio");
  assert.deepEqual(plain(transport.env), {
    API_KEY: { kind: "literal", text: "hunter2", isSecret: true },
    MODE: literal("fast"),
  });
});

test("parseConfig() derives valid ids from invalid names", () => {
  const names: readonly (readonly [string, string])[] = [
    ["My Server", "My-Server"],
    ["claude.ai Atlassian", "claude.ai-Atlassian"],
    ["a__b", "a_b"],
    ["@scope/server", "scope-server"],
    ["Café", "Cafe"],
    ["_x_", "x"],
    ["toolcrib", "toolcrib-server"],
    ["日本", "server"],
    ["x".repeat(50), "x".repeat(40)],
  ];
  for (const [name, id] of names) {
    const { servers, codes } = read(JSON.stringify({ mcpServers: { [name]: { command: "x" } } }));
    assert.deepEqual(
      servers.map((server) => [server.id, server.name]),
      [[id, name]],
    );
    assert.deepEqual(codes, ["CONFIG_ID_NORMALIZED"]);
  }
});

test("parseConfig() ignores disabled servers", () => {
  const { servers } = read(
    '{ "mcpServers": { "a": { "command": "x", "disabled": true }, "b": { "command": "x", "disabled": false }, "c": { "command": "x", "enabled": false } } }',
  );
  assert.deepEqual(
    servers.map(({ id }) => id),
    ["b"],
  );
});

test("parseConfig() reads an empty list of servers", () => {
  assert.deepEqual(read('{ "mcpServers": {} }').servers, []);
});

test("parseConfig() reads the upstreamServers and execution of a metatool configuration", () => {
  const text = `{
    "upstreamServers": [
      { "name": "github", "command": "mcp-server-github", "args": ["--token", "\${GITHUB_TOKEN}"] },
      { "name": "zenhub", "command": "mcp-server-zenhub", "args": [], "env": { "BOARD": "main" } }
    ],
    "execution": { "timeout": 20000, "maxMemory": "64MB", "enableDebug": true }
  }`;
  const { value, diagnostics } = parseConfig([{ name: "config.json", text }]);
  assert.ok(value, formatConfigReport([], diagnostics));
  assert.deepEqual(diagnostics, []);
  const [github, zenhub] = value.toolServers;
  assert.deepEqual(plain(github?.transport), {
    kind: "stdio",
    command: literal("mcp-server-github"),
    args: [
      literal("--token"),
      { kind: "template", text: `\${GITHUB_TOKEN}`, parts: [{ variable: "GITHUB_TOKEN" }], isSecret: false },
    ],
    env: {},
  });
  assert.deepEqual([github?.id, zenhub?.id], ["github", "zenhub"]);
  assert.deepEqual(plain(zenhub?.transport), {
    kind: "stdio",
    command: literal("mcp-server-zenhub"),
    args: [],
    env: { BOARD: literal("main") },
  });
  const { timeoutMs, memoryBytes, debug, toolCalls } = value.execution;
  assert.deepEqual([timeoutMs, memoryBytes, debug, toolCalls], [20_000, 64 * 1024 ** 2, true, 100]);
});

test("parseConfig() reports errors in a metatool configuration, each with its place", () => {
  const check = (document: object, ...expected: readonly string[]) => {
    const { value, diagnostics } = parseConfig([{ name: "config.json", text: JSON.stringify(document) }]);
    assert.equal(value, undefined);
    assert.deepEqual(
      diagnostics.map(({ code, message, span }) => {
        assert.ok(span, `${code} has no place`);
        return `${code} ${message}`;
      }),
      expected,
    );
  };
  check(
    { upstreamServers: {} },
    'CONFIG_WRONG_TYPE "upstreamServers" must be a list of servers, but is a map',
  );
  check(
    { upstreamServers: [{ command: "x" }, 3, { name: "a" }] },
    'CONFIG_FIELD_REQUIRED "upstreamServers[0]" needs a name',
    'CONFIG_WRONG_TYPE "upstreamServers[1]" must be a map, but is a number',
    'CONFIG_FIELD_REQUIRED Server "a" needs command or url',
  );
  const twice = { name: "a", command: "x" };
  check(
    { upstreamServers: [twice, twice], execution: { timeuot: 1 } },
    'CONFIG_ID_DUPLICATE Servers "a" and "a" get the same id "a"',
    'CONFIG_UNKNOWN_FIELD Unknown field "timeuot" in "execution"',
  );
  check(
    { upstreamServers: [twice], tool_servers: [] },
    'CONFIG_UNKNOWN_FIELD Unknown field "upstreamServers" in the configuration',
  );
});
