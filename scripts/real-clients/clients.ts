/**
 * The client programs that `npm run verify -- real-clients` starts, and for each how: its program, a file of its own as
 * a user would have it, the commands that show and use its servers, and those that add one. What switches off its
 * telemetry and its search for updates is in `env` or in its file. It is one piece, as a table.
 */

/** A server that the client's own command adds, and the entry of `toolcrib.yaml` that the import makes of it. */
export interface AddedServer {
  readonly id: string;
  readonly words: readonly string[];
  readonly transport: object;
  /** Further members of the entry. @default none */
  readonly further?: object;
  /** The notes of the import about it. @default none */
  readonly notes?: readonly string[];
}

/** A client program. */
export interface RealClient {
  /** As `toolcrib connect` has it. */
  readonly id: string;
  /** The name of its program, and where that is below `node_modules`. */
  readonly command: string;
  readonly program: string;
  /** Its file, relative to the home. */
  readonly file: string;
  /** The text of its file before `toolcrib connect`. @param model the address of the model */
  readonly before: (model: string) => string;
  /** Whether it writes the file in its own layout at every start. */
  readonly writesAtStart?: true;
  readonly env: (model: string) => { readonly [name: string]: string };
  /** Matches a connected server in the output of the command on its page; undefined where it has no such command. */
  readonly connected: RegExp | undefined;
  /** Whether that output says something else where nothing listens. */
  readonly showsConnection: boolean;
  /** A command that a user needs once, before the first question. */
  readonly prepare?: (model: string) => readonly string[];
  /** One question, in which it may call every tool. @param server the name of the gateway in its file */
  readonly ask: (server: string) => readonly string[];
  /** The words with which it adds a server on standard streams to its file; undefined where it has no such command. */
  readonly addLocal:
    | ((name: string, words: readonly string[], env?: readonly string[]) => readonly string[])
    | undefined;
  /** Why that command cannot add the bridge, and what it prints then. */
  readonly refusesBridge?: { readonly reason: string; readonly prints: RegExp };
  /** Servers for the import. */
  readonly added: readonly AddedServer[];
}

/** Clients of `toolcrib connect` that are not started, with the reason. */
export const notStarted: { readonly [id: string]: string } = {
  "ai-assistant": "it is a part of an IDE",
  "amazon-q": "its command line is in no registry of packages, and needs a login",
  "claude-desktop": "it is a program with windows, and its bridge is started by the other clients",
  cursor: "its command line is in no registry of packages, and needs a login",
  goose: "its command line is in no registry of packages",
  junie: "its package on npm downloads the program from another place while it is installed",
  "lm-studio": "its command line needs the program with windows",
  vscode: "it is a program with windows",
  windsurf: "it is a program with windows",
  zed: "it is a program with windows",
};

/** The name of a package for this platform. */
const platform = `${process.platform}-${process.arch}`;
const question = "say hello";

const local = ["node", "server.js", "--flag", "two words"] as const;
const localEnv = ["MODE=fast", "API_TOKEN=abc-secret-1"] as const;
const localTransport = {
  kind: "stdio",
  command: "node",
  args: ["server.js", "--flag", "two words"],
} as const;
const withEnv = {
  ...localTransport,
  env: { MODE: "fast", API_TOKEN: { secret_key_ref: "local-api-token" } },
} as const;
const authorization = { Authorization: { prefix: "Bearer ", secret_key_ref: { env: "WEB_TOKEN" } } } as const;
const team = { "X-Team": "blue" } as const;
const web = { kind: "streamable_http", url: "https://web.example.com/mcp" } as const;
const old = { kind: "sse", url: "https://old.example.com/sse" } as const;
const tokenNote =
  "header Authorization needs WEB_TOKEN in the environment of the gateway, which is not set here";

const addToClaude = (name: string, words: readonly string[], env: readonly string[] = []) => [
  ...["mcp", "add", "-s", "user", name, ...env.flatMap((one) => ["-e", one])],
  ...["--", ...words],
];
const addToCodex = (name: string, words: readonly string[], env: readonly string[] = []) => [
  ...["mcp", "add", name, ...env.flatMap((one) => ["--env", one])],
  ...["--", ...words],
];
const addToGemini = (name: string, words: readonly string[], env: readonly string[] = []) => [
  ...["mcp", "add", "-s", "user", ...env.flatMap((one) => ["-e", one])],
  ...[name, ...words],
];
const addToCline = (name: string, words: readonly string[]) => [
  ...["mcp", "add", "--yes", "--json", name],
  ...["--", ...words],
];

/** All of them, sorted by id. */
export const realClients: readonly RealClient[] = [
  {
    id: "claude-code",
    command: "claude",
    program: `@anthropic-ai/claude-code-${platform}/claude`,
    file: ".claude.json",
    before: () => '{ "theme": "dark",\n    "hasCompletedOnboarding": true }\n',
    // It counts its starts in this file.
    writesAtStart: true,
    env: (model) => ({
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // The model sees all tools, and in the first request.
      ENABLE_TOOL_SEARCH: "false",
      MCP_CONNECTION_NONBLOCKING: "0",
    }),
    connected: /^toolcrib: http\S+ \(HTTP\) - ✔ Connected$/m,
    showsConnection: true,
    ask: () => ["-p", question, "--allowedTools", "mcp__toolcrib,mcp__bridge"],
    addLocal: addToClaude,
    added: [
      { id: "local", words: addToClaude("local", local, localEnv), transport: withEnv },
      {
        id: "web",
        words: [
          ...["mcp", "add", "-s", "user", "--transport", "http", "web", web.url],
          ...["-H", "X-Team: blue", "-H", `Authorization: Bearer \${WEB_TOKEN}`],
        ],
        transport: { ...web, headers: { ...team, ...authorization } },
        notes: [tokenNote],
      },
      {
        id: "old",
        words: ["mcp", "add", "-s", "user", "--transport", "sse", "old", old.url],
        transport: old,
      },
      {
        id: "login",
        words: [
          ...["mcp", "add", "-s", "user", "--transport", "http", "login", "https://login.example.com/mcp"],
          ...["--client-id", "desk", "--callback-port", "7777"],
        ],
        transport: {
          ...{ kind: "streamable_http", url: "https://login.example.com/mcp" },
          auth: { type: "oauth", client_id: "desk", redirect_port: 7777 },
        },
      },
      {
        id: "written",
        words: [
          ...["mcp", "add-json", "-s", "user", "written"],
          JSON.stringify({ command: "node", args: ["written.js"], timeout: 5000 }),
        ],
        transport: { kind: "stdio", command: "node", args: ["written.js"] },
        further: { containment: { max_execution_seconds: 5 } },
      },
      {
        id: "here",
        words: ["mcp", "add", "-s", "local", "here", "--", "node", "here.js"],
        transport: { kind: "stdio", command: "node", args: ["here.js"] },
      },
      {
        id: "shared",
        words: ["mcp", "add", "-s", "project", "shared", "--", "node", "shared.js"],
        transport: { kind: "stdio", command: "node", args: ["shared.js"] },
      },
    ],
  },
  {
    id: "cline",
    command: "cline",
    program: `@cline/cli-${platform}/bin/cline`,
    file: ".cline/data/settings/cline_mcp_settings.json",
    before: () => '{\n\t"mcpServers": {}\n}\n',
    writesAtStart: true,
    // Without the process that stays behind.
    env: () => ({ CLINE_SESSION_BACKEND_MODE: "local" }),
    connected: undefined,
    showsConnection: false,
    prepare: (model) => ["auth", "openai-compatible", "-k", "none", "-m", "scripted", "-b", `${model}/v1`],
    ask: () => ["-P", "openai-compatible", "-k", "none", "-m", "scripted", question],
    addLocal: addToCline,
    refusesBridge: {
      reason:
        "it takes --config among the words of the server for an option of its own, which names a folder",
      prints: /ENOTDIR: not a directory.*\/toolcrib\.yaml\/data\//,
    },
    added: [
      { id: "local", words: addToCline("local", local), transport: localTransport },
      {
        id: "web",
        words: [
          ...["mcp", "add", "--yes", "--json", "--transport", "http"],
          ...["--header", "X-Team: blue", "--header", `Authorization: Bearer \${env:WEB_TOKEN}`],
          ...["web", web.url],
        ],
        transport: { ...web, headers: { ...team, ...authorization } },
        notes: [tokenNote],
      },
      {
        id: "old",
        words: ["mcp", "add", "--yes", "--json", "--transport", "sse", "old", old.url],
        transport: old,
      },
    ],
  },
  {
    id: "codex",
    command: "codex",
    program: "@openai/codex/bin/codex.js",
    file: ".codex/config.toml",
    before: (model) => `# Codex
model = "scripted" # on this machine
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
    env: () => ({ SCRIPTED_KEY: "none" }),
    // It lists what is configured, and connects in a session only.
    connected: /^toolcrib\s+http\S+\s+-\s+enabled\s+Bearer token$/m,
    showsConnection: false,
    // Without these settings, it begins a session without a server that starts slowly.
    ask: (server) => [
      ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
      ...["-c", `mcp_servers.${server}.required=true`],
      ...["-c", `mcp_servers.${server}.startup_timeout_sec=60`, question],
    ],
    addLocal: addToCodex,
    added: [
      { id: "local", words: addToCodex("local", local, localEnv), transport: withEnv },
      {
        id: "web",
        words: ["mcp", "add", "web", "--url", web.url, "--bearer-token-env-var", "WEB_TOKEN"],
        transport: { ...web, headers: authorization },
        notes: [tokenNote],
      },
      {
        id: "login",
        words: [
          ...["mcp", "add", "login", "--url", "https://login.example.com/mcp"],
          ...["--oauth-client-id", "desk"],
        ],
        transport: {
          ...{ kind: "streamable_http", url: "https://login.example.com/mcp" },
          auth: { type: "oauth", client_id: "desk" },
        },
        notes: [
          "oauth.callback_url is not taken over: the login finds it out itself, or has no such setting",
        ],
      },
    ],
  },
  {
    id: "continue",
    command: "cn",
    program: "@continuedev/cli/dist/cn.js",
    file: ".continue/config.yaml",
    before: (model) => `name: mine
version: 1.0.0
schema: v1
models:
  # On this machine
  - name: scripted
    provider: openai
    model: scripted
    apiBase: ${model}/v1
    apiKey: none
    capabilities: [tool_use]
    roles: [chat]
`,
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_AUTO_UPDATED: "1" }),
    connected: undefined,
    showsConnection: false,
    ask: () => ["-p", question, "--auto"],
    addLocal: undefined,
    added: [],
  },
  {
    id: "gemini-cli",
    command: "gemini",
    program: "@google/gemini-cli/bundle/gemini.js",
    file: ".gemini/settings.json",
    before: () => `{
  // Mine
  "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
  "privacy": { "usageStatisticsEnabled": false },
  "security": { "auth": { "selectedType": "gemini-api-key" } }
}
`,
    // Servers of the user are off in a folder that is not trusted.
    env: (model) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    connected: /✓ toolcrib: http\S+ \(http\) - Connected$/m,
    showsConnection: true,
    ask: () => ["-p", question, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"],
    addLocal: addToGemini,
    added: [
      { id: "local", words: addToGemini("local", local, localEnv), transport: withEnv },
      {
        id: "web",
        words: [
          ...["mcp", "add", "-s", "user", "-t", "http", "-H", "X-Team: blue"],
          ...["-H", `Authorization: Bearer \${WEB_TOKEN}`, "web", web.url],
        ],
        transport: { ...web, headers: { ...team, ...authorization } },
        notes: [tokenNote],
      },
      {
        id: "old",
        words: ["mcp", "add", "-s", "user", "-t", "sse", "old", old.url],
        transport: old,
      },
      {
        id: "full",
        words: [
          ...["mcp", "add", "-s", "user", "full", "node", "full.js", "--timeout", "5000", "--trust"],
          ...["--description", "With all of it", "--include-tools", "one,two"],
        ],
        transport: { kind: "stdio", command: "node", args: ["full.js"] },
        further: { description: "With all of it", containment: { max_execution_seconds: 5 } },
        notes: [
          "trust is not taken over: calls need no approval where the entry has trust_state: verified",
          "includeTools is not taken over: choose tools in Toolcrib: toolcrib disable tool NAME, or policy.deny",
        ],
      },
      {
        id: "here",
        words: ["mcp", "add", "here", "node", "here.js"],
        transport: { kind: "stdio", command: "node", args: ["here.js"] },
      },
    ],
  },
  {
    id: "opencode",
    command: "opencode",
    program: `opencode-${platform}/bin/opencode`,
    file: ".config/opencode/opencode.json",
    before: (model) => `{
  // Mine
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false,
  "share": "disabled",
  "model": "scripted/scripted",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "${model}/v1", "apiKey": "none" },
      "models": { "scripted": { "tool_call": true } },
    },
  },
}
`,
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "true", OPENCODE_DISABLE_MODELS_FETCH: "true" }),
    connected: /✓ toolcrib connected$/m,
    showsConnection: true,
    ask: () => ["run", question],
    addLocal: addToCodex,
    added: [
      { id: "local", words: addToCodex("local", local, localEnv), transport: withEnv },
      {
        id: "web",
        words: [
          ...["mcp", "add", "web", "--url", web.url],
          ...["--header", "X-Team=blue", "--header", "Authorization=Bearer {env:WEB_TOKEN}"],
        ],
        transport: { ...web, headers: { ...team, ...authorization } },
        notes: [tokenNote],
      },
    ],
  },
];
