/**
 * Unknown names, in every command that takes a name: one exit code, and the nearest name. The rules are in
 * `docs/reference/cli.md`, from whose usage lines the test takes the commands.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { commandLineReference } from "@toolcrib/cli";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

/** Command lines with a name that is misspelled, and the name that is meant. Without one, nothing can be near. */
const misspelled: readonly (readonly [line: string, near?: string])[] = [
  ["approve flies", "files"],
  ["call files:ecko {}", "files:echo"],
  ["call flies:echo {}", "files:echo"],
  ["catalog show githb", "github"],
  ["chains optimize demo.absent"],
  ["add githb", "github"],
  ["connect cursr", "cursor"],
  ["describe files:ecko", "files:echo"],
  ["disable server flies", "files"],
  ["disable tool files:ecko", "files:echo"],
  ["disconnect cursr", "cursor"],
  ["enable server flies", "files"],
  ["enable tool files:ecko", "files:echo"],
  ["explain CALL_PAUSD", "CALL_PAUSED"],
  ["explain CONFIG_INVALD", "CLI_CONFIG_INVALID"],
  ["fetched remove absent"],
  ["import clients cursr", "cursor"],
  ["info demo.absent"],
  ["labels forget cil", "cli"],
  ["labels show cil", "cli"],
  ["list --server flies", "files"],
  ["login flies", "files"],
  ["logout flies", "files"],
  ["logs flies", "files"],
  ["pause server flies", "files"],
  ["pause tool flies:echo", "files:echo"],
  ["regressions demo.absent"],
  ["remove flies", "files"],
  ["resume server flies", "files"],
  ["saved approve reprot", "report"],
  ["saved delete reprot", "report"],
  ["saved export reprot out", "report"],
  ["saved publish reprot --id demo.report --registry ./registry", "report"],
  ["saved run reprot", "report"],
  ["saved show reprot", "report"],
  ["saved test reprot", "report"],
  ["search forget --identity cil"],
  ["search forget --tool files:ecko"],
  ["secret rm githb-token", "github-token"],
  ["secret test githb-token", "github-token"],
  ["serve --stdio --profile dv", "dev"],
  ["test demo.absent"],
  ["token revoke desc", "desk"],
  ["trace 0197c0de"],
  ["audit show 0197c0de"],
  ["uninstall demo.absent"],
  ["update flies", "files"],
  ["why files:ecko", "files:echo"],
];

/** Commands whose arguments name nothing that a home knows: files, texts, new names and words of the command line. */
const others: readonly string[] = [
  ...["init", "config check", "secret set", "token create", "policy check", "policy test", "policy diff"],
  ...["import", "import openapi", "import server", "import bundle", "toolpack", "toolpack verify", "egress"],
  ...[
    "egress check",
    "sandbox",
    "sandbox run",
    "eval",
    "save",
    "saved import",
    "starlark check",
    "starlark fmt",
  ],
  ...[
    "starlark run",
    "toolspec test",
    "lint-toolspecs",
    "lint-manifests",
    "pack",
    "validate",
    "sign",
    "verify",
  ],
  ...[
    "publish",
    "registry add",
    "registry init",
    "registry list",
    "registry remove",
    "registry renew",
    "registry rotate",
  ],
  ...[
    "registry search",
    "registry serve",
    "registry verify",
    "registry yank",
    "install",
    "search",
    "search find",
    "rank",
    "help",
  ],
  ...["completion", "completion names", "catalog search", "toolpack build", "audit find", "release"],
];

test("a name that nothing has is exit code 4 in every command, with the nearest name", async () => {
  await using directory = await makeTemporaryDirectory();
  const personal = { ...echoServer("files"), data_labels: ["personal"], trust_state: "verified" };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [personal], profiles: { dev: {} } }),
  );
  writeFileSync(directory.join("report.star"), '# Returns a text\nreturn "nothing"\n');
  mkdirSync(directory.join("registry"));
  const run = (line: string) => runToolcrib(line.split(" "), { directory: directory.path, stdin: "x" });
  const prepare = [
    ...["secret set github-token", "call files:echo --arg text=x", "save report.star"],
    ...["token create desk", "pause server files", "disable tool files:progress"],
  ];
  for (const line of prepare) assert.equal((await run(line)).code, 0, line);
  // A pause of the server would refuse the calls of the table.
  const wrong: string[] = [];
  const resumed = await run("resume server flies");
  assert.deepEqual([resumed.code, /did you mean files\?/.test(resumed.stdout)], [4, true], resumed.stdout);
  assert.equal((await run("resume server files")).code, 0);
  for (const [line, near] of misspelled) {
    if (line.startsWith("resume")) continue;
    const { code, stdout, stderr } = await run(line);
    const text = `${stdout}${stderr}`;
    const isNear = near === undefined || new RegExp(`did you mean .*${near}`).test(text);
    if (code !== 4 || !isNear) wrong.push(`${line} [${code}]\n${text}`);
  }
  assert.deepEqual(wrong, []);
});

test("release of a server that does not exist is exit code 4", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { tool_servers: [echoServer("files")], serve: { listen: "127.0.0.1:0", auth: "none" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  await using gateway = await startServe([], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  for (const line of [
    "release flies",
    "disable server flies",
    "pause server flies",
    "pause tool files:ecko",
  ]) {
    const { code, stderr } = await runToolcrib(line.split(" "), setting);
    assert.deepEqual([code, /did you mean "?files/.test(stderr)], [4, true], `${line}\n${stderr}`);
  }
});

test("every command that takes an argument is in one of the tables", async () => {
  const usages = [
    ...(await commandLineReference()).matchAll(/^Usage: toolcrib ([a-z -]*?)(?: \[options\])?( [<[].*)?$/gm),
  ];
  const taking = usages
    .filter(([, , args = ""]) => /<\w|\[\w/.test(args.replace("[command]", "").replace("[options]", "")))
    .map(([, name = ""]) => name.trim());
  const isListed = (name: string) =>
    others.includes(name) || misspelled.some(([line]) => `${line} `.startsWith(`${name} `));
  assert.deepEqual(
    taking.filter((name) => !isListed(name)),
    [],
  );
});
