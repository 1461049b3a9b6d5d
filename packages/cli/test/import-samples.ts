/**
 * Configurations of the fifteen clients as their documentation describes them (November 2026), written for this test:
 * each with what such files have in practice. Secrets are made up.
 */

/** A file of a client. */
export interface ImportSample {
  readonly title: string;
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
    path: ".config/Claude/claude_desktop_config.json",
    text: '{\r\n  "mcpServers": {\r\n    "sqlite": {\r\n      "command": "cmd",\r\n      "args": ["/c", "npx", "-y", "mcp-server-sqlite", "C:\\\\data\\\\shop.db"]\r\n    }\r\n  }\r\n}\r\n',
  },
  {
    title: "claude-code: servers of the user and of two projects",
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
    path: ".cursor/mcp.json",
    text: `{ "mcpServers": { "oauth-server": { "url": "https://api.example.com/mcp", "auth": { "CLIENT_ID": "id", "CLIENT_SECRET": "${hex}", "scopes": ["read"] } } } }`,
  },
  {
    title: "vscode: inputs, a sandbox and development settings",
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
    title: "vscode: the section of settings.json",
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
    path: ".config/Code - Insiders/User/mcp.json",
    text: `{ "servers": { "microsoft/playwright-mcp": { "type": "stdio", "command": "npx", "args": ["@playwright/mcp@latest"], "gallery": "https://api.mcp.github.com", "version": "0.0.1-seed" } }, "inputs": [] }`,
  },
  {
    title: "windsurf: a remote server with serverUrl and switched off tools",
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
    path: ".codeium/windsurf/mcp_config.json",
    text: `{ "mcpServers": { "slow": { "command": "uvx", "args": ["slow-mcp==1.2.0"], "disabled": true }, "fast": { "command": "uvx", "args": ["fast-mcp"], "disabled": false } } }`,
  },
  {
    title: "codex: tables, timeouts and tools",
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
    path: "webapp/.codex/config.toml",
    text: `[mcp_servers.lint]
command = "./scripts/lint-mcp"
default_tools_approval_mode = "prompt"
`,
  },
  {
    title: "gemini-cli: all transports, trust and filters",
    path: ".gemini/settings.json",
    text: `{
  "theme": "GitHub",
  "mcp": { "excluded": ["experimental"] },
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
    "httpServer": { "httpUrl": "https://api.example.com/mcp", "headers": { "X-Custom-Header": "custom-value" }, "timeout": 5000 },
    "sseServer": { "url": "https://api.example.com/sse-endpoint" },
    "experimental": { "command": "experimental-mcp" }
  }
}
`,
  },
  {
    title: "gemini-cli: OAuth and a typed URL",
    path: "webapp/.gemini/settings.json",
    text: `{ "mcpServers": { "discovered": { "url": "https://api.example.com/mcp", "type": "http", "oauth": { "enabled": true, "scopes": ["read"] } }, "google": { "httpUrl": "https://my.example.com/mcp", "authProviderType": "google_credentials" } } }`,
  },
  {
    title: "zed: a custom server, one of an extension, one of an earlier version",
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
    path: "webapp/.zed/settings.json",
    text: `{ "context_servers": { "build": { "source": "custom", "enabled": true, "command": "cargo-mcp", "args": [], "timeout": 120 } } }`,
  },
  {
    title: "continue: the list of config.yaml",
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
    path: "webapp/.continue/mcpServers/mcp.json",
    text: `{ "mcpServers": { "notes": { "command": "uvx", "args": ["--from", "git+https://github.com/acme/notes-mcp", "notes-mcp"] } } }`,
  },
  {
    title: "cline: approvals, timeouts and a remote server",
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
    path: ".cline/data/settings/cline_mcp_settings.json",
    text: `{ "mcpServers": { "time": { "autoApprove": [], "disabled": false, "timeout": 60, "type": "stdio", "command": "uvx", "args": ["mcp-server-time@2025.8.4", "--local-timezone=Europe/Berlin"] } } }`,
  },
  {
    title: "junie: a server of the user",
    path: ".junie/mcp/mcp.json",
    text: `{ "mcpServers": { "MyDatabase": { "command": "java", "args": ["-jar", "/opt/db-mcp.jar"], "env": { "DB_USER": "app", "DB_PASSWORD": "hunter2!" } } } }`,
  },
  {
    title: "junie: a server of a project",
    path: "webapp/.junie/mcp/mcp.json",
    text: `{ "mcpServers": { "gradle": { "command": "./gradlew", "args": ["mcp"], "enabled": true } } }`,
  },
  {
    title: "goose: extensions of all types",
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
    path: ".lmstudio/mcp.json",
    text: `{ "mcpServers": { "hf-mcp-server": { "url": "https://huggingface.co/mcp", "headers": { "Authorization": "Bearer hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ123456" } } } }`,
  },
  {
    title: "lm-studio: an image that is pinned by its digest",
    path: ".lmstudio/mcp.json",
    text: `{ "mcpServers": { "wiki": { "command": "docker", "args": ["run", "-i", "--rm", "mcp/wikipedia@sha256:7a1f0c5b9d3e8426a0b1c2d3e4f567897a1f0c5b9d3e8426a0b1c2d3e4f56789"] } } }`,
  },
  {
    title: "opencode: local and remote servers, and files",
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
    path: ".aws/amazonq/agents/default.json",
    text: `{ "name": "default", "description": "Default agent", "mcpServers": { "cdk": { "command": "uvx", "args": ["awslabs.cdk-mcp-server@1.0.0"], "env": {}, "timeout": 120000 } }, "tools": ["*"], "allowedTools": [] }`,
  },
  {
    title: "amazon-q: a workspace",
    path: "webapp/.amazonq/mcp.json",
    text: `{ "mcpServers": { "team": { "command": "team-mcp", "args": ["--profile", "shop"] } } }`,
  },
  {
    title: "claude-code: one server in several notations, with a key in the path of its URL",
    path: ".claude.json",
    text: `{ "mcpServers": { "zapier": { "type": "http", "url": "https://mcp.zapier.com/api/mcp/s/NzY4ZDk3Y2EtOGY0My00YjI5LWE0/mcp" }, "tavily": { "type": "http", "url": "https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-dev-${hex}" }, "stdio": { "type": "stdio", "command": "npx", "args": ["-y", "@acme/mcp", "--token=${hex}"] } } }`,
  },
];
