/** Tries to install more than a thousand hostile archives: none is installed, and nothing is written anywhere. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { leftOut, makeTemporaryDirectory, runProcess, runsAll, sampled } from "@toolcrib/testing";
import { hostileGroups } from "./hostile-cases.ts";
import type { HostileReport } from "./hostile-child.ts";
import { placeIn } from "./sample-packages.ts";

const child = fileURLToPath(new URL("./hostile-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
/** A quick run tries one of this many archives of the long lists. */
const sampleStep = 24;
/** The same for archives that cost much, each of which has a process of its own. */
const heavyStep = 2;
/** CPU time in milliseconds, and memory in MB, in which an archive is refused. */
const cpuMaxMs = 2000;
const memoryMaxMb = 128;

/** The groups whose lists are long. */
const isLong = (group: string) => /flips|truncations/.test(group);

async function run(group: string, first: number, distance: number, count: number): Promise<HostileReport> {
  await using directory = await makeTemporaryDirectory();
  const { home, project } = placeIn(directory);
  const numbers = [first, distance, count].map(String);
  const args = [...conditions, "--expose-gc", child, home, project, group, ...numbers];
  const { code, stdout, stderr } = await runProcess(process.execPath, args, { timeoutMs: 110_000 });
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout) as HostileReport;
  assert.deepEqual(report.installed, []);
  assert.deepEqual(report.unclear, []);
  // Nothing was written: no home, and nothing in the project or beside it.
  assert.deepEqual(readdirSync(directory.path), ["project"]);
  assert.deepEqual(readdirSync(project), []);
  return report;
}

for (const group of Object.keys(hostileGroups)) {
  if (group === "heavy") continue;
  test(`no archive is installed: ${group}`, async (context) => {
    const report = await run(group, 0, isLong(group) && !runsAll ? sampleStep : 1, 0);
    assert(report.tried > 30, JSON.stringify(report));
    assert(report.cpuMs <= cpuMaxMs, `a refusal took ${report.cpuMs} ms`);
    context.diagnostic(
      `${report.tried} of ${report.total}: ${JSON.stringify(report.codes)}, ${report.cpuMs} ms`,
    );
  });
}

test("archives that cost much are refused within 2 s of CPU time and 128 MB", async (context) => {
  const titles = hostileGroups["heavy"]?.().map(({ title }) => title) ?? [];
  assert(titles.length > 10);
  for (const [index, title] of sampled([...titles.entries()], heavyStep)) {
    const report = await run("heavy", index, 1, 1);
    const found = `${title}: ${JSON.stringify(report.codes)}, ${report.cpuMs} ms, ${report.memoryMb} MB`;
    assert.equal(report.tried, 1);
    assert(report.cpuMs <= cpuMaxMs && report.memoryMb <= memoryMaxMb, found);
    context.diagnostic(found);
  }
});

test("all of them together are more than a thousand", () => {
  const count = Object.entries(hostileGroups).reduce(
    (sum, [group, cases]) => sum + Math.ceil(cases().length / (isLong(group) ? sampleStep : 1)),
    0,
  );
  assert(count >= 1500, String(count));
});

test("and the other archives of the long lists", leftOut(sampleStep), () => assert(runsAll));
