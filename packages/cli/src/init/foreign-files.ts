/**
 * Where other MCP hosts keep their servers. Only looks and counts: nothing of
 * these files is used before somebody names one with `--import`.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfigLayer } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { projectFilesOfOthers } from "../config/find-config-files.ts";
import type { ProcessContext } from "../process-context.ts";

/** A file with servers. */
export interface ForeignFile {
  /** Absolute. */
  readonly path: string;
  /** Whose it is. */
  readonly owner: string;
  readonly serverIds: readonly string[];
}

/** Largest file that is looked into, in bytes; the limit of a configuration. */
const fileMaxBytes = 1024 * 1024;

/** The files of other programs in `directory` and for this user that hold at least one server. */
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

/** The ids of the servers in a file; none where it cannot be read as one with servers. */
async function serverIdsOf(path: string): Promise<readonly string[]> {
  try {
    const { bytes } = await readRegularFile(path, fileMaxBytes);
    if (bytes.length > fileMaxBytes) return [];
    return parseConfigLayer({ name: path, text: new TextDecoder().decode(bytes) }).serverIds.map(
      ({ id }) => id,
    );
  } catch {
    // Not for us to read, then not for us to offer.
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
    ...projectFilesOfOthers.map((name) => ({
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
