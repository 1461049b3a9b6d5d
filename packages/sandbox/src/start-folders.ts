/**
 * Folders with the files of a start, in a folder for temporary files. A gateway
 * removes its own; those of one that was killed are removed by the next gateway of
 * the same user. The name of a folder says which process made it: its namespace of
 * process ids, its id, and the time of its start, so that a number that is used
 * again is not taken for that process.
 */

import {
  accessSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  statSync,
} from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";

const prefix = "toolcrib-sandbox-";
/** Folders of starts that are checked. */
const foldersMaxCount = 10_000;

/** The folder in memory that Linux systems have for every user. */
const memoryFolder = "/dev/shm";
/** Type of a file system in memory (`TMPFS_MAGIC`). */
const memoryType = 0x01021994;
/** Free bytes that the folder needs: a start takes less than one mebibyte. */
const freeMinBytes = 16_777_216;

/**
 * Returns where the files of starts are best: in memory, where a start creates a hundred of them in a millisecond; a
 * disk can take a hundred times as long.
 *
 * @param otherwise for systems without such a folder, or a full one
 */
export function chooseStartParent(otherwise: string): string {
  try {
    accessSync(memoryFolder, constants.W_OK | constants.X_OK);
    const { type, bavail, bsize } = statfsSync(memoryFolder);
    return type === memoryType && bavail * bsize >= freeMinBytes ? memoryFolder : otherwise;
  } catch {
    // There is none, or it belongs to others.
    return otherwise;
  }
}

/** Creates a folder that only this user can read. */
export function makeStartFolder(parent: string): string {
  return mkdtempSync(join(parent, `${prefix}${ownMark()}-`));
}

/** Removes the folders of dead processes of this user. Never rejects: what cannot be removed stays. */
export async function removeAbandonedFolders(parent: string, uid: number): Promise<void> {
  let names: readonly string[];
  try {
    names = readdirSync(parent)
      .filter((name) => name.startsWith(prefix))
      .slice(0, foldersMaxCount);
  } catch {
    return;
  }
  for (const name of names) {
    const mark = /^toolcrib-sandbox-(\d+-\d+-\d+)-[^-]+$/.exec(name)?.[1];
    if (mark === undefined || isAlive(mark)) continue;
    const path = join(parent, name);
    const status = await lstat(path).catch(() => undefined);
    // Anybody can write such a name into a shared folder.
    if (status?.isDirectory() !== true || status.uid !== uid) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** Whether the process of a mark runs, or can run where this process does not see it. */
function isAlive(mark: string): boolean {
  const [namespace, pid = "", started] = mark.split("-");
  return namespace !== ownNamespace() || startTicksOf(pid) === started;
}

let own: string | undefined;

function ownMark(): string {
  own ??= `${ownNamespace()}-${process.pid}-${startTicksOf("self")}`;
  return own;
}

function ownNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    // A system without /proc has no sandbox that needs such folders for long.
    return "0";
  }
}

/** The start of a process in ticks; "0" for one that does not run. */
function startTicksOf(pid: string): string {
  try {
    if (!statSync(`/proc/${pid}`).isDirectory()) return "0";
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of a program can contain anything; the fields follow its last parenthesis.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "0";
  } catch {
    return "0";
  }
}
