/** Trials of tiers that a busy machine ends: their result counts for a while, and not for the life of the gateway. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseStartParent, Sandboxes } from "@toolcrib/sandbox";
import { run, strictPolicy, type TierId, tierIds, unavailableReason } from "./sandbox-harness.ts";

const facts = {
  uid: process.getuid?.() ?? -1,
  gid: process.getgid?.() ?? -1,
  temporaryDirectory: chooseStartParent(tmpdir()),
  userHome: "/home/nobody-here",
};

/** Sandboxes whose first trial ends long before the program of the trial can. */
const hasty = (tier: TierId, pauseMs: number) =>
  new Sandboxes(facts, { tiers: [tier], trials: { timeoutMs: 1, pauseMs } });

const problemOf = ([report]: Awaited<ReturnType<Sandboxes["check"]>>) => report?.problems[0];

for (const tier of tierIds) {
  const reason = await unavailableReason(tier);
  const skip = reason === undefined ? false : `${tier} does not work here: ${reason}`;

  test(`a trial of ${tier} that did not end is made again, with more time, until it has a result`, {
    skip,
  }, async () => {
    const sandboxes = hasty(tier, 1);
    const request = { program: "/bin/sh", args: ["-c", "echo contained"], env: {} };
    await assert.rejects(sandboxes.prepare(request, strictPolicy()), (error: Error & { hint?: string }) => {
      assert.match(error.message, new RegExp(`${tier}: its trial did not end within 1 ms`));
      assert.match(error.hint ?? "", /^the machine is too busy: .*the next start of a server tries again$/);
      return true;
    });
    // 16 trials have more than a minute: the last ones have the time that any trial has.
    let found = await sandboxes.check();
    for (let trials = 1; trials < 20 && found[0]?.isAvailable !== true; trials += 1) {
      await sleep(2 ** trials + 5);
      found = await sandboxes.check();
    }
    assert.equal(found[0]?.isAvailable, true, problemOf(found)?.reason ?? "no report");
    await using prepared = await sandboxes.prepare(request, strictPolicy());
    assert.equal((await run(prepared.request)).stdout, "contained\n");
  });

  test(`a trial of ${tier} that did not end is not made again before its pause is over`, {
    skip,
  }, async () => {
    const sandboxes = hasty(tier, 600_000);
    const [first, second] = [await sandboxes.check(), await sandboxes.check()];
    assert.equal(problemOf(first)?.isTemporary, true);
    assert.equal(problemOf(second)?.reason, problemOf(first)?.reason);
  });
}

/** Runs `trial-in-limits.ts` in a user namespace of its own, which has limits of its own, with the ids of this one. */
async function trialInLimits(tier: TierId): Promise<unknown> {
  const program = [process.execPath, ...process.execArgv.filter((word) => word.startsWith("--conditions"))];
  const words = [...program, join(import.meta.dirname, "trial-in-limits.ts"), tier];
  const script = 'echo ready; read -r _; exec "$@"';
  const child = spawn("unshare", ["--user", "/bin/sh", "-c", script, "sh", ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    assert.equal((await lines.next()).value, "ready");
    for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${child.pid}/${map}`, "0 0 65536");
    child.stdin.end("\n");
    return JSON.parse((await lines.next()).value ?? assert.fail("no output"));
  } finally {
    child.kill("SIGKILL");
  }
}

for (const tier of tierIds) {
  const reason = await unavailableReason(tier);
  test(`a trial of ${tier} for which no namespace was left is made again`, {
    skip:
      reason !== undefined
        ? `${tier} does not work here: ${reason}`
        : process.getuid?.() !== 0 && "only root gives a user namespace all ids",
  }, async () => {
    const found = (await trialInLimits(tier)) as {
      readonly [name in "without" | "after"]: Awaited<ReturnType<Sandboxes["check"]>>[number];
    } & { readonly [name in "hadNetwork" | "hasNetwork"]: boolean };
    const [problem] = found.without.problems;
    assert.equal(problem?.isTemporary, true);
    assert.match(problem.reason, /No space left on device|ENOSPC/);
    assert.match(
      problem.fix,
      /^the machine has no process, namespace, .* the next start of a server tries again$/,
    );
    assert.deepEqual([found.after.isAvailable, found.after.problems], [true, []]);
    if (tier === "bubblewrap") assert.deepEqual([found.hadNetwork, found.hasNetwork], [false, true]);
  });
}

const missing = (await Promise.all(tierIds.map((tier) => unavailableReason(tier)))).find(
  (reason) => reason !== undefined,
);

test("where no trial has a result, the hint says once what helps", {
  skip: missing === undefined ? false : `a tier does not work here: ${missing}`,
}, async () => {
  const sandboxes = new Sandboxes(facts, { trials: { timeoutMs: 1, pauseMs: 600_000 } });
  const request = { program: "/bin/sh", args: [], env: {} };
  await assert.rejects(sandboxes.prepare(request, strictPolicy()), (error: Error & { hint?: string }) => {
    assert.match(error.message, /bubblewrap: its trial .*; unshare: its trial /);
    assert.equal(error.hint?.split("the machine is too busy").length, 2, error.hint ?? "no hint");
    return true;
  });
});

/** The words that prepare a network have this one. */
const networkWord = "--map-root-user";

/** Whether a scoped network is prepared for a program. */
async function hasNetwork(sandboxes: Sandboxes): Promise<boolean> {
  const request = { program: "/bin/sh", args: ["-c", "true"], env: {} };
  await using prepared = await sandboxes.prepare(request, strictPolicy({ network: "scoped" }));
  return prepared.request.args.includes(networkWord);
}

test("a trial of a network that did not end is made again after a pause, and not at each start", {
  skip: (await unavailableReason("bubblewrap")) === undefined ? false : "bubblewrap does not work here",
}, async (t) => {
  if (!(await hasNetwork(new Sandboxes(facts, { tiers: ["bubblewrap"] }))))
    return t.skip("this machine lets nobody prepare a network");
  const started: ChildProcess[] = [];
  const onStart = (message: unknown) => void started.push((message as { process: ChildProcess }).process);
  const sandboxes = hasty("bubblewrap", 5);
  for (let trials = 0; trials < 20 && (await sandboxes.check())[0]?.isAvailable !== true; trials += 1)
    await sleep(5 * 2 ** trials + 5);
  subscribe("child_process", onStart);
  let starts = 1;
  try {
    while (!(await hasNetwork(sandboxes))) {
      starts += 1;
      await sleep(5);
    }
  } finally {
    unsubscribe("child_process", onStart);
  }
  const trials = started.filter(({ spawnargs }) => spawnargs.includes(networkWord)).length;
  assert.ok(trials > 1 && trials < starts, `${trials} trials at ${starts} starts`);
});
