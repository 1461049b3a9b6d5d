import { checkGolden, serverWith, stdioServer } from "./check-report.ts";

const remote = ["kind: streamable_http", "url: https://tool.internal:8443/mcp"] as const;

checkGolden("document", [
  [
    "conflated tool_server and provider target",
    `${stdioServer()}providers:\n  targets:\n  - id: files\n    mcp: { command: x }\n`,
  ],
  ["conflation after trimming", `${stdioServer()}providers: { targets: [{ id: " files " }] }\n`],
  ["transport.kind absent", serverWith("command: server")],
  ["transport.kind invalid", serverWith("kind: websocket", "url: https://tool.internal/mcp")],
  ["transport.kind misspelt", serverWith("kind: streamable-http", "url: https://tool.internal/mcp")],
  ["transport.kind of other programs", serverWith("kind: http", "url: https://tool.internal/mcp")],
  ["transport.kind called type", serverWith("type: stdio", "command: server")],
  ["transport.kind empty", serverWith("kind:", "command: server")],
  ["transport.kind a map", serverWith("kind: { stdio: true }")],
  ["no transport", "tool_servers:\n- id: files\n"],
  ["transport empty", "tool_servers:\n- id: files\n  transport:\n"],
  [
    "inline secret in a header named authorization",
    serverWith(...remote, "headers:", "  Authorization: Bearer hunter2-hunter2"),
  ],
  ["inline secret in a header named *-key", serverWith(...remote, "headers: { X-Api-Key: hunter2 }")],
  [
    "inline secret in a variable named *TOKEN*",
    serverWith("kind: stdio", "command: server", "env: { GITHUB_TOKEN: hunter2 }"),
  ],
  [
    "inline secret in a variable whose name does not suggest a secret",
    serverWith("kind: stdio", "command: server", "env: { LOGIN: ghp_1234567890abcdefghij }"),
  ],
  [
    "inline secret after an option, and options that only name one",
    serverWith(
      "kind: stdio",
      "command: x",
      "args: [--api-key=hunter2, --password, hunter2, --token-file, /run/token, --max-tokens=9, --token, --secret, '$KEY']",
    ),
  ],
  [
    "inline secret in an argument",
    serverWith("kind: stdio", "command: server", 'args: ["--auth", "sk-1234567890abcdefghijklmn"]'),
  ],
  [
    "inline secret in a URL",
    serverWith("kind: sse", "url: https://tool.internal/ghp_1234567890abcdefghij/sse"),
  ],
  [
    "inline secret in place of its name",
    serverWith(...remote, "headers: { Authorization: { secret_key_ref: ghp_1234567890abcdefghij } }"),
  ],
  ["transport.command absent", serverWith("kind: stdio", 'args: ["-y"]')],
  ["transport.command empty", serverWith("kind: stdio", 'command: ""')],
  ["transport.url absent for sse", serverWith("kind: sse")],
  [
    "transport.url absent for streamable_http",
    serverWith("kind: streamable_http", "headers: { X-Team: core }"),
  ],
  ["transport.url empty", serverWith("kind: streamable_http", "url:")],
]);

checkGolden("tool-servers", [
  ["duplicate id", `${stdioServer()}- id: " files"\n  transport: { kind: stdio, command: other }\n`],
  ["ids that differ in case", `${stdioServer()}- id: Files\n  transport: { kind: stdio, command: other }\n`],
  [
    "ids that differ in separators",
    "tool_servers:\n- { id: code-search, transport: { kind: stdio, command: a } }\n- { id: code_search, transport: { kind: stdio, command: b } }\n",
  ],
  ["id absent", "tool_servers:\n- transport: { kind: stdio, command: server }\n"],
  ["id empty", 'tool_servers:\n- id: ""\n  transport: { kind: stdio, command: server }\n'],
  ["id a number", "tool_servers:\n- id: 42\n  transport: { kind: stdio, command: server }\n"],
  ["id with a space", "tool_servers:\n- id: My Server\n  transport: { kind: stdio, command: server }\n"],
  ["id with __", "tool_servers:\n- id: my__server\n  transport: { kind: stdio, command: server }\n"],
  ["id that ends with _", "tool_servers:\n- id: server_\n  transport: { kind: stdio, command: server }\n"],
  [
    "id that begins with a dot",
    "tool_servers:\n- id: .server\n  transport: { kind: stdio, command: server }\n",
  ],
  ["id too long", `tool_servers:\n- id: ${"s".repeat(41)}\n  transport: { kind: stdio, command: server }\n`],
  ["id of Toolcrib's own", "tool_servers:\n- id: Saved\n  transport: { kind: stdio, command: server }\n"],
  ["unknown field, misspelt", stdioServer("trust_sate: verified")],
  ["unknown field, like nothing", stdioServer("colour: red")],
  ["unknown field of other programs", stdioServer("disabled: true")],
  ["transport fields beside transport", "tool_servers:\n- id: files\n  command: server\n  args: []\n"],
  ["containment fields beside containment", stdioServer("network_egress: deny")],
  ["timeout_ms beside containment", stdioServer("timeout_ms: 45000")],
  ["trust_state misspelt", stdioServer("trust_state: verifed")],
  ["trust_state pending", stdioServer("trust_state: pending")],
  ["trust_state approved", stdioServer("trust_state: approved")],
  ["trust_state a boolean", stdioServer("trust_state: true")],
  ["mutability_class mutating", stdioServer("mutability_class: mutating")],
  ["mutability_class read-only", stdioServer("mutability_class: read-only")],
  ["mutability_class like nothing", stdioServer("mutability_class: chaotic")],
  ["network_egress none", stdioServer("containment: { network_egress: none }")],
  ["network_egress scoped without its list", stdioServer("containment:", "  network_egress: scoped")],
  [
    "egress_allow without scoped",
    stdioServer("containment:", "  network_egress: deny", "  egress_allow: [api.example.com]"),
  ],
  [
    "filesystem_write scoped with an empty list",
    stdioServer("containment: { filesystem_write: scoped, write_paths: [] }"),
  ],
  ["write_paths alone", stdioServer("containment: { write_paths: [/srv/data] }")],
  ["write_paths empty", stdioServer('containment: { filesystem_write: scoped, write_paths: [""] }')],
  [
    "egress_allow with a URL",
    stdioServer("containment: { network_egress: scoped, egress_allow: ['https://api.example.com/v1'] }"),
  ],
  [
    "egress_allow with an address",
    stdioServer("containment: { network_egress: scoped, egress_allow: [10.0.0.1] }"),
  ],
  [
    "egress_allow with an impossible port",
    stdioServer("containment: { network_egress: scoped, egress_allow: ['api.example.com:70000'] }"),
  ],
  [
    "egress_allow with an unknown way to treat TLS",
    stdioServer(
      "containment:",
      "  network_egress: scoped",
      "  egress_allow: [{ host: api.example.com, tls: none }]",
    ),
  ],
  [
    "egress_allow with a map without a host",
    stdioServer("containment:", "  network_egress: scoped", "  egress_allow: [{ tls: passthrough }]"),
  ],
  ["registry_hosts with a URL", "sandbox: { registry_hosts: ['https://files.example.com/'] }"],
  [
    "egress_allow not a list",
    stdioServer("containment: { network_egress: scoped, egress_allow: api.example.com }"),
  ],
  ["max_execution_seconds 0", stdioServer("containment: { max_execution_seconds: 0 }")],
  ["max_execution_seconds 3601", stdioServer("containment: { max_execution_seconds: 3601 }")],
  ["max_execution_seconds 1.5", stdioServer("containment: { max_execution_seconds: 1.5 }")],
  ["max_execution_seconds as a text", stdioServer('containment: { max_execution_seconds: "30" }')],
  ["max_execution_seconds with a unit", stdioServer("containment: { max_execution_seconds: 2min }")],
  ["timeout_ms in containment", stdioServer("containment: { timeout_ms: 1500 }")],
  ["labels with a number", stdioServer("labels: { version: 1.10 }")],
  ["labels with a bad key", stdioServer('labels: { "my key": x }')],
  ["labels with a token", stdioServer("labels: { ci: glpat-1234567890abcdefghij }")],
  ["description with a token", stdioServer("description: call it with ghp_1234567890abcdefghij please")],
  ["tool_servers a map", "tool_servers:\n  files: { transport: { kind: stdio, command: server } }\n"],
  ["a server that is a text", "tool_servers: [files]\n"],
  [
    "everything of one file at once",
    "tool_servers:\n- id: a b\n  transport: { kind: stdio }\n  trust_state: x\n- id: c\n  transport: { kind: sse, url: ftp://x }\nserve: { mode: fast }\n",
  ],
]);

checkGolden("transport", [
  [
    "field of another kind on stdio",
    serverWith("kind: stdio", "command: server", "url: https://tool.internal/mcp"),
  ],
  ["field of another kind on sse", serverWith("kind: sse", "url: https://tool.internal/sse", "args: []")],
  ["command called cmd", serverWith("kind: stdio", "cmd: server")],
  ["command with its arguments", serverWith("kind: stdio", "command: npx -y some-server")],
  ["command a list", serverWith("kind: stdio", "command: [npx, -y, some-server]")],
  ["args a text", serverWith("kind: stdio", "command: server", "args: --port 0")],
  ["args with a number", serverWith("kind: stdio", "command: server", "args: [--port, 8080]")],
  ["env a list", serverWith("kind: stdio", "command: server", "env: [A=b]")],
  ["env with a number", serverWith("kind: stdio", "command: server", "env: { PORT: 8080 }")],
  ["env with a bad name", serverWith("kind: stdio", "command: server", "env: { MY-VAR: x }")],
  [
    "a variable in a text",
    serverWith("kind: stdio", "command: server", `args: ["\${HOME}/data"]`, `env: { BASE: "\${BASE}" }`),
  ],
  ["a variable in a credential", serverWith(...remote, "headers:", `  Authorization: Bearer \${TOKEN}`)],
  ["a number for a credential", serverWith("kind: stdio", "command: server", "env: { API_KEY: 123456 }")],
  ["env without a value", serverWith("kind: stdio", "command: server", "env:", "  LOG_LEVEL:")],
  ["timeout in transport", serverWith("kind: stdio", "command: server", "timeout: 30")],
  ["url http to another machine", serverWith("kind: sse", "url: http://tool.internal:9090/events")],
  ["url with another scheme", serverWith("kind: sse", "url: ws://tool.internal/events")],
  ["url without a scheme", serverWith("kind: sse", "url: tool.internal/events")],
  ["url with a line break in it", serverWith("kind: sse", 'url: "https://tool.\\ninternal/"')],
  ["url with a password", serverWith("kind: sse", "url: https://me:hunter2@tool.internal/events")],
  ["header that Toolcrib sets", serverWith(...remote, "headers: { Content-Type: text/plain }")],
  ["header given twice", serverWith(...remote, "headers: { X-Team: a, x-team: b }")],
  ["header with a bad name", serverWith(...remote, 'headers: { "X Team": a }')],
  ["header with a line break", serverWith(...remote, 'headers: { X-Team: "a\\nb" }')],
  ["header a list", serverWith(...remote, "headers: { X-Team: [a] }")],
  ["transport a text", "tool_servers:\n- id: files\n  transport: stdio\n"],
  ["endpoint for url", serverWith("kind: sse", "endpoint: https://tool.internal/events")],
]);

const secret = (ref: string): string =>
  serverWith(...remote, "headers:", `  Authorization: { secret_key_ref: ${ref} }`);

checkGolden("secrets", [
  ["a name with a space", secret('"my token"')],
  ["a name that leaves its folder", secret("../token")],
  ["an empty name", secret('""')],
  ["two places", secret("{ env: TOKEN, file: /run/token }")],
  ["no place", secret("{}")],
  ["an unknown place", secret("{ vault: token }")],
  ["a value in place of a name", secret("{ value: hunter2 }")],
  ["a variable with a bad name", secret("{ env: MY-TOKEN }")],
  ["a list", secret("[token]")],
  ["secret_key_ref misspelt", serverWith(...remote, "headers: { Authorization: { secret_ref: token } }")],
  ["env without secret_key_ref", serverWith(...remote, "headers: { Authorization: { env: TOKEN } }")],
  [
    "a secret for a prefix",
    serverWith(...remote, "headers: { Authorization: { prefix: Bearer abcdefgh, secret_key_ref: token } }"),
  ],
]);

checkGolden("packages", [
  ["a toolId without a dot", "packages: { echo: {} }\n"],
  ["a list of packages", "packages: [demo.echo]\n"],
  ["an unknown field", "packages: { demo.echo: { url: http://127.0.0.1/x } }\n"],
  ["a secret in place of a reference", "packages: { demo.echo: { credentials: { token: hunter2 } } }\n"],
  [
    "a URL over http to another machine",
    "packages: { demo.echo: { endpoint: { url: http://example.com/x } } }\n",
  ],
  ["a URL with an address", "packages: { demo.echo: { endpoint: { url: https://10.0.0.1/x } } }\n"],
  [
    "a placeholder in the host",
    'packages: { demo.echo: { endpoint: { url: "https://{host}.example.com/x" } } }\n',
  ],
  ["a scope without its list", "packages: { demo.echo: { containment: { network_egress: scoped } } }\n"],
  ["disabled", "packages: { demo.echo: { disabled: true } }\n"],
  [
    "below the policy floor",
    "policy: { floor: { network_egress: deny } }\npackages: { demo.echo: { containment: { network_egress: allow } } }\n",
  ],
]);

checkGolden("sections", [
  ["unknown section", "tool_server: []\n"],
  ["execution with units", "execution: { timeout: 30s, maxMemory: 128 }\n"],
  ["execution out of range", "execution: { maxMemory: 2GB, maxToolCalls: 0, isolation: vm }\n"],
  ["execution in other words", "execution: { timeout_ms: 30000, debug: true }\n"],
  ["secrets with fields", "secrets: { API_KEY: hunter2 }\n"],
  ["secrets a list", "secrets: []\n"],
  ["serve.auth jwt", "serve: { auth: jwt }\n"],
  ["serve.auth misspelt", "serve: { auth: tokn }\n"],
  ["serve.auth none on all addresses", "serve:\n  listen: 0.0.0.0:7420\n  auth: none\n"],
  [
    "serve.auth with a resource that is not answered",
    "serve: { auth: { resource: 'https://tools.example.com/mcp', jwt: [{ issuer: 'https://id.example.com' }] } }\n",
  ],
  ["serve.listen a port", "serve: { listen: 8080 }\n"],
  ["serve.listen without a host", 'serve: { listen: ":8080" }\n'],
  ["serve.listen with a port too high", "serve: { listen: 127.0.0.1:70000 }\n"],
  ["serve.port", "serve: { port: 8080 }\n"],
  ["serve.token", "serve: { token: hunter2 }\n"],
  ["serve.mode misspelt", "serve: { mode: serach }\n"],
  ["serve.tools with a bad pattern", "serve: { tools: { hidden: [github/delete_repo] } }\n"],
  ["serve.allowed_origins with a wildcard", 'serve: { allowed_origins: ["*"] }\n'],
  ["serve.allowed_hosts with a URL", "serve: { allowed_hosts: ['https://tools.example.com'] }\n"],
  ["serve.limits with a unit", "serve: { limits: { body_max_bytes: 4MB } }\n"],
  ["serve.limits without a limit", "serve: { limits: { max_sessions: 0 } }\n"],
  ["audit.durability misspelt", "audit: { durability: fsnyc }\n"],
  ["policy with an unknown field", "policy: { alow: [] }\n"],
  [
    "policy patterns that match nothing",
    `policy:
  deny:
    - github/delete_repo
    - files:resources:file::::etc:passwd
    - files:resource/file:///etc/*
    - files__resources__file:///etc/*
    - files:file:///etc/*
    - file:///etc/*
    - files:prompts:review
    - files/prompts/review code
    - my files:*
    - files:delete all
  allow: ["files:resources:1.0", "files:resources:*", "files__resources/memo://x?y=%20#z", "*delete all", "files:prompts/Prüfe das"]
`,
  ],
  ["serve.tools with a pattern of resources", "serve: { tools: { pinned: ['files:resources/*'] } }\n"],
  ["policy.allow a text", 'policy: { allow: "github:*" }\n'],
  ["policy.clients with an unknown field", "policy: { clients: { ci: { permit: [] } } }\n"],
  [
    "policy.clients with half an identity",
    "policy: { clients: { ci: { identity: { subject: ci } }, dev: { issuer: x, identity: { name: dev } } } }\n",
  ],
  ["policy.floor with a level that is none", "policy: { floor: { network_egress: none } }\n"],
  [
    "policy.floor above a server of the same file",
    `${stdioServer("containment: { network_egress: allow, max_execution_seconds: 600 }")}policy:\n  floor: { network_egress: deny, max_execution_seconds: 60 }\n`,
  ],
  ["the whole file a list", "- id: files\n"],
  ["the whole file a text", "hello\n"],
  ["mcpServers beside tool_servers", 'tool_servers: []\nmcpServers: { files: { command: "server" } }\n'],
]);

checkGolden("composition", [
  [
    "conflation across files",
    { "base.yaml": stdioServer(), "overlay.yaml": "providers:\n  targets:\n  - id: files\n" },
  ],
  [
    "ids across files that differ in case",
    {
      "base.yaml": stdioServer(),
      "overlay.yaml": "tool_servers:\n- id: FILES\n  transport: { kind: stdio, command: other }\n",
    },
  ],
  [
    "an overlay that declares less than the floor",
    {
      "base.yaml": `${stdioServer("containment: { network_egress: deny }")}policy:\n  floor:\n    network_egress: deny\n`,
      "overlay.yaml": stdioServer("containment:", "  network_egress: allow"),
    },
  ],
  [
    "an overlay that lowers the floor",
    {
      "base.yaml": "policy:\n  floor: { filesystem_write: deny, max_execution_seconds: 60 }\n",
      "overlay.yaml": "policy:\n  floor: { filesystem_write: scoped, max_execution_seconds: 120 }\n",
    },
  ],
  [
    "an overlay whose floor is above a server of the base",
    {
      "base.yaml": stdioServer("containment: { filesystem_write: allow }"),
      "overlay.yaml": "policy: { floor: { filesystem_write: deny } }\n",
    },
  ],
  [
    "auth none and a public address from two files",
    { "base.yaml": "serve: { listen: 192.168.1.10:7420 }\n", "overlay.yaml": "serve: { auth: none }\n" },
  ],
  [
    "a file that is not valid alone",
    { "base.yaml": "serve: { mode: fast }\n", "overlay.yaml": "serve: { mode: full }\n" },
  ],
  [
    "problems of two files and a sound one",
    { "a.yaml": "x: 1\n", "b.yaml": stdioServer(), "c.yaml": "serve: { mode: fast }\n" },
  ],
]);

checkGolden("syntax", [
  ["an indentation that does not fit", "serve:\n  mode: full\n listen: 127.0.0.1:0\n"],
  ["a field of a list item that is indented too little", "tool_servers:\n  - id: a\n   name: b\n"],
  ["a field without a colon", "serve: { mode: full }\npolicy\naudit: {}\n"],
  ["a tab", "serve:\n\tmode: full\n"],
  ["two colons", "serve: mode: full\n"],
  ["a quote that is not closed", 'serve:\n  listen: "127.0.0.1:0\n'],
  ["a bracket that is not closed", "policy: { allow: [a, b\n"],
  ["a bracket too many", "policy: { allow: [a] } }\n"],
  ["several documents", "serve: { mode: full }\n---\nserve: { mode: auto }\n"],
  ["an alias without its anchor", "serve: *defaults\n"],
  ["an alias in itself", "policy: &policy { clients: { ci: *policy } }\n"],
  ["a custom tag", "serve: !include serve.yaml\n"],
  ["YAML 1.1", "%YAML 1.1\n---\nserve: {}\n"],
  ["a merge key", "serve: &serve { mode: full }\naudit: { <<: *serve }\n"],
  ["a field given twice", "serve: { mode: full }\naudit: {}\nserve: { mode: auto }\n"],
  ["a list for a field name", "? [a]\n: 1\n"],
  ["deep nesting", `policy: ${"[".repeat(70)}${"]".repeat(70)}\n`],
  [
    "aliases that multiply",
    `a: &a [x,x,x,x,x,x,x,x,x,x]\n${"bcdefg"
      .split("")
      .map((name, at) => `${name}: &${name} [${Array(10).fill(`*${"abcdef"[at]}`).join(",")}]\n`)
      .join("")}`,
  ],
  [
    "a secret in a line that cannot be read",
    "tool_servers:\n- transport: headers: { Authorization: Bearer hunter2hunter2 }\n",
  ],
  ["JSON: a comma missing", { "toolcrib.json": '{\n  "serve": { "mode": "full" }\n  "audit": {}\n}\n' }],
  ["JSON: a field name without quotes", { "toolcrib.json": "{ serve: {} }\n" }],
  ["JSON: single quotes", { "toolcrib.json": '{ "serve": { "mode": \'full\' } }\n' }],
  ["JSON: a text that is not closed", { "toolcrib.json": '{ "serve": { "mode": "full } }\n' }],
  ["JSON: a colon missing", { "toolcrib.json": '{ "serve" {} }\n' }],
  ["JSON: a bracket missing", { "toolcrib.json": '{ "serve": { "mode": "full" }\n' }],
  ["JSON: text after the document", { "toolcrib.json": "{}\n{}\n" }],
  ["JSON: a value missing", { "toolcrib.json": '{ "serve": }\n' }],
  ["JSON: the end where a value belongs", { "toolcrib.json": '{ "serve": ' }],
  ["JSON: a field given twice", { "toolcrib.json": '{ "serve": {}, "serve": {} }\n' }],
  ["JSON: deep nesting", { "toolcrib.json": `{"policy":${"[".repeat(70)}` }],
  [
    "JSON: the wrong field",
    {
      "toolcrib.json":
        '{\n  "tool_servers": [\n    { "id": "a", "transport": { "kind": "stdio", "comand": "x" } }\n  ]\n}\n',
    },
  ],
  ["more than 1 MiB", `# ${"x".repeat(1024 * 1024)}\n`],
]);

checkGolden("foreign", [
  [
    "literal credentials",
    {
      ".mcp.json":
        '{ "mcpServers": { "github": { "command": "npx", "args": ["-y", "server"], "env": { "GITHUB_TOKEN": "hunter2" } },\n  "remote": { "type": "http", "url": "https://tool.internal/mcp", "headers": { "Authorization": "Bearer hunter2hunter2" } } } }\n',
    },
  ],
  [
    "a name that does not fit",
    { ".mcp.json": '{ "mcpServers": { "My Server": { "command": "server" } } }\n' },
  ],
  [
    "two names that become one",
    {
      ".mcp.json": '{ "mcpServers": { "My Server": { "command": "a" }, "My-Server": { "command": "b" } } }\n',
    },
  ],
  [
    "two names that differ in case",
    { ".mcp.json": '{ "mcpServers": { "files": { "command": "a" }, "Files": { "command": "b" } } }\n' },
  ],
  ["neither command nor url", { ".mcp.json": '{ "mcpServers": { "empty": {} } }\n' }],
  [
    "a type without its field",
    {
      ".mcp.json":
        '{ "mcpServers": { "a": { "type": "http", "command": "x" }, "b": { "type": "stdio", "url": "https://x.internal" } } }\n',
    },
  ],
  [
    "a type that is none",
    { ".mcp.json": '{ "mcpServers": { "live": { "type": "ws", "url": "https://tool.internal" } } }\n' },
  ],
  ["a server that is a text", { ".mcp.json": '{ "mcpServers": { "a": "npx server" } }\n' }],
  ["mcpServers a list", { ".mcp.json": '{ "mcpServers": [] }\n' }],
  [
    "fields without effect",
    {
      ".mcp.json":
        '{ "mcpServers": { "a": { "comand": "x", "command": "x", "timeout": 60000, "autoApprove": ["read"], "envFile": ".env" } } }\n',
    },
  ],
  ["a disabled server", { ".mcp.json": '{ "mcpServers": { "a": { "command": "x", "disabled": true } } }\n' }],
  [
    "an input",
    {
      "mcp.json": `{\n  // asks\n  "inputs": [{ "id": "api-key", "type": "promptString", "password": true }],\n  "servers": { "a": { "type": "stdio", "command": "x", "env": { "API_KEY": "\${input:api-key}" } } },\n}\n`,
    },
  ],
  [
    "a variable of the other program",
    { "mcp.json": `{ "servers": { "a": { "command": "\${command:pick}" } } }\n` },
  ],
  [
    "a literal default of a credential",
    {
      ".mcp.json": `{ "mcpServers": { "a": { "command": "x", "env": { "API_KEY": "\${API_KEY:-hunter2}" } } } }\n`,
    },
  ],
  [
    "http to another machine",
    { ".mcp.json": '{ "mcpServers": { "a": { "url": "http://tool.internal/mcp" } } }\n' },
  ],
  [
    "a password in the URL",
    { ".mcp.json": '{ "mcpServers": { "a": { "url": "https://me:hunter2@tool.internal/mcp" } } }\n' },
  ],
  [
    "a header that Toolcrib sets",
    {
      ".mcp.json":
        '{ "mcpServers": { "a": { "url": "https://tool.internal/mcp", "headers": { "Content-Type": "application/json" } } } }\n',
    },
  ],
  [
    "texts of other types",
    { ".mcp.json": '{ "mcpServers": { "a": { "command": ["x"], "args": "y", "env": [] } } }\n' },
  ],
]);

checkGolden("toolspecs", [
  ["no name and no path", "toolspecs:\n- id: github\n"],
  ["name and path", "toolspecs:\n- { name: github, path: ./github }\n"],
  ["path and version", "toolspecs:\n- { path: ./github, version: 0.1.0 }\n"],
  ["version a number", "toolspecs:\n- { name: github, version: 1 }\n"],
  ["a map", "toolspecs:\n  github: {}\n"],
  ["a name in capitals", "toolspecs:\n- name: GitHub\n"],
  ["an id that cannot be", "toolspecs:\n- { name: github, id: git__hub }\n"],
  ["an id of Toolcrib's own", "toolspecs:\n- { name: github, id: saved }\n"],
  [
    "inline secret in a credential",
    "toolspecs:\n- name: github\n  credentials: { token: hunter2-hunter2 }\n",
  ],
  [
    "inline secret in place of its name",
    "toolspecs:\n- name: github\n  credentials: { token: { secret_key_ref: ghp_1234567890abcdefghij } }\n",
  ],
  ["a credential without its reference", "toolspecs:\n- { name: github, credentials: { token: {} } }\n"],
  [
    "a prefix of a credential",
    'toolspecs:\n- name: github\n  credentials: { token: { secret_key_ref: a, prefix: "Bearer " } }\n',
  ],
  ["credentials as a list", "toolspecs:\n- { name: github, credentials: [github-token] }\n"],
  ["secret_key_ref beside credentials", "toolspecs:\n- { name: github, secret_key_ref: github-token }\n"],
  ["tools misspelt", "toolspecs:\n- { name: github, tools: every }\n"],
  ["no tools", "toolspecs:\n- { name: github, tools: [] }\n"],
  ["a reserved parameter without its tool", "toolspecs:\n- { name: github, reserved: [property] }\n"],
  ["unknown field", "toolspecs:\n- { name: github, credentails: {} }\n"],
  ["duplicate id", "toolspecs:\n- name: github\n- { path: ./other, id: github }\n"],
  ["id of a tool server", `${stdioServer()}toolspecs:\n- { name: github, id: files }\n`],
  [
    "id that differs from a tool server's in case",
    `${stdioServer()}toolspecs:\n- { name: github, id: Files }\n`,
  ],
  [
    "id of a tool server of another file",
    { "a.yaml": stdioServer(), "b.yaml": "toolspecs:\n- { name: github, id: files }\n" },
  ],
]);

checkGolden("egress", [
  ["a range that is an address", "egress: { internal_ranges: [10.1.2.3] }\n"],
  ["a range that is none", "egress: { internal_ranges: [10.0.0.0/33, internal] }\n"],
  ["connect_to without a port", "egress: { connect_to: { api.example.com: 10.1.2.3 } }\n"],
  ["connect_to a name", "egress: { connect_to: { api.example.com: localhost:8443 } }\n"],
  ["connect_to for what is no host", 'egress: { connect_to: { "10.1.2.3": "10.1.2.3:443" } }\n'],
  ["hosts", "egress: { allow: [api.example.com] }\n"],
  ["ca_files a text", "egress: { ca_files: ca.pem }\n"],
]);
