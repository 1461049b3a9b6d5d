import assert from "node:assert/strict";
import { test } from "node:test";
import { formatConfigReport, parseConfig } from "@toolcrib/config";

/** A secret that no rule recognizes by its form, and some that rules recognize. */
const secrets = [
  "hunter2hunter2",
  "sk-proj-abcdefghijklmnop",
  "ghp_abcdefghijklmnopqrst",
  "AKIAABCDEFGHIJKLMNOP",
  "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl",
];

/** Files in which `SECRET` stands where people put one, each with an error nearby. */
const files: readonly (readonly [name: string, text: string])[] = [
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: sse, url: https://x.test/, headers: { Authorization: Bearer SECRET } } }]",
  ],
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: sse, url: https://x.test/, headers: { x-api-key: SECRET } } }]",
  ],
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: stdio, command: x, env: { DB_PASSWORD: SECRET } } }]",
  ],
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: stdio, command: x, env: { DB_PASSWORD: { value: SECRET } } } }]",
  ],
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: stdio, command: x, env: { DB_PASSWORD: [SECRET] } } }]",
  ],
  // Names that are written together, or that may be literals: neither is shown.
  ...["ADMINPASSWORDPROD", "APIKEYV2", "SERVICEACCOUNTKEYJSON", "SLACK_PASSWORD_URL", "VAULT_TOKEN_PATH"].map(
    (variable) =>
      [
        "a.yaml",
        `tool_servers: [{ id: a b, transport: { kind: stdio, command: x, env: { ${variable}: SECRET } } }]`,
      ] as const,
  ),
  ["a.yaml", "tool_servers: [{ id: a b, transport: { kind: sse, url: https://me:SECRET@x.test/ } }]"],
  ["a.yaml", "tool_servers: [{ id: a b, transport: { kind: sse, url: 'https://x.test/?api_key=SECRET' } }]"],
  ["a.yaml", "tool_servers: [{ id: a b, transport: { kind: sse, url: https://x.test/, token: SECRET } }]"],
  ["a.yaml", "tool_servers: [{ id: a b, api_key: SECRET }]"],
  ["a.yaml", "serve: { token: SECRET, mode: x }"],
  ["a.yaml", "secrets: { store: { MINE: SECRET } }"],
  [
    "a.yaml",
    "tool_servers: [{ id: &SECRET a b, transport: { kind: stdio, command: x, env: { API_KEY: &k SECRET, OTHER_TOKEN: *k } } }]".replace(
      "&SECRET ",
      "",
    ),
  ],
  [
    "a.yaml",
    "tool_servers: [{ id: a b, transport: { kind: stdio, command: x, args: [--api-key=SECRET, --password, SECRET] } }]",
  ],
  // Broken texts, of which only lines are known.
  ["a.yaml", "env:\n  API_KEY: SECRET\n   x: 1\n"],
  ["a.yaml", "a: b: { Authorization: Bearer SECRET }"],
  ["a.yaml", "a: { password: 'SECRET' "],
  ["a.yaml", 'a: "x" https://me:SECRET@x.test/'],
  ["a.json", '{ "mcpServers": { "a": { "env": { "API_KEY": "SECRET" "B": 1 } } } }'],
  ["a.json", '{ "headers": { "Authorization": "Bearer SECRET", } x'],
  // Another program's file, where it is only a warning.
  ["a.json", '{ "mcpServers": { "a b": { "command": "x", "env": { "API_KEY": "SECRET" }, "timeout": 5 } } }'],
  [
    "a.json",
    '{ "mcpServers": { "a b": { "url": "https://x.test/", "headers": { "Authorization": "Bearer SECRET" }, "oauth": { "client_secret": "SECRET" } } } }',
  ],
  ["a.json", `{ "mcpServers": { "a b": { "command": "x", "env": { "API_KEY": "\${X:-SECRET}" } } } }`],
  ["a.json", '{ "mcpServers": { "a b": { "url": "https://me:SECRET@x.test/" } } }'],
  [
    "a.json",
    '{ "mcpServers": { "a b": { "command": "x", "args": ["--token=SECRET", "--db.passwd", "SECRET"] } } }',
  ],
];

test("no message about a configuration contains a secret", () => {
  for (const [name, template] of files) {
    for (const secret of secrets) {
      const text = template.replaceAll("SECRET", secret);
      const { diagnostics } = parseConfig([{ name, text }]);
      const report = formatConfigReport([name], diagnostics);
      assert.notEqual(diagnostics.length, 0, text);
      assert.ok(!report.includes(secret), `${text}\n\n${report}`);
      assert.ok(!JSON.stringify(diagnostics).includes(secret), `${text}\n\nshown by a diagnostic's source`);
    }
  }
});

test("secrets with a known form are hidden in every position", () => {
  for (const secret of secrets.slice(1)) {
    for (const template of [
      "x: SECRET",
      "SECRET: x",
      "# SECRET\nx: 1",
      "x: y # SECRET",
      "tool_servers: [{ id: SECRET }]",
      "serve: { mode: SECRET }",
      "serve: { listen: SECRET }",
      "x: [SECRET",
      "policy: { allow: SECRET }",
      "policy: { allow: [a/SECRET] }",
    ]) {
      const text = template.replaceAll("SECRET", secret);
      const { diagnostics } = parseConfig([{ name: "a.yaml", text }]);
      assert.notEqual(diagnostics.length, 0, text);
      const shown = formatConfigReport([], diagnostics) + JSON.stringify(diagnostics);
      assert.ok(!shown.includes(secret), `${text}\n\n${formatConfigReport([], diagnostics)}`);
    }
  }
});

test("no parsed value exposes a literal credential through its source", () => {
  const text = '{ "mcpServers": { "a": { "command": "x", "env": { "API_KEY": "hunter2hunter2" } } } }';
  const { value } = parseConfig([{ name: ".mcp.json", text }]);
  assert.ok(!value?.toolServers[0]?.source.text.includes("hunter2"));
});

test("no message about a configuration contains a control or direction character", () => {
  for (const character of ["\u001b[31m", "\u0007", "\u009b", "\u202e", "\u2066", "\u200f", "\u0000"]) {
    for (const text of [
      `x: "a${character}b"`,
      `"k${character}": 1`,
      `tool_servers: [{ id: "a${character}b" }]`,
      `serve: { mode: "a${character}" }`,
      `a: [${character}`,
      `{ "a": "${character}"`,
    ]) {
      for (const name of ["a.yaml", "a.json"]) {
        const report = formatConfigReport([], parseConfig([{ name, text }]).diagnostics);
        assert.notEqual(report, "");
        assert.doesNotMatch(
          report,
          /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
          JSON.stringify(text),
        );
      }
    }
  }
});
