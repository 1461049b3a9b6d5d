/**
 * The Unix sockets in folders that a sandbox shows: each leads to a program outside. Linux lists those that programs
 * listen on, by the paths that they gave (proc(5), /proc/net/unix). It leaves out those of other network namespaces,
 * such as containers, and a path can be relative or have changed, so the entries near the top of each folder are looked at, too.
 */

import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { entriesOf } from "./look-up.ts";
import { isWithin } from "./paths.ts";

/** Entries of a folder, with those of the folders below it, that are looked at: each start of a program waits for it. */
const entriesMaxCount = 500;

/** Returns the sockets in `folders` and below. @param folders real paths; one can be a file */
export function socketsBelow(folders: readonly string[]): readonly string[] {
  if (folders.length === 0) return [];
  return [...new Set([...listenersBelow(folders), ...folders.flatMap(socketsNear)])];
}

/**
 * Returns the sockets in `folders` and below that the system lists. In a folder that a program writes, another one is
 * what an earlier start of it left there, which it has to be able to remove.
 *
 * @param folders real paths
 */
export function listenersBelow(folders: readonly string[]): readonly string[] {
  if (folders.length === 0) return [];
  return listedSockets().filter((path) => folders.some((folder) => isWithin(path, folder)) && isSocket(path));
}

/** Returns the real paths of the sockets that the system lists; none where it lists none. */
function listedSockets(): readonly string[] {
  let lines: readonly string[];
  try {
    lines = readFileSync("/proc/net/unix", "latin1").split("\n").slice(1);
  } catch {
    return [];
  }
  return lines.flatMap((line) => {
    // Seven columns and the path, which can contain spaces; "@" begins the name of an abstract socket.
    const path = Buffer.from(/^(?:\S+ +){7}(\/.*)$/.exec(line)?.[1] ?? "", "latin1").toString();
    if (!isAbsolute(path)) return [];
    try {
      return [join(realpathSync(dirname(path)), basename(path))];
    } catch {
      return [];
    }
  });
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}

/** Returns the sockets in a folder and those below it, the near ones first. Follows no link. */
function socketsNear(folder: string): readonly string[] {
  const sockets: string[] = [];
  const folders = [folder];
  let left = entriesMaxCount;
  for (const one of folders) {
    const entries = entriesOf(one, left);
    left -= entries.length;
    for (const entry of entries) {
      if (entry.isSocket()) sockets.push(join(one, entry.name));
      else if (entry.isDirectory()) folders.push(join(one, entry.name));
    }
    if (left <= 0) break;
  }
  return sockets;
}
