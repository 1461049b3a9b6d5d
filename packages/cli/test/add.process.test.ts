import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { onTerminal, shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { writeCatalog } from "./toolspec-samples.ts";
import {
  golden,
  normalize,
  onAnyMachine,
  type RunSetting,
  runToolcrib,
  sortServers,
  startServe,
  transcript,
} from "./transcript.ts";

const canary = "c4nary-value-of-a-secret";

/** Runs command lines one after the other, and returns their transcript. */
async function inOrder(
  commands: readonly (readonly [args: readonly string[], setting?: Omit<RunSetting, "directory">])[],
  directory: string,
): Promise<string> {
  const texts: string[] = [];
  for (const [args, setting] of commands) {
    const env = { TOOLCRIB_CATALOG: "catalog", ...setting?.env };
    texts.push(await transcript([args], { stdin: "", ...setting, env, directory }));
  }
  return texts.join("\n");
}

test("catalog lists, finds and shows the available APIs", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const text = await inOrder(
    [
      [["catalog", "list"]],
      [["add", "--list", "--json"]],
      [["catalog", "list", "--category", "Support"]],
      [["catalog", "list", "--category", "none"]],
      [["catalog", "search", "messages"]],
      [["catalog", "search", "nothing-like-that"]],
      [["catalog", "show", "desk"]],
      [["catalog", "show", "acme@0.1.0", "--json"]],
      [["catalog", "show", "acmee"]],
      [["catalog", "show", "acme@9.9.9"]],
      [["catalog", "list"], { env: { TOOLCRIB_CATALOG: "none" } }],
    ],
    directory.path,
  );
  checkGolden(golden("catalog.txt"), text);
});

test("add writes an API of the catalog to a new configuration, and a second run changes nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const text = await inOrder(
    [
      [["add", "acme"], { stdin: `${canary}\n` }],
      [["add", "acme"]],
      [["add", "acme", "--json"]],
      [["add", "acme@0.1.0", "--id", "old", "--secret", "token=acme-token", "--all-tools"]],
      [["add", "desk", "--variable", "tenant=blue"], { stdin: `ada:${canary}` }],
      [["add", "mail", "--without-secrets"]],
      [["add", "mail"], { stdin: canary }],
      [["add", "open"]],
      [["config", "check"]],
      [["list"]],
      [["status"]],
      [["secret", "list"]],
    ],
    directory.path,
  );
  const written = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.doesNotMatch(text + written, /c4nary/);
  const added = written.slice(written.indexOf("\ntoolspecs:"));
  checkGolden(golden("add.txt"), `${text}\n# toolcrib.yaml ends with${added}`);
  assert.ok(existsSync(directory.join("toolcrib.schema.json")));
});

test("add keeps everything else in a configuration unchanged", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const before =
    "# Ours.\ntool_servers: []   # none\n\ntoolspecs:\n# The first one.\n- {name: mail, credentials: {access: {secret_key_ref: {env: MAIL}}}}   # by variable\n\n# Last words.\n";
  writeFileSync(directory.join("own.yaml"), before);
  const setting = { directory: directory.path, env: { TOOLCRIB_CATALOG: "catalog" }, stdin: canary };
  const outcome = await runToolcrib(["add", "acme", "--config", "own.yaml"], setting);
  assert.equal(outcome.code, 0, outcome.stderr);
  const after = readFileSync(directory.join("own.yaml"), "utf8");
  const item = "- name: acme\n  credentials:\n    token: { secret_key_ref: acme-token }\n";
  assert.equal(after, before.replace("# by variable\n", `# by variable\n${item}`));
  assert.ok(!existsSync(directory.join("toolcrib.yaml")));
});

test("add writes through a symbolic link and keeps the mode of its target", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  for (const folder of ["dotfiles", "project"]) mkdirSync(directory.join(folder));
  const real = directory.join("dotfiles/tools.yaml");
  const setting = {
    directory: directory.join("project"),
    env: { TOOLCRIB_CATALOG: directory.join("catalog") },
    stdin: canary,
  };
  symlinkSync("../dotfiles/tools.yaml", directory.join("project/linked.yaml"));
  symlinkSync("linked.yaml", directory.join("project/toolcrib.yaml"));
  // The first link leads to a file that does not exist yet.
  for (const [name, mode] of [
    ["open", 0o644],
    ["mail", 0o640],
  ] as const) {
    if (existsSync(real)) chmodSync(real, mode);
    const outcome = await runToolcrib(["add", name, "--without-secrets"], setting);
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.match(readFileSync(real, "utf8"), new RegExp(`name: ${name}\\n`));
    assert.equal(statSync(real).mode & 0o777, mode);
  }
  assert.equal(readlinkSync(directory.join("project/toolcrib.yaml")), "linked.yaml");
  assert.equal(readlinkSync(directory.join("project/linked.yaml")), "../dotfiles/tools.yaml");
  assert.deepEqual(readdirSync(directory.join("dotfiles")), ["tools.yaml"]);
});

test("add explains what to do when it fails", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  writeFileSync(directory.join("bad.yaml"), "tool_server: []\n");
  writeFileSync(directory.join("by-hand.yaml"), "toolspecs: &all\n- { name: open, tools: all }\n");
  writeFileSync(
    directory.join("taken.yaml"),
    "tool_servers:\n- { id: acme, transport: { kind: stdio, command: x } }\ntoolspecs:\n- { name: open, id: mail, tools: all }\n",
  );
  const text = await inOrder(
    [
      [["add"]],
      [["add", "acmee"], { stdin: canary }],
      [["add", "list messages"], { stdin: canary }],
      [["add", "acme@9.9.9"], { stdin: canary }],
      [["add", "acme"]],
      [["add", "acme"], { stdin: "a\nb" }],
      [["add", "acme", "--secret", "token=none"]],
      [["add", "acme", "--secret", "tokn=none"]],
      [["add", "acme", "--secret", "token"]],
      [["add", "desk"], { stdin: canary }],
      [["add", "desk", "--variable", "tenent=x"], { stdin: canary }],
      [["add", "desk", "--variable", "tenant=x/y"], { stdin: canary }],
      [["add", "acme", "--config", "bad.yaml"], { stdin: canary }],
      [["add", "acme", "--config", "by-hand.yaml"], { stdin: canary }],
      [["add", "acme", "--config", "taken.yaml"], { stdin: canary }],
      [["add", "mail", "--config", "taken.yaml"], { stdin: canary }],
      [["add", "acme", "--id", "a__b"], { stdin: canary }],
    ],
    directory.path,
  );
  assert.doesNotMatch(text, /c4nary/);
  checkGolden(golden("add-refused.txt"), text);
  assert.ok(!existsSync(directory.join("toolcrib.yaml")), "nothing was written");
});

test("serve, status, list and doctor show the states of toolspecs", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const env = { TOOLCRIB_CATALOG: directory.join("catalog") };
  const setting = { directory: directory.path, env };
  writeFileSync(directory.join("toolcrib.yaml"), "serve: { listen: 127.0.0.1:0 }\n");
  await runToolcrib(["add", "acme", "--all-tools"], { ...setting, stdin: canary });
  await runToolcrib(["add", "mail", "--without-secrets"], setting);
  await using gateway = await startServe([], setting);
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  const printed = sortServers(gateway.stdout());
  const served = normalize(
    printed.split(/\n(?:Connect a client|No client is found)/)[0] ?? "",
    directory.path,
  );
  const shown = await inOrder(
    [
      [["status"], { env }],
      [["list", "--server", "acme"], { env }],
      [["list", "--server", "mail"], { env }],
      [["call", "mail__get_repo", "--arg", "id=x"], { env }],
      [["doctor"], { env }],
    ],
    directory.path,
  );
  assert.doesNotMatch(shown + served, /c4nary/);
  checkGolden(golden("toolspecs-served.txt"), `$ toolcrib serve\n${served}\n${onAnyMachine(shown)}`);
});

test("a denied call of a toolspec's tool leaves one record, and is answered the same for every form of arguments", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const setting = { directory: directory.path, env: { TOOLCRIB_CATALOG: directory.join("catalog") } };
  writeFileSync(directory.join("toolcrib.yaml"), "policy: { deny: ['acme:get_repo', 'acme:never'] }\n");
  await runToolcrib(["add", "acme", "--all-tools"], { ...setting, stdin: canary });
  const byJson = await runToolcrib(["call", "acme:get_repo", '{"id": "x"}'], setting);
  const byPairs = await runToolcrib(["call", "acme:get_repo", "--arg", "id=x"], setting);
  assert.equal(byJson.code, 3);
  assert.match(byJson.stderr, /error POLICY_DENIED/);
  assert.deepEqual(byPairs, byJson);
  const { stdout } = await runToolcrib(["audit", "list", "--json"], setting);
  const denied = JSON.parse(stdout).filter(({ type }: { readonly type: string }) => type === "call.denied");
  assert.equal(denied.length, 2, stdout);
});

test("add --yes asks nothing on a terminal about what is meant", { skip: skipWithoutTerminal }, async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const setting = {
    directory: directory.path,
    env: { TOOLCRIB_CATALOG: "catalog", NO_COLOR: "1" },
    // An answer to a question would add what was not named.
    stdin: "1\n",
  };
  const shown = await onTerminal(["add", "repositories", "--yes"], setting);
  assert.doesNotMatch(shown, /Which one/);
  const line = shown.replaceAll(/\s+/g, " ");
  assert.match(
    line,
    /error CLI_TOOLSPEC_NOT_FOUND: The catalog has nothing with "repositories" in its name or title/,
  );
  assert.match(
    line,
    /hint: .* catalog search repositories lists what mentions it; .* add npm:repositories --yes, .* add pypi:repositories --yes; a server elsewhere by its URL, or after -- by its command line/,
  );
  const unnamed = await onTerminal(["add", "--yes"], setting);
  assert.match(unnamed, /error CLI_USAGE: The name of the API or server is missing/);
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});

test("add asks on a terminal for the API, for confirmation, and for the secret, which it does not show", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const env = { TOOLCRIB_CATALOG: "catalog", NO_COLOR: "1" };
  await using terminal = new Terminal(shellLine(["add"]), { directory: directory.path, env });
  for (const [question, answer] of [
    [/Which API or server\?/, "repositories"],
    [/Which one\? \(1 to \d, or Enter/, "acme"],
    [/Add it to toolcrib\.yaml\? \[Y\/n\]/, "y"],
    [/Value of acme-token \(it is not shown\)/, canary],
  ] as const) {
    await terminal.untilShown(question);
    terminal.press(`${answer}\r`);
  }
  const code = await terminal.end();
  const shown = terminal.text;
  assert.equal(code, 0, shown);
  assert.match(shown, /added acme to toolcrib\.yaml/);
  assert.doesNotMatch(shown, /c4nary/);
  const kept = await runToolcrib(["secret", "test", "acme-token"], { directory: directory.path });
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(readFileSync(directory.join("toolcrib.yaml"), "utf8"), /name: acme/);
});

test("add says that the running gateway takes a new entry over, or that it does not read its file", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  writeFileSync(directory.join("toolcrib.yaml"), "serve: { listen: 127.0.0.1:0 }\n");
  const setting = { directory: directory.path, env: { TOOLCRIB_CATALOG: "catalog" } };
  await using _gateway = await startServe([], setting);
  const { code, stdout } = await runToolcrib(["add", "acme", "--without-secrets"], { ...setting, stdin: "" });
  assert.equal(code, 0, stdout);
  assert.match(
    stdout,
    /✓ added acme to toolcrib\.yaml\na gateway is running: it takes the change over within a second\n\nTry\n/,
  );
  // No call that cannot work yet.
  assert.match(stdout, /! store its secret: /);
  assert.doesNotMatch(stdout, /call acme__/);
  writeFileSync(directory.join("other.yaml"), "toolspecs: []\n");
  const words = ["--config", "other.yaml", "add", "acme", "--without-secrets"];
  const other = await runToolcrib(words, { ...setting, stdin: "" });
  assert.match(other.stdout, /! a gateway is running with .*toolcrib\.yaml: it does not read other\.yaml\n/);
  const removed = await runToolcrib(["remove", "acme", "--yes"], setting);
  assert.match(
    removed.stdout,
    /\nRemoved "acme"\na gateway is running: it takes the change over within a second\n$/,
  );
  const elsewhere = await runToolcrib(["--config", "other.yaml", "remove", "acme", "--yes"], setting);
  assert.match(
    elsewhere.stdout,
    /Removed "acme"\n! a gateway is running with .*: it does not read other\.yaml\n$/,
  );
});

test("add offers what search words can mean, and says that there is nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path, stdin: "" };
  const offered = async (words: string) => {
    const { code, stderr } = await runToolcrib(["add", words, "--yes"], setting);
    assert.equal(code, 4, stderr);
    return /did you mean (?:one of )?([^?]*)\?/.exec(stderr)?.[1]?.split(", ") ?? [];
  };
  assert.deepEqual(await offered("read files"), ["filesystem"]);
  assert.deepEqual((await offered("send email")).toSorted(), ["gmail", "sendgrid"]);
  assert.deepEqual((await offered("customer payments")).toSorted(), ["square", "stripe"]);
  assert.deepEqual(await offered("weather"), []);
  // One word is a name, or the beginning of a word of one; a description that mentions it is no name.
  assert.deepEqual(await offered("notes"), []);
  assert.deepEqual(await offered("post"), []);
  assert.deepEqual(await offered("hub"), ["hubspot"]);
  assert.deepEqual(await offered("Google"), ["google-calendar", "google-drive"]);
  assert.deepEqual(await offered("drive"), ["google-drive"]);
  // "google" and "mail" are words of entries, and together of none.
  assert.deepEqual(await offered("google mail"), []);
  // In a sentence, the words that few entries have decide: one of a tool of another entry is not all of it.
  assert.deepEqual((await offered("send an email to a customer")).toSorted(), ["gmail", "sendgrid"]);
  assert.deepEqual(await offered("post a message to a chat channel"), ["telegram"]);
  // A word that no entry has does not count.
  assert.deepEqual(await offered("slack zzzzqq"), ["slack"]);
});

test("Enter at the question which entry is meant ends as an answer of no does, without an error", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const env = { NO_COLOR: "1" };
  const answered = async (words: readonly string[], question: RegExp, answer: string) => {
    await using terminal = new Terminal(shellLine(words), { directory: directory.path, env });
    await terminal.untilShown(question);
    terminal.press(`${answer}\r`);
    return { code: await terminal.end(), shown: terminal.text };
  };
  const questions = [
    [["add", "google"], /Which one\? \(1 to 2, or Enter for none\) $/],
    [["add", "drive"], /1 {2}google-drive [\s\S]*Is it this one\? \(1, or Enter for none\) $/],
    [["add"], /Which API or server\?/],
  ] as const;
  for (const [words, question] of questions) {
    const { code, shown } = await answered(words, question, "");
    assert.equal(code, 1, shown);
    assert.match(
      shown,
      /Nothing was added\. What the catalog does not have is added by its package, URL\s+or command line:/,
    );
    assert.doesNotMatch(shown, /error/);
  }
  const none = await answered(["--json", "add", "google"], /or Enter for none\) $/, "");
  assert.equal(none.code, 1, none.shown);
  assert.match(none.shown, /"id": null,\s+"file": ".*toolcrib\.yaml",\s+"entry": null,\s+"result": "shown"/);
  const declined = await answered(["add", "stripe"], /Add it to toolcrib\.yaml\? \[Y\/n\] /, "n");
  assert.equal(declined.code, 1, declined.shown);
  assert.match(declined.shown, /Nothing was added\r\n$/);
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});

test("add says which options change nothing, because the entry is there already", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path, stdin: "" };
  const first = await runToolcrib(["add", "stripe", "--without-secrets", "--yes"], setting);
  assert.equal(first.code, 0, first.stderr);
  const text = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  const again = await runToolcrib(["add", "stripe", "--without-secrets", "--yes", "--all-tools"], setting);
  assert.equal(again.code, 0, again.stderr);
  assert.match(
    again.stdout,
    /^! --all-tools changes nothing: the entry of stripe stays as it is\. Edit it in toolcrib\.yaml, or remove it \(.* remove stripe\) and add it again$/m,
  );
  assert.equal(readFileSync(directory.join("toolcrib.yaml"), "utf8"), text);
  const servers = "tool_servers:\n  - id: memory\n    transport: { kind: stdio, manifest: memory }\n";
  writeFileSync(directory.join("toolcrib.yaml"), servers);
  const server = await runToolcrib(
    ["add", "memory", "--server-arg", "/srv", "--read", "/srv", "--yes"],
    setting,
  );
  assert.equal(server.code, 0, server.stderr);
  assert.match(server.stdout, /^! --server-arg, --read change nothing: the entry of memory stays/m);
  const json = await runToolcrib(["--json", "add", "memory", "--read", "/srv", "--yes"], setting);
  assert.deepEqual(JSON.parse(json.stdout).unused, ["--read"]);
});

test("add names the entries with the same package of the same registry, however they write it", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("bin"));
  // The runner of the package, which fetches nothing: what is compared is shown before.
  writeFileSync(directory.join("bin/uvx"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const commands: { readonly [id: string]: readonly string[] } = {
    normalized: ["uvx", "Mcp_Server.Time"],
    extra: ["uvx", "--from", "mcp-server-time[cli]==2025.8.4", "time"],
    version: ["uvx", "mcp-server-time@2025.8.4"],
    longer: ["uvx", "mcp-server-time-zones"],
    registry: ["npx", "-y", "mcp-server-time"],
    argument: ["npx", "@acme/x", "--mode", "mcp-server-time"],
    program: [process.execPath, "mcp-server-time"],
  };
  const servers = Object.entries(commands).map(([id, [command, ...args]]) => ({
    id,
    transport: { kind: "stdio", command, args },
  }));
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers }));
  const env = { PATH: `${directory.join("bin")}:${process.env["PATH"] ?? ""}` };
  const setting = { directory: directory.path, env, stdin: "" };
  const { stdout, stderr } = await runToolcrib(["add", "time", "--yes"], setting);
  assert.match(
    stdout,
    /^ {2}already +normalized, extra, version have this package; clients get the tools of each entry$/m,
    stderr,
  );
});
