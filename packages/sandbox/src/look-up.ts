/** Files and folders looked up without errors, and folders read up to a number of entries. */

import { type Dirent, opendirSync, type Stats, statSync } from "node:fs";

/** Returns undefined where nothing is there, or this user cannot look it up. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the first `maxCount` entries of a folder; none of a file, or of a folder that this user does not read. */
export function entriesOf(folder: string, maxCount: number): readonly Dirent[] {
  const entries: Dirent[] = [];
  try {
    using opened = opendirSync(folder);
    while (entries.length < maxCount) {
      const entry = opened.readSync();
      if (entry === null) break;
      entries.push(entry);
    }
  } catch {
    // It is a file, or belongs to others, or another process removed it.
  }
  return entries;
}
