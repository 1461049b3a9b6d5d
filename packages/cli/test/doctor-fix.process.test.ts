/** `toolcrib doctor --fix`: each thing is broken first, repaired, and then found in order. */

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { clientPrograms } from "@toolcrib/clients";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { echoServer, launcherPath, runToolcrib } from "./transcript.ts";

/** Writes a configuration without servers and a home with a token. */
async function setUp(directory: { readonly path: string; join(path: string): string }) {
  writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\nserve: { listen: 127.0.0.1:7931 }\n");
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  assert.equal((await run("token", "create", "default")).code, 0);
  return run;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("doctor --fix closes the home, removes leftovers, and a second doctor finds nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const home = directory.join(".toolcrib");
  mkdirSync(`${home}/run`, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o755);
  chmodSync(`${home}/tokens`, 0o700);
  chmodSync(`${home}/tokens/default`, 0o644);
  // A process that has ended gives an id that no gateway has.
  const { stdout: ended } = await runProcess(process.execPath, ["-p", "process.pid"], {
    cwd: directory.path,
  });
  const runFile = `${home}/run/gateway-${ended.trim()}.json`;
  writeFileSync(runFile, "{}", { mode: 0o600 });
  const draft = `${home}/tokens/.${"0".repeat(32)}.draft`;
  writeFileSync(draft, "half", { mode: 0o600 });
  const fresh = `${home}/run/.${"1".repeat(32)}.draft`;
  writeFileSync(fresh, "half", { mode: 0o600 });
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(draft, hourAgo, hourAgo);

  const seen = await run("doctor");
  assert.equal(seen.code, 1, seen.stdout);
  assert.match(seen.stdout, /! home: other users can read/);
  assert.match(
    seen.stdout,
    /✗ home files: other users can access 1 path of the home, the first is .*default\n/,
  );
  assert.match(seen.stdout, /! leftovers: run files of 1 gateway that ended/);
  assert.match(seen.stdout, /! leftovers: unfinished files of killed processes in .*tokens\n/);
  assert.match(seen.stdout, /doctor --fix repairs 5 of the findings/);
  assert.equal(modeOf(home), 0o755, "doctor without --fix changes nothing");

  const asked = await run("doctor", "--fix");
  assert.match(asked.stderr, /Nothing was changed: there is no terminal to ask; add --yes/);
  assert.ok(existsSync(runFile));

  const fixed = await run("doctor", "--fix", "--yes");
  assert.equal(fixed.code, 0, fixed.stdout);
  assert.equal(fixed.stdout.match(/^✓ done: /gm)?.length, 4);
  assert.deepEqual([modeOf(home), modeOf(`${home}/tokens/default`)], [0o700, 0o600]);
  assert.deepEqual([existsSync(runFile), existsSync(draft), existsSync(fresh)], [false, false, true]);

  const again = await run("doctor", "--fix", "--yes", "--json");
  const { ok, findings } = JSON.parse(again.stdout);
  assert.equal(ok, true);
  assert.deepEqual(
    findings.filter((one: { repair?: string }) => one.repair !== undefined),
    [],
  );
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith(".doctor-")),
    [],
  );
});

test("doctor --fix closes secrets that others can read, and keeps them", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const home = directory.join(".toolcrib");
  const setting = { directory: directory.path, stdin: "s3cr3t-value-1" };
  assert.equal((await runToolcrib(["secret", "set", "one"], setting)).code, 0);
  chmodSync(`${home}/secrets`, 0o755);
  chmodSync(`${home}/secrets/.store`, 0o755);
  assert.equal((await run("doctor")).code, 1);
  const fixed = await run("doctor", "--fix", "--yes");
  assert.equal(fixed.code, 0, fixed.stdout);
  assert.match((await run("doctor")).stdout, /✓ secrets: 1 in /);
});

test("doctor --fix creates a missing token and removes a socket that nobody listens on", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const home = directory.join(".toolcrib");
  rmSync(`${home}/tokens/default`);
  mkdirSync(`${home}/run`, { recursive: true, mode: 0o700 });
  const [dead, live] = [`${home}/run/dead.sock`, `${home}/run/live.sock`];
  // A killed process leaves its socket in the file system.
  const script = `require("net").createServer().listen(${JSON.stringify(dead)}, () => process.kill(process.pid, 9))`;
  await runProcess(process.execPath, ["-e", script], { cwd: directory.path });
  const server = createServer().listen(live);
  await new Promise((resolve) => server.once("listening", resolve));
  const hourAgo = Date.now() / 1000 - 3600;
  for (const path of [dead, live]) {
    chmodSync(path, 0o600);
    utimesSync(path, hourAgo, hourAgo);
  }
  const fixed = await run("doctor", "--fix", "--yes");
  server.close();
  assert.match(fixed.stdout, /✓ done: create the token "default"\n/);
  assert.match(fixed.stdout, /✓ done: remove .*dead\.sock\n/);
  assert.equal(existsSync(dead), false);
  assert.doesNotMatch(fixed.stdout, /remove .*live\.sock/);
  assert.match((await run("doctor")).stdout, /✓ tokens: 1 in /);
});

test("doctor --fix writes an old entry of a client again, and disconnect still restores the file", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const file = directory.join(".cursor/mcp.json");
  mkdirSync(directory.join(".cursor"));
  const before = '{\n  // mine\n  "mcpServers": { "other": { "command": "node" } }\n}\n';
  writeFileSync(file, before);
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.match((await run("doctor")).stdout, /✓ client cursor: .*has the entry of this gateway/);

  writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\nserve: { listen: 127.0.0.1:7932 }\n");
  const seen = await run("doctor");
  assert.equal(seen.code, 1);
  assert.match(seen.stdout, /✗ client cursor: .*does not connect to this gateway .*7932/);
  const fixed = await run("doctor", "--fix", "--yes");
  assert.equal(fixed.code, 0, fixed.stdout);
  assert.match(readFileSync(file, "utf8"), /127\.0\.0\.1:7932\/mcp/);
  assert.match((await run("doctor")).stdout, /✓ client cursor/);
  assert.equal((await run("disconnect", "cursor")).code, 0);
  assert.equal(readFileSync(file, "utf8"), before);
});

test("doctor finds the entries of all clients in order, whether they connect or start a gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const ids = clientPrograms.map(({ id }) => id);
  for (const how of [[], ["--stdio"]]) {
    assert.equal((await run("connect", ...ids, ...how, "--yes")).code, 0);
    const { stdout } = await run("doctor", "--json");
    const { findings } = JSON.parse(stdout) as { findings: { subject: string; status: string }[] };
    const clients = findings.filter(({ subject }) => subject.startsWith("client "));
    assert.deepEqual(
      clients.map(({ subject, status }) => `${subject} ${status}`),
      ids.map((id) => `client ${id} ok`),
    );
  }
});

test("doctor --fix keeps how a client connects whose entry starts a program that is gone", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  for (const [id, file, how, kept] of [
    ["claude-desktop", ".config/Claude/claude_desktop_config.json", [], "bridge"],
    ["claude-desktop", ".config/Claude/claude_desktop_config.json", ["--stdio"], "--stdio"],
    ["goose", ".config/goose/config.yaml", ["--stdio"], "--stdio"],
    ["opencode", ".config/opencode/opencode.json", ["--stdio"], "--stdio"],
  ] as const) {
    assert.equal((await run("connect", id, ...how, "--yes")).code, 0);
    const path = directory.join(file);
    const written = readFileSync(path, "utf8");
    // The Node of an entry is gone, and then the command that it runs.
    for (const program of [process.execPath, launcherPath]) {
      assert.ok(written.includes(program), written);
      writeFileSync(path, written.replace(program, "/gone/program"));
      const fixed = await run("doctor", "--fix", "--yes");
      assert.match(fixed.stdout, /✗ client .*starts "\/gone\/program", which does not exist/);
      assert.match(fixed.stdout, /✓ done: write the entry of this gateway/);
      assert.equal(readFileSync(path, "utf8"), written, kept);
      assert.ok(written.includes(kept), written);
    }
  }
});

test("doctor --fix reports damaged files of the home, keeps them, and makes the repairs of others", async () => {
  const check = async (file: string, damage: (path: string) => void, message: RegExp) => {
    await using directory = await makeTemporaryDirectory();
    const run = await setUp(directory);
    const configuration = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:7931" } };
    writeFileSync(directory.join("toolcrib.yaml"), JSON.stringify(configuration));
    assert.match((await run("doctor")).stdout, /✓ server echo: responds/);
    const path = directory.join(".toolcrib", file);
    rmSync(path);
    damage(path);
    const draft = directory.join(`.toolcrib/tokens/.${"0".repeat(32)}.draft`);
    writeFileSync(draft, "half", { mode: 0o600 });
    utimesSync(draft, 1_000_000, 1_000_000);
    const before = statSync(path);
    const { code, stdout, stderr } = await run("doctor", "--fix", "--yes");
    assert.equal(code, 1, stderr);
    assert.match(stdout, message);
    assert.match(stdout, /✓ done: remove unfinished files/);
    assert.equal(existsSync(draft), false);
    const { ino, size } = statSync(path);
    assert.deepEqual([ino, size], [before.ino, before.size]);
  };
  const half = (path: string) => writeFileSync(path, "half", { mode: 0o600 });
  await check("audit-key.pem", half, /✗ gateway: it cannot start: Cannot read the key of the audit trail /);
  await check("audit-fingerprints.key", half, /✗ gateway: it cannot start: Cannot read the key of the fing/);
  await check("audit/001-00000001.jsonl", mkdirSync, /✗ audit: .*it is a directory, not a regular file/);
});

test("doctor reports a client file that cannot be read, and does not change it", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = await setUp(directory);
  const file = directory.join(".cursor/mcp.json");
  mkdirSync(directory.join(".cursor"));
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  writeFileSync(file, '{ "mcpServers": ');
  const fixed = await run("doctor", "--fix", "--yes");
  assert.equal(fixed.code, 1);
  assert.match(fixed.stdout, /✗ client cursor: .*not readable JSON/);
  assert.equal(readFileSync(file, "utf8"), '{ "mcpServers": ');
});
