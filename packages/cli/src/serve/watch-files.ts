/**
 * Reports that files changed: written in place, replaced by a rename, removed, or created. Their folders are watched. Once
 * a second, what these watches may not report is polled, and every ten seconds all files. A change is reported when the files
 * have been quiet for a moment, so that a file that an editor is writing is not read half. Where there is one file
 * and a complete one was renamed to its place, there is nothing to wait for.
 */

import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FileSnapshot, readSnapshot, readSnapshotSync } from "./file-snapshot.ts";
import { FolderWatches } from "./folder-watches.ts";

/** Milliseconds without a change after which one is reported. */
const quietMs = 40;
/** Longest time that a change waits for quiet, in milliseconds. */
const quietMaxMs = 250;
/** Longest time that an empty or missing file is taken for one that is being written, in milliseconds. */
const emptyMaxMs = 1000;
/** Milliseconds between two polls of the files whose changes may not be reported. */
const pollMs = 1000;
/** Polls of which one is of all files. */
const pollsPerWhole = 10;

/** Only Linux reports a rename into a folder and the writes after a creation apart. */
const reportsRenames = process.platform === "linux";

/** Watches files until it is disposed. */
export class FileWatch implements AsyncDisposable {
  readonly #onChange: () => Promise<unknown>;
  readonly #folders = new FolderWatches(({ isOfFile, isRename }) => this.#reported(isOfFile, isRename));
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #paths: readonly string[] = [];
  #seen: FileSnapshot | undefined;
  #checking: Promise<void> | undefined;
  #polling: Promise<void> | undefined;
  #polls = 0;
  #isDue = false;
  /** Ends the pause of the check. */
  #hurry = new AbortController();
  /** Whether one of the files was created or renamed, and not written, since the last snapshot. */
  #isRenamed = false;
  /** When the last change was reported. */
  #reportedAt = Number.NEGATIVE_INFINITY;

  /** @param onChange called after a change, and not again before it has ended */
  constructor(onChange: () => Promise<unknown>) {
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#pollSoon(), pollMs).unref();
  }

  /**
   * Watches the files of `read` from now on. They were read a moment ago without waiting, and are polled in the same way:
   * with hundreds of them, waiting for each would take far longer than the system calls.
   *
   * @param read their snapshot before they were read
   */
  follow(read: FileSnapshot): void {
    this.#paths = [...read.files.keys()];
    this.#seen = read;
    this.#folders.follow(this.#paths);
    // What changed while the folders were not watched.
    if (readSnapshotSync(this.#paths).signature !== read.signature) this.#checkSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#hurry.abort();
    clearInterval(this.#timer);
    this.#folders[Symbol.dispose]();
    await this.#polling;
    await this.#checking;
  }

  #reported(isOfFile: boolean, isRename: boolean): void {
    if (isOfFile) {
      this.#isRenamed = isRename;
      this.#hurry.abort();
    }
    this.#checkSoon();
  }

  #pollSoon(): void {
    // A check is of all files.
    if (this.#checking !== undefined) return;
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
    });
  }

  /** Polls the files whose changes may not be reported, and sometimes all files: systems drop events when they are many. */
  async #poll(): Promise<void> {
    this.#polls += 1;
    const areCurrent = await this.#folders.areCurrent();
    if (!areCurrent) this.#folders.follow(this.#paths);
    const isWhole = !areCurrent || this.#polls % pollsPerWhole === 0;
    if (isWhole || (await this.#isUnreportedChanged())) this.#checkSoon();
  }

  async #isUnreportedChanged(): Promise<boolean> {
    const { files } = await readSnapshot(this.#folders.unreported);
    return [...files].some(([path, { text }]) => text !== this.#seen?.files.get(path)?.text);
  }

  #checkSoon(): void {
    if (this.#closing.signal.aborted) return;
    this.#isDue = true;
    this.#checking ??= this.#checkWhileDue().finally(() => {
      this.#checking = undefined;
    });
  }

  async #checkWhileDue(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false;
      this.#hurry = new AbortController();
      const snapshot = await readSnapshot(this.#paths);
      if (snapshot.signature === this.#seen?.signature) {
        // Other files of a watched folder can change all the time.
        await delay(quietMs, undefined, { signal: this.#hurry.signal, ref: false }).catch(() => {});
        continue;
      }
      const quiet = (await this.#isComplete(snapshot)) ? snapshot : await this.#untilQuiet(snapshot);
      if (quiet === undefined || quiet.signature === this.#seen?.signature) continue;
      this.#seen = quiet;
      this.#isRenamed = false;
      await this.#onChange();
      this.#reportedAt = performance.now();
    }
  }

  /** Whether the one file that there is was replaced as a whole. Of changes in a row, only the first is taken for complete. */
  async #isComplete({ files }: FileSnapshot): Promise<boolean> {
    const isFirst = performance.now() - this.#reportedAt > quietMaxMs;
    const existing = [...files].filter(([, { inode }]) => inode !== undefined);
    const [[path, { inode, isGap }] = ["", { inode: undefined, isGap: true }]] = existing;
    const before = this.#seen?.files.get(path)?.inode;
    const isReplaced = existing.length === 1 && !isGap && before !== undefined && before !== inode;
    if (!reportsRenames || !isFirst || !isReplaced || !this.#isRenamed) return false;
    // Writes that the snapshot shows have been reported after two turns.
    await nextTurn();
    await nextTurn();
    return this.#isRenamed && !this.#closing.signal.aborted;
  }

  /** Polls until nothing changes. @returns the last state; undefined when the watch has ended */
  async #untilQuiet(first: FileSnapshot): Promise<FileSnapshot | undefined> {
    const { signal } = this.#closing;
    const startedAt = performance.now();
    let snapshot = first;
    for (;;) {
      await delay(quietMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return undefined;
      const next = await readSnapshot(this.#paths);
      const waitedMs = performance.now() - startedAt;
      const isQuiet = next.signature === snapshot.signature || waitedMs >= quietMaxMs;
      snapshot = next;
      const known = this.#seen?.gaps;
      const isWhole = known === undefined || next.gaps.isSubsetOf(known);
      if (isQuiet && (isWhole || waitedMs >= emptyMaxMs)) return snapshot;
    }
  }
}
