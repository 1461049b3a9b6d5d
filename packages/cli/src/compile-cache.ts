/**
 * The folder of Node's compile cache. Cached code is executed, and its checksums are no protection: a folder that others
 * can write to, that belongs to another user, or that a relative path names is never used. Without one the command is
 * compiled anew. Imports nothing but Node's own modules, because it is loaded before the cache is on.
 */

import { mkdirSync, type Stats, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

const groupOrOthers = 0o022;
const others = 0o002;
const sticky = 0o1000;

/** The user's home directory: `HOME`, or where that is empty or relative, the one that the system knows; empty without one. */
export function ownHomeDirectory(): string {
  const given = homedir();
  if (isAbsolute(given)) return given;
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

/**
 * Returns the folder of the compile cache, which exists then and is this user's alone; undefined where there can be
 * none, and where the variables of Node decide about the cache.
 */
export function compileCacheFolder(env: { readonly [name: string]: string | undefined }): string | undefined {
  if ((env["NODE_DISABLE_COMPILE_CACHE"] ?? "") !== "" || (env["NODE_COMPILE_CACHE"] ?? "") !== "")
    return undefined;
  const given = env["XDG_CACHE_HOME"];
  // An empty variable or a relative path counts as unset (XDG Base Directory Specification).
  const caches = given !== undefined && isAbsolute(given) ? given : join(ownHomeDirectory() || ".", ".cache");
  if (!isAbsolute(caches)) return undefined;
  const own = join(caches, "toolcrib");
  const folder = join(own, "compile");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return folder;
    const isSafe = isNotReplaceable(statSync(caches)) && [own, folder].every((one) => isOwn(statSync(one)));
    return isSafe ? folder : undefined;
  } catch {
    return undefined;
  }
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & groupOrOthers) === 0;
}

/** Whether others cannot put another folder in the place of one in this folder. */
function isNotReplaceable({ uid, mode }: Stats): boolean {
  return (uid === 0 || uid === process.geteuid?.()) && ((mode & others) === 0 || (mode & sticky) !== 0);
}
