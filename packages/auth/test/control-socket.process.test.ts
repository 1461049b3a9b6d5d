/** The control socket: its place, who can open it, and what is removed from its directory. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { listenOnControlSocket } from "@toolcrib/auth";
import { makeTemporaryDirectory } from "@toolcrib/testing";

const onPosix = { skip: process.platform === "win32" && "needs Unix domain sockets" };
const logger = { debug() {}, info() {}, warn() {}, error() {} };

function listen(server: Server, home: string, temporaryDirectory: string, now = Date.now()) {
  const { platform } = process;
  return listenOnControlSocket(
    { home, temporaryDirectory, platform, randomBytes, logger, now: () => now },
    server,
  );
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** A server that a test ends without removing its socket, as a killed process does. */
async function leaveStale(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(path, listening));
  const copy = `${path}.kept`;
  // Closing removes the path that was bound, so the socket is renamed meanwhile.
  renameSync(path, copy);
  await new Promise((closed) => server.close(closed));
  renameSync(copy, path);
}

describe("listenOnControlSocket()", onPosix, () => {
  test("binds below the home, with access for the owner only, and removes the socket", async () => {
    await using directory = await makeTemporaryDirectory();
    const server = createServer();
    const { path, remove } = await listen(server, directory.join("home"), directory.path);
    assert.equal(dirname(path), directory.join("home/run"));
    assert.match(path, /\.sock$/);
    assert.deepEqual([modeOf(path), modeOf(dirname(path))], ["600", "700"]);
    await remove();
    assert.equal(existsSync(path), false);
    await new Promise((closed) => server.close(closed));
  });

  test("removes sockets that refuse connections, and nothing else", async () => {
    await using directory = await makeTemporaryDirectory();
    const run = directory.join("home/run");
    mkdirSync(run, { recursive: true, mode: 0o700 });
    await leaveStale(join(run, "stale.sock"));
    await leaveStale(join(run, "old.draft"));
    writeFileSync(join(run, "file.sock"), "no socket");
    const living = createServer();
    await new Promise<void>((listening) => living.listen(join(run, "living.sock"), listening));
    const server = createServer();
    // An hour later, so that the draft counts as abandoned.
    const { path, remove } = await listen(
      server,
      directory.join("home"),
      directory.path,
      Date.now() + 3_600_000,
    );
    assert.deepEqual(
      readdirSync(run)
        .filter((name) => join(run, name) !== path)
        .sort(),
      ["file.sock", "living.sock"],
    );
    await remove();
    for (const one of [server, living]) await new Promise((closed) => one.close(closed));
  });

  test("keeps a young draft, which can belong to a gateway that is starting", async () => {
    await using directory = await makeTemporaryDirectory();
    const run = directory.join("home/run");
    mkdirSync(run, { recursive: true, mode: 0o700 });
    await leaveStale(join(run, "young.draft"));
    const server = createServer();
    const { remove } = await listen(server, directory.join("home"), directory.path);
    assert.ok(existsSync(join(run, "young.draft")));
    await remove();
    await new Promise((closed) => server.close(closed));
  });

  test("binds in a private temporary directory when the path of the home is too long", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("h".repeat(90));
    const server = createServer();
    const { path, remove } = await listen(server, home, directory.path);
    assert.ok(path.startsWith(directory.join("toolcrib-")), path);
    assert.deepEqual([modeOf(path), modeOf(dirname(path))], ["600", "700"]);
    await remove();
    assert.equal(existsSync(dirname(path)), false);
    await new Promise((closed) => server.close(closed));
  });

  test("without any place, the error names the directory and the remedy", async () => {
    await using directory = await makeTemporaryDirectory();
    const long = directory.join("h".repeat(90));
    mkdirSync(long);
    await assert.rejects(listen(createServer(), directory.join("i".repeat(90)), long), {
      code: "CONTROL_LISTEN_FAILED",
      message: /too long for a socket/,
      hint: /TMPDIR/,
    });
    assert.deepEqual(readdirSync(long), []);
  });
});
