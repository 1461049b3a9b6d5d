/**
 * The processes of one launch on Windows, which has neither groups nor readable
 * markers: `taskkill` ends a process and its living descendants. Descendants
 * whose parent ended before are not found. When the gateway dies, the job object
 * of libuv ends the launched processes themselves.
 */

import { execFile } from "node:child_process";
import type { ProcessTree } from "./process-tree.ts";

/** Ends a process with its descendants. Its exit shows whether that succeeded, so a failure of `taskkill` is ignored. */
function killTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile("taskkill", ["/pid", String(pid), "/T", "/F"], { timeout: 5_000, windowsHide: true }, () =>
      resolve(),
    );
  });
}

/** Creates the tree of the launched process `pid`. Windows has no SIGTERM: both steps end the processes at once. */
export function createWindowsTree(pid: number): ProcessTree {
  return {
    survey: async () => {},
    terminate: () => killTree(pid),
    kill: () => killTree(pid),
    reap: async () => ({ foundCount: 0, leftover: [] }),
  };
}
