/** Waiting to be stopped, for the entries that serve HTTP. */

import { fstatSync } from "node:fs";

/**
 * Resolves at SIGTERM, SIGINT, or when stdin ends, where stdin is a pipe or
 * socket: the parent is gone then. A terminal or /dev/null as stdin is no parent.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.stdin.destroy();
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve();
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
    const stdin = fstatSync(0);
    if (stdin.isFIFO() || stdin.isSocket()) process.stdin.on("end", stop).on("error", stop).resume();
  });
}
