/**
 * Compares the charge for values with their actual size, in a separate process whose
 * heap contains nothing else.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));

/** The charge divided by the actual size must be between these values. */
const least = 0.8;
const most = 1.25;

test("the charge for values is close to their size on the heap", async () => {
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
