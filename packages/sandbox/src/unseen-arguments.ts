/**
 * Folders and files in the arguments of a server that its sandbox does not show: a whole home or another wide folder,
 * which is never bound as a whole, and what no sandbox shows. The server starts, and finds nothing there. Reads the
 * file system, and changes nothing.
 */

import { realpathSync, statSync } from "node:fs";
import { type ArgumentPath, pathsInArgument } from "./argument-paths.ts";
import { isWithin } from "./paths.ts";
import { isBindable, isOfRunningSystem, systemFolders } from "./program-paths.ts";
import type { ServerSandboxes } from "./server-sandboxes.ts";

/** An argument that names something which the sandbox does not show. */
export interface UnseenArgument {
  /** Its place among the arguments. */
  readonly index: number;
  readonly path: string;
  /** `wide`: it is a home, holds one, or is a folder of the system. `hidden`: it is the home of Toolcrib, its configuration or a place of credentials, or lies in one. `undeclared`: it is the working folder, which only a declared `cwd` shows. `running`: it lies in `/sys` or `/run`. `foreign`: somebody else than the operator wrote the argument. */
  readonly reason: "wide" | "hidden" | "undeclared" | "running" | "foreign";
}

/** The places that a server sees besides its arguments. */
export interface SeenPlaces {
  /** Its working folder. */
  readonly directory: string;
  readonly userHome: string;
  readonly hiddenPaths: ReturnType<ServerSandboxes["hiddenPaths"]>;
  /** Folders of `read_paths` and `write_paths`, absolute; with `filesystem_write: allow`, the home of the user. */
  readonly namedPaths: ReturnType<ServerSandboxes["namedPaths"]>;
  /** The folder of the bundle that it belongs to. */
  readonly ownPath?: string | undefined;
  /** Whether its arguments show it what they name. @default true */
  readonly readsArguments?: boolean | undefined;
}

/** Returns the arguments of a contained server that name what it does not see. */
export function unseenArguments(
  args: readonly string[],
  { directory, userHome, hiddenPaths, namedPaths, ownPath, readsArguments = true }: SeenPlaces,
): readonly UnseenArgument[] {
  const homes = [userHome, ...realPathOf(userHome)];
  const hidden = hiddenPaths.flatMap((path) => [path, ...realPathOf(path)]);
  const unseen = (
    { path, isExplicit, isRelative, isWhole }: ArgumentPath,
    index: number,
  ): readonly UnseenArgument[] => {
    // A word such as "run" may also be the name of a folder.
    if (!isExplicit && (readsArguments || isWhole)) return [];
    const [real] = realPathOf(path);
    if (real === undefined || (ownPath !== undefined && isWithin(path, ownPath))) return [];
    if (hidden.some((one) => isWithin(real, one))) return [{ index, path, reason: "hidden" }];
    if (namedPaths.some((one) => isWithin(path, one))) return [];
    if (isOfRunningSystem(path, real)) {
      // Every sandbox has these two of its own.
      if (isWithin(path, "/dev") || isWithin(path, "/proc")) return [];
      const status = statSync(real, { throwIfNoEntry: false });
      return status?.isDirectory() === true || status?.isFile() === true
        ? [{ index, path, reason: "running" }]
        : [];
    }
    const isWide = statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
    const isNarrow = [path, real].every((one) => homes.every((home) => isBindable(one, home)));
    if (isWide && !isNarrow) return [{ index, path, reason: "wide" }];
    if (!readsArguments) {
      const isOfSystem = systemFolders.some((folder) => isWithin(real, folder));
      return isOfSystem ? [] : [{ index, path, reason: "foreign" }];
    }
    return path === directory && isRelative ? [{ index, path, reason: "undeclared" }] : [];
  };
  return args.flatMap((argument, index) => {
    const found = pathsInArgument(argument, directory).flatMap((named) => unseen(named, index));
    return found.filter(({ path }, at) => found.findIndex((one) => one.path === path) === at);
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
