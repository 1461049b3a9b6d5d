/** The state that an installation is decided on: the record of the home and the lock file of the project. */

import { isCodedError } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import type { ToolPackage } from "@toolcrib/mcpkg";
import { folderOf } from "../install-places.ts";
import { type LockedPackages, readLock } from "../lock/lock-file.ts";
import { compareFiles } from "../record/compare-files.ts";
import { type InstallRecord, isSamePlace, type RecordEntry } from "../record/install-record.ts";
import { openInstalledPackage, toInstalled } from "../record/read-installed.ts";
import { readRecordFile } from "../record/record-file.ts";

/** Where packages are installed. */
export interface InstallPlace {
  /** Toolcrib's home. */
  readonly home: string;
  /** Absolute path of the folder of the project, without links; undefined: for the user. */
  readonly project: string | undefined;
}

/** The state of a place. */
export interface InstallState extends InstallPlace {
  readonly record: InstallRecord;
  readonly lock: LockedPackages | undefined;
}

/**
 * Reads the state.
 *
 * @throws {InstallError} `INSTALL_RECORD_UNREADABLE`, `INSTALL_LOCK_INVALID`
 */
export async function readState({ home, project }: InstallPlace): Promise<InstallState> {
  const { record } = await readRecordFile(home);
  return { home, project, record, lock: project === undefined ? undefined : await readLock(project) };
}

/** Returns the entry of a tool in exactly this place. */
export function entryOf({ record, project }: InstallState, toolId: string): RecordEntry | undefined {
  return record.packages.find((entry) => isSamePlace(entry, { toolId, project }));
}

/** Returns the entry of a tool that is used in this place: that of the project, or else the user's. */
export function visibleEntryOf(state: InstallState, toolId: string): RecordEntry | undefined {
  return entryOf(state, toolId) ?? entryOf({ ...state, project: undefined }, toolId);
}

/** Whether the folder of an entry has exactly its files. */
export function isIntact(home: string, entry: RecordEntry): boolean {
  return compareFiles(folderOf(home, entry.project, entry.toolId), entry.files).differences.length === 0;
}

/**
 * Opens the package of an entry, which is read completely.
 *
 * @returns undefined where its folder was changed, or this version of Toolcrib cannot read it: it does not run
 */
export function openIntact(
  home: string,
  entry: RecordEntry,
  validator: SchemaValidator,
): ToolPackage | undefined {
  try {
    return openInstalledPackage(toInstalled(home, entry), validator);
  } catch (error) {
    if (isCodedError(error) && error.code === "INSTALL_PACKAGE_CHANGED") return undefined;
    throw error;
  }
}
