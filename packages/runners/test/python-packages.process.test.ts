/** Packages of uvx: fetched by the real uv with the Pythons of the user, locked, and started from disk. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createProcessLauncher, type ProcessLauncher, runCommand } from "@toolcrib/process";
import { FetchSandbox, PackageStore } from "@toolcrib/runners";
import { Sandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { PythonIndex } from "./python-index.ts";
import { TestExits } from "./test-exits.ts";

const path = process.env["PATH"] ?? "";
const uvx = path
  .split(delimiter)
  .map((folder) => join(folder, "uvx"))
  .find((file) => existsSync(file));
const systemPython = "/usr/bin/python3";
const sandboxes = new Sandboxes({
  uid: process.getuid?.() ?? -1,
  gid: process.getgid?.() ?? -1,
  temporaryDirectory: tmpdir(),
  userHome: "/home/nobody-here",
});
const canContain = (await sandboxes.check()).some(({ isAvailable }) => isAvailable);
const skip =
  uvx === undefined
    ? "uvx is not installed"
    : !existsSync(systemPython)
      ? `${systemPython} is not installed`
      : canContain
        ? false
        : "no sandbox works here";
const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe("the package of a uvx command", { skip }, () => {
  let index: PythonIndex;
  let directory: TemporaryDirectory;
  let launcher: ProcessLauncher;
  let exits: TestExits;
  let closing: AbortController;
  let store: PackageStore;
  let now = 1_000_000;

  before(async () => {
    directory = await makeTemporaryDirectory();
    index = await new PythonIndex().listen();
    exits = await TestExits.create();
    closing = new AbortController();
    launcher = createProcessLauncher({ env: { PATH: path }, now: Date.now, logger, randomBytes });
    const env = {
      PATH: [join(directory.path, ".pyenv/shims"), path].join(delimiter),
      UV_DEFAULT_INDEX: index.url,
    };
    const sandbox = new FetchSandbox({
      launcher,
      sandboxes,
      mode: "required",
      env,
      userHome: directory.path,
      hiddenPaths: [directory.join("home")],
      signal: closing.signal,
      registryHosts: [],
      openExit: (request) => exits.open(request),
    });
    store = new PackageStore({
      folder: directory.join("home", "fetched"),
      sandbox,
      logger,
      now: () => now,
      randomBytes,
    });
  });
  after(async () => {
    closing.abort();
    await launcher[Symbol.asyncDispose]();
    await exits[Symbol.asyncDispose]();
    await index[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  const requestFor = (...args: readonly string[]) =>
    store.toRequest(
      { program: uvx as string, args, env: { PATH: path }, directory: directory.path },
      { signal: new AbortController().signal },
    );

  /** Runs a package in a sandbox without network, as its server. */
  async function run(...args: readonly string[]): Promise<string> {
    const found = await requestFor(...args);
    assert.ok(found);
    await using prepared = await sandboxes.prepare(found.request, {
      network: "deny",
      readPaths: [found.folder],
      ownPaths: [found.folder],
      writePaths: [],
      home: "temporary",
      hiddenPaths: [directory.join("home")],
      limits: {
        memoryBytes: 1 << 30,
        processes: 64,
        openFiles: 256,
        fileBytes: 1 << 20,
        temporaryBytes: 1 << 20,
      },
    });
    const { stdout, stderr } = await runCommand(prepared.request, {
      timeoutMs: 30_000,
      outputMaxBytes: 65_536,
    });
    assert.notEqual(stdout.toString(), "", stderr);
    return stdout.toString();
  }

  it("runs with a Python of the home, such as one of pyenv, which fetch and server see", async () => {
    // An installation like those of pyenv: a prefix with a bin and a lib, chosen by a file of the home.
    const real = realpathSync(systemPython);
    const prefix = directory.join(".pyenv", "versions", "3.99.1");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    mkdirSync(join(prefix, "lib"));
    mkdirSync(directory.join(".pyenv", "shims"));
    copyFileSync(real, join(prefix, "bin", basename(real)));
    symlinkSync(basename(real), join(prefix, "bin", "python3"));
    symlinkSync(join("/usr/lib", basename(real)), join(prefix, "lib", basename(real)));
    writeFileSync(directory.join(".pyenv", "version"), "3.99.1\n");
    writeFileSync(directory.join(".pyenv", "shims", "python3"), "#!/bin/sh\nexit 7\n", { mode: 0o755 });
    index.publish("at-home", "sys.base_prefix");
    assert.equal(await run("at-home"), `${prefix}\n`);
    const [stored] = await store.list();
    assert.ok(stored);
    assert.deepEqual(stored.receipt.links, [prefix]);
    await store.verify(stored);
    // Named by its path, it is the same.
    index.publish("by-path", "sys.base_prefix");
    assert.equal(await run("--python", join(prefix, "bin", "python3"), "by-path"), `${prefix}\n`);
  });

  it("names the line that chooses a Python where none fits, and rests before the next attempt", async () => {
    index.publish("of-tomorrow", "1", ">=3.98");
    const failure = { code: "PACKAGE_FETCH_FAILED", hint: /--python", "\/path\/to\/python/ };
    await assert.rejects(requestFor("of-tomorrow"), failure);
    await assert.rejects(requestFor("--python", "3.97", "at-home"), {
      ...failure,
      hint: /args: \["--python", "\/path\/to\/python3\.97", "at-home"\]/,
    });
    const { length } = index.requests;
    await assert.rejects(requestFor("of-tomorrow"), failure);
    assert.equal(index.requests.length, length, "the second attempt fetched at once");
    now += 10_001;
    await assert.rejects(requestFor("of-tomorrow"), failure);
    assert.ok(index.requests.length > length, "no attempt followed the pause");
  });
});
