/**
 * The paths that a contained program can change itself, which must not decide what it sees: after a start it can replace
 * any file in a folder that it writes by a symbolic link, and the next start would show the target. A path is followed
 * only as far as its links lie outside of these folders; what lies in them is shown by the folder itself.
 * Reads links, and changes nothing.
 */

import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "./paths.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** Where a path leads. */
export interface FollowedPath {
  /** Whether it lies, or is reached through a link that lies, below a folder that the program writes. */
  readonly isChangeable: boolean;
  /** Targets of the links on the way, by their paths, without those that the program can change. */
  readonly links: ReadonlyMap<string, string>;
}

/** Symbolic links that are followed from one path, as the kernel does. */
const linksMaxCount = 40;

export class ChangeablePaths {
  /** Real paths. */
  readonly #written: readonly string[];
  readonly #own: readonly string[];
  /** As they are named. */
  readonly #ownNames: readonly string[];
  readonly #read: readonly string[];

  constructor({ writePaths, readPaths, ownPaths = [], home }: SandboxPolicy) {
    const homes = home === "temporary" ? [] : [home.path];
    this.#written = realPathsOf([...writePaths, ...homes]);
    this.#own = realPathsOf(ownPaths);
    this.#ownNames = [...ownPaths, ...homes];
    this.#read = realPathsOf(readPaths.filter((path) => !this.reaches(path)));
  }

  /** Whether the program can replace what is at `real`, by the folder that it writes. @param real without links */
  holds(real: string): boolean {
    const depthIn = (folders: readonly string[]): number =>
      Math.max(-1, ...folders.filter((one) => isWithin(real, one)).map((one) => one.length));
    // The folder itself is a mount, which nothing in the sandbox replaces.
    const written = depthIn(this.#written.filter((folder) => folder !== real));
    // What the caller made below it is hidden or read-only there.
    return written >= 0 && written >= depthIn(this.#own);
  }

  /** Whether a path that the policy names is reached through what the program can change. */
  reaches(path: string): boolean {
    return !this.#ownNames.some((one) => isWithin(path, one)) && this.follow(path).isChangeable;
  }

  /** Whether a path without links is visible by the policy alone. */
  shows(real: string): boolean {
    return [...this.#written, ...this.#read].some((folder) => isWithin(real, folder));
  }

  /** Follows the links of `path` and of the folders above it, up to the first one that the program can change. */
  follow(path: string): FollowedPath {
    const links = new Map<string, string>();
    const waiting = namesOf(path);
    let current = "/";
    // Links can lead to each other in a circle.
    let left = linksMaxCount;
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (name === "..") {
        // The folder that it leads out of can be another one at the next start.
        if (this.holds(current)) return { isChangeable: true, links };
        current = dirname(current);
        continue;
      }
      const next = join(current, name);
      let status: Stats | undefined;
      try {
        status = lstatSync(next, { throwIfNoEntry: false });
      } catch {
        // This user does not see it, or it lies below a file.
      }
      if (status?.isSymbolicLink() !== true) {
        current = next;
        if (status === undefined) break;
        continue;
      }
      if (this.holds(next) || left === 0) return { isChangeable: true, links };
      left -= 1;
      let target: string;
      try {
        target = readlinkSync(next);
      } catch {
        // Links of `/proc` to what this user must not see, or to what is gone, lead nowhere.
        current = next;
        break;
      }
      links.set(next, target);
      waiting.unshift(...namesOf(target));
      if (target.startsWith("/")) current = "/";
    }
    return { isChangeable: this.holds(current), links };
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function realPathsOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => (existsSync(path) ? [realpathSync(path)] : []));
}
