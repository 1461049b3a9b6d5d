/** `toolcrib add` and `lint-manifests --live` with a real server from a registry on loopback. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  acmeManifest,
  makeTemporaryDirectory,
  type NpmRegistry,
  slowTest,
  startAcmeRegistry,
  waitUntil,
} from "@toolcrib/testing";
import { skipWithoutNpxAndSandbox } from "./skip-without-sandbox.ts";
import { shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const { PATH: shortPath = "" } = cleanEnvironment("/");
const path = process.env["PATH"] ?? "";

/** Makes a folder with links to all programs of `shortPath` except for Go, which some machines have in /usr/bin. */
function makePathWithoutGo(folder: string): string {
  mkdirSync(folder);
  const programs = new Map<string, string>();
  for (const from of shortPath.split(delimiter).filter((one) => existsSync(one)))
    for (const name of readdirSync(from)) if (!programs.has(name)) programs.set(name, join(from, name));
  programs.delete("go");
  for (const [name, program] of programs) symlinkSync(program, join(folder, name));
  return folder;
}

const skip = await skipWithoutNpxAndSandbox();

describe("the commands of adopted servers", { skip }, () => {
  let registry: NpmRegistry;
  before(async () => {
    registry = await startAcmeRegistry();
  });
  after(async () => {
    await registry[Symbol.asyncDispose]();
  });

  const run = (directory: string, args: readonly string[], more: object = {}) =>
    runToolcrib(args, {
      directory,
      timeoutMs: 90_000,
      stdin: "",
      env: { PATH: path, npm_config_registry: registry.url, npm_config_fetch_retries: "0", ...more },
    });

  it("lint-manifests --live reports differences; --write keeps comments, and records what add then installs", async () => {
    await using directory = await makeTemporaryDirectory();
    const tools = [
      "tools:",
      "  # kept",
      "  - {name: whoami, default: true}  # and this",
      "  - name: gone",
      "    default: true",
      "  - {name: get}",
    ];
    const manifest = acmeManifest()
      .replace(/^tools: .*$/m, tools.join("\n"))
      .replace("name: acme", "name: acme  # our own");
    writeFileSync(directory.join("acme.yaml"), manifest);
    const linted = await run(directory.path, ["lint-manifests", "--live", "acme.yaml"]);
    assert.equal(linted.code, 1, linted.stderr);
    assert.match(
      linted.stderr,
      /acme\.yaml:\d+:\d+: error MANIFEST_TOOL_ABSENT\nThe server has no tool "gone"/,
    );
    assert.match(linted.stderr, /MANIFEST_TOOL_UNDECLARED[\s\S]*"remove"[\s\S]*"surprise"/);
    const written = await run(directory.path, ["lint-manifests", "--live", "acme.yaml", "--write"]);
    assert.equal(written.code, 0, written.stderr);
    const text = readFileSync(directory.join("acme.yaml"), "utf8");
    const lock = readFileSync(directory.join("acme.lock.json"));
    const digest = createHash("sha256").update(lock).digest("hex");
    const expected = manifest
      .replace(
        /^tools:[\s\S]*$/m,
        [
          ...tools.slice(0, 3),
          tools[5],
          "  - {name: remove, default: false}",
          "  - {name: surprise, default: false}",
          "",
        ].join("\n"),
      )
      .replace("0".repeat(64), digest);
    assert.equal(text, expected);
    const again = await run(directory.path, ["lint-manifests", "--live", "acme.yaml"]);
    assert.match(again.stdout, /lint OK: the manifest names the 4 tools of the server/);
    // The registry has newer words by now; the lock decides.
    registry.publish({ name: "@acme/words", version: "1.5.0" }, { "index.js": "" });
    const added = await run(
      directory.path,
      ["add", "./acme.yaml", "--yes", "--secret", "token=acme-token", "--json"],
      {
        TOOLCRIB_SECRET_ACME_TOKEN: "a-secret-of-acme",
      },
    );
    assert.equal(added.code, 0, added.stderr);
    const result = JSON.parse(added.stdout) as { readonly approved: readonly string[] };
    assert.deepEqual(result.approved.toSorted(), ["whoami"]);
    const fetched = JSON.parse((await run(directory.path, ["fetched", "list", "--json"])).stdout) as {
      readonly recorded: string;
      readonly locked: readonly { readonly name: string; readonly version: string }[];
    }[];
    const locked = fetched
      .find(({ recorded }) => recorded === digest)
      ?.locked.map(({ name, version }) => `${name} ${version}`);
    assert.deepEqual(locked, ["@acme/server 1.2.3", "@acme/words 1.0.0"]);
    assert.match(
      readFileSync(directory.join("toolcrib.yaml"), "utf8"),
      /transport:\n {6}kind: stdio\n {6}manifest: \.\/acme\.yaml\n/,
    );
    const doctor = await run(directory.path, ["doctor"], { TOOLCRIB_SECRET_ACME_TOKEN: "a-secret-of-acme" });
    assert.match(doctor.stdout, /server acme: responds: 1 tool/);
  });

  it("add writes nothing when the server does not start, or its runner is missing", async () => {
    await using directory = await makeTemporaryDirectory();
    const manifest = acmeManifest({ credentials: "[]" });
    writeFileSync(directory.join("acme.yaml"), manifest.replace("/app/acme-server", "/app/other"));
    const failed = await run(directory.path, ["add", "./acme.yaml", "--yes"]);
    assert.equal(failed.code, 5, failed.stderr);
    assert.match(failed.stderr, /CLI_SERVER_NOT_READY/);
    assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
    const go = manifest.replace("npm:@acme/server, tag: 1.2.3", "github.com/acme/server, tag: v1.2.3");
    writeFileSync(directory.join("go.yaml"), go.replace("builder: node", "builder: go-static"));
    const missing = await run(directory.path, ["add", "./go.yaml", "--yes"], {
      PATH: makePathWithoutGo(directory.join("programs")),
    });
    assert.match(
      missing.stderr,
      /CLI_RUNNER_MISSING: The server needs go, which is not installed\nhint: install Go/,
    );
    assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
  });

  it("add keeps what is written into the configuration while it fetches", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("acme.yaml"), acmeManifest({ credentials: "[]" }));
    const file = directory.join("toolcrib.yaml");
    writeFileSync(file, "tool_servers: []\n");
    const adding = run(directory.path, ["add", "./acme.yaml", "--yes"]);
    await waitUntil(() => existsSync(directory.join(".toolcrib/fetched")), { intervalMs: 1 });
    writeFileSync(file, "# written meanwhile\ntool_servers: []\n");
    const added = await adding;
    assert.equal(added.code, 0, added.stderr);
    assert.match(readFileSync(file, "utf8"), /^# written meanwhile\n[\s\S]*id: acme\n/);
  });

  it("add names what a server does not work without by its manifest, with a command to copy", async () => {
    await using directory = await makeTemporaryDirectory();
    const requires = (text: string) =>
      `${acmeManifest({ credentials: "[]" })}description: Needs OTHER_NAME in prose.\nrequires:\n  - ${text}\n`;
    const file = "{variable: WORDS_FILE_PATH, value: written_file, description: the file of the words}";
    writeFileSync(directory.join("acme.yaml"), requires(file));
    const shown = await run(directory.path, ["add", "./acme.yaml", "--yes"]);
    assert.equal(shown.code, 2, shown.stderr);
    assert.match(shown.stdout, / {2}needs {7}WORDS_FILE_PATH \(the file of the words\)\n/);
    assert.match(
      shown.stderr,
      /CLI_USAGE: Nothing was added: acme does not work without WORDS_FILE_PATH \(the file of the words\)\n/,
    );
    assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
    const [, folder = "", words = ""] =
      /mkdir -p (\S+) && .*? (add \S+acme\.yaml --env WORDS_FILE_PATH=\S+ --write \S+ --yes)/.exec(
        shown.stderr,
      ) ?? [];
    mkdirSync(folder, { recursive: true });
    const added = await run(directory.path, words.split(" "));
    assert.equal(added.code, 0, added.stderr);
    // Of its tools, those that the manifest offers by default.
    assert.match(added.stdout, /✓ it runs contained, with 2 of its 4 tools \(--all-tools: all\)\n/);
    writeFileSync(directory.join("other.yaml"), requires("{variable: ACME_URL}"));
    const other = await run(directory.path, ["add", "./other.yaml", "--yes", "--id", "other"]);
    assert.match(
      other.stderr,
      /without ACME_URL\nhint: give its value: .* add \S+other\.yaml --id other --env ACME_URL=VALUE --yes\n/,
    );
  });

  it("add names a folder that a server needs in its arguments; its command adds the server", async () => {
    await using directory = await makeTemporaryDirectory();
    const requires = "requires:\n  - {argument: FOLDER, option: --root, value: read_folder}\n";
    writeFileSync(directory.join("acme.yaml"), `${acmeManifest({ credentials: "[]" })}${requires}`);
    const project = directory.join("project");
    mkdirSync(project);
    const home = { HOME: directory.path };
    const refused = await run(project, ["add", "../acme.yaml", "--yes"], home);
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(
      refused.stderr,
      /acme does not work without --root FOLDER in its arguments \(a folder that it reads\)\nhint: name the folder, such as this one: /,
    );
    const [, words = ""] = /(add \S+acme\.yaml .*--yes)\n/.exec(refused.stderr) ?? [];
    const added = await run(project, words.split(" "), home);
    assert.equal(added.code, 0, added.stderr);
    assert.match(
      added.stdout,
      /approved 2 definitions\nEach call of them by a client still needs an approval of its own \(/,
    );
    const written = readFileSync(join(project, "toolcrib.yaml"), "utf8");
    assert.ok(written.includes(`args: ["--root", ${project}]`), written);
    assert.ok(written.includes(`read_paths: [${project}]`), written);
    // The folder of the home is no folder to show to a server.
    const atHome = await run(directory.path, ["add", "filesystem"]);
    assert.match(
      atHome.stderr,
      /hint: name the folder: .* add filesystem --server-arg FOLDER --read FOLDER\n/,
    );
  });

  it("add keeps the options that were given in the command to copy, and adds what is missing", async () => {
    await using directory = await makeTemporaryDirectory();
    const requires =
      "requires:\n  - {variable: ACME_URL}\n  - {variable: ACME_ORG}\n  - {argument: FOLDER, value: read_folder}\n";
    writeFileSync(directory.join("acme.yaml"), `${acmeManifest({ credentials: "[]" })}${requires}`);
    mkdirSync(directory.join("docs"));
    const given = [
      ...["--id", "words", "--all-tools", "--server-arg=--verbose", "--env", "ACME_ORG=the first one"],
      ...["--env", "MORE=7", "--read", directory.join("docs"), "--allow", "example.com"],
    ];
    const refused = await run(directory.path, ["add", "./acme.yaml", ...given, "--yes"]);
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, /acme does not work without ACME_URL, and FOLDER in its arguments /);
    const shown = / add \S+acme\.yaml (.*)\n/.exec(refused.stderr)?.[1];
    const folder = directory.join("docs");
    assert.equal(
      shown,
      `--id words --all-tools --server-arg=--verbose --env 'ACME_ORG=the first one' --env MORE=7 --read ${folder} --allow example.com --env ACME_URL=VALUE --server-arg ${folder} --yes`,
    );
    const secret = await run(directory.path, ["add", "grafana", "--secret", "service_account_token=MY_KEY"]);
    assert.match(
      secret.stderr,
      / add grafana --secret service_account_token=MY_KEY --env GRAFANA_URL=VALUE\n/,
    );
    const word = await run(directory.path, ["add", "no-such-server", "--allow", "example.com", "--yes"]);
    assert.match(word.stderr, /toolcrib add npm:no-such-server --allow example\.com --yes/);
  });

  it("add takes an argument for a required one only where it can be it", async () => {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join("docs"));
    const manifest = (requires: string) =>
      writeFileSync(
        directory.join("acme.yaml"),
        `${acmeManifest({ credentials: "[]" })}requires:\n  - ${requires}\n`,
      );
    const isMissing = async (...words: readonly string[]) => {
      const args = words.map((word) => `--server-arg=${word}`);
      const { stderr } = await run(directory.path, ["add", "./acme.yaml", ...args, "--dry-run"]);
      return stderr.includes("does not work without");
    };
    manifest("{argument: FOLDER, value: read_folder}");
    assert.equal(await isMissing("--verbose"), true);
    assert.equal(await isMissing("--level", "debug"), true);
    assert.equal(await isMissing("--verbose", "docs"), false);
    assert.equal(await isMissing("elsewhere", "--verbose"), false);
    manifest("{argument: PATH, option: --root}");
    assert.equal(await isMissing("docs"), true);
    assert.equal(await isMissing("--verbose", "--root"), true);
    assert.equal(await isMissing("--verbose", "--root", "docs"), false);
    assert.equal(await isMissing("--root=docs"), false);
    assert.equal(await isMissing("-r", "docs"), false);
  });

  it("add asks on a terminal for the folder that a server needs", { skip: skipWithoutTerminal }, async () => {
    await using directory = await makeTemporaryDirectory();
    const requires = "requires:\n  - {argument: FOLDER, value: read_folder, description: its notes}\n";
    writeFileSync(directory.join("acme.yaml"), `${acmeManifest({ credentials: "[]" })}${requires}`);
    mkdirSync(directory.join("notes"));
    const env = { PATH: path, npm_config_registry: registry.url, NO_COLOR: "1" };
    await using terminal = new Terminal(shellLine(["add", "./acme.yaml"]), {
      directory: directory.path,
      env,
    });
    for (const [question, answer] of [
      [/FOLDER in its arguments \(its notes\)\? $/, "notes"],
      [/Fetch it, start it contained, and add it to toolcrib\.yaml\? \[Y\/n\] $/, "y"],
      [/\[N\]o: $/, "n"],
    ] as const) {
      await terminal.untilShown(question);
      terminal.press(`${answer}\r`);
    }
    assert.equal(await terminal.end(), 0, terminal.text);
    const written = readFileSync(directory.join("toolcrib.yaml"), "utf8");
    assert.ok(written.includes(`args: [${directory.join("notes")}]`), written);
    assert.ok(written.includes(`read_paths: [${directory.join("notes")}]`), written);
  });

  it("Ctrl-C at the question of add about the tools is no answer, and says that the entry stays", {
    skip: skipWithoutTerminal,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("acme.yaml"), acmeManifest({ credentials: "[]" }));
    const env = { PATH: path, npm_config_registry: registry.url, NO_COLOR: "1" };
    await using terminal = new Terminal(shellLine(["add", "./acme.yaml"]), {
      directory: directory.path,
      env,
    });
    await terminal.untilShown(/add it to toolcrib\.yaml\? \[Y\/n\] $/);
    terminal.press("y\r");
    await terminal.untilShown(/\[N\]o: $/);
    terminal.press("\u0003");
    assert.equal(await terminal.end(), 130, terminal.text);
    const shown = terminal.text.replaceAll(/\s+/g, " ");
    assert.match(shown, /CLI_INTERRUPTED: .*nothing of acme was approved; its entry stays in/);
    assert.match(shown, /approve acme/);
    assert.ok(readFileSync(directory.join("toolcrib.yaml"), "utf8").includes("id: acme"), terminal.text);
  });

  it("doctor does not take a server whose package is being fetched for a broken one", slowTest, async () => {
    await using directory = await makeTemporaryDirectory();
    // A registry that accepts a request, and does not answer.
    const held = createServer(() => {});
    await new Promise<void>((resolve) => {
      held.listen(0, "127.0.0.1", resolve);
    });
    const { port } = held.address() as AddressInfo;
    try {
      const transport = { kind: "stdio", command: "npx", args: ["-y", "@acme/held@1.0.0"] };
      const config = { tool_servers: [{ id: "held", transport }], serve: { listen: "127.0.0.1:0" } };
      writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
      const more = { npm_config_registry: `http://127.0.0.1:${port}/` };
      const { stdout, code } = await run(directory.path, ["doctor"], more);
      assert.match(stdout, /\? server held: not tried: fetching its package/);
      assert.doesNotMatch(stdout, /✗/);
      // A check could not be made.
      assert.equal(code, 5, stdout);
    } finally {
      held.closeAllConnections();
      held.close();
    }
  });
});
