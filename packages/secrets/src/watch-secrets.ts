/**
 * Tells which secrets of a store were set or removed, by whichever process. The
 * file system's own notices make it prompt; since they may be missing (network
 * drives, a folder that is not there yet), the files are looked at from time to
 * time all the same. Reads no secret.
 */

import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { listStoredNames, type StoreLayout } from "./layout.ts";

/** What became of a secret. */
export interface SecretChange {
  readonly kind: "set" | "removed";
  readonly name: string;
}

/** Milliseconds between two looks that nothing gave rise to. */
const lookEveryMs = 2000;
/** Milliseconds in which notices are one. */
const gatherMs = 20;

/** Watch the store until disposed; `tell` is called for each change after the first look, which has been taken then. */
export async function watchSecrets(
  layout: StoreLayout,
  tell: (change: SecretChange) => void,
): Promise<AsyncDisposable> {
  let isClosed = false;
  let watcher: FSWatcher | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  startWatcher();
  let known = await takeMarks(layout);

  function startWatcher(): void {
    if (watcher !== undefined || isClosed) return;
    try {
      watcher = watch(layout.folder, { persistent: false }, lookSoon);
      watcher.on("error", stopWatcher);
    } catch {
      // The folder is not there yet, or the system has no more watchers: the timer looks.
    }
  }

  function stopWatcher(): void {
    watcher?.close();
    watcher = undefined;
  }

  function lookSoon(): void {
    if (isClosed) return;
    gathering ??= setTimeout(() => {
      gathering = undefined;
      look();
    }, gatherMs).unref();
  }

  function look(): void {
    startWatcher();
    looking = looking.then(compare);
  }

  async function compare(): Promise<void> {
    if (isClosed) return;
    let marks: ReadonlyMap<string, string>;
    try {
      marks = await takeMarks(layout);
    } catch {
      // Out of reach for the moment; the next look tells what became of it.
      return;
    }
    const before = known;
    known = marks;
    if (marks.size === 0) stopWatcher();
    for (const [name, mark] of marks) if (!isClosed && before.get(name) !== mark) tell({ kind: "set", name });
    for (const name of before.keys()) if (!isClosed && !marks.has(name)) tell({ kind: "removed", name });
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(gathering);
      stopWatcher();
      await looking;
    },
  };
}

/** By name what changes with every write. */
async function takeMarks(layout: StoreLayout): Promise<ReadonlyMap<string, string>> {
  const marks = new Map<string, string>();
  for (const name of await listStoredNames(layout)) {
    const status = await stat(layout.sealedPath(name), { bigint: true }).catch(() => undefined);
    if (status !== undefined)
      marks.set(name, `${status.ino} ${status.mtimeNs} ${status.ctimeNs} ${status.size}`);
  }
  return marks;
}
