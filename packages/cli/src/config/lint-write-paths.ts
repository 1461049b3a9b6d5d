/**
 * Warns about paths of `write_paths` that no sandbox gives, such as the whole home of the user: the server does not
 * start. Reads the file system, and starts nothing. What only a start can know, such as a socket in the folder, is not
 * found.
 */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import { hiddenPathsOf } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";

type Place = Pick<CliContext, "env" | "directory" | "options">;

/**
 * Returns why no contained server may write to `path`: a predicate without its subject. Undefined where nothing is
 * known against it.
 *
 * @param path absolute
 * @param files the configuration, which no sandbox may change
 */
export function writeRefusal(
  { env, directory, options }: Place,
  path: string,
  files: readonly string[],
): string | undefined {
  if (path === "/") return "is the whole file system";
  // The gateway creates its home before it starts a server.
  const hidden = hiddenPathsOf({ home: options.home, configFiles: files, directory, env })
    .filter((one) => one === options.home || existsSync(one))
    .flatMap((one) => [one, realOf(one)]);
  const real = realOf(path);
  const inner = hidden.find((one) => isWithin(real, one));
  if (inner !== undefined) return `lies in "${inner}", which no sandbox shows`;
  const held = hidden.find((one) => isWithin(one, real));
  return held === undefined ? undefined : `holds "${held}", which no sandbox may change`;
}

/** Returns a warning for each path of `write_paths` that no sandbox gives. @param files as for `writeRefusal` */
export function lintWritePaths(
  context: Place,
  servers: readonly ToolServerConfig[],
  files: readonly string[],
): readonly Diagnostic[] {
  return servers.flatMap(({ id, transport, containment, source, span }) => {
    const { filesystemWrite, writePaths } = containment.effective;
    if (transport.kind !== "stdio" || !containment.needsSandbox || filesystemWrite !== "scoped") return [];
    const folder = dirname(resolve(context.directory, source.name));
    return writePaths.flatMap((path) => {
      const refusal = writeRefusal(context, completePath(context, folder, path), files);
      if (refusal === undefined) return [];
      return [
        toDiagnostic(
          {
            severity: "warning",
            code: "SANDBOX_PATH_REFUSED",
            message: `The server "${id}" will not start: its write path "${path}" ${refusal}`,
            hint: "name a folder that contains only what the server works with",
            span,
          },
          source,
        ),
      ];
    });
  });
}

/** The user's home. */
export function userHomeOf({ HOME }: CliContext["env"]): string {
  return HOME === undefined || HOME === "" ? homedir() : HOME;
}

function completePath({ env }: Place, folder: string, path: string): string {
  return path.startsWith("~/") ? join(userHomeOf(env), path.slice(2)) : resolve(folder, path);
}

/** The path without links; of what does not exist, the path as it is. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
