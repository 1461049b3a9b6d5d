/** Packages of npx: fetched from a registry by the real npm, locked, and started from disk. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { createProcessLauncher, type ProcessLauncher, runCommand } from "@toolcrib/process";
import { FetchSandbox, PackageStore } from "@toolcrib/runners";
import { Sandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, NpmRegistry, type TemporaryDirectory } from "@toolcrib/testing";
import { TestExits } from "./test-exits.ts";

const path = process.env["PATH"] ?? "";
const npx = path
  .split(delimiter)
  .map((folder) => join(folder, "npx"))
  .find((file) => existsSync(file));
const sandboxes = new Sandboxes({
  uid: process.getuid?.() ?? -1,
  gid: process.getgid?.() ?? -1,
  temporaryDirectory: tmpdir(),
  userHome: "/home/nobody-here",
});
const canContain = (await sandboxes.check()).some(({ isAvailable }) => isAvailable);
const skip = npx === undefined ? "npx is not installed" : canContain ? false : "no sandbox works here";
/** The messages of records of the kind `info`. */
const logged: string[] = [];
const logger = {
  debug() {},
  info: (_fields: object, message: string) => void logged.push(message),
  warn() {},
  error() {},
};
const manifest = { name: "greeter", version: "1.0.0", bin: { greeter: "greet.js" } };
const program = "#!/usr/bin/env node\nconsole.log([`hello`, process.argv[2] ?? ``, `from 1`].join(` `));\n";

describe("the package of an npx command", { skip }, () => {
  let registry: NpmRegistry;
  let directory: TemporaryDirectory;
  let launcher: ProcessLauncher;
  let exits: TestExits;
  let closing: AbortController;
  let store: PackageStore;

  before(async () => {
    registry = await new NpmRegistry().listen();
    exits = await TestExits.create();
    closing = new AbortController();
    launcher = createProcessLauncher({
      env: { PATH: path },
      now: Date.now,
      logger,
      randomBytes,
    });
    registry.publish(manifest, { "greet.js": program });
  });
  const openStore = (): PackageStore => {
    const sandbox = new FetchSandbox({
      launcher,
      sandboxes,
      mode: "required",
      env: { npm_config_registry: registry.url, npm_config_fetch_retries: "0" },
      userHome: directory.path,
      hiddenPaths: [directory.join("home")],
      signal: closing.signal,
      registryHosts: [],
      openExit: (request) => exits.open(request),
    });
    const folder = directory.join("home", "fetched");
    return new PackageStore({ folder, sandbox, logger, now: Date.now, randomBytes });
  };

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
    store = openStore();
  });
  after(async () => {
    closing.abort();
    await launcher[Symbol.asyncDispose]();
    await exits[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });

  const requestFor = (...args: readonly string[]) =>
    store.toRequest(
      { program: npx as string, args, env: { PATH: path }, directory: directory.path },
      { signal: new AbortController().signal },
    );
  const run = async (...args: readonly string[]): Promise<string> => {
    const found = await requestFor(...args);
    assert.ok(found);
    const { stdout } = await runCommand(found.request, { timeoutMs: 30_000, outputMaxBytes: 65_536 });
    return stdout.toString();
  };
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return "done";
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };

  it("is fetched once, and then started without the registry", async () => {
    assert.equal(await run("-y", "greeter", "you"), "hello you from 1\n");
    const { length } = registry.requests;
    assert.equal(await run("-y", "greeter", "again"), "hello again from 1\n");
    assert.equal(registry.requests.length, length);
    const [stored] = await store.list();
    assert.equal(stored?.shown, "greeter 1.0.0");
    assert.match(stored?.receipt.locked[0]?.integrity ?? "", /^sha512-/);
  });

  it("reports how many bytes arrived while it is fetched", async () => {
    registry.publish({ ...manifest, name: "counted" }, { "greet.js": program });
    let received: () => number | undefined = () => undefined;
    const found = await store.toRequest(
      { program: npx as string, args: ["counted"], env: { PATH: path }, directory: directory.path },
      {
        signal: new AbortController().signal,
        onFetch: (receivedBytes) => {
          received = receivedBytes;
        },
      },
    );
    assert.ok(found);
    assert.ok((received() ?? 0) > program.length / 2, String(received()));
  });

  it("stays at its version until it is removed", async () => {
    registry.publish({ ...manifest, name: "moving" }, { "greet.js": program });
    assert.equal(await run("moving"), "hello  from 1\n");
    const next = program.replace("from 1", "from 2");
    registry.publish({ ...manifest, name: "moving", version: "2.0.0" }, { "greet.js": next });
    assert.equal(await run("moving"), "hello  from 1\n");
    const [stored] = await store.list();
    assert.ok(stored);
    await store.remove(stored);
    assert.equal(await run("moving"), "hello  from 2\n");
  });

  it("runs no script of a package while it is fetched", async () => {
    const scripts = { preinstall: "touch ran", install: "touch ran", postinstall: "touch ran" };
    registry.publish({ ...manifest, name: "scripted", scripts }, { "greet.js": program });
    const found = await requestFor("scripted");
    assert.ok(found);
    for (const place of [found.folder, join(found.folder, "node_modules", "scripted")]) {
      assert.equal(existsSync(join(place, "ran")), false);
    }
  });

  it("is refused when its contents are not what the registry says, and nothing is kept", async () => {
    const other = `sha512-${Buffer.alloc(64).toString("base64")}`;
    registry.publish({ ...manifest, name: "forged" }, { "greet.js": program }, { integrity: other });
    await assert.rejects(requestFor("forged"), {
      code: "PACKAGE_FETCH_FAILED",
      message: /integrity|EINTEGRITY/,
    });
    assert.deepEqual(readdirSync(directory.join("home", "fetched")), [".places.lock"]);
  });

  it("reaches its registry alone: another host is named, and how to allow it", async () => {
    const neighbour = await new NpmRegistry().listen();
    try {
      const wrong = { elsewhere: neighbour.url };
      registry.publish({ ...manifest, name: "spread" }, { "greet.js": program }, wrong);
      const shown = neighbour.url.replace(/^http:\/\/|\/$/g, "");
      await assert.rejects(requestFor("spread"), (error: Error & { readonly hint?: unknown }) => {
        assert.match(
          error.message,
          new RegExp(`asks for ${shown}; fetches reach the registries of this machine alone`),
        );
        assert.ok(String(error.hint).includes(`registry_hosts: [${shown}]`));
        return true;
      });
      assert.deepEqual(neighbour.requests, []);
      assert.deepEqual(await store.list(), []);
    } finally {
      await neighbour[Symbol.asyncDispose]();
    }
  });

  it("is refused with the reason when it cannot be fetched or has no program", async () => {
    registry.publish({ name: "library", version: "1.0.0" }, { "index.js": "" });
    await assert.rejects(requestFor("-y", "nothing-here"), { code: "PACKAGE_FETCH_FAILED", message: /404/ });
    await assert.rejects(requestFor("library"), { code: "RUNNER_COMMAND_INVALID", message: /it has none/ });
  });

  it("is refused when it comes from elsewhere, or an option changes what would run", async () => {
    const refused = [
      ["github:owner/repository"],
      ["https://example.com/a.tgz"],
      ["./folder"],
      ["../folder"],
      ["-c", "greeter; rm -rf ."],
      ["--node-options=--inspect", "greeter"],
      ["-p", "file:../x", "x"],
      [],
    ];
    for (const args of refused) assert.equal(await codeOf(requestFor(...args)), "RUNNER_COMMAND_INVALID");
  });

  it("is that of the project where the project has it installed", async () => {
    const bin = directory.join("node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "greeter"), "#!/bin/sh\necho local\n", { mode: 0o755 });
    assert.equal(await run("greeter"), "local\n");
    assert.deepEqual(await store.list(), []);
  });

  it("is reported when its files were changed, and fetched again once it is removed", async () => {
    assert.equal(await run("greeter"), "hello  from 1\n");
    const [stored] = await store.list();
    const found = await requestFor("greeter");
    assert.ok(stored && found);
    await store.verify(stored);
    writeFileSync(join(found.folder, "node_modules", "greeter", "greet.js"), "changed");
    await assert.rejects(store.verify(stored), { code: "PACKAGE_CHANGED" });
    await store.remove(stored);
    assert.equal(await run("greeter"), "hello  from 1\n");
  });

  it("is fetched on while nobody waits for it, and the log says when it begins and when it is there", async () => {
    registry.publish({ ...manifest, name: "awaited" }, { "greet.js": program });
    logged.length = 0;
    const request = {
      program: npx as string,
      args: ["awaited"],
      env: { PATH: path },
      directory: directory.path,
    };
    await assert.rejects(store.toRequest(request, { signal: AbortSignal.abort() }), {
      code: "PACKAGE_FETCHING",
      message: "awaited is still being fetched",
    });
    assert.equal(await run("awaited"), "hello  from 1\n");
    assert.deepEqual(logged, ["package.fetching", "package.fetched"]);
  });

  it("is refused when a part of it has no integrity value, and when all packages have more bytes than they may", async () => {
    const dependencies = { fork: "file:./fork" };
    const fork = JSON.stringify({ name: "fork", version: "1.0.0" });
    registry.publish(
      { ...manifest, name: "linked", dependencies },
      { "greet.js": program, "fork/package.json": fork },
    );
    await assert.rejects(requestFor("linked"), {
      code: "PACKAGE_UNLOCKED",
      message: /^"fork".* has no integrity value$/,
    });
    await run("greeter");
    const [stored] = await store.list();
    assert.ok(stored);
    const receipt = directory.join("home", "fetched", stored.key, "receipt.json");
    const written = JSON.parse(readFileSync(receipt, "utf8")) as object;
    writeFileSync(receipt, JSON.stringify({ ...written, bytes: 19 * 1024 ** 3 }));
    registry.publish({ ...manifest, name: "late" }, { "greet.js": program });
    await assert.rejects(requestFor("late"), {
      code: "PACKAGE_TOO_LARGE",
      message: /have \d+ bytes; all together may have \d+$/,
    });
    await store.remove(stored);
    assert.equal(await run("greeter"), "hello  from 1\n");
  });

  it("is fetched once when many ask for it at a time", async () => {
    registry.publish({ ...manifest, name: "wanted" }, { "greet.js": program });
    const printed = await Promise.all(Array.from({ length: 5 }, () => run("wanted")));
    assert.deepEqual(new Set(printed), new Set(["hello  from 1\n"]));
    assert.equal(registry.requests.filter((name) => name === "wanted/-/1.0.0.tgz").length, 1);
  });

  it("is asked for once by gateways that share a folder, and each of them says that it cannot be fetched", async () => {
    registry.publish({ ...manifest, name: "shared" }, { "greet.js": program });
    const stores = [store, openStore(), openStore()];
    const { signal } = new AbortController();
    const ask = (one: PackageStore, name: string) =>
      one.toRequest(
        { program: npx as string, args: [name], env: { PATH: path }, directory: directory.path },
        { signal },
      );
    await Promise.all(stores.map((one) => ask(one, "shared")));
    assert.equal(registry.requests.filter((name) => name === "shared/-/1.0.0.tgz").length, 1);
    const failed = await Promise.all(stores.map((one) => codeOf(ask(one, "not-shared"))));
    assert.deepEqual(
      failed,
      stores.map(() => "PACKAGE_FETCH_FAILED"),
    );
    const [stored] = await store.list();
    assert.deepEqual(readdirSync(directory.join("home", "fetched")).sort(), [".places.lock", stored?.key]);
  });
});
