/**
 * The clients whose files are edited, from the documentation and the sources of each (November 2026). A file is the one
 * of the user; files of projects, which are shared with others, are never edited. Where a client moved its file, the
 * place of its current version is the first.
 */

import type { JsonObject } from "@toolcrib/json";
import {
  type ClientProgram,
  type LocalServer,
  type PathParts,
  type RemoteServer,
  tokenHeaders,
  type UserPlaces,
  variable,
  variablesOf,
  xdgConfig,
} from "./client-program.ts";

const restart = "restart it";
const reload = "open a new chat in it";

const local = (server: LocalServer): JsonObject => ({
  command: server.command,
  args: [...server.args],
  ...variablesOf(server, "env"),
});
const typedLocal = (server: LocalServer): JsonObject => ({ type: "stdio", ...local(server) });

/** An entry with the address in `field`, of the type that the client calls streamable HTTP. */
function remote(field: string, type?: string, others: JsonObject = {}): (server: RemoteServer) => JsonObject {
  return (server) => {
    const headers = tokenHeaders(server);
    return {
      ...(type === undefined ? {} : { type }),
      [field]: server.url,
      ...(headers === undefined ? {} : { headers }),
      ...others,
    };
  };
}

/** Returns the folder of a client: `name` in the home directory, or where a variable moves it. */
export function folderOf(places: UserPlaces, moving: string, name: string): PathParts {
  const moved = variable(places, moving);
  return moved === undefined ? [places.home, name] : [moved];
}

/** The file of Cline that its extension and its command line share, in the order in which it looks. */
export function clineFile(places: UserPlaces): PathParts {
  const moved = variable(places, "CLINE_MCP_SETTINGS_PATH");
  if (moved !== undefined) return [moved];
  const data = variable(places, "CLINE_DATA_DIR");
  const folder: PathParts =
    data === undefined ? [...folderOf(places, "CLINE_DIR", ".cline"), "data"] : [data];
  return [...folder, "settings", "cline_mcp_settings.json"];
}

/** The file of Goose. */
export function gooseFile(places: UserPlaces): PathParts {
  const { platform, settings } = places;
  const root = variable(places, "GOOSE_PATH_ROOT");
  if (root !== undefined) return [root, "config", "config.yaml"];
  if (platform === "win32") return [settings, "Block", "goose", "config", "config.yaml"];
  return [...xdgConfig(places), "goose", "config.yaml"];
}

/** The file of Zed. */
export function zedFile({ platform, home, settings }: UserPlaces): PathParts {
  if (platform === "darwin") return [home, ".config", "zed", "settings.json"];
  return [settings, platform === "win32" ? "Zed" : "zed", "settings.json"];
}

/** The file of Windsurf since its versions are called Devin Desktop. */
export function devinFile({ platform, home, settings }: UserPlaces): PathParts {
  return [
    ...(platform === "darwin" ? ([home, ".config"] as const) : ([settings] as const)),
    "devin",
    "mcp_config.json",
  ];
}

/** All clients, sorted by id. */
export const clientPrograms: readonly ClientProgram[] = [
  {
    id: "ai-assistant",
    name: "JetBrains AI Assistant",
    format: "json",
    files: ({ home }) => [[home, ".ai", "mcp", "mcp.json"]],
    section: "mcpServers",
    isSectionOptional: true,
    // The file takes addresses, too; what it calls their transports is not documented.
    remote: undefined,
    local,
    reload: "switch the server on in its settings",
  },
  {
    id: "amazon-q",
    name: "Amazon Q Developer",
    format: "json",
    files: ({ home }) => [[home, ".aws", "amazonq", "mcp.json"]],
    section: "mcpServers",
    remote: remote("url", "http"),
    local,
    reload,
  },
  {
    id: "claude-code",
    name: "Claude Code",
    format: "json",
    files: (places) => [[variable(places, "CLAUDE_CONFIG_DIR") ?? places.home, ".claude.json"]],
    section: "mcpServers",
    remote: remote("url", "http"),
    local: typedLocal,
    reload: "start a new session",
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    format: "json",
    files: ({ settings }) => [[settings, "Claude", "claude_desktop_config.json"]],
    section: "mcpServers",
    // Its file takes only servers that it starts.
    remote: undefined,
    local,
    reload: restart,
  },
  {
    id: "cline",
    name: "Cline",
    format: "json",
    // Since version 4 the extension takes over its file of before once, and never reads it again.
    files: (places) => [
      clineFile(places),
      [
        places.settings,
        "Code",
        "User",
        "globalStorage",
        "saoudrizwan.claude-dev",
        "settings",
        "cline_mcp_settings.json",
      ],
    ],
    section: "mcpServers",
    remote: remote("url", "streamableHttp", { disabled: false }),
    local: (server) => ({ ...local(server), disabled: false }),
    reload: "it reads the file at once",
  },
  {
    id: "codex",
    name: "Codex",
    format: "toml",
    files: (places) => [[...folderOf(places, "CODEX_HOME", ".codex"), "config.toml"]],
    section: "mcp_servers",
    remote: (server) => {
      const headers = tokenHeaders(server);
      return { url: server.url, ...(headers === undefined ? {} : { http_headers: headers }) };
    },
    local,
    reload: "start a new session",
  },
  {
    id: "continue",
    name: "Continue",
    format: "yaml",
    files: (places) => [[...folderOf(places, "CONTINUE_GLOBAL_DIR", ".continue"), "config.yaml"]],
    section: "mcpServers",
    isList: true,
    remote: (server) => {
      const headers = tokenHeaders(server);
      return {
        type: "streamable-http",
        url: server.url,
        ...(headers === undefined ? {} : { requestOptions: { headers } }),
      };
    },
    local: typedLocal,
    reload: "reload its configuration",
  },
  {
    id: "cursor",
    name: "Cursor",
    format: "json",
    files: ({ home }) => [[home, ".cursor", "mcp.json"]],
    section: "mcpServers",
    remote: remote("url"),
    local,
    reload: "switch the server on in its settings",
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    format: "json",
    files: (places) => [[variable(places, "GEMINI_CLI_HOME") ?? places.home, ".gemini", "settings.json"]],
    section: "mcpServers",
    // `url` is its name for HTTP with SSE.
    remote: remote("httpUrl"),
    local,
    reload: "start a new session",
  },
  {
    id: "goose",
    name: "Goose",
    format: "yaml",
    files: (places) => [gooseFile(places)],
    section: "extensions",
    remote: (server) => ({
      name: "toolcrib",
      // Without a description, some versions refuse the whole entry.
      description: "All tools behind one gateway",
      type: "streamable_http",
      enabled: true,
      uri: server.url,
      ...(server.token === undefined ? {} : { headers: tokenHeaders(server)! }),
      timeout: 300,
    }),
    local: (server) => ({
      name: "toolcrib",
      description: "All tools behind one gateway",
      type: "stdio",
      enabled: true,
      cmd: server.command,
      args: [...server.args],
      ...variablesOf(server, "envs"),
      timeout: 300,
    }),
    reload: "start a new session",
  },
  {
    id: "junie",
    name: "JetBrains Junie",
    format: "json",
    files: ({ home }) => [[home, ".junie", "mcp", "mcp.json"]],
    section: "mcpServers",
    // Its command line connects over HTTP, and its documentation for the IDE names only standard streams.
    remote: undefined,
    local,
    reload: "switch the server on in its settings",
  },
  {
    id: "lm-studio",
    name: "LM Studio",
    format: "json",
    files: ({ home }) => [
      [home, ".lmstudio", "mcp.json"],
      [home, ".cache", "lm-studio", "mcp.json"],
    ],
    section: "mcpServers",
    remote: remote("url"),
    local,
    reload: "it reads the file at once",
  },
  {
    id: "opencode",
    name: "opencode",
    format: "json",
    files: (places) =>
      ["opencode.json", "opencode.jsonc"].map((name): PathParts => [...xdgConfig(places), "opencode", name]),
    mergesFiles: true,
    section: "mcp",
    remote: remote("url", "remote", { enabled: true }),
    local: (server) => ({
      type: "local",
      command: [server.command, ...server.args],
      ...variablesOf(server, "environment"),
      enabled: true,
    }),
    reload: restart,
  },
  {
    id: "vscode",
    name: "VS Code",
    format: "json",
    files: ({ settings }) => [[settings, "Code", "User", "mcp.json"]],
    section: "servers",
    remote: remote("url", "http"),
    local: typedLocal,
    reload: "start the server in its list of MCP servers",
  },
  {
    id: "windsurf",
    name: "Windsurf",
    format: "json",
    files: (places) => [devinFile(places), [places.home, ".codeium", "windsurf", "mcp_config.json"]],
    section: "mcpServers",
    // Cascade takes `serverUrl` too, and its successor only `url`.
    remote: remote("url"),
    local,
    reload: "refresh its list of MCP servers",
  },
  {
    id: "zed",
    name: "Zed",
    format: "json",
    files: (places) => [zedFile(places)],
    section: "context_servers",
    remote: remote("url"),
    local,
    reload: "it reads the file at once",
  },
];
