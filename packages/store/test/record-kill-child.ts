/**
 * A process that makes one of `changes` and is killed at one of its steps.
 *
 * Arguments: home, name of the change, number of the step from 0 (-1 for none),
 * `before`, `half` or `after`. Prints the steps when it is not killed.
 */

import { writeSync } from "node:fs";
import { changes, type StepName, steppedBy } from "./record-changes.ts";

const [home = "", changeName = "", stepText = "-1", when = "before"] = process.argv.slice(2);
const change = changes[changeName];
if (change === undefined) throw new Error(`There is no change "${changeName}"`);
const names: StepName[] = [];

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // SIGKILL takes effect shortly after the call.
  for (;;);
}

const steps = steppedBy(async (name, run, half) => {
  const isLast = names.push(name) - 1 === Number(stepText);
  if (isLast && when === "before") die();
  if (isLast && when === "half") {
    await half?.();
    die();
  }
  const result = await run();
  if (isLast) die();
  return result;
});
await change.prepare(home);
await change.run(home, steps);
writeSync(1, JSON.stringify(names));
