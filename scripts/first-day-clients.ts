/**
 * Writes the home of a newcomer: folders, repositories, and the files of five clients, each as its client writes it,
 * with comments, layouts and ways to name a folder. Together they name twenty servers, one of them twice; packages and
 * versions are those of `real-servers.json`.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files, relative to the home. */
export const clientFiles = {
  claudeDesktop: ".config/Claude/claude_desktop_config.json",
  cursor: ".cursor/mcp.json",
  codex: ".codex/config.toml",
  vscode: ".config/Code/User/mcp.json",
  geminiCli: ".gemini/settings.json",
} as const;

/** Ids of the servers in the configuration after the import, sorted. */
export const serverIds: readonly string[] = [
  ...["documents", "downloads", "time", "fetch", "sequential-thinking"],
  ...["shop-files", "shop-git", "everything", "eslint"],
  ...["site_files", "site_git", "calculator", "berlin"],
  ...["notes-files", "notes-git", "calc", "robots"],
  ...["pictures", "tokyo", "examples"],
].sort();

/** Writes the home. */
export function writeNewcomer(home: string): void {
  for (const folder of ["Documents", "Downloads", "Pictures"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "Documents/welcome.txt"), "Welcome\n");
  for (const name of ["notes", "code/shop", "code/site"]) makeRepository(join(home, name));
  const texts = fileTexts(home);
  for (const [client, file] of Object.entries(clientFiles)) {
    const path = join(home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, texts[client as keyof typeof clientFiles]);
  }
}

function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "README.md"), "# A repository\n");
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: folder });
  git("init", "-q");
  git("add", "README.md");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "the first commit");
}

/** Returns a package with its version, as `real-servers.json` has it. */
function pinned(name: string): string {
  const rows = JSON.parse(readFileSync(join(import.meta.dirname, "real-servers.json"), "utf8")) as readonly {
    readonly package: string;
    readonly args: readonly string[];
  }[];
  const args = rows.find((row) => row.package === name)?.args ?? [];
  const found = args.find((word) => word.startsWith(`${name}@`));
  if (found === undefined) throw new Error(`real-servers.json has no version of ${name}`);
  return found;
}

function fileTexts(home: string): { readonly [client in keyof typeof clientFiles]: string } {
  const files = pinned("@modelcontextprotocol/server-filesystem");
  const everything = pinned("@modelcontextprotocol/server-everything");
  const thinking = pinned("@modelcontextprotocol/server-sequential-thinking");
  const [time, git, fetch] = [
    pinned("mcp-server-time"),
    pinned("mcp-server-git"),
    pinned("mcp-server-fetch"),
  ];
  return {
    claudeDesktop: `{
  "globalShortcut": "Alt+Space",
  "mcpServers": {
    "documents": {
      "command": "npx",
      "args": ["-y", "${files}", "${home}/Documents"]
    },
    "downloads": {
      "command": "npx",
      "args": ["-y", "${files}", "${home}/Downloads"]
    },
    "time": {
      "command": "uvx",
      "args": ["${time}"]
    },
    "fetch": {
      "command": "uvx",
      "args": ["${fetch}"]
    },
    "sequential-thinking": {
      "command": "npx",
      "args": ["-y", "${thinking}"],
      "env": { "DISABLE_THOUGHT_LOGGING": "true" }
    }
  }
}
`,
    cursor: `{
  // The shop
  "mcpServers": {
    "shop-files": { "command": "npx", "args": ["-y", "${files}", "\${userHome}/code/shop"] },
    "shop-git": { "type": "stdio", "command": "uvx", "args": ["${git}", "--repository", "${home}/code/shop"] },
    "everything": { "command": "npx", "args": ["-y", "${everything}"] },
    "eslint": { "command": "npx", "args": ["-y", "${pinned("@eslint/mcp")}"] },
    "time": { "command": "uvx", "args": ["${time}"] }, // as in Claude Desktop
  }
}
`,
    codex: `# Codex
model = "gpt-5"
approval_policy = "on-request"

[mcp_servers.site_files]
command = "npx"
args = ["-y", "${files}", "${home}/code/site"]

[mcp_servers.site_git]
command = "uvx"
args = [
  "${git}",
  "--repository", "${home}/code/site",
]

[mcp_servers.calculator]
command = "uvx"
args = ["${pinned("mcp-server-calculator")}"]
tool_timeout_sec = 30

[mcp_servers.berlin]
command = "uvx"
args = ["${time}", "--local-timezone=Europe/Berlin"]

[tui]
notifications = true # at the end of a turn
`,
    vscode: `{
\t// Servers of all workspaces
\t"servers": {
\t\t"notes-files": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "${files}", "\${userHome}/notes"],
\t\t},
\t\t"notes-git": {
\t\t\t"type": "stdio",
\t\t\t"command": "uvx",
\t\t\t"args": ["${git}", "--repository", "\${userHome}/notes"],
\t\t},
\t\t"calc": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "${pinned("@coo-quack/calc-mcp")}"],
\t\t},
\t\t"robots": {
\t\t\t"type": "stdio",
\t\t\t"command": "uvx",
\t\t\t"args": ["${fetch}", "--ignore-robots-txt"],
\t\t},
\t},
\t"inputs": [],
}
`,
    geminiCli: `{
  "theme": "GitHub",
  "mcpServers": {
    "pictures": {
      "command": "npx",
      "args": ["-y", "${files}", "$HOME/Pictures"],
      "timeout": 30000
    },
    "tokyo": {
      "command": "uvx",
      "args": ["${time}", "--local-timezone=Asia/Tokyo"]
    },
    "examples": {
      "command": "npx",
      "args": ["-y", "${everything}", "stdio"]
    }
  }
}
`,
  };
}
