/** `toolcrib logs`: what servers wrote to standard error and the program log of a gateway, also while files are rotated. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, echoServer, runToolcrib, startServe } from "./transcript.ts";

function logFile(directory: TemporaryDirectory, name: string): string {
  mkdirSync(directory.join(".toolcrib/logs"), { recursive: true });
  return directory.join(".toolcrib/logs", name);
}

function follow(directory: TemporaryDirectory, ...args: readonly string[]) {
  const child = spawn(process.execPath, [...commandLine, "logs", "--follow", ...args], {
    cwd: directory.path,
    env: { ...process.env, ...cleanEnvironment(directory.path) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const run = { child, ended, text: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    run.text += text;
  });
  return run;
}

test("logs shows the last lines of one or all logs without a gateway, safe for a terminal", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const empty = await runToolcrib(["logs"], setting);
  assert.deepEqual([empty.code, empty.stdout], [0, ""]);
  assert.match(empty.stderr, /Nothing is logged/);
  writeFileSync(logFile(directory, "files.log.1"), "one\ntwo\n");
  writeFileSync(
    logFile(directory, "files.log"),
    "three\nfour \u001b[31mred\u001b[0m\u202e\r\nlast without an end",
  );
  writeFileSync(logFile(directory, "%C3%A9.log"), "\u6f22\u5b57\n");
  const record = {
    level: "warn",
    time: "2026-06-01T12:00:00.000Z",
    server: "files",
    msg: "it \u001b[2J failed",
  };
  writeFileSync(logFile(directory, "_gateway.log"), `${JSON.stringify(record)}\nnot a record\n`);
  const one = await runToolcrib(["logs", "files", "--lines", "3"], setting);
  assert.equal(one.stdout, "two\nthree\nfour \\u001b[31mred\\u001b[0m\\u202e\n");
  const all = await runToolcrib(["logs"], setting);
  // In the order of their times; lines without one come first, by log.
  assert.match(all.stdout, /\| one\nfiles {3}\| two\n[\s\S]*gateway \| 2026/);
  assert.deepEqual(all.stdout.trimEnd().split("\n").sort(), [
    "files   | four \\u001b[31mred\\u001b[0m\\u202e",
    "files   | one",
    "files   | three",
    "files   | two",
    "gateway | 2026-06-01T12:00:00.000Z WARN  it \\u001b[2J failed server=files",
    "gateway | not a record",
    "\u00e9       | \u6f22\u5b57",
  ]);
  const json = await runToolcrib(["logs", "gateway", "--json"], setting);
  assert.deepEqual(JSON.parse(json.stdout), [
    { ...record, source: "gateway" },
    { source: "gateway", id: "gateway", line: "not a record" },
  ]);
  const unknown = await runToolcrib(["logs", "fils"], setting);
  assert.equal(unknown.code, 4);
  assert.match(unknown.stderr, /CLI_SERVER_NOT_FOUND[\s\S]*files/);
});

test("logs shows the last lines of a rotated log of many short lines", async () => {
  await using directory = await makeTemporaryDirectory();
  const lines = Array.from({ length: 300_000 }, (_, at) => `${at}\n`);
  writeFileSync(logFile(directory, "files.log.1"), lines.join(""));
  writeFileSync(logFile(directory, "files.log"), "last\n");
  const run = await runToolcrib(["logs", "files", "--lines", "2"], { directory: directory.path });
  assert.deepEqual([run.stdout, run.stderr, run.code], ["299999\nlast\n", "", 0]);
});

test("logs --follow goes on across rotations, and reads the logs of new servers", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = logFile(directory, "files.log");
  writeFileSync(path, "old\n");
  const [one, all] = [follow(directory, "files"), follow(directory, "--json", "--lines", "0")];
  await waitUntil(() => one.text === "old\n");
  // The other command has read the end of the file by then, or reads this line too.
  await waitUntil(
    () => {
      appendFileSync(path, "tick\n");
      return all.text.includes("tick");
    },
    { intervalMs: 100 },
  );
  appendFileSync(path, "before\n");
  renameSync(path, `${path}.1`);
  writeFileSync(path, "after\n");
  writeFileSync(logFile(directory, "new.log"), "hello\n");
  await waitUntil(
    () => one.text.endsWith("before\nafter\n") && all.text.includes("hello") && all.text.includes("after"),
  );
  for (const { child } of [one, all]) child.kill("SIGINT");
  assert.deepEqual(await Promise.all([one.ended, all.ended]), [0, 0]);
  const lines = all.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.find(({ id }) => id === "new"),
    { source: "process", id: "new", line: "hello" },
  );
});

test("a gateway writes its program log into the home, and its servers theirs", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("quick", "--builtin", "echo")] }),
  );
  await using gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
  const file = logFile(directory, "_gateway.log");
  await waitUntil(() => readFileSync(file, "utf8").includes("server is ready"));
  const { stdout } = await runToolcrib(["logs", "gateway"], setting);
  assert.match(stdout, /INFO {2}gateway\.started[\s\S]*INFO {2}server is ready[^\n]*server=quick/);
  assert.doesNotMatch(readFileSync(file, "utf8"), /tcb_/);
  const quiet = await runToolcrib(["logs", "quick"], setting);
  assert.deepEqual([quiet.code, quiet.stdout], [0, ""]);
  assert.match(quiet.stderr, /quick has written nothing/);
  await gateway.stop();
});
