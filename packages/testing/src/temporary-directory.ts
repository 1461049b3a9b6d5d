/** Temporary directories of tests. */

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory. Disposing it removes it with its contents. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Absolute path, without symbolic links. */
  readonly path: string;
  /** Returns a path in it; nothing is created. */
  join(...segments: readonly string[]): string;
}

/**
 * Creates an empty directory below the temporary directory of the system.
 *
 *     await using directory = await makeTemporaryDirectory();
 */
export async function makeTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-")));
  return {
    path,
    join: (...segments) => join(path, ...segments),
    // A process that is about to end can still write, so the removal is retried for about a second.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
