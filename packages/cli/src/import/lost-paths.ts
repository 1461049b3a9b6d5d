/**
 * Finds variables of a contained server that name a file or folder which it can neither see nor keep: what it writes
 * there goes to a folder of its sandbox, and is lost when it ends. Reads the file system, and starts nothing.
 */

import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";

/** Variables that name programs, libraries or the user's folders. */
const systemVariable =
  /^(?:PATH|HOME|SHELL|TMPDIR|PWD|[A-Z_]*LIBRARY_PATH|PYTHONPATH|NODE_PATH|[A-Z_]*CERT[A-Z_]*)$/i;
/** Folders that every sandbox shows, and that no server keeps data in. */
const systemFolder = /^\/(?:usr|bin|sbin|lib\w*|etc|proc|sys|dev|run|boot|nix)(?:\/|$)/;

/** Returns a sentence without its subject for each variable, with the line that allows it. */
export function lostPaths({ transport, containment }: ToolServerConfig): readonly string[] {
  if (transport.kind !== "stdio" || !containment.needsSandbox) return [];
  const { filesystemWrite, readPaths, writePaths } = containment.effective;
  if (filesystemWrite === "allow") return [];
  const open = [...readPaths, ...writePaths];
  return Object.entries(transport.env).flatMap(([name, value]) => {
    const path = value.kind === "literal" ? value.text : "";
    if (!isAbsolute(path) || path.includes(":") || systemVariable.test(name) || systemFolder.test(path))
      return [];
    if (open.some((one) => path === one || path.startsWith(`${one}/`))) return [];
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const folder = isFolder ? path : dirname(path);
    if (folder === "/") return [];
    return [
      `does not see ${path} (${name}), and what it writes there is lost when it ends; where it keeps data there, write into its entry: containment: { filesystem_write: scoped, write_paths: [${folder}] }, and where it only reads it: containment: { read_paths: [${path}] }`,
    ];
  });
}
