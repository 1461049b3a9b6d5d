/**
 * A process that replaces the file `target` and is killed at one step.
 *
 * Arguments: directory, number of the step from 0 (-1 for none), `before` or
 * `after`. Prints the steps when it is not killed.
 */

import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@toolcrib/files";
import { type StepName, steppedFiles } from "./stepped.ts";

const [directory = "", stepText = "-1", when = "before"] = process.argv.slice(2);
const names: StepName[] = [];

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // SIGKILL takes effect shortly after the call.
  for (;;);
}

const steps = steppedFiles(async (name, run) => {
  const isLast = names.push(name) - 1 === Number(stepText);
  if (isLast && when === "before") die();
  const result = await run();
  if (isLast) die();
  return result;
});
await replaceFile({ randomBytes, steps }, join(directory, "target"), "new", {
  keepPermissions: true,
  modifiedAtMs: 1000,
});
writeSync(1, JSON.stringify(names));
