/**
 * The run of a gateway that a session belongs to, marked by a lock that the operating system releases when the process
 * ends. A session of a run that has ended can be taken over.
 *
 *     locks/session-owner-<run>.lock   held while the run lasts
 *
 * The name of a run is never used again, so that its lock file can be deleted after its end.
 */

import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateDirectory, tryLock } from "@toolcrib/files";

const runPattern = /^[0-9a-f]{32}$/;

/** Most runs that are remembered as ended; beyond it they are checked again. */
const maxEnded = 1000;

/** The run of this gateway. Disposing of it ends the run. */
export class GatewayRun implements AsyncDisposable {
  readonly name: string;
  readonly #directory: string;
  readonly #ended = new Set<string>();
  #lock: Disposable | undefined;

  constructor(home: string, randomBytes: (count: number) => Uint8Array) {
    this.name = Buffer.from(randomBytes(16)).toString("hex");
    this.#directory = join(home, "locks");
  }

  /** Marks the run. Safe to repeat. @throws {FilesError} `FILE_LOCK_UNUSABLE` */
  async begin(): Promise<void> {
    if (this.#lock !== undefined) return;
    await makePrivateDirectory(this.#directory);
    this.#lock ??= tryLock(this.#directory, lockName(this.name), "exclusive");
  }

  /** Whether another gateway that runs now has the sessions of `run`. @throws {FilesError} `FILE_LOCK_UNUSABLE` */
  async isElsewhere(run: string): Promise<boolean> {
    if (run === this.name || this.#ended.has(run) || !runPattern.test(run)) return false;
    await makePrivateDirectory(this.#directory);
    const lock = tryLock(this.#directory, lockName(run), "exclusive");
    if (lock === undefined) return true;
    lock[Symbol.dispose]();
    if (this.#ended.size >= maxEnded) this.#ended.clear();
    this.#ended.add(run);
    await this.#remove(run);
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#lock === undefined) return;
    this.#lock[Symbol.dispose]();
    this.#lock = undefined;
    await this.#remove(this.name);
  }

  /** A lock file that cannot be removed takes no room, and excludes nobody. */
  async #remove(run: string): Promise<void> {
    await unlink(join(this.#directory, `${lockName(run)}.lock`)).catch(() => {});
  }
}

function lockName(run: string): string {
  return `session-owner-${run}`;
}
