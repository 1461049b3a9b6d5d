/**
 * Reports which secrets of a store were set or removed, by any process. File
 * system events make this prompt. Because events can be missing (network drives, a
 * folder that does not exist yet), the files are also polled. Reads no secret.
 */

import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import type { SecretChange } from "@toolcrib/store";
import { listStoredNames, type StoreLayout } from "./layout.ts";

/** Milliseconds between two polls. */
const pollMs = 2000;
/** Milliseconds in which several file system events cause one scan. */
const settleMs = 20;

/**
 * Watches the store until disposed. `onChange` is called for each change after the
 * first scan, which is complete when this resolves.
 */
export async function watchSecrets(
  layout: StoreLayout,
  onChange: (change: SecretChange) => void,
): Promise<AsyncDisposable> {
  const watcher = new SecretWatcher(layout, onChange);
  await watcher.start();
  return watcher;
}

class SecretWatcher implements AsyncDisposable {
  readonly #layout: StoreLayout;
  readonly #onChange: (change: SecretChange) => void;
  #signatures: ReadonlyMap<string, string> = new Map();
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #settle: NodeJS.Timeout | undefined;
  #scan: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(layout: StoreLayout, onChange: (change: SecretChange) => void) {
    this.#layout = layout;
    this.#onChange = onChange;
  }

  async start(): Promise<void> {
    this.#startEvents();
    try {
      this.#signatures = await readSignatures(this.#layout);
    } catch (error) {
      this.#stopEvents();
      throw error;
    }
    this.#poll = setInterval(() => this.#enqueueScan(), pollMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settle);
    this.#stopEvents();
    await this.#scan;
  }

  #startEvents(): void {
    if (this.#watcher !== undefined || this.#isClosed) return;
    try {
      this.#watcher = watch(this.#layout.folder, { persistent: false }, () => this.#scanSoon());
      this.#watcher.on("error", () => this.#stopEvents());
    } catch {
      // The folder does not exist yet, or the system has no more watchers: polling remains.
    }
  }

  #stopEvents(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #scanSoon(): void {
    if (this.#isClosed) return;
    this.#settle ??= setTimeout(() => {
      this.#settle = undefined;
      this.#enqueueScan();
    }, settleMs).unref();
  }

  #enqueueScan(): void {
    this.#startEvents();
    this.#scan = this.#scan.then(() => this.#compare());
  }

  async #compare(): Promise<void> {
    if (this.#isClosed) return;
    let signatures: ReadonlyMap<string, string>;
    try {
      signatures = await readSignatures(this.#layout);
    } catch {
      // Unreadable for now; the next scan reports the changes.
      return;
    }
    const before = this.#signatures;
    this.#signatures = signatures;
    // A folder that was removed and created again needs a new watcher.
    if (signatures.size === 0) this.#stopEvents();
    for (const [name, signature] of signatures) {
      if (before.get(name) !== signature) this.#emit({ kind: "set", name });
    }
    for (const name of before.keys()) {
      if (!signatures.has(name)) this.#emit({ kind: "removed", name });
    }
  }

  #emit(change: SecretChange): void {
    if (!this.#isClosed) this.#onChange(change);
  }
}

/** Returns, by name, a text that changes with every write. */
async function readSignatures(layout: StoreLayout): Promise<ReadonlyMap<string, string>> {
  const signatures = new Map<string, string>();
  for (const name of await listStoredNames(layout)) {
    const status = await stat(layout.sealedPath(name), { bigint: true }).catch(() => undefined);
    if (status === undefined) continue;
    const { ino, mtimeNs, ctimeNs, size } = status;
    signatures.set(name, `${ino} ${mtimeNs} ${ctimeNs} ${size}`);
  }
  return signatures;
}
