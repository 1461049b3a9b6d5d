/** What is charged for values against what they take: in a process of its own, whose heap holds nothing else. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));

/** What is charged, as a part of what is used, has to be between these. */
const least = 0.8;
const most = 1.25;

test("what is charged for values is about what they take of the heap", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...conditions,
    "--expose-gc",
    join(import.meta.dirname, "heap-child.ts"),
  ]);
  const measured = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { shape: string; charged: number; used: number });
  assert.equal(measured.length, 9);
  const wrong = measured
    .map(({ shape, charged, used }) => ({ shape, ratio: charged / used }))
    .filter(({ ratio }) => ratio < least || ratio > most);
  assert.deepEqual(wrong, []);
});
