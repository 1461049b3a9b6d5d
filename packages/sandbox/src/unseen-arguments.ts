/**
 * Folders and files in the arguments of a server that its sandbox does not show: a whole home or another wide folder,
 * which is never bound as a whole, and what no sandbox shows. The server starts, and finds nothing there. Reads the
 * file system, and changes nothing.
 */

import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isWithin } from "./paths.ts";
import { isBindable } from "./program-paths.ts";
import type { ServerSandboxes } from "./server-sandboxes.ts";

/** An argument that names something which the sandbox does not show. */
export interface UnseenArgument {
  /** Its place among the arguments. */
  readonly index: number;
  readonly path: string;
  /** `wide`: it is a home, holds one, or is a folder of the system. `hidden`: it is the home of Toolcrib, its configuration or a place of credentials, or lies in one. */
  readonly reason: "wide" | "hidden";
}

/** What a server sees besides its arguments. */
export interface SeenPlaces {
  /** Its working folder. */
  readonly directory: string;
  readonly userHome: string;
  readonly hiddenPaths: ReturnType<ServerSandboxes["hiddenPaths"]>;
  /** Folders of `read_paths` and `write_paths`, absolute; with `filesystem_write: allow`, the home of the user. */
  readonly namedPaths: ReturnType<ServerSandboxes["namedPaths"]>;
  /** The folder of the bundle that it belongs to. */
  readonly ownPath?: string | undefined;
}

/** Returns the arguments of a contained server that name what it does not see. */
export function unseenArguments(
  args: readonly string[],
  { directory, userHome, hiddenPaths, namedPaths, ownPath }: SeenPlaces,
): readonly UnseenArgument[] {
  const homes = [userHome, ...realPathOf(userHome)];
  const hidden = hiddenPaths.flatMap((path) => [path, ...realPathOf(path)]);
  return args.flatMap((argument, index): readonly UnseenArgument[] => {
    if (argument === "" || argument.length > 4096 || argument.includes("\0")) return [];
    const path = resolve(directory, argument);
    // A word such as "run" may also be the name of a folder.
    if (path !== argument.replace(/(?<=.)\/+$/, "") && !/^\.{0,2}\//.test(argument)) return [];
    const [real] = realPathOf(path);
    if (real === undefined || (ownPath !== undefined && isWithin(path, ownPath))) return [];
    if (hidden.some((one) => isWithin(real, one))) return [{ index, path, reason: "hidden" }];
    if (namedPaths.some((one) => isWithin(path, one))) return [];
    const isWide = statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
    const isNarrow = [path, real].every((one) => homes.every((home) => isBindable(one, home)));
    return isWide && !isNarrow ? [{ index, path, reason: "wide" }] : [];
  });
}

function realPathOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // It does not exist, or this user does not see it.
    return [];
  }
}
