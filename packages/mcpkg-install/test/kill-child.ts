/**
 * A process that makes one of `changes` and is killed at one of its steps.
 *
 * Arguments: home, project, name of the change, number of the step from 0 (-1 for none),
 * `before`, `half` or `after`. Prints the steps when it is not killed.
 */

import { writeSync } from "node:fs";
import { changes, type StepName, steppedBy } from "./killed-changes.ts";

const [home = "", project = "", changeName = "", stepText = "-1", when = "before"] = process.argv.slice(2);
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
  try {
    return await run();
  } finally {
    // A step that fails, because a folder exists already, is a step too.
    if (isLast) die();
  }
});
await change.prepare({ home, project });
await change.run({ home, project }, steps);
writeSync(1, JSON.stringify(names));
