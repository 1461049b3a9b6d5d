/**
 * One writer at a time in a directory of saved tools, across all processes. The
 * operating system releases the lock when its holder exits, also with `kill -9`.
 * Readers take no lock: every file that they read is complete.
 */

import { waitForLock } from "@toolcrib/files";
import { MetatoolError } from "../metatool-error.ts";
import { toUnwritable } from "./change-errors.ts";

const lockName = ".saved-tools";

/**
 * Locks `directory` until disposed.
 *
 * @param timeoutMs longest wait for other writers, which hold the lock for one change.
 * @throws {MetatoolError} `METATOOL_DIRECTORY_BUSY`, `METATOOL_UNWRITABLE`.
 */
export async function lockDirectory(directory: string, timeoutMs: number): Promise<Disposable> {
  const lock = await waitForLock(directory, lockName, timeoutMs).catch((error: Error) => {
    // The file system's error is more precise where there is one.
    throw toUnwritable(directory, error.cause ?? error);
  });
  if (lock !== undefined) return lock;
  throw new MetatoolError(
    "METATOOL_DIRECTORY_BUSY",
    `Cannot lock "${directory}": another process has been writing to it for ${timeoutMs} ms`,
    { hint: "try again; if this persists, look for a toolcrib process that hangs" },
  );
}
