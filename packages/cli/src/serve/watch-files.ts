/**
 * Reports that files changed: written in place, replaced by a rename, removed, or created. Their folders are watched, and
 * the files are polled once a second, for folders that cannot be watched. A change is reported when the files
 * have been quiet for a moment, so that a file that an editor is writing is not read half. Where there is one file
 * and a complete one was renamed to its place, there is nothing to wait for.
 */

import { type FSWatcher, realpathSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FileSnapshot, readSnapshot, readSnapshotSync } from "./file-snapshot.ts";

/** Milliseconds without a change after which one is reported. */
const quietMs = 40;
/** Longest time that a change waits for quiet, in milliseconds. */
const quietMaxMs = 250;
/** Longest time that an empty or missing file is taken for one that is being written, in milliseconds. */
const emptyMaxMs = 1000;
/** Milliseconds between two polls of the files. */
const pollMs = 1000;
/** Folders that are watched; files in others are only polled. */
const foldersMaxCount = 64;

/** Only Linux reports a rename into a folder and the writes after a creation apart. */
const reportsRenames = process.platform === "linux";

/** A folder that is watched. */
interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Shows whether the path leads to the same folder. */
  readonly identity: string | undefined;
}

/** Watches files until it is disposed. */
export class FileWatch implements AsyncDisposable {
  readonly #onChange: () => Promise<unknown>;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #paths: readonly string[] = [];
  /** Names of the files in their folders. */
  #names: ReadonlySet<string> = new Set();
  #seen: FileSnapshot | undefined;
  #checking: Promise<void> | undefined;
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
    this.#timer = setInterval(() => this.#checkSoon(), pollMs).unref();
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
    this.#watchFolders();
    // What changed while the folders were not watched.
    if (readSnapshotSync(this.#paths).signature !== read.signature) this.#checkSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#hurry.abort();
    clearInterval(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#checking;
  }

  /** Watches the folders of the files, and those that links lead to, as they are now: paths can lead to other ones. */
  #watchFolders(): void {
    const names = new Set<string>();
    const wanted = new Map<string, string | undefined>();
    for (const path of this.#paths) {
      const real = realPathOf(path);
      for (const one of new Set([path, real])) {
        names.add(basename(one));
        const folder = dirname(one);
        if (!wanted.has(folder)) wanted.set(folder, identityOf(folder));
      }
    }
    this.#names = names;
    for (const [folder, { watcher, identity }] of this.#folders) {
      if (wanted.has(folder) && wanted.get(folder) === identity) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, identity] of wanted) {
      if (this.#folders.has(folder) || this.#folders.size >= foldersMaxCount) continue;
      if (this.#closing.signal.aborted) return;
      try {
        const watcher = watch(folder, { persistent: false }, (kind, name) => this.#reported(kind, name));
        watcher.on("error", () => {
          watcher.close();
          if (this.#folders.get(folder)?.watcher === watcher) this.#folders.delete(folder);
        });
        this.#folders.set(folder, { watcher, identity });
      } catch {
        // The folder does not exist, or the system has no more watches: the files are polled.
      }
    }
  }

  #reported(kind: string, name: string | null): void {
    const isNamed = name === null || this.#names.has(name);
    if (isNamed) {
      this.#isRenamed = kind === "rename" && name !== null;
      this.#hurry.abort();
    }
    this.#checkSoon();
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

/** The path without links; `path` itself where nothing is there. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Another text for another folder; undefined for none. */
function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
