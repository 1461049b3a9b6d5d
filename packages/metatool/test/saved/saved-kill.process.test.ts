/** Kills a process at every step of a change of saved tools: the old state or the new one remains. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { leftOut, makeTemporaryDirectory, runProcess, runsAll, sampled } from "@toolcrib/testing";
import { type Change, changes, type ToolState } from "./changes.ts";
import {
  definitionOf,
  documentOf,
  type FileStep,
  fileNames,
  openTest,
  readDocument,
} from "./saved-harness.ts";

const child = fileURLToPath(new URL("./kill-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
/** Children at a time. */
const width = 3;
/** A quick run tests one of this many points. */
const sampleStep = 8;
let points = 0;

function run(directory: string, name: string, step: number, when: string) {
  return runProcess(process.execPath, [...conditions, child, directory, name, String(step), when]);
}

/** Returns the points before and after each step, and in the middle of writes. */
async function killPoints(name: string): Promise<{ steps: FileStep[]; points: [number, string][] }> {
  await using directory = await makeTemporaryDirectory();
  const { code, stdout, stderr } = await run(directory.join("tools"), name, -1, "before");
  assert.equal(code, 0, stderr);
  const steps = JSON.parse(stdout) as FileStep[];
  const all = steps.flatMap((step, index): [number, string][] => [
    [index, "before"],
    ...(step === "write" ? [[index, "half"] as [number, string]] : []),
    [index, "after"],
  ]);
  return { steps, points: [...sampled(all, sampleStep)] };
}

/** Returns whether the state has changed when step `index` was the last one. */
function isChanged({ decisive }: Change, steps: readonly FileStep[], index: number, when: string): boolean {
  const done = steps.slice(0, when === "after" ? index + 1 : index);
  return done.filter((step) => step === "rename" || step === "remove").length > decisive;
}

/** Checks the order that matters for a power failure: content is on the disk before its name, and the name before the end. */
function checkOrder(steps: readonly FileStep[]): void {
  assert(steps.includes("syncDirectory"));
  for (const [index, step] of steps.entries()) {
    if (step === "rename")
      assert.deepEqual(steps.slice(index - 2, index + 2), ["sync", "close", step, "syncDirectory"]);
    if (step === "remove") assert.equal(steps[index + 1], "syncDirectory");
    if (step === "write" || step === "setModified")
      assert(steps.indexOf("sync", index) < steps.indexOf("rename", index));
  }
}

async function checkKill(name: string, steps: readonly FileStep[], index: number, when: string) {
  const change = changes[name]!;
  await using temporary = await makeTemporaryDirectory();
  const directory = temporary.join("tools");
  mkdirSync(directory, { mode: 0o700 });
  const bystander = documentOf({ name: "bystander" });
  writeFileSync(temporary.join("tools", "bystander.json"), JSON.stringify(bystander));
  const { signal, stderr } = await run(directory, name, index, when);
  assert.equal(signal, "SIGKILL", stderr);
  points += 1;
  const expected = isChanged(change, steps, index, when) ? change.after : change.before;
  const place = `${name}, ${when} step ${index} (${steps[index]})`;
  await using saved = await openTest(directory);
  const tool = await saved.get("double");
  const state: ToolState = tool && { code: tool.code, executionCount: tool.metadata.executionCount };
  assert.deepEqual(state, expected, place);
  assert.deepEqual(saved.diagnostics(), [], place);
  if (tool !== undefined) assert.equal(readDocument(directory, "double")["code"], tool.code, place);
  assert.deepEqual(readDocument(directory, "bystander"), bystander, place);
  const tools = ["bystander.json", ...(tool === undefined ? [] : ["double.json"])];
  assert.deepEqual(
    fileNames(directory).filter((file) => file !== ".counters.json"),
    tools,
    place,
  );
  // The lock was released with its holder, and counting continues.
  const again = await saved.save(definitionOf({ code: "return 0\n" }));
  assert.equal(again.tool.metadata.executionCount, expected?.executionCount ?? 0, place);
}

describe("a process that is killed leaves the old state or the new one, at every step of", () => {
  for (const name of Object.keys(changes)) {
    test(name, async () => {
      const { steps, points: all } = await killPoints(name);
      checkOrder(steps);
      const queue = all.values();
      await Promise.all(
        Array.from({ length: width }, async () => {
          for (const [index, when] of queue) await checkKill(name, steps, index, when);
        }),
      );
    });
  }
  // A decrease of the number of points means that points are no longer tested.
  after(() => assert(points >= (runsAll ? 120 : 120 / sampleStep), `only ${points} kill points`));

  test("and at the other points", leftOut(sampleStep), () => assert(runsAll));
});

test("opening removes the draft of a killed writer, and nothing else", async () => {
  await using temporary = await makeTemporaryDirectory();
  const directory = temporary.join("tools");
  mkdirSync(directory);
  const draft = `.${"0123456789abcdef".repeat(2)}.draft`;
  for (const name of [draft, ".hidden", ".short.draft", "notes.txt"]) {
    writeFileSync(temporary.join("tools", name), "{");
  }
  await using saved = await openTest(directory);
  assert.deepEqual(await saved.list(), []);
  assert.deepEqual(fileNames(directory), [".hidden", ".short.draft", "notes.txt"]);
});
