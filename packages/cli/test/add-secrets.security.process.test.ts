/** `toolcrib add` takes no secret from the command line, and no configuration shows one. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory, startRawServer } from "@toolcrib/testing";
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
    [["--env", "MNEMONIC=hunter2 hunter2", "npm:some-server"], /--env "MNEMONIC" has a secret/],
    [["--server-arg", webhook, "npm:some-server"], /An argument of the server contains a secret/],
    [
      ["--server-arg=--password", "--server-arg", "hunter2x", "npm:some-server"],
      /argument 2\) contains a secret/,
    ],
    [["--", "node", "x.js", "--password", "hunter2x"], /The command line \(argument 3\) contains a secret/],
    [
      ["--env", "DATABASE_URL=postgres://app:hunter2@db/x", "--", "node", "x.js"],
      /--env "DATABASE_URL" has a secret/,
    ],
    [["https://mcp.example.com/mcp?api_key=hunter2"], /The URL contains a secret/],
    [["--", "node", "x.js", `--hook=${webhook}`], /The command line \(argument 2\) contains a secret/],
    [
      ["--", "node", "s.js", "--conn=postgres://bob:hunter2secret@db.local/x"],
      /\(argument 2\) contains a secret/,
    ],
    [["--", "node", "s.js", "-phunter2secret"], /\(argument 2\) contains a secret/],
    [["--", "node", "s.js", "-k", "hunter2secret"], /\(argument 3\) contains a secret/],
    [["--", "node", "s.js", "--url=https://x.io/sse?pass=hunter2"], /\(argument 2\) contains a secret/],
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

test("add warns of what only may be a secret, and takes ordinary settings without a word", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const file = directory.join("toolcrib.yaml");
  const { command, args } = fixtureCommand(echoStdioPath);
  const guesses = {
    PIN: "4920",
    THING: random,
    ENDPOINT: "https://api.example/x?session=blue",
    CALLBACK: "https://api.example/x?auth_code=k3vD9sQ1",
    WORDS: "legal winner thank year wave sausage worth useful legal winner thank yellow",
  };
  const ordinary = {
    COMPASS: "north",
    SMTP_AUTH: "LOGIN",
    BUCKET: "my-company-prod-logs-eu-central-1-123456789012",
    DOCS: "https://example.com/?keyword=cats",
  };
  const env = Object.entries({ ...guesses, ...ordinary }).flatMap(([name, value]) => [
    "--env",
    `${name}=${value}`,
  ]);
  const words = ["add", "--id", "one", "--yes", ...env, "--", command, ...args];
  const { code, stdout, stderr } = await runToolcrib(words, setting);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    [...stderr.matchAll(/warning: --env "(\w+)" has a value that looks like a secret/g)].map(
      ([, name]) => name,
    ),
    Object.keys(guesses),
  );
  assert.match(stderr, /toolcrib secret set NAME, and --secret PIN=NAME/);
  assert.doesNotMatch(stdout + stderr, /hunter2|winner|4920/);
  const written = readFileSync(file, "utf8");
  for (const value of Object.values({ ...guesses, ...ordinary })) assert.ok(written.includes(value), value);
  for (const rest of [
    ["http://127.0.0.1:1/sse?design=1"],
    ["--", "node", "x.js", "--max-token=4096"],
    ["--", "node", "x.js", "--max-token", "4096"],
  ]) {
    const other = await runToolcrib(["add", "--yes", "--id", "two", ...rest], setting);
    assert.doesNotMatch(other.stderr, /secret/);
    assert.match(other.stderr, /nothing was added|CLI_SERVER_NOT_READY/);
  }
  const url = await runToolcrib(
    ["add", "--yes", "--id", "two", `http://127.0.0.1:1/s/${random}/mcp`],
    setting,
  );
  assert.match(url.stderr, /warning: The URL contains what looks like a secret/);
  assert.match(url.stdout, /^http:\/\/127\.0\.0\.1:1\/\[not shown\]$/m);
  assert.ok(!`${url.stdout}${url.stderr}`.includes(random));
});

test("add shows no part of a URL, variable or argument that looks like a secret, and writes it as it is", async () => {
  await using directory = await makeTemporaryDirectory();
  await using raw = await startRawServer(() => false);
  await using page = await startRawServer((exchange) => {
    exchange.respond(404);
    return true;
  });
  const setting = { directory: directory.path };
  const path = `/s/${random}/mcp`;
  const { command, args } = fixtureCommand(echoStdioPath);
  const url = new URL(path, raw.url).href;
  const process = [
    "--env",
    `THING=${random}`,
    "--",
    command,
    `--title=http://127.0.0.1/s/${random}`,
    ...args,
  ];
  const cases = [
    ["--dry-run", url],
    ["--dry-run", "--json", url],
    ["--dry-run", ...process],
    ["--dry-run", "--json", ...process],
    ["--yes", new URL(path, page.url).href],
    ["--yes", `https://${new URL(raw.url).host}${path}`],
    ["--yes", `ftp://${random}:${random}@files.example${path}`],
    ["--yes", "--id", "url", url],
    ["--yes", "--id", "process", ...process],
  ];
  for (const words of cases) {
    const { stdout, stderr } = await runToolcrib(["add", ...words], setting);
    assert.ok(!`${stdout}${stderr}`.includes(random), `${words.join(" ")}\n${stdout}${stderr}`);
    if (words.includes("--dry-run")) assert.match(stdout, /\[not shown\]/);
  }
  const written = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.ok(written.includes(url));
  assert.ok(written.includes(`THING: ${random}`));
  assert.ok(written.includes(`--title=http://127.0.0.1/s/${random}`));
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
