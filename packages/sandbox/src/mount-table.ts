/** The mounts of this process: their flags, and those that lie below a folder (Linux, proc(5)). */

import { isWithin } from "./paths.ts";

/** One mount of the host. */
export interface HostMount {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly isNoExec: boolean;
}

/** Parses the text of `/proc/self/mountinfo`. */
export function parseMountTable(text: string): readonly HostMount[] {
  return text.split("\n").flatMap((line) => {
    const fields = line.split(" ");
    const path = fields[4];
    const flags = fields[5]?.split(",");
    if (path === undefined || flags === undefined) return [];
    return [{ path: unescaped(path), isReadOnly: flags.includes("ro"), isNoExec: flags.includes("noexec") }];
  });
}

/** Returns the mount that `path` lies on. */
export function mountOf(table: readonly HostMount[], path: string): HostMount | undefined {
  let found: HostMount | undefined;
  for (const mount of table) {
    if (isWithin(path, mount.path) && (found === undefined || mount.path.length >= found.path.length)) {
      found = mount;
    }
  }
  return found;
}

/** Returns the paths of the mounts below `folder`. */
export function mountsBelow(table: readonly HostMount[], folder: string): readonly string[] {
  return [...new Set(table.map(({ path }) => path))].filter(
    (path) => path !== folder && isWithin(path, folder),
  );
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
