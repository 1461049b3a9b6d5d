/**
 * Configurations of the clients, written for this test: each has the form that a page of the documentation, or a file of
 * the sources of its client, describes (as of November 2026), and what such files have in practice. Secrets are made up. It is
 * one piece because it is a table.
 */

/** A file of a client. */
export interface ImportSample {
  readonly title: string;
  /** The page of the documentation, or the file in the repository of the client, that describes the form. */
  readonly from: string;
  /** Relative to the home directory; those of a project are below `webapp/`. */
  readonly path: string;
  readonly text: string;
}

const github = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6";
const hex = "4f9d3b7c1a8e6520bd94f7e1c3a85d20";

/** All samples. */
export const importSamples: readonly ImportSample[] = [
  {
    title: "claude-desktop: the servers of the quickstart",
    from: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    path: ".config/Claude/claude_desktop_config.json",
    text: `{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Desktop", "/home/ada/Downloads"]
    },
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2025.9.25"] }
  },
  "globalShortcut": "Ctrl+Space"
}
`,
  },
  {
    title: "claude-desktop: tokens in env, docker and a database URL in arguments",
    from: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    path: ".config/Claude/claude_desktop_config.json",
    text: `{
  "mcpServers": {
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${github}" }
    },
    "grafana": {
      "command": "docker",
      "args": ["run", "--rm", "-i", "-e", "GRAFANA_URL=http://localhost:3000", "-e", "GRAFANA_API_KEY=glsa_${hex}", "mcp/grafana:latest", "-t", "stdio"]
    },
    "postgres": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://app:s3cretpw@localhost:5432/shop"]
    }
  }
}
`,
  },
  {
    title: "claude-desktop: mcp-remote with a header, and with OAuth",
    from: "https://support.claude.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers",
    path: ".config/Claude/claude_desktop_config.json",
    text: `{
  "mcpServers": {
    "linear": { "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.app/sse"] },
    "internal": {
      "command": "npx",
      "args": ["mcp-remote@latest", "https://tools.example.com/mcp", "--header", "Authorization:\${AUTH_HEADER}"],
      "env": { "AUTH_HEADER": "Bearer ${hex}" }
    }
  }
}
`,
  },
  {
    title: "claude-desktop: as Windows writes it",
    from: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    path: ".config/Claude/claude_desktop_config.json",
    text: '{\r\n  "mcpServers": {\r\n    "sqlite": {\r\n      "command": "cmd",\r\n      "args": ["/c", "npx", "-y", "mcp-server-sqlite", "C:\\\\data\\\\shop.db"]\r\n    }\r\n  }\r\n}\r\n',
  },
  {
    title: "claude-code: servers of the user and of two projects",
    from: "https://code.claude.com/docs/en/mcp",
    path: ".claude.json",
    text: `{
  "numStartups": 42,
  "mcpServers": {
    "sentry": { "type": "http", "url": "https://mcp.sentry.dev/mcp" },
    "context7": { "type": "stdio", "command": "npx", "args": ["-y", "@upstash/context7-mcp", "--api-key", "ctx7sk-${hex}"], "env": {} }
  },
  "projects": {
    "/home/ada/shop": {
      "allowedTools": [],
      "history": [],
      "mcpServers": { "db": { "type": "stdio", "command": "./tools/db-mcp", "args": ["--read-only"], "env": { "DB_HOST": "localhost" } } },
      "enabledMcpjsonServers": [],
      "disabledMcpjsonServers": [],
      "hasTrustDialogAccepted": true
    },
    "/home/ada/blog": { "mcpServers": {}, "history": [] }
  }
}
`,
  },
  {
    title: "claude-code: a project file with variables, defaults and a timeout",
    from: "https://code.claude.com/docs/en/mcp",
    path: "webapp/.mcp.json",
    text: `{
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "\${API_BASE_URL:-https://api.example.com}/mcp",
      "headers": { "Authorization": "Bearer \${API_KEY}", "X-Team": "shop" },
      "timeout": 600000
    },
    "airtable": { "command": "npx", "args": ["-y", "airtable-mcp-server@1.7.2"], "env": { "AIRTABLE_API_KEY": "\${AIRTABLE_API_KEY}" } },
    "events": { "type": "sse", "url": "https://events.example.com/sse", "headersHelper": "/opt/bin/headers.sh" }
  }
}
`,
  },
  {
    title: "claude-code: OAuth and a WebSocket",
    from: "https://code.claude.com/docs/en/mcp",
    path: "webapp/.mcp.json",
    text: `{
  "mcpServers": {
    "notion": { "type": "http", "url": "https://mcp.notion.com/mcp", "oauth": { "clientId": "abc", "callbackPort": 8080 } },
    "plain": { "command": "/usr/local/bin/plain-mcp" }
  }
}
`,
  },
  {
    title: "cursor: variables, envFile and a remote server",
    from: "https://cursor.com/docs/mcp.md",
    path: ".cursor/mcp.json",
    text: `{
  // personal servers
  "mcpServers": {
    "server-name": {
      "command": "python",
      "args": ["\${userHome}/mcp/server.py"],
      "env": { "API_KEY": "\${env:SHOP_API_KEY}" },
      "envFile": "\${userHome}/.env"
    },
    "figma": { "url": "http://127.0.0.1:3845/mcp" },
    "acme": { "url": "https://mcp.acme.dev/mcp", "headers": { "Authorization": "Bearer \${env:ACME_TOKEN}" } }
  }
}
`,
  },
  {
    title: "cursor: a project with names that are no ids",
    from: "https://cursor.com/docs/mcp.md",
    path: "webapp/.cursor/mcp.json",
    text: `{
  "mcpServers": {
    "My Files!": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2025.8.21", "\${workspaceFolder}"] },
    "my_files_": { "command": "node", "args": ["server.js"] },
    "toolcrib": { "url": "http://127.0.0.1:7420/mcp", "headers": { "Authorization": "Bearer tc_${hex}" } }
  }
}
`,
  },
  {
    title: "cursor: OAuth with fixed credentials",
    from: "https://cursor.com/docs/mcp.md",
    path: ".cursor/mcp.json",
    text: `{ "mcpServers": { "oauth-server": { "url": "https://api.example.com/mcp", "auth": { "CLIENT_ID": "id", "CLIENT_SECRET": "${hex}", "scopes": ["read"] } } } }`,
  },
  {
    title: "vscode: inputs, a sandbox and development settings",
    from: "microsoft/vscode-docs: docs/copilot/reference/mcp-configuration.md",
    path: ".config/Code/User/mcp.json",
    text: `{
  "inputs": [
    { "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true },
    { "type": "pickString", "id": "region", "description": "Region", "options": ["eu", "us"], "default": "eu" }
  ],
  "servers": {
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask", "--region", "\${input:region}"],
      "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" }
    },
    "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" },
    "fetch": { "command": "uvx", "args": ["mcp-server-fetch"], "dev": { "watch": "src/**" } },
  }
}
`,
  },
  {
    title: "vscode: the file of the user, with the folder that is open",
    from: "microsoft/vscode-docs: docs/reference/variables-reference.md",
    path: ".config/Code/User/mcp.json",
    text: `{ "servers": { "files": { "command": "node", "args": ["files.js", "\${workspaceFolder}", "--name=\${workspaceFolderBasename}"] } } }`,
  },
  {
    title: "vscode: the section of settings.json",
    from: "microsoft/vscode-docs: docs/copilot/chat/mcp-servers.md",
    path: ".config/Code/User/settings.json",
    text: `{
  "editor.fontSize": 13, // mine
  "mcp": {
    "inputs": [],
    "servers": { "my-mcp": { "type": "stdio", "command": "my-mcp-server", "args": [] } }
  },
  "chat.mcp.enabled": true
}
`,
  },
  {
    title: "vscode: a workspace with an input in a header and an env file",
    from: "microsoft/vscode-docs: docs/copilot/reference/mcp-configuration.md",
    path: "webapp/.vscode/mcp.json",
    text: `{
  "inputs": [{ "type": "promptString", "id": "api-key", "description": "Key", "password": true }],
  "servers": {
    "shop": { "type": "http", "url": "https://shop.example.com/mcp", "headers": { "X-API-Key": "\${input:api-key}" } },
    "local": { "command": "\${workspaceFolder}/bin/mcp", "cwd": "\${workspaceFolder}", "envFile": "\${workspaceFolder}/.env", "env": { "LOG_LEVEL": "debug" } }
  }
}
`,
  },
  {
    title: "vscode: the insiders edition with a gallery",
    from: "microsoft/vscode-docs: docs/copilot/reference/mcp-configuration.md",
    path: ".config/Code - Insiders/User/mcp.json",
    text: `{ "servers": { "microsoft/playwright-mcp": { "type": "stdio", "command": "npx", "args": ["@playwright/mcp@latest"], "gallery": "https://api.mcp.github.com", "version": "0.0.1-seed" } }, "inputs": [] }`,
  },
  {
    title: "windsurf: a remote server with serverUrl and switched off tools",
    from: "https://docs.windsurf.com/windsurf/cascade/mcp",
    path: ".codeium/windsurf/mcp_config.json",
    text: `{
  "mcpServers": {
    "remote-http-mcp": { "serverUrl": "https://mcp.example.com/mcp", "headers": { "API_KEY": "Bearer \${env:AUTH_TOKEN}" } },
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${github}" },
      "disabledTools": ["delete_repository"]
    }
  }
}
`,
  },
  {
    title: "windsurf: a server that is switched off",
    from: "https://docs.windsurf.com/windsurf/cascade/mcp",
    path: ".codeium/windsurf/mcp_config.json",
    text: `{ "mcpServers": { "slow": { "command": "uvx", "args": ["slow-mcp==1.2.0"], "disabled": true }, "fast": { "command": "uvx", "args": ["fast-mcp"], "disabled": false } } }`,
  },
  {
    title: "codex: tables, timeouts and tools",
    from: "https://developers.openai.com/codex/mcp.md",
    path: ".codex/config.toml",
    text: `model = "gpt-5"
approval_policy = "on-request"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN"]

[mcp_servers.context7.env]
MY_ENV_VAR = "MY_ENV_VALUE"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }

[mcp_servers.chrome_devtools]
url = "http://localhost:3000/mcp"
enabled_tools = ["open", "screenshot"]
startup_timeout_sec = 20
tool_timeout_sec = 45
enabled = true
`,
  },
  {
    title: "codex: inline tables, dotted keys and a server that is switched off",
    from: "openai/codex: codex-rs/config/src/mcp_types.rs",
    path: ".codex/config.toml",
    text: `[mcp_servers]
docs = { command = "docs-mcp", args = ["--stdio"], cwd = "/srv/docs" }
old = { command = "old-mcp", enabled = false }

[mcp_servers."with space"]
command = 'C:\\Tools\\mcp.exe'
env = { "API_TOKEN" = "${hex}" }
env_http_headers = {}
`,
  },
  {
    title: "codex: the file of a project",
    from: "https://developers.openai.com/codex/mcp.md",
    path: "webapp/.codex/config.toml",
    text: `[mcp_servers.lint]
command = "./scripts/lint-mcp"
default_tools_approval_mode = "prompt"
`,
  },
  {
    title: "gemini-cli: all transports, trust and filters",
    from: "google-gemini/gemini-cli: docs/tools/mcp-server.md",
    path: ".gemini/settings.json",
    text: `{
  "theme": "GitHub",
  "mcp": { "allowed": [], "excluded": ["experimental"] },
  "mcpServers": {
    "pythonTools": {
      "command": "python",
      "args": ["-m", "my_mcp_server", "--port", "8080"],
      "cwd": "./mcp-servers/python",
      "env": { "DATABASE_URL": "$DB_CONNECTION_STRING", "API_KEY": "\${EXTERNAL_API_KEY}" },
      "timeout": 15000,
      "trust": true,
      "includeTools": ["safe_tool"],
      "excludeTools": ["dangerous_tool"]
    },
    "httpServer": { "httpUrl": "https://api.example.com/mcp", "headers": { "X-Custom-Header": "custom-value", "TE": "trailers" }, "timeout": 5000 },
    "sseServer": { "url": "https://api.example.com/sse-endpoint" },
    "experimental": { "command": "experimental-mcp" }
  }
}
`,
  },
  {
    title: "gemini-cli: OAuth and a typed URL",
    from: "google-gemini/gemini-cli: docs/tools/mcp-server.md",
    path: "webapp/.gemini/settings.json",
    text: `{ "mcpServers": { "discovered": { "url": "https://api.example.com/mcp", "type": "http", "oauth": { "enabled": true, "scopes": ["read"] } }, "google": { "httpUrl": "https://my.example.com/mcp", "authProviderType": "google_credentials" } } }`,
  },
  {
    title: "zed: a custom server, one of an extension, one of an earlier version",
    from: "https://zed.dev/docs/ai/mcp.md",
    path: ".config/zed/settings.json",
    text: `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "local-mcp-server": { "command": "some-command", "args": ["arg-1", "arg-2"], "env": {} },
    "remote-mcp-server": { "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer ${hex}" } },
    "older": { "source": "custom", "command": { "path": "/opt/older", "args": ["--stdio"], "env": { "MODE": "fast" } } },
  },
}
`,
  },
  {
    title: "zed: a project with a timeout",
    from: "zed-industries/zed: crates/settings_content/src/project.rs",
    path: "webapp/.zed/settings.json",
    text: `{ "context_servers": { "build": { "source": "custom", "enabled": true, "command": "cargo-mcp", "args": [], "timeout": 120 } } }`,
  },
  {
    title: "continue: the list of config.yaml",
    from: "continuedev/continue: docs/customize/deep-dives/mcp.mdx",
    path: ".continue/config.yaml",
    text: `name: My Config
version: 1.0.0
schema: v1
models: []
mcpServers:
  - name: SQLite MCP # local
    type: stdio
    command: npx
    args:
      - "-y"
      - "mcp-sqlite"
      - "/home/ada/data.db"
    connectionTimeout: 30000
  - name: Linear
    type: streamable-http
    url: https://mcp.linear.app/mcp
    requestOptions:
      headers:
        Authorization: Bearer \${{ secrets.LINEAR_TOKEN }}
`,
  },
  {
    title: "continue: a file of the folder",
    from: "continuedev/continue: docs/customize/deep-dives/mcp.mdx",
    path: "webapp/.continue/mcpServers/playwright.yaml",
    text: `name: Playwright mcpServer
version: 0.0.1
schema: v1
mcpServers:
  - name: Browser search
    command: npx
    args: ["@playwright/mcp@0.0.40"]
    env:
      API_KEY: \${{ secrets.BROWSER_KEY }}
`,
  },
  {
    title: "continue: a JSON file of another client in the folder",
    from: "continuedev/continue: docs/customize/deep-dives/mcp.mdx",
    path: "webapp/.continue/mcpServers/mcp.json",
    text: `{ "mcpServers": { "notes": { "command": "uvx", "args": ["--from", "git+https://github.com/acme/notes-mcp", "notes-mcp"] } } }`,
  },
  {
    title: "cline: approvals, timeouts and a remote server",
    from: "cline/cline: docs/mcp/mcp-overview.mdx",
    path: ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    text: `{
  "mcpServers": {
    "local-server": {
      "command": "node",
      "args": ["/path/to/server.js"],
      "env": { "API_KEY": "your_api_key" },
      "alwaysAllow": ["tool1", "tool2"],
      "disabled": false,
      "timeout": 90
    },
    "remote-server": { "type": "streamableHttp", "url": "https://your-server.example.com/mcp", "headers": { "Authorization": "Bearer your-token" }, "autoApprove": [], "disabled": false }
  }
}
`,
  },
  {
    title: "cline: the file of its command line",
    from: "cline/cline: apps/vscode/src/services/mcp/schemas.ts",
    path: ".cline/data/settings/cline_mcp_settings.json",
    text: `{ "mcpServers": { "time": { "autoApprove": [], "disabled": false, "timeout": 60, "type": "stdio", "command": "uvx", "args": ["mcp-server-time@2025.8.4", "--local-timezone=Europe/Berlin"] } } }`,
  },
  {
    title: "junie: a server of the user",
    from: "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html",
    path: ".junie/mcp/mcp.json",
    text: `{ "mcpServers": { "MyDatabase": { "command": "java", "args": ["-jar", "/opt/db-mcp.jar"], "env": { "DB_USER": "app", "DB_PASSWORD": "hunter2!" } } } }`,
  },
  {
    title: "junie: a server of a project",
    from: "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html",
    path: "webapp/.junie/mcp/mcp.json",
    text: `{ "mcpServers": { "gradle": { "command": "./gradlew", "args": ["mcp"], "enabled": true } } }`,
  },
  {
    title: "goose: extensions of all types",
    from: "https://block.github.io/goose/docs/guides/config-files",
    path: ".config/goose/config.yaml",
    text: `GOOSE_PROVIDER: anthropic
GOOSE_MODEL: claude-sonnet
extensions:
  developer:
    bundled: true
    display_name: Developer
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  fetch:
    args: [mcp-server-fetch]
    bundled: null
    cmd: uvx
    description: ''
    enabled: true
    env_keys: []
    envs: {}
    name: fetch
    timeout: 300
    type: stdio
  github:
    available_tools: []
    cmd: npx
    args: ["-y", "@modelcontextprotocol/server-github"]
    enabled: true
    env_keys: [GITHUB_PERSONAL_ACCESS_TOKEN]
    envs: {}
    name: github
    type: stdio
  remote:
    enabled: true
    name: remote
    type: streamable_http
    uri: https://mcp.example.com/mcp
    headers: { X-Team: shop }
    timeout: 60
`,
  },
  {
    title: "goose: an SSE extension and one that is switched off",
    from: "block/goose: crates/goose/src/agents/extension.rs",
    path: ".config/goose/config.yaml",
    text: `extensions:
  events: &base
    enabled: true
    type: sse
    uri: https://events.example.com/sse
    timeout: 300
    name: events
  off:
    enabled: false
    type: stdio
    cmd: off-mcp
    args: []
    name: "off"
`,
  },
  {
    title: "lm-studio: the notation of Cursor",
    from: "lmstudio-ai/docs: 0_app/2_mcp/index.mdx",
    path: ".lmstudio/mcp.json",
    text: `{ "mcpServers": { "hf-mcp-server": { "url": "https://huggingface.co/mcp", "headers": { "Authorization": "Bearer hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ123456" } } } }`,
  },
  {
    title: "lm-studio: an image that is pinned by its digest",
    from: "lmstudio-ai/docs: 0_app/2_mcp/index.mdx",
    path: ".lmstudio/mcp.json",
    text: `{ "mcpServers": { "wiki": { "command": "docker", "args": ["run", "-i", "--rm", "mcp/wikipedia@sha256:7a1f0c5b9d3e8426a0b1c2d3e4f567897a1f0c5b9d3e8426a0b1c2d3e4f56789"] } } }`,
  },
  {
    title: "opencode: local and remote servers, and files",
    from: "anomalyco/opencode: packages/web/src/content/docs/mcp-servers.mdx",
    path: ".config/opencode/opencode.json",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "my-local": { "type": "local", "command": ["bun", "x", "my-mcp-command"], "enabled": true, "environment": { "MY_ENV_VAR": "{env:MY_ENV_VALUE}" }, "timeout": 10000 },
    "my-remote": { "type": "remote", "url": "https://my-mcp-server.com", "enabled": true, "headers": { "Authorization": "Bearer {env:MY_API_KEY}" } },
    "sentry": { "type": "remote", "url": "https://mcp.sentry.dev/mcp", "oauth": {} },
    "keyed": { "type": "local", "command": ["keyed-mcp"], "environment": { "KEY": "{file:~/.secrets/key}" } }
  }
}
`,
  },
  {
    title: "opencode: a project with comments",
    from: "anomalyco/opencode: packages/web/src/content/docs/mcp-servers.mdx",
    path: "webapp/opencode.jsonc",
    text: `{
  // shared
  "mcp": {
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
    "ctx": { "type": "remote", "url": "https://mcp.context7.com/mcp", "oauth": false, "headers": { "CONTEXT7_API_KEY": "{env:CONTEXT7_API_KEY}" } }
  }
}
`,
  },
  {
    title: "amazon-q: the servers of the command line",
    from: "aws/amazon-q-developer-cli: crates/chat-cli/src/cli/chat/tools/custom_tool.rs",
    path: ".aws/amazonq/mcp.json",
    text: `{
  "mcpServers": {
    "awslabs.aws-documentation-mcp-server": {
      "command": "uvx",
      "args": ["awslabs.aws-documentation-mcp-server@latest"],
      "env": { "FASTMCP_LOG_LEVEL": "ERROR", "AWS_DOCUMENTATION_PARTITION": "aws" },
      "disabled": false,
      "autoApprove": [],
      "timeout": 60000
    },
    "remote": { "type": "http", "url": "https://mcp.example.com/mcp?api_key=${hex}" }
  }
}
`,
  },
  {
    title: "amazon-q: the agent of the extension",
    from: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/mcp-ide.html",
    path: ".aws/amazonq/agents/default.json",
    text: `{ "name": "default", "description": "Default agent", "mcpServers": { "cdk": { "command": "uvx", "args": ["awslabs.cdk-mcp-server@1.0.0"], "env": {}, "timeout": 120000 } }, "tools": ["*"], "allowedTools": [] }`,
  },
  {
    title: "amazon-q: a workspace",
    from: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/mcp-ide.html",
    path: "webapp/.amazonq/mcp.json",
    text: `{ "mcpServers": { "team": { "command": "team-mcp", "args": ["--profile", "shop"] } } }`,
  },
  {
    title: "claude-code: one server in several notations, with a key in the path of its URL",
    from: "https://code.claude.com/docs/en/mcp",
    path: ".claude.json",
    text: `{ "mcpServers": { "zapier": { "type": "http", "url": "https://mcp.zapier.com/api/mcp/s/NzY4ZDk3Y2EtOGY0My00YjI5LWE0/mcp" }, "tavily": { "type": "http", "url": "https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-dev-${hex}" }, "stdio": { "type": "stdio", "command": "npx", "args": ["-y", "@acme/mcp", "--token=${hex}"] } } }`,
  },
  {
    title: "claude-code: an alias of the type, a limit in seconds, and servers that are switched off",
    from: "https://code.claude.com/docs/en/mcp",
    path: ".claude.json",
    text: `{
  "mcpServers": {
    "stripe": { "type": "streamable-http", "url": "https://mcp.stripe.com", "alwaysLoad": true, "timeout": 30 },
    "asana": { "type": "sse", "url": "https://mcp.asana.com/sse", "timeout": 90000 },
    "sso": {
      "type": "http",
      "url": "https://mcp.example.com/mcp",
      "oauth": { "clientId": "abc", "callbackPort": 8090, "scopes": "files:read files:write", "authServerMetadataUrl": "https://login.example.com/.well-known/oauth-authorization-server" }
    }
  },
  "projects": {
    "/home/ada/shop": {
      "mcpServers": { "on": { "command": "on-mcp" }, "off": { "command": "off-mcp" } },
      "disabledMcpServers": ["off"]
    }
  }
}
`,
  },
  {
    title: "cursor: the type, the name of the folder and the separator",
    from: "https://cursor.com/docs/mcp.md",
    path: "webapp/.cursor/mcp.json",
    text: `{
  "mcpServers": {
    "indexer": {
      "type": "stdio",
      "command": "\${workspaceFolder}\${/}bin\${pathSeparator}indexer",
      "args": ["--project", "\${workspaceFolderBasename}", "--cache", "\${userHome}/.cache/indexer"]
    }
  }
}
`,
  },
  {
    title: "vscode: a profile, with a working folder, a number and a variable that is unset",
    from: "microsoft/vscode: src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts",
    path: ".config/Code/User/profiles/5f2c1a90/mcp.json",
    text: `{
  "servers": {
    "time": { "command": "python", "args": ["-m", "mcp_server_time"], "cwd": "\${workspaceFolder}", "env": { "RETRIES": 3, "PYTHONPATH": null } },
    "socket": { "type": "http", "url": "unix:///tmp/server.sock#/mcp/subpath" }
  }
}
`,
  },
  {
    title: "vscode: the file of a machine that is used over SSH",
    from: "microsoft/vscode-docs: docs/copilot/reference/mcp-configuration.md",
    path: ".vscode-server/data/User/mcp.json",
    text: `{ "servers": { "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2025.9.25"] } } }
`,
  },
  {
    title: "windsurf: the file of Devin Desktop, its name since June 2026",
    from: "https://docs.devin.ai/desktop/cascade/mcp",
    path: ".config/devin/mcp_config.json",
    text: `{
  "mcpServers": {
    "browserless": { "url": "https://mcp.browserless.io/mcp", "transport": "http", "headers": { "Authorization": "Bearer ${hex}" } },
    "docs": { "url": "https://mcp.vaadin.com/docs" }
  }
}
`,
  },
  {
    title: "windsurf: the project file of Devin Desktop",
    from: "https://docs.devin.ai/desktop/cascade/mcp",
    path: "webapp/.devin/mcp_config.json",
    text: `{ "mcpServers": { "team": { "url": "https://team.example.com/mcp" } } }
`,
  },
  {
    title: "windsurf: a header and a variable from files",
    from: "https://docs.windsurf.com/windsurf/cascade/mcp",
    path: ".codeium/windsurf/mcp_config.json",
    text: `{
  "mcpServers": {
    "acme": {
      "url": "https://mcp.acme.dev/mcp",
      "headers": { "Authorization": "Bearer \${file:/run/secrets/acme}", "X-Key": "\${file:~/.acme/key}" }
    }
  }
}
`,
  },
  {
    title: "codex: variables with a source, OAuth, and what each tool may do",
    from: "openai/codex: codex-rs/config/src/mcp_types.rs",
    path: ".codex/config.toml",
    text: `[mcp_servers.build]
command = "build-mcp"
env_vars = ["CI_TOKEN", { name = "HOME_REGION", source = "local" }]
required = true
supports_parallel_tool_calls = true
startup_timeout_ms = 20000
tool_timeout_sec = 2.5

[mcp_servers.build.tools.deploy]
approval_mode = "prompt"

[mcp_servers.crm]
url = "https://crm.example.com/mcp"
scopes = ["contacts.read", "contacts.write"]
oauth_resource = "https://crm.example.com/"

[mcp_servers.crm.oauth]
client_id = "codex-desktop"

[mcp_servers.older]
url = "https://older.example.com/mcp"
bearer_token = "${hex}"
`,
  },
  {
    title: "gemini-cli: a list of what is allowed, defaults, and an address beside a command",
    from: "google-gemini/gemini-cli: docs/reference/configuration.md",
    path: ".gemini/settings.json",
    text: `{
  "mcp": { "allowed": ["Kept", "both", "login"], "excluded": [] },
  "mcpServers": {
    "kept": { "command": "kept-mcp", "args": ["--region", "\${KEPT_REGION:-eu}"], "description": "Keeps things" },
    "both": { "command": "both-mcp", "httpUrl": "https://both.example.com/mcp" },
    "login": {
      "url": "https://login.example.com/mcp",
      "oauth": { "enabled": true, "clientId": "cli", "scopes": ["read"], "redirectUri": "http://localhost:7777/oauth/callback", "audiences": ["api"] }
    },
    "left": { "command": "left-mcp" }
  }
}
`,
  },
  {
    title: "gemini-cli: a service account",
    from: "google-gemini/gemini-cli: docs/tools/mcp-server.md",
    path: "webapp/.gemini/settings.json",
    text: `{
  "mcpServers": {
    "iap": {
      "httpUrl": "https://iap.example.com/mcp",
      "authProviderType": "service_account_impersonation",
      "targetAudience": "123.apps.example.com",
      "targetServiceAccount": "sa@example.com"
    }
  }
}
`,
  },
  {
    title: "zed: a registered client, and servers of extensions",
    from: "zed-industries/zed: crates/settings_content/src/project.rs",
    path: ".config/zed/settings.json",
    text: `{
  "context_servers": {
    "mcp-server-github": { "enabled": true, "remote": false, "settings": { "github_personal_access_token": "${github}" } },
    "mcp-server-context7": { "enabled": true },
    "crm": { "url": "https://crm.example.com/mcp", "timeout": 30, "oauth": { "client_id": "zed", "client_secret": "${hex}" } },
    "far": { "command": "far-mcp", "args": [], "remote": true }
  }
}
`,
  },
  {
    title: "continue: a key, a block of the hub, and anchors",
    from: "continuedev/continue: docs/customize/deep-dives/mcp-examples.mdx, docs/reference/continue-mcp.mdx, docs/reference.mdx",
    path: ".continue/config.yaml",
    text: `%YAML 1.1
---
name: My Config
version: 1.0.0
schema: v1
defaults: &defaults
  provider: openai
  apiKey: my-api-key
models:
  - name: mistral
    <<: *defaults
mcpServers:
  - uses: continuedev/continue-docs-mcp
  - name: PostHog
    type: sse
    url: https://mcp.posthog.com/sse
    apiKey: \${{ secrets.POSTHOG_API_KEY }}
  - name: Sentry
    command: npx
    args: ["-y", "@sentry/mcp-server@0.18.0"]
    cwd: /home/ada/project
    env:
      SENTRY_AUTH_TOKEN: \${{ secrets.SENTRY_AUTH_TOKEN }}
    faviconUrl: https://example.com/icon.png
`,
  },
  {
    title: "continue: the older file, whose servers have no names",
    from: "continuedev/continue: docs/reference/yaml-migration.mdx",
    path: ".continue/config.json",
    text: `{
  "experimental": {
    "modelContextProtocolServers": [
      { "transport": { "type": "stdio", "command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "/home/ada/test.db"], "env": { "KEY": "<VALUE>" } } }
    ]
  }
}
`,
  },
  {
    title: "continue: one server in a JSON file, which gives it its name",
    from: "continuedev/continue: core/context/mcp/json/loadJsonMcpConfigs.ts",
    path: "webapp/.continue/mcpServers/weather.json",
    text: `{ "command": "uvx", "args": ["weather-mcp==1.4.0"], "env": { "WEATHER_KEY": "\${WEATHER_KEY}" }, "envFile": ".env" }
`,
  },
  {
    title: "cline: the transport as a map, with what it remembers of a login",
    from: "cline/cline: apps/vscode/src/services/mcp/schemas.ts",
    path: ".cline/data/settings/cline_mcp_settings.json",
    text: `{
  "mcpServers": {
    "linear": {
      "transport": { "type": "streamableHttp", "url": "https://mcp.linear.app/mcp" },
      "disabled": false,
      "oauth": { "clientInformation": { "client_id": "x" }, "tokens": { "access_token": "${hex}" }, "lastAuthenticatedAt": 1760000000000 },
      "metadata": { "source": "cli" }
    },
    "files": { "transport": { "type": "stdio", "command": "files-mcp", "args": ["/srv"], "cwd": "/srv" }, "disabled": true },
    "older": { "transportType": "http", "url": "https://older.example.com/mcp" },
    "oldest": { "url": "https://oldest.example.com/events", "headers": { "X-Team": "\${env:TEAM}" } }
  }
}
`,
  },
  {
    title: "cline: the file that its documentation names for the command line",
    from: "cline/cline: docs/mcp/mcp-overview.mdx",
    path: ".cline/mcp.json",
    text: `{ "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time==2025.8.4"], "env": {}, "disabled": false, "autoApprove": ["now"] } } }
`,
  },
  {
    title: "junie: a server at an address",
    from: "https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
    path: ".junie/mcp/mcp.json",
    text: `{ "mcpServers": { "wiki": { "url": "https://wiki.example.com/mcp", "headers": { "Authorization": "Bearer ${hex}" } } } }
`,
  },
  {
    title: "ai-assistant: the file that all IDEs share since version 2025.3",
    from: "https://www.jetbrains.com/help/ai-assistant/mcp.html",
    path: ".ai/mcp/mcp.json",
    text: `{
  "mcpServers": {
    "filesystem": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Desktop"] },
    "youtrack": { "url": "https://example.youtrack.cloud/mcp", "headers": { "Authorization": "Bearer ${hex}" } }
  }
}
`,
  },
  {
    title: "ai-assistant: a project whose file has the servers alone",
    from: "https://youtrack.jetbrains.com/issue/LLM-26654",
    path: "webapp/.ai/mcp/mcp.json",
    text: `{ "boost": { "command": "php", "args": ["artisan", "boost:mcp"] } }
`,
  },
  {
    title: "ai-assistant: the settings of an IDE of version 2025.2",
    from: "https://youtrack.jetbrains.com/issue/LLM-16145",
    path: ".config/JetBrains/PyCharm2025.2/options/llm.mcpServers.xml",
    text: `<?xml version="1.0" encoding="UTF-8"?>
<application>
  <component name="McpApplicationServerCommands" modifiable="true">
    <commands>
      <McpServerCommand sourceId="UserConfigurationSource">
        <option name="allowedToolsNames" />
        <option name="enabled" value="true" />
        <option name="name" value="nx-mcp" />
        <option name="programPath" value="npx" />
        <option name="arguments" value="-y nx-mcp@0.5.0 &quot;$USER_HOME$/work space&quot;" />
        <option name="workingDirectory" value="" />
        <envs>
          <env name="NX_TOKEN" value="${hex}" />
        </envs>
      </McpServerCommand>
    </commands>
    <urls>
      <McpServerURL sourceId="UserConfigurationSource">
        <option name="enabled" value="false" />
        <option name="name" value="remote" />
        <option name="url" value="https://remote.example.com/mcp" />
        <option name="headers">
          <map>
            <entry key="X-Team" value="shop" />
          </map>
        </option>
      </McpServerURL>
    </urls>
  </component>
</application>
`,
  },
  {
    title: "ai-assistant: the settings of a newer IDE, which only say what is switched on",
    from: "https://youtrack.jetbrains.com/issue/LLM-22682",
    path: ".config/JetBrains/PhpStorm2026.1/options/llm.mcpServers.xml",
    text: `<application>
  <component name="McpApplicationServerCommands" modifiable="true" autoEnableExternalChanges="true">
    <commands>
      <McpServerConfigurationProperties>
        <option name="allowedToolsNames" />
        <option name="enabled" value="true" />
        <option name="name" value="filesystem" />
      </McpServerConfigurationProperties>
    </commands>
    <urls />
  </component>
</application>
`,
  },
  {
    title: "goose: headers from the variables and secrets of the entry",
    from: "block/goose: crates/goose/src/agents/extension_manager.rs",
    path: ".config/goose/config.yaml",
    text: `extensions:
  crm:
    enabled: true
    type: streamable_http
    name: crm
    description: null
    uri: https://crm.example.com/mcp
    envs: { TEAM: shop }
    env_keys: [CRM_TOKEN]
    headers:
      Authorization: Bearer $CRM_TOKEN
      X-Team: \${TEAM}
      X-Literal: $HOME
    timeout: 120
    bundled: false
    available_tools: [search]
  notes:
    enabled: true
    type: inline_python
    name: notes
    description: Notes
    code: "pass"
`,
  },
  {
    title: "opencode: the section of its version 2",
    from: "anomalyco/opencode: packages/opencode/src/config/v2-compat.ts",
    path: ".config/opencode/opencode.jsonc",
    text: `{
  "mcp": {
    "timeout": { "startup": 10000, "execution": 60000 },
    "servers": {
      "build": { "type": "local", "command": ["build-mcp"], "cwd": "tools", "disabled": true },
      "crm": {
        "type": "remote",
        "url": "https://crm.example.com/mcp",
        "oauth": { "client_id": "id", "client_secret": "{env:CRM_SECRET}", "scope": "read write", "callback_port": 19876 },
        "timeout": { "execution": 30000 },
        "codemode": false
      }
    }
  }
}
`,
  },
  {
    title: "opencode: the folder of a project",
    from: "anomalyco/opencode: packages/opencode/src/config/paths.ts",
    path: "webapp/.opencode/opencode.json",
    text: `{ "mcp": { "lint": { "type": "local", "command": ["lint-mcp", "--stdio"], "cwd": "tools" } } }
`,
  },
  {
    title: "amazon-q: an agent of the command line, with a login",
    from: "aws/amazon-q-developer-cli: docs/agent-format.md, crates/chat-cli/src/cli/chat/tools/custom_tool.rs",
    path: ".aws/amazonq/cli-agents/aws-expert.json",
    text: `{
  "name": "aws-expert",
  "mcpServers": {
    "git": { "command": "git-mcp", "args": [], "env": { "GIT_CONFIG_GLOBAL": "/dev/null", "GH_TOKEN": "\${env:GH_TOKEN}" }, "timeout": 120000 },
    "crm": { "type": "http", "url": "https://crm.example.com/mcp", "oauthScopes": ["openid", "email"], "oauth": { "redirectUri": "127.0.0.1:7778" } }
  },
  "tools": ["@git", "fs_read"],
  "allowedTools": ["@git/git_status"],
  "useLegacyMcpJson": true
}
`,
  },
  {
    title: "amazon-q: the workspace file of the IDE",
    from: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/mcp-ide.html",
    path: "webapp/.amazonq/default.json",
    text: `{ "mcpServers": { "docs": { "command": "uvx", "args": ["awslabs.aws-documentation-mcp-server==1.1.2"], "disabled": false, "timeout": 60000 } } }
`,
  },
];
