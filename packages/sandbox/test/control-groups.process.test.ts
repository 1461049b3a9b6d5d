/** Control groups of sandboxes: joined before the program starts, and removed with it. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  await using launcher = createProcessLauncher({
    env: { PATH: "/usr/bin:/bin" },
    now: Date.now,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    randomBytes,
  });
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
  const totals = { processes: 40, sandboxes: 2 };
  const sandboxes = createSandboxes(undefined, totals);
  const fork = {
    program: "/bin/sh",
    args: [
      "-c",
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 5 & done; echo done; wait",
    ],
    env: { PATH: "/usr/bin:/bin" },
  };
  await using first = await sandboxes.prepare(fork, strictPolicy());
  await using second = await sandboxes.prepare(fork, strictPolicy());
  await assert.rejects(sandboxes.prepare(fork, strictPolicy()), {
    code: "SANDBOX_LIMIT",
    message: /2 run already/,
  });
  if (skip !== false) return void context.diagnostic(skip);
  const ends = await Promise.all([first, second].map(({ request }) => run(request)));
  // One of them, or both, cannot start all of their processes.
  assert.ok(
    ends.some(({ stderr }) => /fork|Resource temporarily unavailable/i.test(stderr)),
    JSON.stringify(ends),
  );
});
