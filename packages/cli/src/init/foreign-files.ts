/**
 * Finds the files in which other MCP hosts list servers. It only reads the names
 * of the servers: `init` imports a file only if the user names it with `--import`.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfigLayer } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { foreignProjectFiles } from "../config/find-config-files.ts";
import type { ProcessContext } from "../process-context.ts";

/** A file with servers. */
export interface ForeignFile {
  /** Absolute. */
  readonly path: string;
  /** The program that it belongs to. */
  readonly owner: string;
  readonly serverIds: readonly string[];
}

/** Largest file that is read, in bytes; the limit of a configuration. */
const fileMaxBytes = 1024 * 1024;

/** Returns the files of other programs, in `directory` and for this user, that list at least one server. */
export async function findForeignFiles(
  directory: string,
  context: ProcessContext,
): Promise<readonly ForeignFile[]> {
  const found = await Promise.all(
    candidates(directory, context).map(async ({ path, owner }): Promise<ForeignFile[]> => {
      const serverIds = existsSync(path) ? await serverIdsOf(path) : [];
      return serverIds.length === 0 ? [] : [{ path, owner, serverIds }];
    }),
  );
  return found.flat();
}

/** Returns the ids of the servers in a file; an empty list if it is unreadable or has none. */
async function serverIdsOf(path: string): Promise<readonly string[]> {
  try {
    const { bytes } = await readRegularFile(path, fileMaxBytes);
    if (bytes.length > fileMaxBytes) return [];
    return parseConfigLayer({ name: path, text: new TextDecoder().decode(bytes) }).serverIds.map(
      ({ id }) => id,
    );
  } catch {
    // Do not suggest a file that this user cannot read.
    return [];
  }
}

function candidates(directory: string, context: ProcessContext): readonly Omit<ForeignFile, "serverIds">[] {
  const { userDirectory, env, platform } = context;
  const inHome = (...parts: readonly string[]) => join(userDirectory, ...parts);
  const settings =
    platform === "darwin"
      ? inHome("Library", "Application Support")
      : platform === "win32"
        ? (env["APPDATA"] ?? inHome("AppData", "Roaming"))
        : (env["XDG_CONFIG_HOME"] ?? inHome(".config"));
  const owners: { readonly [name: string]: string } = {
    ".mcp.json": "this project (Claude Code and others)",
    ".vscode/mcp.json": "this project (VS Code)",
    ".cursor/mcp.json": "this project (Cursor)",
  };
  return [
    ...foreignProjectFiles.map((name) => ({
      path: join(directory, name),
      owner: owners[name] ?? "this project",
    })),
    { path: join(settings, "Claude", "claude_desktop_config.json"), owner: "Claude Desktop" },
    { path: inHome(".claude.json"), owner: "Claude Code" },
    { path: inHome(".cursor", "mcp.json"), owner: "Cursor" },
    { path: join(settings, "Code", "User", "mcp.json"), owner: "VS Code" },
    { path: inHome(".codeium", "windsurf", "mcp_config.json"), owner: "Windsurf" },
  ];
}
