import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import {
  canFindProcesses,
  checkGolden,
  findProcessesByEnvironment,
  freePort,
  isProcessAlive,
  makeTemporaryDirectory,
  readGolden,
  runProcess,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";

const node = process.execPath;

test("makeTemporaryDirectory() creates a directory that disposing removes with its contents", async () => {
  let path = "";
  {
    await using directory = await makeTemporaryDirectory();
    path = directory.path;
    writeFileSync(directory.join("file"), "text");
    assert.equal(directory.join("a", "b"), `${path}/a/b`);
  }
  assert.equal(path !== "" && existsSync(path), false);
});

test("checkGolden() compares with the file, and writes it on request", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("new", "output.golden");
  const before = process.env["TOOLCRIB_UPDATE_GOLDEN"];
  try {
    delete process.env["TOOLCRIB_UPDATE_GOLDEN"];
    assert.throws(() => checkGolden(path, "one"), /does not exist/);
    process.env["TOOLCRIB_UPDATE_GOLDEN"] = "1";
    checkGolden(path, "one");
    delete process.env["TOOLCRIB_UPDATE_GOLDEN"];
    checkGolden(path, "one\n");
    assert.throws(() => checkGolden(path, "two"), /output\.golden differs/);
    assert.equal(readGolden(path), "one\n");
  } finally {
    if (before !== undefined) process.env["TOOLCRIB_UPDATE_GOLDEN"] = before;
  }
});

test("runProcess() returns the exit code, the signal and the output", async () => {
  const program = "process.stdin.pipe(process.stdout); console.error(process.env.WORD); process.exitCode = 3";
  const outcome = await runProcess(node, ["-e", program], { stdin: "in ä", env: { WORD: "word" } });
  assert.deepEqual(outcome, { code: 3, signal: null, stdout: "in ä", stderr: "word\n" });
  const killed = await runProcess(node, ["-e", "process.kill(process.pid, 'SIGKILL')"], {
    stdin: "x".repeat(1 << 20),
  });
  assert.equal(killed.signal, "SIGKILL");
  await assert.rejects(runProcess("/nowhere/program", []), { code: "ENOENT" });
});

test("runProcess() kills a program that takes too long, with its children", async () => {
  const program = "sleep 600 & echo $!; wait";
  const error = await runProcess("sh", ["-c", program], { timeoutMs: 1000 }).catch((thrown: Error) => thrown);
  assert.ok(error instanceof assert.AssertionError);
  assert.match(error.message, /did not end within 1000 ms/);
  const pid = Number(/stdout: (\d+)/.exec(error.message)?.[1]);
  assert.ok(pid > 0, error.message);
  await waitUntil(() => !isProcessAlive(pid));
});

test("startServerProcess() waits for the URL, and ends a server that does not end by itself", async () => {
  const program = `
    process.on("SIGTERM", () => { console.error("stopping"); process.exit(0); });
    console.log("starting");
    console.log("listening on http://127.0.0.1:1234/mcp (none)");
    setTimeout(() => {}, 60000);`;
  let pid = 0;
  {
    await using server = await startServerProcess(node, ["-e", program]);
    pid = server.pid;
    assert.equal(server.url, "http://127.0.0.1:1234/mcp");
    assert.match(server.stdout(), /^starting\n/);
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    assert.equal(server.stderr(), "stopping\n");
  }
  assert.equal(isProcessAlive(pid), false);
  await assert.rejects(
    startServerProcess(node, ["-e", "console.error('broken'); process.exit(2)"]),
    /broken/,
  );
  await assert.rejects(startServerProcess("/nowhere/program", []), /ENOENT/);
  await assert.rejects(
    startServerProcess(node, ["-e", "setTimeout(() => {}, 60000)"], { timeoutMs: 200 }),
    /prints a URL/,
  );
});

test("waitUntil() returns the value of the condition, and fails with its description", async () => {
  const answers = [false, "", "three"];
  assert.equal(await waitUntil(() => answers.shift()), "three");
  await assert.rejects(
    waitUntil(() => false, { timeoutMs: 20, what: "the impossible" }),
    /the impossible/,
  );
});

test("freePort() returns a port on which nothing listens, and which no connection gets", async () => {
  const port = await freePort();
  assert.ok(port < 32_768, String(port));
  const error = await new Promise<Error & { code?: string }>((resolve) => {
    connect(port, "127.0.0.1").on("error", resolve);
  });
  assert.equal(error.code, "ECONNREFUSED");
});

test("findProcessesByEnvironment() finds the processes with a marker", {
  skip: !canFindProcesses,
}, async () => {
  const value = `tools-${process.pid}`;
  const marker = `TOOLCRIB_TEST_MARKER=${value}`;
  assert.deepEqual(findProcessesByEnvironment(marker), []);
  {
    await using server = await startServerProcess(
      node,
      ["-e", "console.log('http://127.0.0.1:1/'); setTimeout(() => {}, 60000)"],
      { env: { TOOLCRIB_TEST_MARKER: value } },
    );
    const [found] = findProcessesByEnvironment(marker);
    assert.equal(found?.pid, server.pid);
    assert.match(found?.command ?? "", /-e console\.log/);
  }
  assert.deepEqual(findProcessesByEnvironment(marker), []);
});

test("isProcessAlive() distinguishes this process from one that never existed", () => {
  assert.equal(isProcessAlive(process.pid), true);
  assert.equal(isProcessAlive(2 ** 22 + 1), false);
});
