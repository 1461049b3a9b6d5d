/**
 * The author of a bundle or of a `server.json` names paths of this machine in its arguments: the server sees none of
 * them, in its trial and after it was added, unless the operator agreed to each of them by its name.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { writeArchive } from "@toolcrib/mcpkg";
import { makeTemporaryDirectory, notesServer, type TemporaryDirectory } from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { runAnswering, shellLine, skipWithoutTerminal } from "./terminal.ts";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const skip = await skipWithoutSandbox();

/** The forms in which arguments name a path. */
const forms: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `--dir=${path}`,
  (path) => `--p=file://${path}`,
  (path) => `/usr/lib:${path}`,
];

/** A bundle whose arguments name `paths`, in each form, and whose server offers a tool named for what it sees of them. */
function writeBundle(directory: TemporaryDirectory, paths: readonly string[]): void {
  const source = notesServer([]).replace(
    /const tools = .*/,
    `const sees = ${JSON.stringify(paths)}.map((path) => require("node:fs").existsSync(path));
const tools = [{ name: "sees_" + sees.join("_"), inputSchema: { type: "object" } }];`,
  );
  const manifest = {
    ...{ manifest_version: "0.3", name: "notes", version: "1.0.0", description: "Reads notes." },
    author: { name: "Example" },
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: {
        command: process.execPath.split("/").at(-1),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bundles
        args: ["${__dirname}/server/index.js", ...paths.map((path, at) => forms[at % forms.length]?.(path))],
      },
    },
  };
  const files = { "manifest.json": JSON.stringify(manifest), "server/index.js": source };
  const entries = Object.entries(files).map(
    ([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: false }] as const,
  );
  writeFileSync(directory.join("notes.mcpb"), writeArchive(new Map(entries)));
}

/** Makes four places of a user, the last by a link. @returns their paths */
function makePlaces(directory: TemporaryDirectory): readonly string[] {
  for (const name of ["documents", "project", "logs", "target"]) {
    mkdirSync(directory.join(name));
    writeFileSync(directory.join(`${name}/private.txt`), "private");
  }
  symlinkSync(directory.join("target"), directory.join("link"));
  return [
    directory.join("documents"),
    directory.join("project/private.txt"),
    directory.join("logs"),
    directory.join("link/private.txt"),
  ];
}

function settingOf(directory: TemporaryDirectory) {
  return { directory: directory.path, stdin: "", env: { PATH: cleanEnvironment("/")["PATH"] } };
}

interface Added {
  readonly result: string;
  readonly wantedPaths: readonly string[];
  readonly definitions: readonly { readonly name: string }[];
  readonly facts: readonly { readonly label: string; readonly text: string }[];
}

for (const mode of ["--dry-run", "--yes"])
  test(`add ${mode} of a bundle shows it nothing that its author named, and says what that was`, {
    skip,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    const paths = makePlaces(directory);
    writeBundle(directory, paths);
    const tried = await runToolcrib(["add", "./notes.mcpb", mode, "--json"], settingOf(directory));
    assert.equal(tried.code, 0, tried.stderr);
    const { result, wantedPaths, definitions, facts } = JSON.parse(tried.stdout) as Added;
    assert.equal(result, mode === "--yes" ? "added" : "shown");
    assert.deepEqual(
      definitions.map(({ name }) => name),
      ["sees_false_false_false_false"],
    );
    assert.deepEqual(wantedPaths, paths);
    const unseen = facts.filter(({ label }) => label === "NOT SEEN").map(({ text }) => text);
    for (const path of paths) {
      assert.ok(
        unseen.some((text) => text.includes(`"${path}"`) && text.includes("--read PATH")),
        unseen.join("\n"),
      );
    }
    const reads = facts.find(({ label }) => label === "reads")?.text ?? "";
    for (const path of paths) assert.equal(reads.includes(path), false, reads);
    if (mode === "--dry-run") return;
    const saved = readFileSync(directory.join("toolcrib.yaml"), "utf8");
    assert.match(saved, /read_arguments: false/);
    assert.doesNotMatch(saved, /read_paths/);
    // The gateway that serves it later shows it no more than its trial did.
    const listed = await runToolcrib(["list", "--json"], settingOf(directory));
    assert.match(listed.stdout, /sees_false_false_false_false/);
    const linted = await runToolcrib(["config", "check"], settingOf(directory));
    assert.match(linted.stdout + linted.stderr, /CLI_ARGUMENT_UNSEEN/);
  });

test("--read shows a bundle exactly the paths that it names, and saves them", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const paths = makePlaces(directory);
  writeBundle(directory, paths);
  const [documents = "", , , linked = ""] = paths;
  const words = ["add", "./notes.mcpb", "--yes", "--json", "--read", documents, "--read", linked];
  const added = await runToolcrib(words, settingOf(directory));
  assert.equal(added.code, 0, added.stderr);
  const { definitions, wantedPaths } = JSON.parse(added.stdout) as Added;
  assert.deepEqual(
    definitions.map(({ name }) => name),
    ["sees_true_false_false_true"],
  );
  assert.deepEqual(wantedPaths, paths.slice(1, 3));
  const saved = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.match(saved, /read_arguments: false/);
  assert.ok(saved.includes(documents) && /read_paths/.test(saved), saved);
});

test("on a terminal, add names what a bundle wants to read before it starts it, and a yes saves it", {
  skip: skip || skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const paths = makePlaces(directory);
  writeBundle(directory, paths);
  const { env } = settingOf(directory);
  const { code, stdout } = await runAnswering(shellLine(["add", "./notes.mcpb"]), {
    cwd: directory.path,
    env: { ...cleanEnvironment(directory.path), ...env },
  });
  assert.equal(code, 0, stdout);
  const asked = stdout.indexOf("May the server read them?");
  for (const path of paths) assert.ok(stdout.slice(0, asked).includes(`  ${path}`), stdout);
  assert.match(stdout, new RegExp(`\\(a link to ${directory.join("target/private.txt")}\\)`));
  assert.ok(asked < stdout.indexOf("Starting it once"), stdout);
  assert.match(stdout, /sees_true_true_true_true/);
  const saved = readFileSync(directory.join("toolcrib.yaml"), "utf8");
  for (const path of paths) assert.match(saved, new RegExp(`read_paths:[\\s\\S]*${path}`));
});

test("a script of a bundle shows no file of the machine by naming it as its interpreter", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const hidden = directory.join("private");
  writeFileSync(hidden, `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const manifest = {
    ...{ manifest_version: "0.3", name: "notes", version: "1.0.0", description: "Reads notes." },
    author: { name: "Example" },
    server: { type: "binary", entry_point: "run", mcp_config: { command: "run", args: [] } },
  };
  const files = { "manifest.json": JSON.stringify(manifest), run: `#!${hidden}\n${notesServer([])}` };
  const entries = Object.entries(files).map(
    ([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: true }] as const,
  );
  writeFileSync(directory.join("notes.mcpb"), writeArchive(new Map(entries)));
  const tried = await runToolcrib(["add", "./notes.mcpb", "--dry-run"], settingOf(directory));
  assert.notEqual(tried.code, 0, tried.stdout);
  assert.match(tried.stderr, /CLI_SERVER_NOT_READY/);
});

test("import server writes that the arguments of a file show nothing, but for values of --set", async () => {
  await using directory = await makeTemporaryDirectory();
  const [documents = "", file = ""] = makePlaces(directory);
  const packageArguments = [
    { type: "named", name: "--dir", value: documents },
    { type: "positional", valueHint: "notes", isRequired: true, format: "filepath" },
  ];
  const content = {
    name: "io.example/db",
    version: "3.1.0",
    packages: [
      {
        ...{ registryType: "npm", identifier: "@example/db", version: "3.1.0" },
        transport: { type: "stdio" },
        packageArguments,
      },
    ],
  };
  writeFileSync(directory.join("server.json"), JSON.stringify(content));
  const words = ["import", "server", "server.json", "--set", `notes=${file}`, "--json"];
  const imported = await runToolcrib(words, settingOf(directory));
  assert.equal(imported.code, 0, imported.stderr);
  const { entry } = JSON.parse(imported.stdout);
  assert.deepEqual(entry.containment, { read_arguments: false, read_paths: [file] });
  const linted = await runToolcrib(["config", "check"], settingOf(directory));
  const printed = linted.stdout + linted.stderr;
  assert.match(printed, new RegExp(`CLI_ARGUMENT_UNSEEN[\\s\\S]*sees nothing in "${documents}"`));
  assert.equal(printed.includes(`sees nothing in "${file}"`), false, printed);
});
