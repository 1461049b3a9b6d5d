/** Packages that are looked up in registries on loopback, by the real npm, uv and go. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createProcessLauncher, type ProcessLauncher } from "@toolcrib/process";
import { FetchSandbox, lookUpPackage, type PublishedPackage, type WantedPackage } from "@toolcrib/runners";
import { Sandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, NpmRegistry, type TemporaryDirectory } from "@toolcrib/testing";
import { PythonIndex } from "./python-index.ts";
import { TestExits } from "./test-exits.ts";

const path = process.env["PATH"] ?? "";
const findProgram = (name: string) =>
  path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
const sandboxes = new Sandboxes({
  uid: process.getuid?.() ?? -1,
  gid: process.getgid?.() ?? -1,
  temporaryDirectory: tmpdir(),
  userHome: "/home/nobody-here",
});
const canContain = (await sandboxes.check()).some(({ isAvailable }) => isAvailable);
const skipWithout = (name: string) =>
  findProgram(name) === undefined ? `${name} is not installed` : canContain ? false : "no sandbox works here";
const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe("lookUpPackage()", () => {
  let directory: TemporaryDirectory;
  let launcher: ProcessLauncher;
  let exits: TestExits;

  before(async () => {
    directory = await makeTemporaryDirectory();
    exits = await TestExits.create();
    launcher = createProcessLauncher({ env: { PATH: path }, now: Date.now, logger, randomBytes });
  });
  after(async () => {
    await launcher[Symbol.asyncDispose]();
    await exits[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  async function lookUp(
    wanted: WantedPackage,
    env: { readonly [name: string]: string },
  ): Promise<PublishedPackage> {
    const programs = { npm: "npx", python: "uvx", go: "go" };
    const folder = directory.join("fetched");
    const sandbox = new FetchSandbox({
      ...{ launcher, sandboxes, mode: "required", env: { PATH: path, ...env } },
      userHome: directory.path,
      hiddenPaths: [],
      signal: new AbortController().signal,
      registryHosts: [],
      openExit: (request) => exits.open(request),
    });
    try {
      const runner = findProgram(programs[wanted.kind]) as string;
      return await lookUpPackage({ folder, sandbox, runner, randomBytes }, wanted);
    } finally {
      assert.deepEqual(readdirSync(folder), [], "nothing is left");
    }
  }

  it("finds versions of npm by tag, range and name, with their publisher", {
    skip: skipWithout("npx"),
  }, async () => {
    await using registry = await new NpmRegistry().listen();
    const env = { npm_config_registry: registry.url, npm_config_fetch_retries: "0" };
    const publish = (version: string, more: object) =>
      registry.publish({ name: "@acme/tool", version, ...more }, { "index.js": "" });
    publish("1.0.0", { deprecated: "use 2", license: "MIT" });
    publish("1.4.0", { maintainers: ["ada <ada@example.com>", { name: "ben" }], homepage: "x".repeat(5000) });
    publish("2.0.0", { _npmUser: { name: "ada" } });
    const first = await lookUp({ kind: "npm", name: "@acme/tool", version: "1.0.0" }, env);
    assert.deepEqual([first.version, first.deprecated], ["1.0.0", "use 2"]);
    const ranged = await lookUp({ kind: "npm", name: "@acme/tool", version: "^1.0.0" }, env);
    assert.equal(ranged.version, "1.4.0");
    const facts = new Map(ranged.facts);
    assert.equal(facts.get("maintainers"), "ada, ben");
    assert.equal(facts.get("scope"), "@acme");
    assert.equal(facts.get("home page")?.length, 301);
    assert.equal((await lookUp({ kind: "npm", name: "@acme/tool" }, env)).version, "2.0.0");
    const isMissing = { code: "PACKAGE_FETCH_FAILED" };
    await assert.rejects(lookUp({ kind: "npm", name: "@acme/none" }, env), isMissing);
    await assert.rejects(lookUp({ kind: "npm", name: "@acme/tool", version: "^9" }, env), isMissing);
    await assert.rejects(lookUp({ kind: "npm", name: "@acme/tool", version: "99" }, env), {
      ...isMissing,
      message: '"@acme/tool@99" could not be fetched: the registry has no version that matches 99',
      hint: "name a version that the registry has, or none for the newest",
    });
  });

  it("refuses an answer that is larger than the limit, or no version", {
    skip: skipWithout("npx"),
  }, async () => {
    const answer = { version: "; rm -rf /", text: "" };
    const server = createServer((_request, response) => {
      const manifest = {
        name: "tool",
        version: answer.version,
        license: answer.text,
        dist: { tarball: "http://127.0.0.1/x" },
      };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ name: "tool", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": manifest } }),
      );
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const env = { npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
    try {
      await assert.rejects(
        lookUp({ kind: "npm", name: "tool" }, env),
        /the registry names the version "; rm -rf \/"/,
      );
      answer.version = "1.0.0";
      answer.text = "y".repeat(10_000_000);
      await assert.rejects(
        lookUp({ kind: "npm", name: "tool" }, env),
        /the answer of the registry cannot be read/,
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("finds the version of a Python package that runs here", { skip: skipWithout("uvx") }, async () => {
    await using index = await new PythonIndex().listen();
    index.publish("acme-tool", "'hello'");
    const env = { UV_DEFAULT_INDEX: index.url };
    assert.equal((await lookUp({ kind: "python", name: "acme-tool" }, env)).version, "1.0");
    await assert.rejects(lookUp({ kind: "python", name: "acme-tool", version: "2.0" }, env), {
      code: "PACKAGE_FETCH_FAILED",
    });
  });

  it("finds the module of a Go package, and its newest version", { skip: skipWithout("go") }, async () => {
    const server = createServer((request, response) => {
      // Go connects to loopback addresses without a proxy, so that the registry has a name, and this is its proxy.
      const asked = request.url?.replace(/^http:\/\/go\.example\.test(?::80)?/, "");
      const isModule = asked?.startsWith("/example.com/acme/tool/@") === true;
      const info = { Version: "v1.2.3", Time: "2026-01-02T03:04:05Z" };
      if (!isModule) response.writeHead(404).end("not found");
      else if (asked?.endsWith("/list")) response.end("v1.0.0\nv1.2.3\n");
      else if (asked?.endsWith(".mod")) response.end("module example.com/acme/tool\n");
      else response.end(JSON.stringify(info));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = { GOPROXY: "http://go.example.test", GOSUMDB: "off", http_proxy: `http://127.0.0.1:${port}` };
    try {
      const found = await lookUp({ kind: "go", name: "example.com/acme/tool/cmd/server" }, env);
      assert.equal(found.version, "v1.2.3");
      assert.equal(new Map(found.facts).get("module"), "example.com/acme/tool");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
