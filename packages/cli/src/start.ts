/**
 * Starts the command. Checks the version of Node before it loads anything that needs
 * a newer one. Sets the exit code and lets the process end by itself, so that all
 * output is written.
 */

import { explainUnreportable } from "./load-failure.ts";
import { explainOldNode } from "./node-version.ts";
import { resolveSourcesDirectly } from "./source-resolution.ts";

/** Runs the command of this process. Never rejects. */
export async function start(): Promise<void> {
  const explanation = explainOldNode(process.version);
  if (explanation !== undefined) {
    process.stderr.write(`${explanation}\n`);
    process.exitCode = 2;
    return;
  }
  resolveSourcesDirectly();
  try {
    const [{ runProcess }, { main }] = await Promise.all([import("./run-process.ts"), import("./main.ts")]);
    await runProcess(main);
  } catch (error) {
    // The code that reports errors could not be loaded itself.
    process.stderr.write(explainUnreportable(error));
    process.exitCode = 1;
  }
}
