/**
 * Reports that files changed: written in place, replaced by a rename, removed, or created. Their folders are watched, and
 * the files are looked at once a second, for folders that cannot be watched. A change is reported when the files
 * have been quiet for a moment, so that a file that an editor is writing is not read half.
 */

import { type FSWatcher, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds without a change after which one is reported. */
const quietMs = 40;
/** Longest time that a change waits for quiet, in milliseconds. */
const quietMaxMs = 250;
/** Longest time that an empty or missing file is taken for one that is being written, in milliseconds. */
const emptyMaxMs = 1000;
/** Milliseconds between two polls of the files. */
const pollMs = 1000;
/** Folders that are watched; files in others are only looked at. */
const foldersMaxCount = 64;

/** What the files showed when they were last polled. */
export interface Look {
  /** Another text for other contents, as far as folders show. */
  readonly signature: string;
  /** The files that are empty or missing. */
  readonly gaps: ReadonlySet<string>;
}

/** Watches files until it is disposed. */
export class FileWatch implements AsyncDisposable {
  readonly #onChange: () => Promise<unknown>;
  readonly #folders = new Map<string, FSWatcher>();
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #paths: readonly string[] = [];
  #seen: Look | undefined;
  #checking: Promise<void> | undefined;
  #isDue = false;

  /** @param onChange called after a change, and not again before it has ended */
  constructor(onChange: () => Promise<unknown>) {
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#checkSoon(), pollMs).unref();
  }

  /** Watches `paths` from now on. @param looked what they showed when they were read. @default that is not known */
  async follow(paths: readonly string[], looked?: Look): Promise<void> {
    const isSame = paths.length === this.#paths.length && paths.every((path, at) => path === this.#paths[at]);
    if (isSame && looked === undefined) return;
    this.#paths = paths;
    // What changed between the reading of a file and the first poll of it is found by reading once more.
    this.#seen = looked ?? { gaps: (await lookAt(paths)).gaps, signature: "" };
    await this.#watchFolders();
    this.#checkSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#checking;
  }

  async #watchFolders(): Promise<void> {
    const wanted = new Set<string>();
    for (const path of this.#paths) {
      wanted.add(dirname(path));
      // A link leads to another folder.
      const real = await realpath(path).catch(() => path);
      wanted.add(dirname(real));
    }
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) {
      if (this.#folders.has(folder) || this.#folders.size >= foldersMaxCount) continue;
      if (this.#closing.signal.aborted) return;
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#checkSoon());
        watcher.on("error", () => {
          watcher.close();
          this.#folders.delete(folder);
        });
        this.#folders.set(folder, watcher);
      } catch {
        // The folder does not exist, or the system has no more watches: the files are looked at.
      }
    }
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
      const look = await lookAt(this.#paths);
      if (look.signature === this.#seen?.signature) {
        // Other files of a watched folder can change all the time.
        await delay(quietMs, undefined, { signal, ref: false }).catch(() => {});
        continue;
      }
      const quiet = await this.#untilQuiet(look);
      if (quiet === undefined || quiet.signature === this.#seen?.signature) continue;
      this.#seen = quiet;
      await this.#onChange();
    }
  }

  /** Polls until nothing changes. @returns the last state; undefined when the watch has ended */
  async #untilQuiet(first: Look): Promise<Look | undefined> {
    const { signal } = this.#closing;
    const startedAt = performance.now();
    let look = first;
    for (;;) {
      await delay(quietMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return undefined;
      const next = await lookAt(this.#paths);
      const waitedMs = performance.now() - startedAt;
      const isQuiet = next.signature === look.signature || waitedMs >= quietMaxMs;
      look = next;
      const known = this.#seen?.gaps;
      const isWhole = known === undefined || next.gaps.isSubsetOf(known);
      if (isQuiet && (isWhole || waitedMs >= emptyMaxMs)) return look;
    }
  }
}

/** Looks at files. */
export async function lookAt(paths: readonly string[]): Promise<Look> {
  const parts = await Promise.all(
    paths.map(async (path) => {
      try {
        const { mtimeNs, ctimeNs, size, ino } = await stat(path, { bigint: true });
        return { path, facts: `${mtimeNs} ${ctimeNs} ${size} ${ino}`, isGap: size === 0n };
      } catch {
        return { path, facts: "", isGap: true };
      }
    }),
  );
  return {
    signature: parts.map(({ facts }) => facts).join("\n"),
    gaps: new Set(parts.filter(({ isGap }) => isGap).map(({ path }) => path)),
  };
}
