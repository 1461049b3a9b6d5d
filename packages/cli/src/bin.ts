/**
 * Entry of the command. Looks at the version of Node before it loads anything
 * that needs a newer one. Sets the exit code and lets the process end by
 * itself, so that output is written whole.
 */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { explainOldNode } from "./node-version.ts";

const explanation = explainOldNode(process.version);
if (explanation === undefined) {
  // Halves the time to start. In the user's own folder: what is in a cache of code gets run.
  enableCompileCache(join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "toolcrib", "compile"));
  const { runProcess } = await import("./run-process.ts");
  await runProcess();
} else {
  process.stderr.write(`${explanation}\n`);
  process.exitCode = 2;
}
