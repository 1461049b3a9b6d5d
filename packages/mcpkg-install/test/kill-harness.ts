/**
 * Kills a process at every step of a change of installed packages: the old packages or the new ones are
 * installed, and nothing else. Each change has a test file of its own, because it has about a hundred points.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SchemaValidator } from "@toolcrib/json";
import {
  completeInterrupted,
  openInstalledPackage,
  readInstalledPackages,
  readLock,
} from "@toolcrib/mcpkg-install";
import { leftOut, makeTemporaryDirectory, runProcess, runsAll, sampled } from "@toolcrib/testing";
import { changes, type KilledChange, type StepName, type Versions } from "./killed-changes.ts";
import { archiveOf, changeDeps, install, placeIn, type TestPlace } from "./sample-packages.ts";

const child = fileURLToPath(new URL("./kill-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
const validator = new SchemaValidator();
/** The children load the same modules a hundred times. */
const compileCache = fileURLToPath(new URL("../../../node_modules/.cache/toolcrib-tests", import.meta.url));
/** Children at a time. */
const width = 4;
/** A quick run tests one of this many points. */
const sampleStep = 32;

function run({ home, project }: TestPlace, name: string, step: number, when: string) {
  const args = [...conditions, child, home, project, name, String(step), when];
  return runProcess(process.execPath, args, { env: { NODE_COMPILE_CACHE: compileCache } });
}

/** Returns what is installed, after reading every file of it. */
async function versionsOf({ home, project }: TestPlace): Promise<Versions> {
  const { packages, diagnostics } = await readInstalledPackages({ home, projectFolder: project });
  assert.deepEqual(diagnostics, []);
  for (const one of packages) openInstalledPackage(one, validator);
  return Object.fromEntries(packages.map(({ toolId, version }) => [toolId, version]));
}

/** Checks that folders and lock file are those of `expected`. */
async function checkPlaces(place: TestPlace, expected: Versions, isForUser: boolean): Promise<void> {
  const { home, project } = place;
  const listed = (root: string) => (existsSync(root) ? readdirSync(root).toSorted() : []);
  const root = isForUser ? join(home, "packages") : join(project, ".mcp/tools");
  const folders = listed(root).filter((name) => !/^\.record\./.test(name));
  assert.deepEqual(folders, Object.keys(expected));
  assert.deepEqual(
    listed(join(home, "packages")).filter((name) => name.startsWith(".")),
    [".record.json", ".record.lock"],
  );
  if (isForUser) return;
  const locked = [...((await readLock(project)) ?? [])].map(([toolId, { version }]) => [toolId, version]);
  assert.deepEqual(Object.fromEntries(locked), expected);
  const names = readdirSync(project);
  assert.deepEqual(names.toSorted(), [".mcp", ...(locked.length === 0 ? [] : ["mcp.lock"])]);
}

/** Returns the steps of a change that is not killed. */
async function stepsOf(name: string, { after }: KilledChange): Promise<readonly StepName[]> {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const { code, stdout, stderr } = await run(place, name, -1, "before");
  assert.equal(code, 0, stderr);
  assert.deepEqual(await versionsOf(place), after);
  return JSON.parse(stdout) as StepName[];
}

/** Returns the points before and after each step, and in the middle of writes. */
function pointsOf(steps: readonly StepName[]): readonly (readonly [step: number, when: string])[] {
  return steps.flatMap((step, index) =>
    ["before", ...(step === "write" ? ["half"] : []), "after"].map((when) => [index, when] as const),
  );
}

/** Checks the order that matters for a power failure: what is staged is on the disk before the record names it. */
function checkOrder(steps: readonly StepName[]): void {
  const commit = steps.indexOf("commit");
  assert.equal(steps.filter((step) => step === "commit").length, 1, steps.join());
  assert.deepEqual(steps.slice(commit - 2, commit), ["sync", "close"]);
  assert.equal(steps[commit + 1], "syncDirectory");
  assert.equal(steps.at(-1), "syncDirectory");
  // Every directory that was staged is synced, and every rename is followed by the directory of its name.
  const made = steps.slice(0, commit).lastIndexOf("makeDirectory");
  const written = steps.slice(0, commit).lastIndexOf("write", commit - 4);
  if (made >= 0 && written > made) assert(steps.slice(written, commit).includes("syncDirectory"));
  for (const [index, step] of steps.entries()) {
    if (step === "rename") assert.equal(steps[index + 1], "syncDirectory", String(index));
  }
}

async function checkKill(name: string, steps: readonly StepName[], index: number, when: string) {
  const change = changes[name] as KilledChange;
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const { signal, code, stderr } = await run(place, name, index, when);
  assert.equal(signal, "SIGKILL", `${when} step ${index}: exit code ${code}: ${stderr}`);
  const isChanged = steps.slice(0, when === "after" ? index + 1 : index).includes("commit");
  const expected = isChanged ? change.after : change.before;
  const isForUser = name.includes("for the user");
  const at = `${name}, ${when} step ${index} (${steps[index]})`;
  try {
    // As it was left, then after the next command has completed it.
    assert.deepEqual(await versionsOf(place), expected, at);
    await completeInterrupted(changeDeps, place);
    assert.deepEqual(await versionsOf(place), expected, at);
    // The lock was released with its holder. The next change succeeds and removes what was left behind.
    const later = { ...changeDeps, now: () => Date.now() + 3_600_000 };
    await install(place, [archiveOf({ toolId: "demo.zero" })], { isForUser, deps: later });
    const all = { ...expected, "demo.zero": "1.0.0" };
    assert.deepEqual(await versionsOf(place), all, at);
    await checkPlaces(place, all, isForUser);
  } catch (error) {
    (error as Error).message = `${at}: ${(error as Error).message}`;
    throw error;
  }
}

/** Tests the change of this name at every step. */
export function testKills(name: string): void {
  const change = changes[name] as KilledChange;
  test(`a process that is killed leaves the packages from before or after, at every step of ${name}`, async () => {
    const steps = await stepsOf(name, change);
    checkOrder(steps);
    const all = pointsOf(steps);
    // A decrease of the number of points means that points are no longer tested.
    assert(all.length >= 60, `only ${all.length} kill points`);
    const queue = [...sampled(all, sampleStep)].values();
    await Promise.all(
      Array.from({ length: width }, async () => {
        for (const [index, when] of queue) await checkKill(name, steps, index, when);
      }),
    );
  });
  test("and at the other points", leftOut(sampleStep), () => assert(runsAll));
}
