/**
 * Finds variables of a contained server that name a file or folder which it can neither see nor keep: what it writes
 * there goes to a folder of its sandbox, and is lost when it ends. Reads the file system, and starts nothing.
 */

import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import type { CliContext } from "../cli-context.ts";
import { userHomeOf, writeRefusal } from "../config/lint-write-paths.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/** Variables that name programs, libraries or the user's folders. */
const systemVariable =
  /^(?:PATH|HOME|SHELL|TMPDIR|PWD|[A-Z_]*LIBRARY_PATH|PYTHONPATH|NODE_PATH|[A-Z_]*CERT[A-Z_]*)$/i;
/** Folders that every sandbox shows, and that no server keeps data in. */
const systemFolder = /^\/(?:usr|bin|sbin|lib\w*|etc|proc|sys|dev|run|boot|nix)(?:\/|$)/;

/**
 * Returns a sentence without its subject for each variable, with the line that allows it. Where no sandbox may change
 * the folder, such as the home of the user, the line names a folder of the server's own.
 *
 * @param files the configuration, which no sandbox may change
 */
export function lostPaths(
  context: Pick<CliContext, "env" | "directory" | "options">,
  { id, transport, containment }: ToolServerConfig,
  files: readonly string[],
): readonly string[] {
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
    const lost = `does not see ${path} (${name}), and what it writes there is lost when it ends`;
    const toRead = `where it only reads it: containment: { read_paths: [${path}] }`;
    const refusal = writeRefusal(context, folder, files);
    if (refusal === undefined)
      return [`${lost}; where it keeps data there, write into its entry: ${scoped(folder)}, and ${toRead}`];
    const own = join(userHomeOf(context.env), `${id}-data`);
    const moved = isFolder ? own : join(own, basename(path));
    return [
      `${lost}; it cannot keep data there, because ${folder} ${refusal}: give it a folder of its own (mkdir -p ${shellQuote(own)}), move the data there, and write into its entry: ${name}: ${moved} in env, and ${scoped(own)}; ${toRead}`,
    ];
  });
}

function scoped(folder: string): string {
  return `containment: { filesystem_write: scoped, write_paths: [${folder}] }`;
}
