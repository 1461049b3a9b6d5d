/**
 * What files show without being read: whether they exist, and facts that differ when their contents do, as far as folders
 * show. A load of the configuration records what its files show before it reads them, so that no later change is missed.
 */

import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";

/** What one file shows. */
export interface FileFacts {
  /** Another text for other contents; empty for a missing file. */
  readonly text: string;
  /** Number of its inode; undefined for a missing file. */
  readonly inode: bigint | undefined;
  /** Whether it is empty or missing. */
  readonly isGap: boolean;
}

/** What files showed at a time. */
export interface Look {
  readonly files: ReadonlyMap<string, FileFacts>;
  /** Another text for other contents of any of them. */
  readonly signature: string;
  /** The files that are empty or missing. */
  readonly gaps: ReadonlySet<string>;
}

/** Looks at files, without blocking: a poll must not stop the process where a file system does not answer. */
export async function lookAt(paths: readonly string[]): Promise<Look> {
  const facts = paths.map(async (path) => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    return [path, factsOf(stats)] as const;
  });
  return toLook(new Map(await Promise.all(facts)));
}

/** As `lookAt`, and nothing else happens meanwhile. For files that were read a moment ago. */
export function lookNow(paths: readonly string[]): Look {
  return toLook(new Map(paths.map((path) => [path, factsNow(path)])));
}

/** The files that a load reads. Add each before it is read. */
export class ReadFiles extends Set<string> {
  readonly #facts = new Map<string, FileFacts>();

  override add(path: string): this {
    if (!this.has(path)) this.#facts.set(path, factsNow(path));
    return super.add(path);
  }

  /** What they showed before they were read. */
  get look(): Look {
    return toLook(this.#facts);
  }

  /** The files that show something else by now. */
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

function toLook(files: ReadonlyMap<string, FileFacts>): Look {
  return {
    files,
    signature: [...files.values()].map(({ text }) => text).join("\n"),
    gaps: new Set([...files].flatMap(([path, { isGap }]) => (isGap ? [path] : []))),
  };
}
