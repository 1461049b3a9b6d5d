/**
 * The paths that files of a package may have: relative, with `/` between their parts
 * (MCPKG document, File Format), and such that no file system, no program and no person takes
 * two of them for the same, or one of them for another place. Pure.
 */

import { McpkgError } from "./mcpkg-error.ts";
import { type ArchiveLimits, packageLimits } from "./package-limits.ts";

/** Longest path in UTF-16 units. */
const pathMaxLength = 240;

/** Names of devices on Windows, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** Returns why `path` is not allowed in a package; `undefined` if it is. */
export function lintPath(path: string, { partsMaxCount } = packageLimits): string | undefined {
  if (path === "" || path.length > pathMaxLength) return `a path has 1 to ${pathMaxLength} characters`;
  if (!path.isWellFormed()) return "a path is well-formed Unicode";
  if (/[\\:*?"<>|]/.test(path)) return 'a path has none of \\ : * ? " < > |';
  if (/\p{C}|\p{Zl}|\p{Zp}/u.test(path)) return "a path has no control, invisible or unassigned characters";
  if (path !== path.normalize("NFC")) return "a path is in the composed form of Unicode (NFC)";
  const parts = path.split("/");
  if (parts.length > partsMaxCount) return `a path has at most ${partsMaxCount} parts`;
  for (const part of parts) {
    if (part === "" || part === "." || part === "..") {
      return "a path is relative, with one / between its parts, and stays in the package";
    }
    if (/[. ]$|^ /.test(part)) return "no part of a path begins with a space, or ends with a dot or a space";
    if (deviceName.test(part)) return `"${part}" is the name of a device on Windows`;
  }
  return undefined;
}

/** Collects the paths of a package, and refuses those that could be confused with an earlier one. */
export class PathSet {
  /** Each folded path of a file and of the folders above it, with the path as it is written. */
  readonly #known = new Map<string, { readonly path: string; readonly isFile: boolean }>();
  readonly #limits: ArchiveLimits;

  constructor(limits: ArchiveLimits = packageLimits) {
    this.#limits = limits;
  }

  /**
   * Adds the path of a file.
   *
   * @throws {McpkgError} `MCPKG_PATH_INVALID`
   */
  addFile(path: string): void {
    this.#add(path, true);
  }

  /**
   * Adds the path of a folder, without a slash at its end. A folder can be added several times.
   *
   * @throws {McpkgError} `MCPKG_PATH_INVALID`
   */
  addFolder(path: string): void {
    this.#add(path, false);
  }

  #add(path: string, isFile: boolean): void {
    const reason = lintPath(path, this.#limits);
    if (reason !== undefined) throw pathError(path, reason);
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count += 1) {
      const part = parts.slice(0, count).join("/");
      const isPartFile = isFile && count === parts.length;
      const key = foldPath(part);
      const known = this.#known.get(key);
      if (known === undefined) this.#known.set(key, { path: part, isFile: isPartFile });
      else if (isPartFile || known.isFile) throw pathError(path, `"${known.path}" is in the package already`);
      else if (known.path !== part)
        throw pathError(path, `its folder could be confused with "${known.path}"`);
    }
  }
}

/** Two paths with the same result are one file on some file system, or look like it. */
function foldPath(path: string): string {
  // The capital of ß is SS, and that of its own capital ẞ is not: both ways are needed.
  return path.normalize("NFKC").toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
}

function pathError(path: string, reason: string): McpkgError {
  const shown = JSON.stringify(path.slice(0, pathMaxLength));
  return new McpkgError("MCPKG_PATH_INVALID", `Cannot use the path ${shown} in a package: ${reason}`);
}
