/**
 * One writer at a time in a directory of saved tools, over all processes. The
 * lock is the operating system's, so it dies with its holder, also with kill -9.
 * Readers take none: what they read is always whole.
 */

import { setTimeout as delay } from "node:timers/promises";
import { tryLock } from "@toolcrib/store";
import { MetatoolError } from "../metatool-error.ts";
import { toUnwritable } from "./replace-file.ts";

const lockName = ".saved-tools";
const retryMs = 10;

/**
 * Lock `directory` until disposed.
 *
 * @param timeoutMs how long to wait for other writers, who hold it for the time of one change.
 * @throws {MetatoolError} `METATOOL_DIRECTORY_BUSY`, `METATOOL_UNWRITABLE`.
 */
export async function lockDirectory(directory: string, timeoutMs: number): Promise<Disposable> {
  for (let waitedMs = 0; ; waitedMs += retryMs) {
    const lock = tryOnce(directory);
    if (lock !== undefined) return lock;
    if (waitedMs >= timeoutMs) {
      throw new MetatoolError(
        "METATOOL_DIRECTORY_BUSY",
        `Cannot lock "${directory}": another process has been writing to it for ${timeoutMs} ms`,
        { hint: "Try again; if it stays like this, look for a process of toolcrib that hangs" },
      );
    }
    await delay(retryMs);
  }
}

function tryOnce(directory: string): Disposable | undefined {
  try {
    return tryLock(directory, lockName, "exclusive");
  } catch (error) {
    // The reason is the file system's where it knows one.
    throw toUnwritable(directory, (error as Error).cause ?? error);
  }
}
