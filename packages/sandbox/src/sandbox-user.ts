/**
 * The user that a contained program runs as. An ordinary user stays itself. A
 * gateway of root gives its programs another user id where their folders allow it.
 */

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { statusOf } from "./look-up.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** A user id and its group id. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user id of programs that a gateway of root starts (`nobody`). */
const nobody = 65_534;

/**
 * Chooses the user of a program. A gateway of root gives it the user id of the folders that it writes; where these or
 * the program belong to root alone, it keeps user id 0, without any capability.
 *
 * @param own the user of the gateway
 */
export function chooseUser(
  own: SandboxUser,
  policy: SandboxPolicy,
  programPaths: readonly string[],
): SandboxUser {
  if (own.uid !== 0) return { uid: own.uid, gid: own.gid };
  const written = [...policy.writePaths, ...(policy.home === "temporary" ? [] : [policy.home.path])];
  const owners = written.flatMap((path) => statusOf(path) ?? []);
  const isClosed = [...policy.readPaths, ...programPaths].some((path) => {
    const mode = statusOf(path)?.mode ?? 0o777;
    return (mode & 0o004) === 0;
  });
  const owner = owners[0];
  if (isClosed || owners.some((one) => one.uid === 0 || one.uid !== owner?.uid)) return { uid: 0, gid: 0 };
  return owner === undefined ? { uid: nobody, gid: nobody } : { uid: owner.uid, gid: owner.gid };
}

/** Whether `user` may search every folder above `path`. */
export function canReach(user: SandboxUser, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const status = statSync(folder, { throwIfNoEntry: false });
    if (status === undefined) return false;
    const bit = status.uid === user.uid ? 0o100 : status.gid === user.gid ? 0o010 : 0o001;
    if ((status.mode & bit) === 0) return false;
    if (folder === "/") return true;
  }
}
