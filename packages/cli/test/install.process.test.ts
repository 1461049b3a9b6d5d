/** `install` and its relatives from URLs, with lock files, and at the same time. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  startTlsServer,
  type TemporaryDirectory,
  writeFiles,
} from "@toolcrib/testing";
import { onTerminal, skipWithoutTerminal } from "./terminal.ts";
import { runToolcrib, runToolcribProcess } from "./transcript.ts";

const schema = { type: "object", properties: { message: { type: "string" } } };

function manifestOf(toolId: string, version = "1.0.0"): string {
  return JSON.stringify({
    toolId,
    name: toolId,
    version,
    description: "A tool.",
    capabilities: ["demo"],
    endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo" },
    input_schema: schema,
    output_schema: schema,
  });
}

/** Packs a tool, signed unless `flags` are given otherwise, and returns the name of its archive. */
async function pack(
  directory: TemporaryDirectory,
  toolId: string,
  version = "1.0.0",
  flags: readonly string[] = ["--sign"],
): Promise<string> {
  const folder = `source-${toolId}-${version}`;
  writeFiles(directory.path, { [`${folder}/manifest.json`]: manifestOf(toolId, version) });
  const { code, stderr } = await runToolcrib(["pack", folder, ...flags], { directory: directory.path });
  assert.equal(code, 0, stderr);
  return `${toolId}-${version}.mcpkg`;
}

test("a package comes from an https URL through the egress, with a redirect, and from no private address by itself", async () => {
  await using directory = await makeTemporaryDirectory();
  const archive = readFileSync(directory.join(await pack(directory, "demo.echo")));
  const unsigned = readFileSync(directory.join(await pack(directory, "demo.plain", "1.0.0", [])));
  const authority = createTestAuthority();
  await using server = await startTlsServer({
    certificate: authority.sign({ hosts: ["tools.example.com", "files.example.net"] }),
    respond({ target: path }, response) {
      if (path === "/latest.mcpkg")
        response.writeHead(302, { location: "https://files.example.net/e.mcpkg" }).end();
      else if (path === "/inside.mcpkg") response.writeHead(302, { location: "http://127.0.0.1:1/x" }).end();
      else if (path === "/e.mcpkg") response.end(archive);
      else if (path === "/plain.mcpkg") response.end(unsigned);
      else response.writeHead(404).end();
    },
  });
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  const connect = `{tools.example.com: "${server.endpoint}", files.example.net: "${server.endpoint}"}`;
  const config = (ranges: string) =>
    writeFileSync(
      directory.join("toolcrib.yaml"),
      `egress: {internal_ranges: [${ranges}], connect_to: ${connect}, ca_files: [./ca.pem]}\n`,
    );
  const install = (...args: readonly string[]) =>
    runToolcrib(["install", ...args], { directory: directory.path });
  config("");
  const denied = await install("https://tools.example.com/latest.mcpkg");
  assert.equal(denied.code, 1);
  assert.match(denied.stderr, /EGRESS_ADDRESS_DENIED/);
  assert.equal(server.connectionCount, 0);
  config("127.0.0.0/8");
  const done = await install("https://tools.example.com/latest.mcpkg");
  assert.equal(done.code, 0, done.stderr);
  assert.match(
    done.stdout,
    /^Installed demo\.echo 1\.0\.0 from https:\/\/tools\.example\.com\/latest\.mcpkg, signed by sha256:/,
  );
  const inside = await install("https://tools.example.com/inside.mcpkg");
  assert.match(inside.stderr, /CLI_FETCH_FAILED: .*redirects to something else than an https URL/);
  const missing = await install("https://tools.example.com/none.mcpkg");
  assert.match(missing.stderr, /CLI_FETCH_FAILED: .*HTTP 404/);
  const plain = await install("https://tools.example.com/plain.mcpkg");
  assert.equal(plain.code, 1);
  assert.match(plain.stderr, /INSTALL_UNSIGNED: .*\nhint: .*--allow-unsigned/);
  assert.equal((await install("https://tools.example.com/plain.mcpkg", "--allow-unsigned")).code, 0);
  assert.deepEqual(readdirSync(directory.join(".mcp/tools")).toSorted(), ["demo.echo", "demo.plain"]);
});

test("a server of this machine is read only with --allow-loopback", async () => {
  await using directory = await makeTemporaryDirectory();
  const archive = readFileSync(directory.join(await pack(directory, "demo.echo")));
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end(archive);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/demo.mcpkg`;
    const setting = { directory: directory.path };
    const refused = await runToolcrib(["install", url], setting);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /hint: .*--allow-loopback/);
    assert.equal(requests, 0);
    const done = await runToolcrib(["install", url, "--allow-loopback"], setting);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(requests, 1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("install --locked shows what a clone names, and installs it when that was agreed to", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const archive = await pack(directory, "demo.echo");
  assert.equal((await runToolcrib(["install", archive], setting)).code, 0);
  await using clone = await makeTemporaryDirectory();
  for (const name of ["mcp.lock", archive])
    writeFileSync(clone.join(name), readFileSync(directory.join(name)));
  const inClone = (...args: readonly string[]) => runToolcrib(args, { directory: clone.path });
  const asked = await inClone("install", "--locked");
  assert.equal(asked.code, 2);
  assert.match(
    asked.stderr,
    /mcp\.lock of this project names these packages:\n {2}demo\.echo 1\.0\.0 from .*, signed by sha256:.*\n.*\n.*\nhint: .*--yes/,
  );
  assert.equal(existsSync(clone.join(".mcp")), false);
  const done = await inClone("install", "--locked", "--yes");
  assert.equal(done.code, 0, done.stderr);
  assert.equal((await inClone("lock", "--check")).code, 0);
  assert.match((await inClone("install", "--locked")).stdout, /Everything is installed already/);
  // Another archive under the same name is not what was locked.
  await pack(directory, "demo.echo", "1.0.0", ["--force"]);
  writeFileSync(clone.join(archive), readFileSync(directory.join(archive)));
  rmSync(clone.join(".mcp"), { recursive: true });
  const changed = await inClone("install", "--locked", "--yes");
  assert.equal(changed.code, 1);
  assert.match(changed.stderr, /INSTALL_DIGEST_MISMATCH/);
});

test("installations at the same time wait for each other: all are recorded and locked", async () => {
  await using directory = await makeTemporaryDirectory();
  const ids = ["demo.a", "demo.b", "demo.c", "demo.d"];
  const archives: string[] = [];
  for (const id of ids) archives.push(await pack(directory, id));
  const outcomes = await Promise.all(
    archives.map((archive) => runToolcribProcess(["install", archive], { directory: directory.path })),
  );
  assert.deepEqual(
    outcomes.map(({ code, stderr }) => [code, stderr]),
    ids.map(() => [0, ""]),
  );
  const { stdout } = await runToolcrib(["info", "--json"], { directory: directory.path });
  const { packages, diagnostics } = JSON.parse(stdout) as {
    packages: readonly { toolId: string }[];
    diagnostics: readonly unknown[];
  };
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    packages.map(({ toolId }) => toolId),
    ids,
  );
  const lock = JSON.parse(readFileSync(directory.join("mcp.lock"), "utf8")) as { packages: object };
  assert.deepEqual(Object.keys(lock.packages), ids);
});

test("install ends on a terminal with the command that shows the new tool, and --yes asks nothing", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path, env: { NO_COLOR: "1" } };
  const archive = await pack(directory, "demo.echo");
  const shown = await onTerminal(["install", archive, "--yes"], setting);
  const [, words = ""] = /\r?\n\r?\nTry\r?\n {2}\S.* (describe demo\.echo)\r?\n$/.exec(shown) ?? [];
  const described = await runToolcrib(words.split(" "), setting);
  assert.match(described.stdout, /demo\.echo/);
  assert.doesNotMatch(await onTerminal(["install", archive, "--yes"], setting), /Try/);
  // What its program can call is for the operator to approve, by name.
  const reaching = join(import.meta.dirname, "../../../examples/packages/longest-words");
  const refused = await onTerminal(["install", reaching, "--yes"], { ...setting, stdin: "y\n" });
  assert.doesNotMatch(refused, /\[y\/N\]/);
  assert.match(refused, /error INSTALL_REACH_NOT_APPROVED/);
  assert.match(refused.replaceAll(/\s+/g, " "), /--allow-tool filesystem:read_text_file/);
});

test("nothing of a package runs when it is installed, and its programs keep their permission", async () => {
  await using directory = await makeTemporaryDirectory();
  const trap = `#!/bin/sh\ntouch ${directory.join("ran")}\n`;
  writeFiles(directory.path, {
    "local/manifest.json": JSON.stringify({
      ...(JSON.parse(manifestOf("demo.local")) as object),
      endpoint: { type: "local", command: "./bin/run.sh" },
    }),
    "local/bin/run.sh": trap,
    "local/postinstall.sh": trap,
    "local/package.json": JSON.stringify({
      scripts: { postinstall: "./postinstall.sh", preinstall: "./postinstall.sh" },
    }),
  });
  chmodSync(directory.join("local/bin/run.sh"), 0o755);
  mkdirSync(directory.join("empty"));
  const { code, stderr } = await runToolcrib(["install", "./local"], { directory: directory.path });
  assert.equal(code, 0, stderr);
  assert.equal(existsSync(directory.join("ran")), false);
  const shown = await runToolcrib(["info", "demo.local"], { directory: directory.path });
  assert.match(shown.stdout, /Endpoint {5}\.\/bin\/run\.sh/);
  assert.match(shown.stdout, /Signature {4}not signed/);
});
