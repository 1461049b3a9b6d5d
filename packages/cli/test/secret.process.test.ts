import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { golden, type RunSetting, runToolcrib, startServe, transcript } from "./transcript.ts";

const canary = "c4nary-value-of-a-secret";

/** Runs command lines one after the other, and returns their transcript. */
async function inOrder(
  commands: readonly (readonly [args: readonly string[], setting?: Omit<RunSetting, "directory">])[],
  directory: string,
): Promise<string> {
  const texts: string[] = [];
  for (const [args, setting] of commands) texts.push(await transcript([args], { ...setting, directory }));
  return texts.join("\n");
}

test("secret stores, lists, tests and removes secrets, and never shows one", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("value.txt"), `${canary} in a file\r\n`);
  writeFileSync(directory.join("pem"), `-----BEGIN\n${canary}\n-----END\n\n`);
  const variable = { env: { VARIABLE: `${canary} in a variable` } };
  const text = await inOrder(
    [
      [["secret", "list"]],
      [["secret", "set", "piped"], { stdin: `${canary}\n` }],
      [["secret", "set", "from-env", "--from-env", "VARIABLE"], variable],
      [["secret", "set", "from-file", "--from-file", "value.txt"]],
      [["secret", "set", "several.lines", "--from-file", "pem", "--json"]],
      [["secret", "set", "piped"], { stdin: `${canary} again\n` }],
      [["secret", "list"]],
      [["secret", "list", "--json"]],
      [["secret", "test", "piped"]],
      [["secret", "test", "from-env", "--json"]],
      [["secret", "test", "several.lines"]],
      [["secret", "test", "piped"], { env: { TOOLCRIB_SECRET_PIPED: canary } }],
      [["secret", "set", "piped"], { stdin: canary, env: { TOOLCRIB_SECRET_PIPED: "x" } }],
      [["secret", "test", "absent"]],
      [["secret", "rm", "piped"]],
      [["secret", "rm", "piped"]],
      [["secret", "rm", "from-env", "--json"]],
      [["secret", "list"]],
    ],
    directory.path,
  );
  assert.doesNotMatch(text, /c4nary/);
  checkGolden(golden("secret.txt"), text);
});

test("secret set refuses invalid values, and any value in its arguments", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("long"), canary.repeat(4096));
  mkdirSync(directory.join("folder"));
  const text = await inOrder(
    [
      [["secret", "set", "name", canary]],
      [["secret", "set", "name", "--value", canary]],
      [["secret", "set", "name", `--value=${canary}`, "--json"]],
      [["secret", "set", `name=${canary}`], { stdin: canary }],
      [["secret", "set", "name"]],
      [["secret", "set", "name"], { stdin: `${canary}\0` }],
      [["secret", "set", "name", "--from-env", "NOT_SET"]],
      [["secret", "set", "name", "--from-file", "absent"]],
      [["secret", "set", "name", "--from-file", "folder"]],
      [["secret", "set", "name", "--from-file", "long"]],
      [["secret", "set", "name", "--from-file", "long", "--from-env", "HOME"]],
      [["secret", "set", "../name"], { stdin: canary }],
      [["secret", "set", "name"], { stdin: canary, env: { TOOLCRIB_SECRETS_KEY: "no key" } }],
      [["secret", "test", "../name"]],
    ],
    directory.path,
  );
  // The value is part of the command line in the transcript, and must not be in any output.
  assert.doesNotMatch(text.replace(/^\$.*$/gm, ""), /c4nary/);
  checkGolden(golden("secret-refused.txt"), text.replaceAll(canary, "CANARY"));
});

test("a server gets its stored secret, and a rotated secret at its next start", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  // A server that includes the received value in the name of its tool, in an encoding that the scrubber does not know.
  const server = [
    'const given = [...(process.env.API_KEY ?? "")].join("_");',
    'require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {',
    "  const { id, method, params } = JSON.parse(line);",
    "  if (id === undefined) return;",
    '  const answers = { initialize: { protocolVersion: params?.protocolVersion ?? "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }, "tools/list": { tools: [{ name: given, inputSchema: { type: "object" } }] } };',
    '  const answer = answers[method] ? { result: answers[method] } : { error: { code: -32601, message: "unknown" } };',
    '  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));',
    "});",
  ].join("\n");
  writeFileSync(directory.join("server.cjs"), server);
  const transport = {
    kind: "stdio",
    command: process.execPath,
    args: [directory.join("server.cjs")],
    env: { API_KEY: { secret_key_ref: { store: "api-key" } } },
  };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [{ id: "s", transport, first_contact: "pin" }] }),
  );
  for (const value of ["firstvalue", "rotatedvalue"]) {
    await runToolcrib(["secret", "set", "api-key"], { ...setting, stdin: value });
    const { stdout, stderr } = await runToolcrib(["list", "--json"], setting);
    assert.ok(stdout.includes([...value].join("_")), `${stdout}\n${stderr}`);
  }
});

test("doctor reports secrets that other users can read, and secrets that cannot be decrypted", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [] }));
  const findings = async (): Promise<readonly string[]> => {
    const { stdout } = await runToolcrib(["doctor", "--json"], setting);
    const report = JSON.parse(stdout) as {
      findings: { subject: string; status: string; message: string; fix?: string }[];
    };
    return report.findings
      .filter(({ subject }) => subject === "secrets")
      .map(({ status, message, fix }) => `${status}: ${message}${fix === undefined ? "" : ` (${fix})`}`)
      .map((text) => text.replaceAll(directory.path, "DIR"));
  };
  assert.deepEqual(await findings(), ["ok: none are stored in this home"]);
  await runToolcrib(["secret", "set", "kept"], { ...setting, stdin: canary });
  writeFileSync(directory.join(".toolcrib/secrets/plain"), canary, { mode: 0o600 });
  assert.deepEqual(await findings(), ["ok: 2 in DIR/.toolcrib/secrets, private to this user (1 encrypted)"]);
  chmodSync(directory.join(".toolcrib/secrets/plain"), 0o644);
  const sealed = directory.join(".toolcrib/secrets/.store/kept.sealed");
  writeFileSync(sealed, readFileSync(sealed, "utf8").replace('"name":"kept"', '"name":"other"'));
  assert.deepEqual(await findings(), [
    "failed: other users can access DIR/.toolcrib/secrets/plain (chmod 600 DIR/.toolcrib/secrets/plain, and replace the secret if another user may have read it)",
    'failed: Cannot read secret "kept": it is the file of another secret (restore its file from a backup, or set the secret again)',
  ]);
  chmodSync(directory.join(".toolcrib/secrets/plain"), 0o600);
  await runToolcrib(["secret", "set", "kept"], { ...setting, stdin: canary });
  chmodSync(directory.join(".toolcrib/secrets/.store/key"), 0o644);
  const key = "DIR/.toolcrib/secrets/.store/key";
  assert.deepEqual(await findings(), [
    `failed: Cannot use "${key}": its mode 644 gives other users of this machine access (run chmod 600 ${key}, and replace the secrets if anyone may have read them)`,
  ]);
});

test("secret set says what uses the secret, and when", async () => {
  await using directory = await makeTemporaryDirectory();
  const headers = { Authorization: { prefix: "Bearer ", secret_key_ref: "wiki-token" } };
  const transport = { kind: "streamable_http", url: "http://127.0.0.1:9/mcp", headers };
  const servers = [
    { id: "wiki", transport },
    { id: "other", transport: { kind: "streamable_http", url: "http://127.0.0.1:9/mcp" } },
  ];
  const config = { tool_servers: servers, serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const set = async (name: string) =>
    (await runToolcrib(["secret", "set", name], { ...setting, stdin: canary })).stdout;
  assert.match(await set("unused"), /^Stored\. Use it in the configuration as secret_key_ref: unused\n$/);
  assert.match(
    await set("wiki-token"),
    /^Stored\.\nThe server wiki in toolcrib\.json waited for it\.\nStart the gateway: .* serve\n$/,
  );
  assert.match(
    await set("wiki-token"),
    /^Replaced\. .*\nThe server wiki in toolcrib\.json uses it\.\nStart the gateway: .* serve\n$/,
  );
  await runToolcrib(["secret", "rm", "wiki-token"], setting);

  await using _gateway = await startServe([], setting);
  const reasonOf = async () => {
    const { stdout } = await runToolcrib(["status", "--json"], setting);
    const status = JSON.parse(stdout) as { servers: { id: string; health: { reason?: string } }[] };
    return status.servers.find(({ id }) => id === "wiki")?.health.reason ?? "";
  };
  await waitUntil(async () => (await reasonOf()).includes("Cannot find secret"));
  assert.match(
    await set("wiki-token"),
    /^Stored\.\nThe server wiki in toolcrib\.json waited for it\. The running gateway reads it when it connects or starts: what failed for lack of it is tried again within a minute\./,
  );
  // It does what was said.
  await waitUntil(async () => /cannot be reached/.test(await reasonOf()), { timeoutMs: 61_000 });
});
