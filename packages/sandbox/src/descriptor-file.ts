/**
 * Texts that a child process reads from file descriptors: from files without a
 * name, so that nothing of them remains. Their offsets are at the start.
 */

import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeStartFolder } from "./start-folders.ts";

/** Open descriptors, closed together. */
export class DescriptorFiles implements Disposable {
  readonly #open: number[] = [];

  /** @param folder where the files are until they are open @param contents one for each descriptor */
  constructor(folder: string, contents: readonly Uint8Array[]) {
    const own = makeStartFolder(folder);
    try {
      for (const [index, bytes] of contents.entries()) this.#add(join(own, String(index)), bytes);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  }

  /** The descriptors, in the order of their contents. */
  get descriptors(): readonly number[] {
    return [...this.#open];
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#open.splice(0)) closeSync(descriptor);
  }

  #add(path: string, bytes: Uint8Array): void {
    const descriptor = openSync(path, "wx+", 0o600);
    this.#open.push(descriptor);
    // A position leaves the offset where it is.
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
  }
}
