import assert from "node:assert/strict";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { test } from "node:test";
import { forkRequest, moduleRequest, runCommand, startForeground } from "@toolcrib/process";
import { fixture } from "./process-harness.ts";

const entryPath = fixture("ipc-module.ts");
const limits = { timeoutMs: 30_000, outputMaxBytes: 1000 };

/** Runs a shell script with `runCommand`. */
function runScript(script: string, options = limits) {
  return runCommand({ program: "/bin/sh", args: ["-c", script], env: { KEY: "value" } }, options);
}

test("forkRequest() connects a module over IPC, with only the given environment", async () => {
  const child = forkRequest(
    moduleRequest({ entryPath, nodeArgs: ["--no-deprecation"], env: { KEY: "value" } }),
  );
  const exited = once(child, "exit");
  child.send("hello");
  const [reply] = await once(child, "message");
  assert.deepEqual(reply, { message: "hello", env: ["KEY"], execArgv: ["--no-deprecation"] });
  child.disconnect();
  assert.deepEqual(await exited, [0, null]);
});

test("forkRequest() and startForeground() start the program that wrap returns", async () => {
  const wrap = () => ({ program: "/bin/sh", args: ["-c", "exit 3"], env: {} });
  const children = [
    forkRequest(moduleRequest({ entryPath, nodeArgs: [], env: {} }), { wrap }),
    startForeground({ program: "none", args: [], env: {} }, { wrap }),
  ];
  for (const exit of children.map((child) => once(child, "exit"))) assert.deepEqual(await exit, [3, null]);
});

test("descriptors of a request are 3 and the following ones in the child, and the channel comes after them", async () => {
  const files = [openSync(fixture("ipc-module.ts"), "r"), openSync("/dev/null", "r")];
  try {
    const script = 'head -c 6 <&3; cat <&4; [ -e /proc/self/fd/5 ] || echo " and no more"';
    const request = { program: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" } };
    const { stdout } = await runCommand({ ...request, descriptors: files }, limits);
    assert.equal(stdout.toString(), "/** En and no more\n");
    const wrap = (asked: Parameters<typeof runCommand>[0]) => ({ ...asked, descriptors: files });
    const child = forkRequest(moduleRequest({ entryPath, nodeArgs: [], env: {} }), { wrap });
    const exited = once(child, "exit");
    child.send("hello");
    assert.equal((await once(child, "message"))[0].message, "hello");
    child.disconnect();
    assert.deepEqual(await exited, [0, null]);
  } finally {
    for (const file of files) closeSync(file);
  }
});

test("runCommand() kills a command that ignores SIGTERM", async () => {
  const script = 'trap "" TERM; echo set; while :; do sleep 1; done';
  // On a busy machine, the time can be over before the shell has set the trap.
  for (let timeoutMs = 200; ; timeoutMs *= 2) {
    const { code, stdout } = await runScript(script, { ...limits, timeoutMs });
    assert.equal(code, "ETIMEDOUT");
    if (stdout.toString() === "set\n") break;
    assert.ok(timeoutMs < 20_000, "the shell did not set the trap");
  }
});

test("startForeground() looks the program up in the given PATH, and emits an error if it does not exist", async () => {
  const child = startForeground({
    program: "true",
    args: [],
    env: { PATH: "/usr/bin:/bin" },
    directory: "/",
  });
  assert.deepEqual(await once(child, "exit"), [0, null]);
  const missing = startForeground({ program: "no-such-program-here", args: [], env: { PATH: "/bin" } });
  const [error] = await once(missing, "error");
  assert.equal(error.code, "ENOENT");
});

test("runCommand() returns the exit code and the output, and closes standard input", async () => {
  const result = await runScript('cat; printf "%s" "$KEY"; echo problem >&2; exit 4');
  assert.deepEqual([result.code, result.stdout.toString(), result.stderr], [4, "value", "problem\n"]);
});

test("runCommand() reports a missing program, and ends one that exceeds a limit", async () => {
  const missing = await runCommand({ program: "no-such-program-here", args: [], env: {} }, limits);
  assert.equal(missing.code, "ENOENT");
  const slow = await runScript("exec sleep 300", { ...limits, timeoutMs: 50 });
  assert.equal(slow.code, "ETIMEDOUT");
  const long = await runScript("exec yes");
  assert.equal(long.code, "ERR_CHILD_PROCESS_STDIO_MAXBUFFER");
});
