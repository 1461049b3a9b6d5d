/** Control groups of sandboxes: joined before the program starts, and removed with it. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { createProcessLauncher, type SpawnRequest } from "@toolcrib/process";
import { createSandboxes, run, strictPolicy } from "./sandbox-harness.ts";

/** The folder of the group that limits the processes of `pid`. */
function groupFolder(pid: number): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, "utf8").split("\n");
  const old = lines.find((line) => line.split(":")[1] === "pids");
  const group = (old ?? lines.find((line) => line.startsWith("0::")) ?? "").split(":").slice(2).join(":");
  return join("/sys/fs/cgroup", old === undefined ? "" : "pids", group);
}

function createTestLauncher() {
  return createProcessLauncher({
    env: { PATH: "/usr/bin:/bin" },
    now: Date.now,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    randomBytes,
  });
}

/** Reads a stream until its text matches one of `ends`, or it ends. */
async function readUntil(stream: Readable, ...ends: readonly RegExp[]): Promise<string> {
  let text = "";
  for await (const part of stream.iterator({ destroyOnReturn: false })) {
    text += String(part);
    if (ends.some((end) => end.test(text))) break;
  }
  return text;
}

const [report] = await createSandboxes().check();
const feature = report?.features.find(({ name }) => name.endsWith("together"));
const skip = feature?.isEnforced === true ? false : `there is no control group: ${feature?.by}`;

/** Makes the groups that an earlier process with its id left, in its own group or beside it, and then a sandbox. */
const successor = `
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Sandboxes } from "@toolcrib/sandbox";
const [, own] = process.argv;
const left = [own, dirname(own)].map((folder) => join(folder, "toolcrib-" + process.pid)).filter((folder) => {
  try {
    mkdirSync(join(folder, "1"), { recursive: true });
    return true;
  } catch {
    return false;
  }
});
const facts = { uid: process.getuid(), gid: process.getgid(), temporaryDirectory: "/tmp", userHome: "/home/nobody-here" };
const [{ features }] = await new Sandboxes(facts).check();
const stayed = left.filter((folder) => existsSync(folder));
for (const folder of stayed) for (const path of [join(folder, "1"), folder]) rmdirSync(path);
const { isEnforced } = features.find(({ name }) => name.endsWith("together"));
console.log(JSON.stringify({ isEnforced, left: left.length, stayed: stayed.length }));`;

test("groups that an earlier process with the same id left are removed", { skip }, async () => {
  const { code, stdout, stderr } = await run({
    program: process.execPath,
    args: [
      ...["--conditions=toolcrib-source", "--input-type=module", "-e", successor],
      groupFolder(process.pid),
    ],
    env: { PATH: process.env["PATH"] ?? "" },
    directory: import.meta.dirname,
  });
  assert.equal(code, 0, stderr);
  const { isEnforced, left, stayed } = JSON.parse(stdout);
  assert.ok(isEnforced && left > 0 && stayed < left, stdout);
});

test("a process joins a group of its own, which ends with it", { skip }, async () => {
  await using launcher = createTestLauncher();
  const spec = {
    command: "/bin/sh",
    args: ["-c", "echo ready; cat"],
    env: {},
    label: "grouped",
    cwd: "/",
    contain: (request: SpawnRequest) => createSandboxes().prepare(request, strictPolicy()),
  };
  await using launched = await launcher.launch(spec, { signal: AbortSignal.timeout(30_000) });
  await once(launched.stdout, "data");
  const folder = groupFolder(launched.pid);
  assert.match(folder, new RegExp(`/toolcrib-${process.pid}/[0-9]+$`));
  assert.equal(readFileSync(join(folder, "pids.max"), "utf8").trim(), "512");
  assert.ok(readFileSync(join(folder, "cgroup.procs"), "utf8").trim().split("\n").length >= 2);

  // What a gateway left behind that ended without stopping its servers.
  const whole = dirname(folder);
  assert.equal(readFileSync(join(whole, "pids.max"), "utf8").trim(), "4096");
  const abandoned = join(dirname(whole), "toolcrib-4194304");
  mkdirSync(join(abandoned, "1"), { recursive: true });
  await createSandboxes().check();
  assert.ok(!existsSync(abandoned) && existsSync(folder));

  await launched.stop();
  await launcher[Symbol.asyncDispose]();
  assert.ok(!existsSync(folder) && !existsSync(whole));
});

test("all sandboxes together have the processes of their total, and no more of them start than allowed", async (context) => {
  const sandboxes = createSandboxes(undefined, { processes: 40, sandboxes: 2 });
  await using launcher = createTestLauncher();
  // Those of both stay until this test ends.
  const forking = `exec 2>&1; for i in ${"1 ".repeat(20)}; do sleep 600 & done; echo done; read end`;
  const launch = () =>
    launcher.launch(
      {
        ...{ command: "/bin/sh", args: ["-c", forking], env: {}, label: "forking", cwd: "/" },
        contain: (request: SpawnRequest) => sandboxes.prepare(request, strictPolicy()),
      },
      { signal: AbortSignal.timeout(30_000) },
    );
  await using first = await launch();
  await using second = await launch();
  const request = { program: "/bin/sh", args: ["-c", "true"], env: {} };
  await assert.rejects(sandboxes.prepare(request, strictPolicy()), {
    code: "SANDBOX_LIMIT",
    message: /2 run already/,
  });
  if (skip !== false) return void context.diagnostic(skip);
  const failure = /fork|Resource temporarily unavailable/i;
  const texts = await Promise.all([first, second].map((one) => readUntil(one.stdout, failure, /done/)));
  // One of them, or both, cannot start all of their processes.
  assert.ok(
    texts.some((text) => failure.test(text)),
    JSON.stringify(texts),
  );
});
