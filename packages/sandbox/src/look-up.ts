/** Files and folders looked up without errors, and folders read up to a number of entries. */

import { type Dir, type Dirent, opendirSync, type Stats, statSync } from "node:fs";

/** Returns undefined where nothing is there, or this user cannot look it up. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Returns the first `maxCount` entries of a folder; none of a file, or of a folder that this user does not read.
 *
 * @throws the error of the system where a folder that was opened cannot be read: what it holds is not known then
 */
export function entriesOf(folder: string, maxCount: number): readonly Dirent[] {
  let opened: Dir;
  try {
    opened = opendirSync(folder);
  } catch {
    // It is a file, or belongs to others, or another process removed it.
    return [];
  }
  try {
    const entries: Dirent[] = [];
    while (entries.length < maxCount) {
      const entry = opened.readSync();
      if (entry === null) break;
      entries.push(entry);
    }
    return entries;
  } finally {
    // Not `using`: before Node 24.1, a folder cannot be disposed of.
    opened.closeSync();
  }
}
