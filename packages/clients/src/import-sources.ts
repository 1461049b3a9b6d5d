/**
 * The files in which clients list servers: those of the user, and those of a project. More files than `connect`
 * edits, which only ever writes the user's own one. It is one piece, as a
 * table. Pure: the caller finds out which of them exist.
 */

import { joined, type UserPlaces, variable, xdgConfig } from "./client-program.ts";
import { clineFile, devinFile, folderOf, gooseFile, zedFile } from "./client-programs.ts";
import type { VariableStyle } from "./import-text.ts";

/** The form in which entries are written. */
export type EntryDialect =
  | "common"
  | "codex"
  | "zed"
  | "goose"
  | "opencode"
  | "continue"
  | "gemini"
  | "cline"
  | "jetbrains";

/** A file, or a folder of files, in which a client lists servers. */
export interface ImportSource {
  /** The client's id, as `clientPrograms` has it. */
  readonly client: string;
  /** Absolute path; of a folder, all files in it with one of the endings. A part `*` is each folder in that place. */
  readonly path: string;
  readonly endings?: readonly string[];
  readonly format: "json" | "toml" | "yaml" | "xml";
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
/** The form of most files: a map of servers in JSON, in which nothing is replaced. */
const json = {
  format: "json",
  sections: servers,
  dialect: "common",
  style: "none",
  timeoutUnit: undefined,
} as const;
const codex = { ...json, format: "toml", sections: [["mcp_servers"]], dialect: "codex" } as const;
const zed = { ...json, sections: [["context_servers"]], dialect: "zed", timeoutUnit: "s" } as const;
const blocks = { ...json, format: "yaml", dialect: "continue", style: "continue" } as const;
const opencode = {
  ...json,
  sections: [["mcp", "servers"], ["mcp"]],
  dialect: "opencode",
  style: "opencode",
} as const;
/** AI Assistant also takes a map of servers without the section around it. */
const assistant = { ...json, sections: [["mcpServers"], []], dialect: "jetbrains" } as const;
const xml = {
  ...json,
  format: "xml",
  sections: [["servers"]],
  dialect: "jetbrains",
  style: "jetbrains",
} as const;
const codeSettings = [["mcp", "servers"], ["mcp.servers"]];
const gemini = (platform: UserPlaces["platform"]) =>
  ({
    ...json,
    dialect: "gemini",
    style: platform === "win32" ? "windows" : "shell",
    timeoutUnit: "ms",
  }) as const;

/** Returns the files of the user, in the order in which their servers are shown. */
export function userSources(places: UserPlaces): readonly ImportSource[] {
  const rows: readonly Row[] = [
    ...anthropicRows(places),
    { client: "cursor", ...json, style: "braces", parts: [[places.home, ".cursor", "mcp.json"]] },
    ...codeRows(places),
    {
      client: "windsurf",
      ...json,
      style: "braces",
      parts: [
        devinFile(places),
        [places.home, ".codeium", "windsurf", "mcp_config.json"],
        [places.home, ".codeium", "mcp_config.json"],
      ],
    },
    ...terminalRows(places),
    ...continueRows(folderOf(places, "CONTINUE_GLOBAL_DIR", ".continue")),
    ...jetBrainsRows(places),
    {
      client: "goose",
      ...json,
      format: "yaml",
      sections: [["extensions"]],
      dialect: "goose",
      timeoutUnit: "s",
      parts: [gooseFile(places)],
    },
    {
      client: "lm-studio",
      ...json,
      // The second is the folder of earlier versions, which some installations keep.
      parts: [
        [places.home, ".lmstudio", "mcp.json"],
        [places.home, ".cache", "lm-studio", "mcp.json"],
      ],
    },
    ...opencodeRows(places),
    ...amazonRows([places.home, ".aws", "amazonq"]),
  ];
  return rows.flatMap((row) => sourcesOf(row, places.platform, undefined));
}

function anthropicRows(places: UserPlaces): readonly Row[] {
  const { platform, home, settings } = places;
  const file = "claude_desktop_config.json";
  // The application from the store of Windows has its own settings.
  const store = ["AppData", "Local", "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude"];
  return [
    {
      client: "claude-desktop",
      ...json,
      parts: [[settings, "Claude", file], ...(platform === "win32" ? [[home, ...store, file]] : [])],
    },
    {
      client: "claude-code",
      ...json,
      style: "braces",
      timeoutUnit: "ms",
      parts: [[variable(places, "CLAUDE_CONFIG_DIR") ?? home, ".claude.json"]],
    },
  ];
}

/** VS Code and what is built on it, with its extension Cline. */
function codeRows(places: UserPlaces): readonly Row[] {
  const { home, settings } = places;
  const editions = ["Code", "Code - Insiders", "VSCodium"].map((name) => [settings, name, "User"]);
  // A machine that is used over SSH has the files of its own.
  const servers = [".vscode-server", ".vscode-server-insiders"].map((name) => [home, name, "data", "User"]);
  const code = [...editions, ...servers];
  const cline = ["globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"];
  const editors = [...editions, [settings, "Cursor", "User"], [settings, "Windsurf", "User"]];
  return [
    {
      client: "vscode",
      ...json,
      sections: [["servers"]],
      style: "braces",
      parts: [
        ...code.map((folder) => [...folder, "mcp.json"]),
        // Each profile of the editor has a file of its own.
        ...editions.map((folder) => [...folder, "profiles", "*", "mcp.json"]),
      ],
    },
    {
      client: "vscode",
      ...json,
      sections: codeSettings,
      style: "braces",
      parts: code.map((folder) => [...folder, "settings.json"]),
    },
    {
      client: "cline",
      ...json,
      dialect: "cline",
      style: "braces",
      timeoutUnit: "s",
      parts: [
        clineFile(places),
        [...folderOf(places, "CLINE_DIR", ".cline"), "mcp.json"],
        ...editors.map((folder) => [...folder, ...cline]),
        [home, "Documents", "Cline", "MCP", "cline_mcp_settings.json"],
      ],
    },
  ];
}

function terminalRows(places: UserPlaces): readonly Row[] {
  const { platform, home } = places;
  const sandboxed = [home, ".var", "app", "dev.zed.Zed", "config", "zed", "settings.json"];
  return [
    { ...codex, client: "codex", parts: [[...folderOf(places, "CODEX_HOME", ".codex"), "config.toml"]] },
    {
      ...gemini(platform),
      client: "gemini-cli",
      parts: [[variable(places, "GEMINI_CLI_HOME") ?? home, ".gemini", "settings.json"]],
    },
    { ...zed, client: "zed", parts: [zedFile(places), ...(platform === "linux" ? [sandboxed] : [])] },
  ];
}

/** The file of Continue, its form of before, and the folder of blocks. */
function continueRows(folder: readonly string[]): readonly Row[] {
  return [
    { ...blocks, client: "continue", parts: [[...folder, "config.yaml"]] },
    {
      ...json,
      client: "continue",
      sections: [["experimental", "modelContextProtocolServers"], ["mcpServers"]],
      dialect: "continue",
      parts: [[...folder, "config.json"]],
    },
    blocksIn("continue", [...folder, "mcpServers"]),
  ];
}

function blocksIn(client: string, folder: readonly string[]): Row {
  return { ...blocks, client, endings: [".yaml", ".yml", ".json"], parts: [folder] };
}

/** Junie, and AI Assistant, whose servers were in the settings of each IDE before version 2025.3. */
function jetBrainsRows({ home, settings }: UserPlaces): readonly Row[] {
  return [
    { client: "junie", ...json, parts: [[home, ".junie", "mcp", "mcp.json"]] },
    { ...assistant, client: "ai-assistant", parts: [[home, ".ai", "mcp", "mcp.json"]] },
    {
      ...xml,
      client: "ai-assistant",
      parts: [[settings, "JetBrains", "*", "options", "llm.mcpServers.xml"]],
    },
  ];
}

function opencodeRows(places: UserPlaces): readonly Row[] {
  const global = [...xdgConfig(places), "opencode"];
  const moved = [variable(places, "OPENCODE_CONFIG_DIR")].flatMap((folder) =>
    folder === undefined ? [] : [[folder]],
  );
  const folders = [global, [places.home, ".opencode"], ...moved];
  const custom = variable(places, "OPENCODE_CONFIG");
  return [
    {
      ...opencode,
      client: "opencode",
      parts: [
        ...folders.flatMap((folder) => ["opencode.json", "opencode.jsonc"].map((name) => [...folder, name])),
        [...global, "config.json"],
        ...(custom === undefined ? [] : [[custom]]),
      ],
    },
  ];
}

/** The files of the IDE and of the command line, and the agents of the latter. */
function amazonRows(folder: readonly string[]): readonly Row[] {
  const row = { client: "amazon-q", ...json, style: "braces", timeoutUnit: "ms" } as const;
  return [
    { ...row, parts: ["mcp.json", "default.json"].map((name) => [...folder, name]) },
    { ...row, parts: [[...folder, "agents", "default.json"]] },
    { ...row, endings: [".json"], parts: [[...folder, "cli-agents"]] },
  ];
}

/** Returns the files of the project in `folder`. */
export function projectSources(folder: string, platform: UserPlaces["platform"]): readonly ImportSource[] {
  const braces = { ...json, style: "braces" } as const;
  const rows: readonly Row[] = [
    { ...braces, client: "claude-code", timeoutUnit: "ms", parts: [[folder, ".mcp.json"]] },
    { ...braces, client: "cursor", parts: [[folder, ".cursor", "mcp.json"]] },
    { ...braces, client: "vscode", sections: [["servers"]], parts: [[folder, ".vscode", "mcp.json"]] },
    { ...braces, client: "vscode", sections: codeSettings, parts: [[folder, ".vscode", "settings.json"]] },
    { ...braces, client: "windsurf", parts: [[folder, ".devin", "mcp_config.json"]] },
    { ...codex, client: "codex", parts: [[folder, ".codex", "config.toml"]] },
    { ...gemini(platform), client: "gemini-cli", parts: [[folder, ".gemini", "settings.json"]] },
    { ...zed, client: "zed", parts: [[folder, ".zed", "settings.json"]] },
    blocksIn("continue", [folder, ".continue", "mcpServers"]),
    { client: "junie", ...json, parts: [[folder, ".junie", "mcp", "mcp.json"]] },
    { ...assistant, client: "ai-assistant", parts: [[folder, ".ai", "mcp", "mcp.json"]] },
    { ...xml, client: "ai-assistant", parts: [[folder, ".idea", "workspace.xml"]] },
    {
      ...opencode,
      client: "opencode",
      parts: [[folder], [folder, ".opencode"]].flatMap((place) =>
        ["opencode.json", "opencode.jsonc"].map((name) => [...place, name]),
      ),
    },
    ...amazonRows([folder, ".amazonq"]),
  ];
  return rows.flatMap((row) => sourcesOf(row, platform, folder));
}

function sourcesOf(
  { parts, ...row }: Row,
  platform: UserPlaces["platform"],
  project: string | undefined,
): readonly ImportSource[] {
  return parts.map((names) => ({ ...row, path: joined(names, platform), project }));
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
      source.endings === undefined &&
      !source.path.includes("*") &&
      plain.endsWith(source.path.replace(project, "").replace(/^~/, "")),
  );
  if (found !== undefined)
    return { ...found, path, project: found.project === undefined ? undefined : project };
  if (/\.xml$/i.test(plain)) return { ...xml, client: "ai-assistant", path, project };
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
