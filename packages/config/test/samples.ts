/** Sample configurations for several tests. */

/** The example of the Declarative Tool Servers document, with its three transports. */
export const documentExample = `tool_servers:
- id: "code-search"
  name: "Code Search MCP"
  description: "Semantic code search over the monorepo"
  transport:
    kind: streamable_http
    url: "https://code-search.internal:8443/mcp"
    headers:
      Authorization:
        secret_key_ref: code-search-bearer-token
  trust_state: verified
  mutability_class: read_only
  containment:
    network_egress: deny
    filesystem_write: deny
    max_execution_seconds: 30
  labels:
    team: platform
    environment: production
- id: my-tool
  transport:
    kind: stdio
    command: "/usr/local/bin/my-tool-server"
    args: ["--port", "0"]
    env:
      API_KEY:
        secret_key_ref: my-tool-api-key
- id: events
  transport:
    kind: sse
    url: "https://tool.internal:9090/events"
    headers:
      Authorization:
        secret_key_ref: tool-sse-token
`;

/** Every section with every field, no finding. */
export const everySection = `$schema: ./toolcrib.schema.json
${documentExample}- id: scoped.server
  transport:
    kind: streamable_http
    url: http://10.0.0.5:8080/mcp
    allow_http: true
    headers:
      X-Team: core
      Authorization: { prefix: "Bearer ", secret_key_ref: { env: SCOPED_TOKEN } }
      X-Api-Key: { secret_key_ref: { file: ./key } }
  trust_state: certified
  mutability_class: write
  containment:
    network_egress: scoped
    egress_allow: [api.example.com, "*.example.org:8443", { host: files.example.com, tls: passthrough }]
    filesystem_write: scoped
    write_paths: [/srv/data, ~/data]
    max_execution_seconds: 3600
- id: local
  transport:
    kind: stdio
    command: server
    cwd: ./servers
    env: { LOG_LEVEL: info, STORED: { secret_key_ref: { store: kept } }, CHAINED: { secret_key_ref: { keychain: kept } } }
toolspecs:
- name: github
  version: 0.1.0
  id: work-github
  credentials:
    token: { secret_key_ref: github-token }
    second: { secret_key_ref: { keychain: other } }
  variables: { tenant: acme }
  reserved: [get_report.property]
  tools: all
  labels: { team: core }
- path: ./specs/acme
  tools: [list_repos]
egress:
  internal_ranges: [10.0.0.0/8, "fd00::/8"]
  connect_to: { api.example.com: "10.1.2.3:8443", other.example.com: "[fd00::1]:443" }
  ca_files: [./corporate-ca.pem]
providers:
  targets:
  - { id: claude, mcp: { command: x }, weight: 3 }
  strategy: fallback
policy:
  allow: ["github:*", "files__read"]
  deny: ["*:delete_*"]
  clients:
    ci: { allow: ["files:*"], deny: [] }
  floor: { network_egress: allow, filesystem_write: allow, max_execution_seconds: 3600 }
serve:
  listen: "[::1]:0"
  auth: none
  mode: auto
  shared_home: false
  list: { token_budget: 5000, most_used: 3 }
  results: { token_budget: 9000 }
  tools: { hidden: ["files:rm"], pinned: ["files:read"] }
  allowed_hosts: [tools.example.com]
  allowed_origins: [https://app.example.com]
  limits:
    body_max_bytes: 1048576
    result_max_bytes: 1048576
    max_sessions: 10
    session_idle_seconds: 60
    max_concurrent_calls: 5
    max_calls_per_server: 4
    max_queued_calls_per_server: 3
    max_tasks: 4
    task_results_max_bytes: 65536
    task_ttl_seconds: 5
    task_ttl_max_seconds: 6
profiles: { reading: { tools: ["files:*"], servers: [files], exclude: ["*:delete_*"], clients: [ci], mode: search, pinned: ["files:read"], instructions: Read., list: { token_budget: 700, most_used: 0 }, results: { token_budget: 0 } } }
tools: { "files:read": { name: read_file, title: Read, description: Reads., result_token_budget: 100, arguments: { path: { hidden: false, default: /tmp, description: Where. }, mode: { fixed: { a: [1] } } } } }
telemetry: { otlp: { endpoint: "https://otlp.example.com/x", protocol: http/json, headers: { authorization: { prefix: "Bearer ", secret_key_ref: OTLP } }, allow_http: false }, traces: true, metrics: false, logs: true, service_name: crib, sample_ratio: 0.5, resource_attributes: { deployment.environment.name: ci }, metrics_interval_seconds: 10 }
audit: { durability: fsync, retention_max_bytes: 268435456, client_max_bytes_per_day: 67108864, retention_days: 30, anchor: { file: anchors.jsonl, command: [logger, -t, toolcrib] }, fingerprints: false, redact: [{ tool: "files:*", arguments: [content, /meta/a~1b, rows.*.email, "*"] }] }
secrets: {}
`;

/** Documents that are wrong in a way that a schema can say too. */
export const faultyShapes: readonly string[] = [
  "x: 1",
  "tool_servers: {}",
  "tool_servers: [{}]",
  "tool_servers: [{ id: a }]",
  "tool_servers: [{ id: a b, transport: { kind: stdio, command: x } }]",
  "tool_servers: [{ id: a__b, transport: { kind: stdio, command: x } }]",
  "tool_servers: [{ id: a_, transport: { kind: stdio, command: x } }]",
  "tool_servers: [{ id: a, transport: { kind: http, url: https://x.test } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio } }]",
  "tool_servers: [{ id: a, transport: { kind: sse } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x, url: https://x.test } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x, env: { A: 1 } } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x, env: { A: { secret_key_ref: {} } } } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x, env: { A: { secret_key_ref: { env: A, file: b } } } } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x }, trust_state: pending }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x }, containment: { max_execution_seconds: 0 } }]",
  "tool_servers: [{ id: a, transport: { kind: stdio, command: x }, labels: { a: 1 } }]",
  "serve: { auth: jwt }",
  "serve: { mode: x }",
  "serve: { list: { token_budget: -1 } }",
  "serve: { results: { max_tokens: 1 } }",
  "profiles: { a: { allow: [x] } }",
  "profiles: { 'a b': {} }",
  "profiles: { a: { servers: [a/b] } }",
  "tools: { 'a:b': { args: {} } }",
  "tools: { 'a:b': { name: 'a b' } }",
  "tools: { 'a:b': { arguments: { x: { hidden: maybe } } } }",
  "serve: { limits: { max_sessions: 0 } }",
  "policy: { allow: x }",
  "audit: { durability: x }",
  "telemetry: {}",
  "telemetry: { otlp: {} }",
  "telemetry: { otlp: { endpoint: 5 } }",
  'telemetry: { otlp: { endpoint: "https://a.example" }, sample_ratio: 2 }',
  'telemetry: { otlp: { endpoint: "https://a.example", protocol: grpc } }',
  'telemetry: { otlp: { endpoint: "https://a.example" }, metrics_interval_seconds: 0 }',
  "audit: { retention_days: 0 }",
  "audit: { retention_max_bytes: 1 }",
  "audit: { client_max_bytes_per_day: 1 }",
  "audit: { anchor: { path: x } }",
  "audit: { redact: [{ tool: a }] }",
  "audit: { redact: [{ tool: a, arguments: [a..b] }] }",
  "audit: { redact: [{ tool: a, arguments: [/a~2] }] }",
  "audit: { anchor: { command: logger } }",
  "secrets: { a: b }",
  "toolspecs: {}",
  "toolspecs: [{ id: a }]",
  "toolspecs: [{ name: Git Hub }]",
  "toolspecs: [{ name: a, path: b }]",
  "toolspecs: [{ path: a, version: 0.1.0 }]",
  "toolspecs: [{ name: a, version: 1 }]",
  "toolspecs: [{ name: a, credentials: { token: abc } }]",
  "toolspecs: [{ name: a, tools: some }]",
  "toolspecs: [{ name: a, tools: [] }]",
  "toolspecs: [{ name: a, reserved: [a] }]",
  "egress: { allow: [a] }",
  "egress: { ca_files: a.pem }",
  "packages: []",
  "execution: { timeout: 0 }",
  "execution: { maxMemory: 12 }",
  "execution: { isolation: vm }",
];
