/** Directories that a test owns and that are gone afterwards. */

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that disposing removes with everything in it. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Absolute path, without symbolic links. */
  readonly path: string;
  /** The path of something in it; nothing is created. */
  join(...segments: readonly string[]): string;
}

/**
 * Make an empty directory below the system's temporary one.
 *
 *     await using directory = await makeTemporaryDirectory();
 */
export async function makeTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-")));
  return {
    path,
    join: (...segments) => join(path, ...segments),
    // A process that is just ending may still write: retried, for at most about a second.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
