/** `toolcrib remove`: entries leave the configuration, and every other byte stays. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

async function setUp(text: string, name = "toolcrib.yaml") {
  const directory = await makeTemporaryDirectory();
  const path = directory.join(name);
  writeFileSync(path, text);
  const setting = { directory: directory.path };
  return {
    directory,
    setting,
    text: () => readFileSync(path, "utf8"),
    run: (...words: readonly string[]) => runToolcrib(words, setting),
  };
}

const head = "# my tools\nserve: { listen: '127.0.0.1:0' } # here\n";

/** Removes `ids` from a configuration and compares the file. */
async function check(before: string, ids: readonly string[], after: string): Promise<void> {
  const { directory, run, text } = await setUp(before);
  await using _directory = directory;
  const dry = await run("remove", ...ids, "--dry-run");
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal(text(), before);
  const removed = await run("remove", ...ids, "--yes");
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(text(), after);
  assert.ok(!readdirSync(directory.path).some((name) => name.endsWith(".tmp")));
}

const a = "  - id: a\n    transport: { kind: stdio, command: node }\n";
const b =
  "  # about b\n  - id: b   # same line\n    # inside b\n    transport:\n      kind: stdio\n      command: node\n    # trust_state: certified\n";
const c =
  '\n  # a heading\n\n  # about c\n  - id: c\n    transport: { kind: stdio, command: node }\n# the end\npolicy:\n  deny: ["c:x"]\n';

test("an entry goes with its own comments, and those of others stay", async () => {
  const whole = `${head}tool_servers:\n${a}${b}${c}`;
  await check(whole, ["b"], `${head}tool_servers:\n${a}${c}`);
  await check(whole, ["a"], `${head}tool_servers:\n${b}${c}`);
  await check(
    whole,
    ["c", "a"],
    `${head}tool_servers:\n${b}\n  # a heading\n\n# the end\npolicy:\n  deny: ["c:x"]\n`,
  );
  await check(`${head}tool_servers:\n${a}`, ["a"], `${head}tool_servers: []\n`);
  const crlf = whole.replaceAll("\n", "\r\n");
  await check(crlf, ["b"], `${head}tool_servers:\n${a}${c}`.replaceAll("\n", "\r\n"));
  const flow =
    '{"tool_servers": [\n  {"id": "a", "transport": {"kind": "stdio", "command": "node"}},\n  {"id": "b", "transport": {"kind": "stdio", "command": "node"}}\n]}\n';
  await check(flow, ["a"], flow.replace(/\{"id": "a".*,\n {2}/, ""));
  await check(flow, ["b"], flow.replace(/,\n {2}\{"id": "b".*/, ""));
  await check(flow, ["a", "b"], '{"tool_servers": [\n  \n]}\n');
});

test("an entry that makes the configuration invalid can be removed, and a removal never makes one invalid", async () => {
  const broken = "  - id: x\n    transport: { kind: nothing }\n";
  await check(`tool_servers:\n${a}${broken}`, ["x"], `tool_servers:\n${a}`);
  const { directory, run, text } = await setUp(
    `tool_servers:\n  - &one\n    id: a\n    transport: { kind: stdio, command: node }\n${broken}`,
  );
  await using _directory = directory;
  const before = text();
  for (const id of ["a", "x"]) {
    const outcome = await run("remove", id, "--yes");
    if (id === "a") assert.notEqual(outcome.code, 0);
  }
  assert.equal(text().includes("&one"), before.includes("&one"));
});

test("what cannot be removed is explained, and nothing is written", async () => {
  const whole = `tool_servers:\n${a}`;
  const { directory, run, text } = await setUp(whole);
  await using _directory = directory;
  const near = await run("remove", "aa", "--yes");
  assert.match(near.stderr, /no tool server and no toolspec "aa"\nhint: /);
  const noTerminal = await run("remove", "a");
  assert.deepEqual([noTerminal.code, /add --yes/.test(noTerminal.stderr)], [2, true]);
  const foreign = directory.join(".mcp.json");
  writeFileSync(foreign, '{"mcpServers": {"theirs": {"command": "node"}}}');
  const other = await run("remove", "theirs", "--yes", "--config", foreign);
  assert.match(other.stderr, /notation of another program\nhint: remove it there.*disable server theirs/);
  assert.equal(text(), whole);
  assert.equal(readFileSync(foreign, "utf8"), '{"mcpServers": {"theirs": {"command": "node"}}}');
});

test("--purge removes what only the entry used, and names what stays", async () => {
  const withSecret = (id: string, names: readonly string[]) =>
    `  - id: ${id}\n    transport:\n      kind: stdio\n      command: node\n      env: { ${names.map((name) => `${name}: { secret_key_ref: ${name} }`).join(", ")} }\n`;
  const { directory, setting, run, text } = await setUp(
    `tool_servers:\n${withSecret("a", ["OWN", "SHARED"])}${withSecret("b", ["SHARED"])}policy: { deny: ["a:x"] }\n`,
  );
  await using _directory = directory;
  for (const name of ["OWN", "SHARED"]) {
    const stored = await runToolcrib(["secret", "set", name], { ...setting, stdin: "value\n" });
    assert.equal(stored.code, 0, stored.stderr);
  }
  assert.equal((await run("disable", "server", "a")).code, 0);
  mkdirSync(directory.join(".toolcrib/pins"), { recursive: true });
  const kept = await run("remove", "a", "--dry-run");
  assert.match(kept.stdout, /not used any more secret OWN\nnot used any more switch a\n/);
  assert.match(
    kept.stdout,
    /\nWhat is not used any more is kept; remove --purge deletes it with the entry\n/,
  );
  assert.match(kept.stdout, /stays policy\.deny: "a:x"/);
  assert.doesNotMatch(kept.stdout, /SHARED$/m);
  const asked = await run("remove", "a", "--purge");
  assert.match(asked.stdout, /\nto remove secret OWN\nto remove switch a\n$/);
  const purged = await run("remove", "a", "--purge", "--yes");
  assert.match(
    purged.stdout,
    /\nRemoved "a"\nalso removed secret OWN\nalso removed switch a\n/,
    purged.stderr,
  );
  assert.doesNotMatch(purged.stdout, /to remove|would remove/);
  assert.doesNotMatch(text(), /id: a\b/);
  const last = (await run("remove", "b", "--yes")).stdout;
  // Pasted afterwards, --purge would find nothing.
  assert.match(last, /\nWhat is not used any more is kept\n/);
  assert.doesNotMatch(last, /--purge/);
  const secrets = (await run("secret", "list")).stdout;
  assert.deepEqual([secrets.includes("OWN"), secrets.includes("SHARED")], [false, true]);
  // The entry is gone, and --purge with it: what is kept has commands of its own.
  assert.match(last, /\nKept, and used by no entry; remove with:\n {2}\S.* secret rm SHARED\n$/);
  assert.equal((await run("secret", "rm", "SHARED")).code, 0);
  assert.equal(existsSync(directory.join(".toolcrib/switches.json")), false);
});

test("--purge removes the fetched versions that only the entry used, and names those that stay and who uses them", async () => {
  const entry = (id: string, words: string) =>
    `  - id: ${id}\n    transport: { kind: stdio, command: npx, args: [${words}] }\n`;
  const [one, two] = ['"-y", "@acme/notes@1.0.0"', '"-y", "@acme/notes@2.0.0"'];
  const { directory, run } = await setUp(
    `tool_servers:\n${entry("a", one)}${entry("b", two)}${entry("c", one)}${entry("d", two)}`,
  );
  await using _directory = directory;
  const place = (version: string) => directory.join(`.toolcrib/fetched/npm-${version}`);
  for (const version of ["1.0.0", "2.0.0", "3.0.0"]) {
    mkdirSync(place(version), { recursive: true });
    const receipt = {
      ...{ version: 1, kind: "npm", packages: [`@acme/notes@${version}`], folder: "v1", program: "program" },
      ...{ locked: [{ name: "@acme/notes", version, integrity: "sha512-x" }], treeDigest: "0".repeat(64) },
      ...{ files: 1, bytes: 1, fetchedAt: 1 },
    };
    writeFileSync(`${place(version)}/receipt.json`, JSON.stringify(receipt));
  }
  const stays = () => ["1.0.0", "2.0.0", "3.0.0"].filter((version) => existsSync(place(version)));
  const first = await run("remove", "a", "b", "--purge", "--yes");
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stdout,
    /stays fetched package @acme\/notes 1\.0\.0: "c" uses it\nstays fetched package @acme\/notes 2\.0\.0: "d" uses it\n(?:- .*\n)*Removed "a", "b"\nalso removed fetched package @acme\/notes 3\.0\.0\n/,
  );
  assert.deepEqual(stays(), ["1.0.0", "2.0.0"]);
  // The other version of the same package is used, and this one is not.
  const second = await run("remove", "c", "--purge", "--yes", "--json");
  assert.deepEqual(JSON.parse(second.stdout).keptPackages, [{ name: "@acme/notes 2.0.0", usedBy: ["d"] }]);
  assert.deepEqual(stays(), ["2.0.0"]);
  assert.equal((await run("remove", "d", "--purge", "--yes")).code, 0);
  assert.deepEqual(stays(), []);
});

test("--purge keeps what another configuration of the home uses, and removes nothing where that is not known", async () => {
  const entry = (id: string, names: readonly string[]) =>
    `  - id: ${id}\n    transport:\n      kind: stdio\n      command: node\n      env: { ${names.map((name) => `${name}: { secret_key_ref: ${name} }`).join(", ")} }\n`;
  const { directory, setting, run, text } = await setUp(`tool_servers:\n${entry("a", ["OWN", "SHARED"])}`);
  await using _directory = directory;
  for (const name of ["OWN", "SHARED"]) {
    const stored = await runToolcrib(["secret", "set", name], { ...setting, stdin: "value\n" });
    assert.equal(stored.code, 0, stored.stderr);
  }
  const other = directory.join(".toolcrib/toolcrib.yaml");
  writeFileSync(other, "tool_servers: 7\n");
  const refused = await run("remove", "a", "--purge", "--yes");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /It is not known what .*\.toolcrib\/toolcrib\.yaml still uses/);
  assert.match(text(), /id: a\b/);
  writeFileSync(other, `tool_servers:\n${entry("z", ["SHARED"])}`);
  const purged = await run("remove", "a", "--purge", "--yes");
  assert.match(
    purged.stdout,
    /stays secret SHARED: another configuration of the home uses it\nRemoved "a"\nalso removed secret OWN/,
  );
  const secrets = (await run("secret", "list")).stdout;
  assert.deepEqual([secrets.includes("OWN"), secrets.includes("SHARED")], [false, true]);
});

test("unfinished files that killed commands left beside the configuration are removed", async () => {
  const { directory, run } = await setUp(`${head}tool_servers:\n${a}${b}`);
  await using _directory = directory;
  const [old = "", fresh = "", other = ""] = [
    `.${"0".repeat(32)}.draft`,
    `.${"1".repeat(32)}.draft`,
    "notes.draft",
  ].map((name) => directory.join(name));
  for (const path of [old, fresh, other]) writeFileSync(path, "half");
  for (const path of [old, other]) utimesSync(path, 1_000_000, 1_000_000);
  assert.equal((await run("remove", "a", "--yes")).code, 0);
  assert.deepEqual([old, fresh, other].map(existsSync), [false, true, true]);
});
