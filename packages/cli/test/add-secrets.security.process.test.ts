/** `toolcrib add` takes no secret from the command line, and no configuration shows one. */

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const webhook = "https://hooks.slack.com/services/T0/B0/hunter2x";
const random = "hunter2Xa9Q3kLm8ZtR5vWy1Bc4D";

test("add refuses secrets in variables, arguments, command lines and URLs, and shows none", async () => {
  await using directory = await makeTemporaryDirectory();
  const cases: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [
      ["--env", `SLACK_WEBHOOK_URL=${webhook}`, "--", "node", "x.js"],
      /--env "SLACK_WEBHOOK_URL" has a secret/,
    ],
    [["--env", "PIN=hunter2", "--", "node", "x.js"], /--env "PIN" has a secret/],
    [["--env", "MNEMONIC=hunter2 hunter2", "npm:some-server"], /--env "MNEMONIC" has a secret/],
    [["--env", `THING=${random}`, "slack"], /--env "THING" has a secret/],
    [["--server-arg", webhook, "npm:some-server"], /An argument of the server contains a secret/],
    [
      ["--server-arg=--password", "--server-arg", "hunter2x", "npm:some-server"],
      /argument 2\) contains a secret/,
    ],
    [["--", "node", "x.js", "--password", "hunter2x"], /The command line \(argument 3\) contains a secret/],
    [["--", "node", "x.js", `--hook=${webhook}`], /The command line \(argument 2\) contains a secret/],
    [["--", "node", "x.js", `PIN=hunter2`], /The command line \(argument 2\) contains a secret/],
    [[`https://mcp.example.com/s/${random}/mcp`], /The URL contains a secret/],
    [
      ["--", "node", "s.js", "--conn=postgres://bob:hunter2secret@db.local/x"],
      /\(argument 2\) contains a secret/,
    ],
    [["--", "node", "s.js", "-phunter2secret"], /\(argument 2\) contains a secret/],
    [["--", "node", "s.js", "-k", "hunter2secret"], /\(argument 3\) contains a secret/],
    [["--", "node", "s.js", "--url=https://x.io/sse?pass=hunter2"], /\(argument 2\) contains a secret/],
    [["https://mcp.example.com/mcp?code=hunter2Xa9Q3kLm8ZtR5vWy1Bc4D"], /The URL contains a secret/],
  ];
  for (const [words, message] of cases) {
    const { code, stdout, stderr } = await runToolcrib(["add", "--yes", ...words], {
      directory: directory.path,
    });
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, message);
    assert.match(stderr, /toolcrib secret set NAME/);
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  }
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});

test("config check and doctor warn of literals that look like secrets, and show none", async () => {
  await using directory = await makeTemporaryDirectory();
  const env = {
    SLACK_WEBHOOK_URL: webhook,
    DATABASE_URL: "postgresql://app:hunter2@localhost/shop",
    PIN: "hunter2",
    MODEL: "claude-3-5-sonnet-20241022",
    RANDOM_SEED: "42",
  };
  const config = {
    tool_servers: [{ id: "one", transport: { kind: "stdio", ...fixtureCommand(echoStdioPath), env } }],
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const checked = await runToolcrib(["config", "check"], setting);
  assert.equal(checked.code, 0, checked.stderr);
  const named = [
    ...checked.stdout.matchAll(/environment variable "(\w+)" contains what looks like a secret/g),
  ];
  assert.deepEqual(
    named.map(([, name]) => name),
    ["SLACK_WEBHOOK_URL", "DATABASE_URL", "PIN"],
  );
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(doctor.stdout, /! configuration: toolcrib\.json: 1 tool server, 3 warnings/);
  for (const { stdout, stderr } of [checked, doctor]) assert.doesNotMatch(stdout + stderr, /hunter2/);
});

test("config check warns of arguments and URLs that look like secrets, and shows none", async () => {
  await using directory = await makeTemporaryDirectory();
  const secrets = [
    "mysql://root:hunter2Pw@db/x",
    "--conn=postgres://bob:hunter2secret@db/x",
    "--user=bob:hunter22",
    "-phunter2secret",
    "--pw=hunter2",
    webhook,
    "9f86d081884c7d659a2feaa0c55ad015",
  ];
  const urls = [webhook, "https://x.example/mcp?api_key=hunter2secret", `https://x.example/s/${random}/mcp`];
  const config = {
    tool_servers: [
      { id: "args", transport: { kind: "stdio", ...fixtureCommand(echoStdioPath) } },
      ...urls.map((url, at) => ({ id: `url-${at}`, transport: { kind: "streamable_http", url } })),
    ],
  };
  const own = config.tool_servers[0]!.transport as { args?: readonly string[] };
  const given = own.args ?? [];
  own.args = [...given, ...secrets, "--database-url", secrets[0]!, "--port=8080", "--sort-key=created_at"];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config, undefined, 2));
  const { code, stdout, stderr } = await runToolcrib(["config", "check"], { directory: directory.path });
  assert.equal(code, 0, stdout + stderr);
  const found = [...stdout.matchAll(/inline secret: (argument \d+|transport\.url) contains/g)].map(
    ([, what]) => what,
  );
  const places = [...secrets.keys(), secrets.length + 1].map((at) => `argument ${given.length + at + 1}`);
  assert.deepEqual(found, [...places, ...urls.map(() => "transport.url")]);
  assert.doesNotMatch(stdout + stderr, /hunter2|9f86d081/);
});

test("config check accepts harmless values under names that contain the word of a credential", async () => {
  await using directory = await makeTemporaryDirectory();
  const env = {
    KEYBINDINGS: "vim",
    SORT_KEY: "created_at",
    PUBLIC_KEY: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----",
    SECRET_SCANNING: "on",
    BEARER_METHODS: "header",
    PASS: "true",
    PRIMARY_KEY: "id",
    PARTITION_KEY: "pk",
    KEY: "id",
  };
  const config = {
    tool_servers: [{ id: "one", transport: { kind: "stdio", ...fixtureCommand(echoStdioPath), env } }],
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const { code, stdout, stderr } = await runToolcrib(["config", "check"], { directory: directory.path });
  assert.equal(code, 0, stdout + stderr);
  assert.doesNotMatch(stdout + stderr, /CONFIG_INLINE_SECRET/);
});
