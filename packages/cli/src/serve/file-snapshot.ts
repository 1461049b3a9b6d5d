/**
 * Snapshots of files that are not read: whether they exist, and facts of `stat` that differ when their contents do. A load
 * of the configuration takes the snapshot of its files before it reads them, so that no later change is missed.
 */

import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";

/** One file in a snapshot. */
export interface FileFacts {
  /** Another text for other contents; empty for a missing file. */
  readonly text: string;
  /** Number of its inode; undefined for a missing file. */
  readonly inode: bigint | undefined;
  /** Whether it is empty or missing. */
  readonly isGap: boolean;
}

/** The facts about files at one time. */
export interface FileSnapshot {
  readonly files: ReadonlyMap<string, FileFacts>;
  /** Another text for other contents of any of them. */
  readonly signature: string;
  /** The files that are empty or missing. */
  readonly gaps: ReadonlySet<string>;
}

/** Takes a snapshot without blocking: a poll must not stop the process where a file system does not answer. */
export async function readSnapshot(paths: readonly string[]): Promise<FileSnapshot> {
  const facts = paths.map(async (path) => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    return [path, factsOf(stats)] as const;
  });
  return toSnapshot(new Map(await Promise.all(facts)));
}

/** Takes a snapshot in one turn. For files that were read a moment ago. */
export function readSnapshotSync(paths: readonly string[]): FileSnapshot {
  return toSnapshot(new Map(paths.map((path) => [path, factsNow(path)])));
}

/** The files that a load reads. Add each before it is read. */
export class ReadFiles extends Set<string> {
  readonly #facts = new Map<string, FileFacts>();

  override add(path: string): this {
    if (!this.has(path)) this.#facts.set(path, factsNow(path));
    return super.add(path);
  }

  /** Their snapshot before they were read. */
  get snapshot(): FileSnapshot {
    return toSnapshot(this.#facts);
  }

  /** The files that changed since. */
  changed(): readonly string[] {
    return [...this.#facts].flatMap(([path, { text }]) => (factsNow(path).text === text ? [] : [path]));
  }
}

function factsNow(path: string): FileFacts {
  try {
    return factsOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
  } catch {
    return factsOf(undefined);
  }
}

function factsOf(stats: BigIntStats | undefined): FileFacts {
  if (stats === undefined) return { text: "", inode: undefined, isGap: true };
  const { mtimeNs, ctimeNs, size, ino, dev } = stats;
  return { text: `${mtimeNs} ${ctimeNs} ${size} ${ino} ${dev}`, inode: ino, isGap: size === 0n };
}

function toSnapshot(files: ReadonlyMap<string, FileFacts>): FileSnapshot {
  return {
    files,
    signature: [...files.values()].map(({ text }) => text).join("\n"),
    gaps: new Set([...files].flatMap(([path, { isGap }]) => (isGap ? [path] : []))),
  };
}
