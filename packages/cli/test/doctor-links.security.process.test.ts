/** `toolcrib doctor --fix` changes nothing outside the home, and removes no socket of a running process. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const skip = process.platform === "win32" ? "there are no modes and sockets of this kind" : false;
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Leaves a socket of an ended process, an hour old. */
async function leaveSocket(path: string): Promise<void> {
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  await runProcess(process.execPath, ["-e", script], {});
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
}

test("doctor --fix follows no link out of the home", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const [outside, run] = [directory.join("outside"), directory.join("run")];
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(`${outside}/.store`, { recursive: true });
  mkdirSync(run, { mode: 0o700 });
  writeFileSync(`${outside}/.store/file`, "x");
  chmodSync(`${outside}/.store`, 0o755);
  chmodSync(`${outside}/.store/file`, 0o644);
  await leaveSocket(`${run}/other.sock`);
  symlinkSync(outside, `${home}/secrets`);
  symlinkSync(run, `${home}/run`);
  const { stdout } = await runToolcrib(["doctor", "--fix", "--yes", "--home", home], {
    directory: directory.path,
  });
  assert.doesNotMatch(stdout, /close \d+ path|remove .*sock/);
  assert.equal(modeOf(`${outside}/.store`), 0o755);
  assert.equal(modeOf(`${outside}/.store/file`), 0o644);
  assert.ok(existsSync(`${run}/other.sock`));
  // The same socket in a folder of the home is a leftover.
  renameSync(`${home}/run`, `${home}/link`);
  mkdirSync(`${home}/run`, { mode: 0o700 });
  await leaveSocket(`${home}/run/own.sock`);
  await runToolcrib(["doctor", "--fix", "--yes", "--home", home], { directory: directory.path });
  assert.equal(existsSync(`${home}/run/own.sock`), false);
});

const python = await runProcess("python3", ["--version"], {}).then(
  ({ code }) => code === 0,
  () => false,
);

test("doctor --fix keeps the sockets of processes that take no connection now", {
  skip: skip !== false ? skip : python ? false : "python3 is not installed",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const run = directory.join("home/run");
  mkdirSync(run, { recursive: true, mode: 0o700 });
  chmodSync(directory.join("home"), 0o700);
  // Binds a socket for datagrams, and one whose queue is full, and runs the command while they are open.
  const script = `
import socket, os, time, subprocess, sys
run = sys.argv[1]
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); one.bind(run + "/datagrams.sock")
two = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); two.bind(run + "/full.sock"); two.listen(0)
clients = []
for _ in range(3):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); client.setblocking(False); clients.append(client)
    client.connect_ex(run + "/full.sock")
for name in ("/datagrams.sock", "/full.sock"): os.utime(run + name, (time.time() - 3600,) * 2)
print("ready", flush=True)
sys.stdin.read()
`;
  const holder = spawn("python3", ["-c", script, run], { stdio: ["pipe", "pipe", "inherit"] });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  const { stdout } = await runToolcrib(["doctor", "--fix", "--yes", "--home", directory.join("home")], {
    directory: directory.path,
  });
  holder.stdin.end();
  await new Promise((resolve) => holder.once("close", resolve));
  assert.doesNotMatch(stdout, /nobody listens on/);
  assert.deepEqual([existsSync(`${run}/datagrams.sock`), existsSync(`${run}/full.sock`)], [true, true]);
});
