/** Run files that no gateway of this user wrote for the process that has its id now: nothing is sent to their addresses. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { startBridge } from "./bridge-harness.ts";
import { runToolcrib } from "./transcript.ts";

/** A program that listens where a gateway listened before. */
async function startListener() {
  const authorizations: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    authorizations.push(headers.authorization);
    response.writeHead(404).end("{}");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authorizations,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Run {
  readonly pid: number;
  readonly processStart?: string;
  readonly controlPath?: string;
}

/** Writes a run file, and a token of the client "c". */
function prepare(home: string, run: Run & { readonly url: string }): string {
  for (const folder of ["run", "tokens"])
    mkdirSync(`${home}/.toolcrib/${folder}`, { recursive: true, mode: 0o700 });
  writeFileSync(`${home}/.toolcrib/toolcrib.yaml`, JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  writeFileSync(`${home}/.toolcrib/tokens/c`, `tcb_${"a".repeat(43)}\n`, { mode: 0o600 });
  const path = `${home}/.toolcrib/run/gateway-${run.pid}.json`;
  const facts = { startedAt: "9999", version: "0.1.0", auth: "token", configFiles: [] };
  writeFileSync(path, JSON.stringify({ ...facts, ...run }), { mode: 0o600 });
  return path;
}

/** Ends the gateway that a bridge started. */
function endGateway(bridge: { readonly stderr: string }): void {
  const pid = Number(/started the gateway at \S+ \(process (\d+)\)/.exec(bridge.stderr)?.[1]);
  if (pid > 1) process.kill(pid, "SIGTERM");
}

const { pid } = process;
const stale: { readonly [what: string]: Run } = {
  "process 1, without a start": { pid: 1 },
  "process 1, with another start": { pid: 1, processStart: "another-boot 1" },
  "a process with another start": { pid, processStart: "another-boot 1" },
  "a process, without a socket": { pid },
  "a process, with the socket of a gateway that has ended": { pid, controlPath: "/nonexistent/c.sock" },
};
for (const [what, run] of Object.entries(stale)) {
  test(`a bridge sends no token to the address of a stale run file: ${what}`, async () => {
    await using directory = await makeTemporaryDirectory();
    using listener = await startListener();
    prepare(directory.path, { ...run, url: listener.url });
    await using bridge = startBridge(directory.path, "--as", "c");
    try {
      await bridge.initialize();
      assert.match(bridge.stderr, /started the gateway/);
      assert.deepEqual(listener.authorizations, []);
    } finally {
      await bridge.end();
      endGateway(bridge);
    }
  });
}

test("connect does not write the address of a stale run file", async () => {
  await using directory = await makeTemporaryDirectory();
  using listener = await startListener();
  prepare(directory.path, { pid, url: listener.url });
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:7999" } }));
  const { code, stdout } = await runToolcrib(["connect", "cursor", "--print"], { directory: directory.path });
  assert.equal(code, 0);
  assert.match(stdout, /http:\/\/127\.0\.0\.1:7999\/mcp/);
});

test("a run file of another user is ignored", {
  skip: process.getuid?.() === 0 ? false : "only root can give a file to another user",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  using listener = await startListener();
  const path = prepare(directory.path, { pid, url: listener.url });
  chownSync(path, 65_534, 65_534);
  const { code, stdout } = await runToolcrib(["status", "--json"], { directory: directory.path });
  assert.deepEqual([code, JSON.parse(stdout).running], [5, false]);
});

test("the run file of a gateway names the start of its process", {
  skip: process.platform === "linux" ? false : "other systems have no /proc",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  prepare(directory.path, { pid, url: "http://127.0.0.1:9" });
  await using bridge = startBridge(directory.path, "--as", "c");
  try {
    await bridge.initialize();
    const started = Number(/\(process (\d+)\)/.exec(bridge.stderr)?.[1]);
    const run = JSON.parse(readFileSync(directory.join(`.toolcrib/run/gateway-${started}.json`), "utf8"));
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const ticks = execFileSync("awk", ["{ print $22 }", `/proc/${started}/stat`], { encoding: "utf8" });
    assert.equal(run.processStart, `${boot} ${ticks.trim()}`);
  } finally {
    await bridge.end();
    endGateway(bridge);
  }
});
