/**
 * The processes of one launch on Windows, which has neither groups nor markers
 * that can be read: `taskkill` ends a process and its living descendants. What
 * was orphaned before is not found; libuv's job object ends the servers
 * themselves when the gateway dies.
 */

import { execFile } from "node:child_process";
import type { ProcessTree } from "./process-tree.ts";

/** Whatever `taskkill` says, the end of the process is seen by its exit; a failure means that it is gone. */
function killTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile("taskkill", ["/pid", String(pid), "/T", "/F"], { timeout: 5_000, windowsHide: true }, () =>
      resolve(),
    );
  });
}

/** @param pid the process that was launched. Windows has no SIGTERM: both steps end it at once. */
export function createWindowsTree(pid: number): ProcessTree {
  return {
    survey: async () => {},
    terminate: () => killTree(pid),
    kill: () => killTree(pid),
    reap: async () => ({ foundCount: 0, leftover: [] }),
  };
}
