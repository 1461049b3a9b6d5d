/** A bridge whose gateway has ended, or does not hold its port, while another program listens there: it is sent nothing. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { startBridge, startFakeControl } from "./bridge-harness.ts";

const isLinux = process.platform === "linux";

/** A program that records what it is sent on a port. */
async function startRecorder(port: number) {
  /** The bytes of each connection that has ended. */
  const ended: string[] = [];
  const server = createServer((socket) => {
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      socket.destroy();
    });
    socket.on("error", () => {});
    socket.once("close", () => ended.push(text));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    ended,
    [Symbol.dispose]() {
      server.close();
    },
  };
}

/** Makes a home with the token of a client "c". */
function prepare(directory: string): void {
  for (const folder of ["run", "tokens"])
    mkdirSync(`${directory}/.toolcrib/${folder}`, { recursive: true, mode: 0o700 });
  writeFileSync(`${directory}/.toolcrib/toolcrib.yaml`, JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  writeFileSync(`${directory}/.toolcrib/tokens/c`, `tcb_${"a".repeat(43)}\n`, { mode: 0o600 });
}

interface Run {
  readonly pid: number;
  readonly url: string;
}

/** Returns the gateways with a run file. */
function runsOf(directory: string): readonly Run[] {
  const folder = `${directory}/.toolcrib/run`;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as Run);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  test(`a program that takes the port of a gateway that ended by ${signal} is sent nothing`, async () => {
    await using directory = await makeTemporaryDirectory();
    prepare(directory.path);
    await using bridge = startBridge(directory.path, "--as", "c");
    const started: number[] = [];
    try {
      await bridge.initialize();
      assert.equal((await bridge.request(1, "tools/list")).error, undefined);
      const [first] = runsOf(directory.path);
      assert.ok(first);
      started.push(first.pid);
      process.kill(first.pid, signal);
      await waitUntil(() => !isAlive(first.pid));
      using recorder = await startRecorder(Number(new URL(first.url).port));
      // The bridge opens its stream again.
      await waitUntil(() => recorder.ended.length > 0);
      assert.deepEqual(new Set(recorder.ended), new Set([""]));
      const { result, error } = await bridge.request(2, "tools/list");
      assert.deepEqual([error, Array.isArray(result?.["tools"])], [undefined, true]);
      const next = runsOf(directory.path).find(({ pid }) => pid !== first.pid);
      assert.ok(next);
      started.push(next.pid);
      assert.notEqual(next.url, first.url);
      assert.deepEqual(new Set(recorder.ended), new Set([""]));
    } finally {
      await bridge.end();
      for (const pid of started) if (isAlive(pid)) process.kill(pid, "SIGTERM");
    }
  });
}

test("a program that listens at the address of a run file is sent nothing where another process wrote the file", {
  skip: isLinux ? false : "other systems do not tell the process of a connection",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  prepare(directory.path);
  // Its process is this one, which runs and has a control socket.
  using control = await startFakeControl();
  const program = `
    const server = require("node:net").createServer((socket) => {
      let text = "";
      socket.on("data", (part) => { text += part; socket.destroy(); }).on("error", () => {});
      socket.once("close", () => console.log(JSON.stringify(text)));
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const childEnded = once(child, "close");
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  try {
    await waitUntil(() => lines.length > 0);
    const run = { pid: process.pid, url: `http://127.0.0.1:${lines[0]}`, controlPath: control.path };
    const facts = { startedAt: "9999", version: "0.1.0", auth: "token", configFiles: [] };
    const path = `${directory.path}/.toolcrib/run/gateway-${process.pid}.json`;
    writeFileSync(path, JSON.stringify({ ...facts, ...run }), { mode: 0o600 });
    await using bridge = startBridge(directory.path, "--as", "c");
    void bridge.request("init", "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    });
    await waitUntil(() => lines.length > 2);
    assert.deepEqual(new Set(lines.slice(1)), new Set(['""']));
  } finally {
    child.kill("SIGKILL");
    await childEnded;
  }
});
