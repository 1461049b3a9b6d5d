/** Waiting for the stop of an entry that serves HTTP. */

import { fstatSync } from "node:fs";

/**
 * Resolves on SIGTERM and SIGINT, and when stdin ends if stdin is a pipe or
 * socket, because the parent has ended then. A terminal or /dev/null is no parent.
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
