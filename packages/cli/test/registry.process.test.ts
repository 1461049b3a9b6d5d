import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import {
  makeTemporaryDirectory,
  startServerProcess,
  type TemporaryDirectory,
  writeFiles,
} from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib } from "./transcript.ts";

const schema = { type: "object", properties: { message: { type: "string" } } };

function manifest(version: string, changes: object = {}): string {
  return JSON.stringify({
    toolId: "demo.echo",
    name: "Echo Tool",
    version,
    description: "Echos back whatever input it receives.",
    capabilities: ["demo", "echo"],
    endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo" },
    input_schema: schema,
    output_schema: schema,
    meta: { license: "MIT" },
    ...changes,
  });
}

/** Runs a command that must succeed. */
async function run(directory: TemporaryDirectory, ...args: readonly string[]) {
  const outcome = await runToolcrib(args, { directory: directory.path });
  assert.equal(outcome.code, 0, `${args.join(" ")}\n${outcome.stdout}${outcome.stderr}`);
  return outcome;
}

/** Creates a registry with versions of demo.echo. */
async function createRegistry(directory: TemporaryDirectory, ...versions: readonly string[]): Promise<void> {
  await run(directory, "registry", "init", "./registry", "--name", "acme");
  for (const version of versions) await publish(directory, version);
}

async function publish(directory: TemporaryDirectory, version: string): Promise<void> {
  writeFiles(directory.path, { "echo/manifest.json": manifest(version) });
  await run(directory, "pack", "echo", "--sign");
  await run(directory, "publish", `demo.echo-${version}.mcpkg`, "--registry", "./registry");
}

/** Starts a static web server of the registry, as any web server serves a folder. */
async function startStatic(folder: string) {
  const state = { isDown: false, replaced: new Map<string, Buffer>() };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const file = join(folder, path);
    if (state.isDown) response.destroy();
    else if (state.replaced.has(path)) response.end(state.replaced.get(path));
    else if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

test("packages are searched, installed by toolId@range and updated from a registry of the configuration", async () => {
  await using directory = await makeTemporaryDirectory();
  await createRegistry(directory, "1.0.0", "1.1.0", "2.0.0");
  await using web = await startStatic(directory.join("registry"));
  writeFileSync(directory.join("toolcrib.yaml"), `registries:\n  - { name: acme, url: "${web.url}" }\n`);
  const found = JSON.parse((await run(directory, "registry", "search", "echo", "input", "--json")).stdout);
  assert.deepEqual(
    found.map((one: { toolId: string; version: string; registry: string }) => [
      one.toolId,
      one.version,
      one.registry,
    ]),
    [["demo.echo", "2.0.0", "acme"]],
  );
  const installed = await run(directory, "install", "demo.echo@^1.0", "--yes");
  assert.match(installed.stdout, /demo\.echo 1\.1\.0/);
  assert.equal(
    JSON.parse(readFileSync(directory.join(".mcp/tools/demo.echo/manifest.json"), "utf8")).version,
    "1.1.0",
  );
  assert.equal((await run(directory, "outdated")).code, 0);
  await publish(directory, "1.2.0");
  const outdated = await runToolcrib(["outdated", "--json"], { directory: directory.path });
  assert.equal(outdated.code, 1, outdated.stderr);
  assert.deepEqual(
    JSON.parse(outdated.stdout).map((one: { wanted: string; latest: string }) => [one.wanted, one.latest]),
    [["1.2.0", "2.0.0"]],
  );
  await run(directory, "update", "--yes");
  assert.equal(
    JSON.parse(readFileSync(directory.join(".mcp/tools/demo.echo/manifest.json"), "utf8")).version,
    "1.2.0",
  );
  // Without the network: found in the copy, and not installable.
  web.state.isDown = true;
  const offline = await run(directory, "registry", "search", "echo");
  assert.match(offline.stderr, /Using the copy of the registry acme of /);
  const failed = await runToolcrib(["install", "demo.echo@2", "--yes"], { directory: directory.path });
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /Cannot read "http:\/\/127\.0\.0\.1:\d+\/packages\/demo\.echo-2\.0\.0\.mcpkg"/);
});

test("a changed, an old and a foreign index, and a changed archive, are refused with their reasons", async () => {
  await using directory = await makeTemporaryDirectory();
  await createRegistry(directory, "1.0.0");
  await using web = await startStatic(directory.join("registry"));
  const old = readFileSync(directory.join("registry/index.json"));
  const attempt = async (...args: readonly string[]) => {
    const outcome = await runToolcrib(["install", "demo.echo", "--yes", "--registry", web.url, ...args], {
      directory: directory.path,
    });
    assert.equal(outcome.code, 1, outcome.stdout);
    assert.equal(existsSync(directory.join(".mcp/tools/demo.echo")), false);
    return outcome.stderr;
  };
  const { replaced } = web.state;
  const archive = readFileSync(directory.join("registry/packages/demo.echo-1.0.0.mcpkg"));
  replaced.set("/packages/demo.echo-1.0.0.mcpkg", Buffer.from(archive).fill(0x20, 100, 101));
  assert.match(
    await attempt(),
    /The archive of demo\.echo 1\.0\.0 .* is not used: it has the digest sha256:/,
  );
  replaced.clear();
  await publish(directory, "1.1.0");
  await run(directory, "registry", "list", web.url);
  replaced.set("/index.json", old);
  assert.match(await attempt(), /is not used: it is number 2 of .*, and number 3 was seen before/);
  await run(directory, "registry", "init", "./other", "--home", "otherhome");
  replaced.set("/index.json", readFileSync(directory.join("other/index.json")));
  assert.match(
    await attempt(),
    /it is signed by sha256:[0-9a-f]{64}, and its key is sha256:[0-9a-f]{64} \(the one of its first use\)/,
  );
  replaced.set("/index.json", Buffer.concat([old.subarray(0, 90), Buffer.from("AAAA"), old.subarray(94)]));
  assert.match(await attempt(), /The index of the registry is not used/);
  replaced.set("/index.json", Buffer.alloc(70_000, 0x20));
  assert.match(await attempt(), /it has more than 65536 bytes/);
});

test("registry serve serves a folder until it is stopped, and verify checks every archive", async () => {
  await using directory = await makeTemporaryDirectory();
  await createRegistry(directory, "1.0.0");
  const args = [...commandLine, "registry", "serve", "./registry", "--listen", "127.0.0.1:0"];
  await using served = await startServerProcess(process.execPath, args, {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\//,
  });
  const { url } = served;
  const verified = await run(directory, "registry", "verify", url);
  assert.match(verified.stdout, /1 archive checked, 0 problems/);
  writeFileSync(directory.join("registry/packages/demo.echo-1.0.0.mcpkg"), "changed");
  const broken = await runToolcrib(["registry", "verify", url], { directory: directory.path });
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /✗ demo\.echo 1\.0\.0: /);
});

test("wrong uses of registries are explained", async () => {
  await using directory = await makeTemporaryDirectory();
  await createRegistry(directory, "1.0.0");
  writeFileSync(
    directory.join("toolcrib.yaml"),
    "registries:\n  - { name: web, url: https://tools.example.com/ }\n  - { name: local, folder: ./registry }\n",
  );
  const check = async (args: readonly string[], code: number, message: RegExp) => {
    const outcome = await runToolcrib(args, { directory: directory.path });
    assert.equal(outcome.code, code, `${args.join(" ")}\n${outcome.stdout}${outcome.stderr}`);
    assert.match(outcome.stderr, message);
  };
  await check(
    ["registry", "search", "x", "--registry", "acme"],
    2,
    /has the name "acme"\n.*it has web, local; write a folder as \.\/acme/s,
  );
  await check(
    ["registry", "search", "x", "--registry", "http://example.com/"],
    1,
    /plain http is for servers of this machine only/,
  );
  await check(["registry", "add", "web", "x.mcpkg"], 2, /only a folder can be changed/);
  await check(["registry", "remove", "local", "demo.echo"], 2, /names no version of a package/);
  await check(
    ["registry", "remove", "local", "demo.echo@9.0.0"],
    4,
    /has no demo\.echo 9\.0\.0\n.*it has 1\.0\.0/s,
  );
  await check(["registry", "init", "./registry"], 1, /is a registry already/);
  await check(["registry", "list", "./missing"], 1, /there is no such file/);
  await check(["registry", "serve", "./missing"], 1, /is not a registry: it has no index\.json/);
  await check(
    ["publish", "demo.echo-1.0.0.mcpkg", "--registry", "local", "--home", "other"],
    1,
    /it is signed by sha256:/,
  );
  await check(
    ["install", "demo.other", "--registry", "local", "--yes"],
    4,
    /local has no package demo\.other/,
  );
  writeFileSync(
    directory.join("toolcrib.yaml"),
    "registries:\n  - { name: both, url: https://x.example/, folder: x }\n",
  );
  await check(["registry", "list"], 2, /must have exactly one of url and folder, but has both/);
});

test("a registry folder that does not exist is named, and no lock is blamed", async () => {
  await using directory = await makeTemporaryDirectory();
  const added = await runToolcrib(["registry", "add", "nowhere", "x.mcpkg"], { directory: directory.path });
  assert.notEqual(added.code, 0);
  assert.match(
    added.stderr,
    /CLI_FILE_UNUSABLE: Cannot open the registry "nowhere" in ".*nowhere": there is no such folder\nhint: .*registry init/,
  );
});
