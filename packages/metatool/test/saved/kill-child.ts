/**
 * A process that makes one of `changes` and is killed at one of its file steps.
 *
 * Arguments: directory, name of the change, number of the step from 0 (-1 for
 * none), `before`, `half` or `after`. Prints the steps when it is not killed.
 */

import { writeSync } from "node:fs";
import { changes } from "./changes.ts";
import { type FileStep, openTest, steppedFiles } from "./saved-harness.ts";

const [directory = "", changeName = "", stepText = "-1", when = "before"] = process.argv.slice(2);
const change = changes[changeName];
if (change === undefined) throw new Error(`There is no change "${changeName}"`);
const steps: FileStep[] = [];
let isRunning = false;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // SIGKILL takes effect shortly after the call.
  for (;;);
}

const files = steppedFiles(async (step, run, half) => {
  if (!isRunning) return run();
  const isLast = steps.push(step) - 1 === Number(stepText);
  if (isLast && when === "before") die();
  if (isLast && when === "half") {
    await half?.();
    die();
  }
  const result = await run();
  if (isLast) die();
  return result;
});
const saved = await openTest(directory, { files });
await change.prepare(saved);
isRunning = true;
await change.run(saved);
writeSync(1, JSON.stringify(steps));
isRunning = false;
await saved[Symbol.asyncDispose]();
