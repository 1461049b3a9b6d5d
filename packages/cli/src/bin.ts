/**
 * Entry point of the command. Checks the version of Node before it loads anything
 * that needs a newer one. Sets the exit code and lets the process end by itself, so
 * that all output is written.
 */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { explainUnreportable } from "./load-failure.ts";
import { explainOldNode } from "./node-version.ts";
import { resolveSourcesDirectly } from "./source-resolution.ts";

const explanation = explainOldNode(process.version);
if (explanation === undefined) {
  // Halves the start-up time. The cache is in the user's own folder, because cached code is executed.
  // An empty variable or a relative path counts as unset (XDG Base Directory Specification).
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  const caches = isAbsolute(given) ? given : join(homedir(), ".cache");
  enableCompileCache(join(caches, "toolcrib", "compile"));
  resolveSourcesDirectly();
  try {
    const [{ runProcess }, { main }] = await Promise.all([import("./run-process.ts"), import("./main.ts")]);
    await runProcess(main);
  } catch (error) {
    // The code that reports errors could not be loaded itself.
    process.stderr.write(explainUnreportable(error));
    process.exitCode = 1;
  }
} else {
  process.stderr.write(`${explanation}\n`);
  process.exitCode = 2;
}
