/**
 * The clients whose files are edited, from the documentation of each (November 2026). A file is the one of the user;
 * files of projects, which are shared with others, are never edited.
 */

import type { JsonObject } from "@toolcrib/json";
import { type ClientProgram, type LocalServer, type RemoteServer, tokenHeaders } from "./client-program.ts";

const restart = "restart it";
const reload = "open a new chat in it";

const local = ({ command, args }: LocalServer): JsonObject => ({ command, args: [...args] });
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

/** All clients, sorted by name. */
export const clientPrograms: readonly ClientProgram[] = [
  {
    id: "amazon-q",
    name: "Amazon Q Developer",
    format: "json",
    file: ({ home }) => [home, ".aws", "amazonq", "mcp.json"],
    section: "mcpServers",
    remote: remote("url", "http"),
    local,
    reload,
  },
  {
    id: "claude-code",
    name: "Claude Code",
    format: "json",
    file: ({ home }) => [home, ".claude.json"],
    section: "mcpServers",
    remote: remote("url", "http"),
    local: typedLocal,
    reload: "start a new session",
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    format: "json",
    file: ({ settings }) => [settings, "Claude", "claude_desktop_config.json"],
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
    file: ({ settings }) => [
      settings,
      "Code",
      "User",
      "globalStorage",
      "saoudrizwan.claude-dev",
      "settings",
      "cline_mcp_settings.json",
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
    file: ({ home }) => [home, ".codex", "config.toml"],
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
    file: ({ home }) => [home, ".continue", "config.yaml"],
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
    file: ({ home }) => [home, ".cursor", "mcp.json"],
    section: "mcpServers",
    remote: remote("url"),
    local,
    reload: "switch the server on in its settings",
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    format: "json",
    file: ({ home }) => [home, ".gemini", "settings.json"],
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
    file: ({ platform, home, settings }) =>
      platform === "win32"
        ? [settings, "Block", "goose", "config", "config.yaml"]
        : [home, ".config", "goose", "config.yaml"],
    section: "extensions",
    remote: (server) => ({
      name: "toolcrib",
      type: "streamable_http",
      enabled: true,
      uri: server.url,
      ...(server.token === undefined ? {} : { headers: tokenHeaders(server)! }),
      timeout: 300,
    }),
    local: ({ command, args }) => ({
      name: "toolcrib",
      type: "stdio",
      enabled: true,
      cmd: command,
      args: [...args],
      timeout: 300,
    }),
    reload: "start a new session",
  },
  {
    id: "junie",
    name: "JetBrains Junie",
    format: "json",
    file: ({ home }) => [home, ".junie", "mcp", "mcp.json"],
    section: "mcpServers",
    remote: undefined,
    local,
    reload: "switch the server on in its settings",
  },
  {
    id: "lm-studio",
    name: "LM Studio",
    format: "json",
    file: ({ home }) => [home, ".lmstudio", "mcp.json"],
    section: "mcpServers",
    remote: remote("url"),
    local,
    reload: "it reads the file at once",
  },
  {
    id: "opencode",
    name: "opencode",
    format: "json",
    file: ({ home }) => [home, ".config", "opencode", "opencode.json"],
    section: "mcp",
    remote: remote("url", "remote", { enabled: true }),
    local: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    reload: restart,
  },
  {
    id: "vscode",
    name: "VS Code",
    format: "json",
    file: ({ settings }) => [settings, "Code", "User", "mcp.json"],
    section: "servers",
    remote: remote("url", "http"),
    local: typedLocal,
    reload: "start the server in its list of MCP servers",
  },
  {
    id: "windsurf",
    name: "Windsurf",
    format: "json",
    file: ({ home }) => [home, ".codeium", "windsurf", "mcp_config.json"],
    section: "mcpServers",
    remote: remote("serverUrl"),
    local,
    reload: "refresh its list of MCP servers",
  },
  {
    id: "zed",
    name: "Zed",
    format: "json",
    file: ({ platform, home, settings }) =>
      platform === "win32" ? [settings, "Zed", "settings.json"] : [home, ".config", "zed", "settings.json"],
    section: "context_servers",
    remote: remote("url"),
    local,
    reload: "it reads the file at once",
  },
];
