/** Writes the lock file of a project anew from what is installed there, or compares the two. */

import { type ChangeDeps, changeInstalled, writeLock } from "../install/commit-change.ts";
import { readRecordFile } from "../record/record-file.ts";
import { formatLock, type LockedPackages, readLock, toLocked } from "./lock-file.ts";

/** A project of a home. */
export interface LockedProject {
  readonly home: string;
  readonly project: string;
}

/** The changes that the lock file of a project would make. */
export interface LockComparison {
  /** Installed, and not locked or locked otherwise. */
  readonly changed: readonly string[];
  /** Locked, and not installed. */
  readonly missing: readonly string[];
}

/**
 * Compares the lock file with what is installed.
 *
 * @throws {InstallError} `INSTALL_LOCK_INVALID`, `INSTALL_RECORD_UNREADABLE`
 */
export async function compareLock(place: LockedProject): Promise<LockComparison> {
  const locked: LockedPackages = (await readLock(place.project)) ?? new Map();
  const installed = await installedOf(place);
  const isSame = (toolId: string) => {
    const one = (packages: LockedPackages) => new Map([...packages].filter(([id]) => id === toolId));
    return formatLock(one(locked)) === formatLock(one(installed));
  };
  return {
    changed: [...installed.keys()].filter((toolId) => !isSame(toolId)).toSorted(),
    missing: [...locked.keys()].filter((toolId) => !installed.has(toolId)).toSorted(),
  };
}

/**
 * Writes the lock file of exactly what is installed in the project.
 *
 * @returns the number of packages
 * @throws {InstallError} `INSTALL_RECORD_UNREADABLE`, `INSTALL_BUSY`; {FilesError}
 */
export async function rewriteLock(deps: ChangeDeps, place: LockedProject): Promise<number> {
  let count = 0;
  await changeInstalled(deps, place, async () => {
    const packages = await installedOf(place);
    await writeLock(deps, place.project, packages);
    count = packages.size;
    return undefined;
  });
  return count;
}

async function installedOf({ home, project }: LockedProject): Promise<LockedPackages> {
  const { record } = await readRecordFile(home);
  const own = record.packages.filter((entry) => entry.project === project);
  return new Map(own.map((entry) => [entry.toolId, toLocked(entry, project)]));
}
