/**
 * The files in which clients list servers: those of the user, and those of a project. More files than `connect`
 * edits, which only ever writes the user's own one. It is one piece, as a
 * table. Pure: the caller finds out which of them exist.
 */

import type { UserPlaces } from "./client-program.ts";
import type { VariableStyle } from "./import-text.ts";

/** How entries are written. */
export type EntryDialect = "common" | "codex" | "zed" | "goose" | "opencode" | "continue" | "gemini";

/** A file, or a folder of files, in which a client lists servers. */
export interface ImportSource {
  /** The client's id, as `clientPrograms` has it. */
  readonly client: string;
  /** Absolute path; of a folder, all files in it with one of the endings. */
  readonly path: string;
  readonly endings?: readonly string[];
  readonly format: "json" | "toml" | "yaml";
  /** Where the servers are: paths of sections. The first that exists counts, unless they can be used together. */
  readonly sections: readonly (readonly string[])[];
  readonly dialect: EntryDialect;
  readonly style: VariableStyle;
  /** The unit of `timeout`; undefined where it is no limit of calls. */
  readonly timeoutUnit: "s" | "ms" | undefined;
  /** The folder of the project that the file belongs to; undefined for a file of the user. */
  readonly project: string | undefined;
}

type Row = Omit<ImportSource, "path" | "project"> & { readonly parts: readonly (readonly string[])[] };

const servers = [["mcpServers"]];
const json = { format: "json", sections: servers, dialect: "common" } as const;

/** Returns the files of the user, in the order in which their servers are shown. */
export function userSources(places: UserPlaces): readonly ImportSource[] {
  const { platform, home, settings } = places;
  const isWindows = platform === "win32";
  const local = [home, "AppData", "Local"];
  const code = ["Code", "Code - Insiders", "VSCodium"].map((name) => [settings, name, "User"]);
  const clineFolder = ["globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"];
  const editors = [...code, [settings, "Cursor", "User"], [settings, "Windsurf", "User"]];
  const rows: readonly Row[] = [
    {
      client: "claude-desktop",
      ...json,
      style: "none",
      timeoutUnit: undefined,
      parts: [
        [settings, "Claude", "claude_desktop_config.json"],
        // The application from the store of Windows has its own settings.
        ...(isWindows
          ? [
              [
                ...local,
                "Packages",
                "Claude_pzs8sxrjxfjjc",
                "LocalCache",
                "Roaming",
                "Claude",
                "claude_desktop_config.json",
              ],
            ]
          : []),
      ],
    },
    { client: "claude-code", ...json, style: "braces", timeoutUnit: "ms", parts: [[home, ".claude.json"]] },
    {
      client: "cursor",
      ...json,
      style: "braces",
      timeoutUnit: undefined,
      parts: [[home, ".cursor", "mcp.json"]],
    },
    {
      client: "vscode",
      ...json,
      sections: [["servers"]],
      style: "braces",
      timeoutUnit: undefined,
      parts: code.map((folder) => [...folder, "mcp.json"]),
    },
    {
      client: "vscode",
      ...json,
      sections: [["mcp", "servers"], ["mcp.servers"]],
      style: "braces",
      timeoutUnit: undefined,
      parts: code.map((folder) => [...folder, "settings.json"]),
    },
    {
      client: "windsurf",
      ...json,
      style: "braces",
      timeoutUnit: undefined,
      parts: [
        [home, ".codeium", "windsurf", "mcp_config.json"],
        [home, ".codeium", "mcp_config.json"],
      ],
    },
    {
      client: "codex",
      format: "toml",
      sections: [["mcp_servers"]],
      dialect: "codex",
      style: "none",
      timeoutUnit: undefined,
      parts: [[home, ".codex", "config.toml"]],
    },
    {
      client: "gemini-cli",
      ...json,
      dialect: "gemini",
      style: "shell",
      timeoutUnit: "ms",
      parts: [[home, ".gemini", "settings.json"]],
    },
    {
      client: "zed",
      ...json,
      sections: [["context_servers"]],
      dialect: "zed",
      style: "none",
      timeoutUnit: "s",
      parts: [isWindows ? [settings, "Zed", "settings.json"] : [home, ".config", "zed", "settings.json"]],
    },
    {
      client: "continue",
      format: "yaml",
      sections: servers,
      dialect: "continue",
      style: "continue",
      timeoutUnit: undefined,
      parts: [[home, ".continue", "config.yaml"]],
    },
    {
      client: "continue",
      format: "yaml",
      endings: [".yaml", ".yml", ".json"],
      sections: servers,
      dialect: "continue",
      style: "continue",
      timeoutUnit: undefined,
      parts: [[home, ".continue", "mcpServers"]],
    },
    {
      client: "cline",
      ...json,
      style: "braces",
      timeoutUnit: "s",
      parts: [
        ...editors.map((folder) => [...folder, ...clineFolder]),
        [home, ".cline", "data", "settings", "cline_mcp_settings.json"],
      ],
    },
    {
      client: "junie",
      ...json,
      style: "none",
      timeoutUnit: undefined,
      parts: [[home, ".junie", "mcp", "mcp.json"]],
    },
    {
      client: "goose",
      format: "yaml",
      sections: [["extensions"]],
      dialect: "goose",
      style: "none",
      timeoutUnit: "s",
      parts: [
        isWindows
          ? [settings, "Block", "goose", "config", "config.yaml"]
          : [home, ".config", "goose", "config.yaml"],
      ],
    },
    {
      client: "lm-studio",
      ...json,
      style: "none",
      timeoutUnit: undefined,
      parts: [[home, ".lmstudio", "mcp.json"]],
    },
    {
      client: "opencode",
      ...json,
      sections: [["mcp"]],
      dialect: "opencode",
      style: "opencode",
      timeoutUnit: undefined,
      parts: ["opencode.json", "opencode.jsonc", "config.json"].map((name) => [
        home,
        ".config",
        "opencode",
        name,
      ]),
    },
    {
      client: "amazon-q",
      ...json,
      style: "braces",
      timeoutUnit: "ms",
      parts: [
        [home, ".aws", "amazonq", "mcp.json"],
        [home, ".aws", "amazonq", "default.json"],
        [home, ".aws", "amazonq", "agents", "default.json"],
      ],
    },
  ];
  return rows.flatMap((row) => sourcesOf(row, platform, undefined));
}

/** Returns the files of the project in `folder`. */
export function projectSources(folder: string, platform: UserPlaces["platform"]): readonly ImportSource[] {
  const common = { ...json, style: "braces", timeoutUnit: undefined } as const;
  const rows: readonly Row[] = [
    { ...common, client: "claude-code", timeoutUnit: "ms", parts: [[folder, ".mcp.json"]] },
    { ...common, client: "cursor", parts: [[folder, ".cursor", "mcp.json"]] },
    { ...common, client: "vscode", sections: [["servers"]], parts: [[folder, ".vscode", "mcp.json"]] },
    {
      ...common,
      client: "vscode",
      sections: [["mcp", "servers"], ["mcp.servers"]],
      parts: [[folder, ".vscode", "settings.json"]],
    },
    {
      ...common,
      client: "codex",
      format: "toml",
      sections: [["mcp_servers"]],
      dialect: "codex",
      style: "none",
      parts: [[folder, ".codex", "config.toml"]],
    },
    {
      ...common,
      client: "gemini-cli",
      dialect: "gemini",
      style: "shell",
      timeoutUnit: "ms",
      parts: [[folder, ".gemini", "settings.json"]],
    },
    {
      ...common,
      client: "zed",
      sections: [["context_servers"]],
      dialect: "zed",
      style: "none",
      timeoutUnit: "s",
      parts: [[folder, ".zed", "settings.json"]],
    },
    {
      ...common,
      client: "continue",
      format: "yaml",
      endings: [".yaml", ".yml", ".json"],
      dialect: "continue",
      style: "continue",
      parts: [[folder, ".continue", "mcpServers"]],
    },
    { ...common, client: "junie", style: "none", parts: [[folder, ".junie", "mcp", "mcp.json"]] },
    {
      ...common,
      client: "opencode",
      sections: [["mcp"]],
      dialect: "opencode",
      style: "opencode",
      parts: ["opencode.json", "opencode.jsonc"].map((name) => [folder, name]),
    },
    { ...common, client: "amazon-q", timeoutUnit: "ms", parts: [[folder, ".amazonq", "mcp.json"]] },
  ];
  return rows.flatMap((row) => sourcesOf(row, platform, folder));
}

function sourcesOf(
  { parts, ...row }: Row,
  platform: UserPlaces["platform"],
  project: string | undefined,
): readonly ImportSource[] {
  const separator = platform === "win32" ? "\\" : "/";
  return parts.map((names) => ({ ...row, path: names.join(separator), project }));
}

/**
 * Returns how to read a file that a user named, by its path: that of the client which has such a file, else servers in
 * any of the sections that clients have.
 */
export function sourceOfFile(path: string, project: string): ImportSource {
  const plain = path.replaceAll("\\", "/");
  const known = [
    ...projectSources(project, "linux"),
    ...userSources({ platform: "linux", home: "~", settings: "~" }),
  ];
  const found = known.find(
    (source) =>
      source.endings === undefined && plain.endsWith(source.path.replace(project, "").replace(/^~/, "")),
  );
  if (found !== undefined)
    return { ...found, path, project: found.project === undefined ? undefined : project };
  const format = /\.toml$/i.test(plain) ? "toml" : /\.ya?ml$/i.test(plain) ? "yaml" : "json";
  return {
    client: "file",
    path,
    format,
    sections: [
      ["mcpServers"],
      ["upstreamServers"],
      ["servers"],
      ["mcp", "servers"],
      ["context_servers"],
      ["mcp_servers"],
      ["extensions"],
      ["mcp"],
    ],
    dialect: format === "toml" ? "codex" : format === "yaml" ? "continue" : "common",
    style: format === "toml" ? "none" : format === "yaml" ? "continue" : "braces",
    timeoutUnit: undefined,
    project,
  };
}
