/**
 * Entry of the command. Looks at the version of Node before it loads anything
 * that needs a newer one. Sets the exit code and lets the process end by
 * itself, so that output is written whole.
 */

import { explainOldNode } from "./node-version.ts";

const explanation = explainOldNode(process.version);
if (explanation === undefined) {
  const { runProcess } = await import("./run-process.ts");
  await runProcess();
} else {
  process.stderr.write(`${explanation}\n`);
  process.exitCode = 2;
}
