/** Kills a process at every step of a change of approvals, pins and switches: the records are those from before or after it. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { leftOut, makeTemporaryDirectory, runProcess, runsAll, sampled } from "@toolcrib/testing";
import { changes, type StepName } from "./record-changes.ts";

const child = fileURLToPath(new URL("./record-kill-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
/** Children at a time. */
const width = 3;
/** A quick run tests one of this many points. */
const sampleStep = 16;
let points = 0;

function run(home: string, name: string, step: number, when: string) {
  return runProcess(process.execPath, [...conditions, child, home, name, String(step), when]);
}

/** Returns the steps of a change that is not killed. */
async function stepsOf(name: string): Promise<readonly StepName[]> {
  await using directory = await makeTemporaryDirectory();
  const { code, stdout, stderr } = await run(directory.path, name, -1, "before");
  assert.equal(code, 0, stderr);
  assert.deepEqual(await changes[name]?.read(directory.path), changes[name]?.after);
  return JSON.parse(stdout) as StepName[];
}

/** Returns the points before and after each step, and in the middle of writes. */
function pointsOf(steps: readonly StepName[]): readonly (readonly [step: number, when: string])[] {
  return steps.flatMap((step, index) =>
    ["before", ...(step === "write" ? ["half"] : []), "after"].map((when) => [index, when] as const),
  );
}

/** Checks the order that matters for a power failure: content is on the disk before its name, and the name before the end. */
function checkOrder(steps: readonly StepName[]): void {
  assert.equal(steps.filter((step) => step === "rename" || step === "remove").length, 1, steps.join());
  assert.equal(steps.at(-1), "syncDirectory");
  const renamed = steps.indexOf("rename");
  if (renamed >= 0) assert.deepEqual(steps.slice(renamed - 2, renamed), ["sync", "close"]);
}

async function checkKill(name: string, steps: readonly StepName[], index: number, when: string) {
  const change = changes[name]!;
  await using directory = await makeTemporaryDirectory();
  const home = directory.path;
  const { signal, stderr } = await run(home, name, index, when);
  assert.equal(signal, "SIGKILL", stderr);
  points += 1;
  const done = steps.slice(0, when === "after" ? index + 1 : index);
  const isChanged = done.some((step) => step === "rename" || step === "remove");
  const place = `${name}, ${when} step ${index} (${steps[index]})`;
  assert.deepEqual(await change.read(home), isChanged ? change.after : change.before, place);
  // The lock was released with its holder. The next change succeeds and removes what was left behind.
  await change.change(home);
  assert.deepEqual(await change.read(home), isChanged ? change.after : change.before, place);
  const files = readdirSync(home, { recursive: true, encoding: "utf8" });
  assert.deepEqual(
    files.filter((file) => file.endsWith(".draft")),
    [],
    place,
  );
}

describe("a process that is killed leaves the records from before or after, at every step of", () => {
  for (const name of Object.keys(changes)) {
    test(name, async () => {
      const steps = await stepsOf(name);
      checkOrder(steps);
      const queue = [...sampled(pointsOf(steps), sampleStep)].values();
      await Promise.all(
        Array.from({ length: width }, async () => {
          for (const [index, when] of queue) await checkKill(name, steps, index, when);
        }),
      );
    });
  }
  // A decrease of the number of points means that points are no longer tested.
  after(() => assert(points >= (runsAll ? 80 : 80 / sampleStep), `only ${points} kill points`));

  test("and at the other points", leftOut(sampleStep), () => assert(runsAll));
});
