import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import {
  formatConfigReport,
  type GatewayConfig,
  loadConfig,
  parseConfig,
  type ToolServerConfig,
} from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { documentExample, everySection } from "./samples.ts";

function parsed(text: string, name = "toolcrib.yaml"): GatewayConfig {
  const { value, diagnostics } = parseConfig([{ name, text }]);
  assert.ok(value, formatConfigReport([], diagnostics));
  return value;
}

function serverOf(config: GatewayConfig, id: string): ToolServerConfig {
  const server = config.toolServers.find((one) => one.id === id);
  assert.ok(server, `no server ${id}`);
  return server;
}

/** `value` without the places in the text. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, part) => (key === "span" || key === "source" ? undefined : part)),
  );
}

test("parseConfig() reads the example of the Declarative Tool Servers document", () => {
  const config = parsed(documentExample);
  assert.deepEqual(plain(serverOf(config, "code-search")), {
    id: "code-search",
    name: "Code Search MCP",
    description: "Semantic code search over the monorepo",
    transport: {
      kind: "streamable_http",
      url: { kind: "literal", text: "https://code-search.internal:8443/mcp", isSecret: false },
      headers: {
        Authorization: {
          kind: "secret",
          ref: { kind: "named", name: "code-search-bearer-token" },
          prefix: "",
        },
      },
      allowHttp: false,
    },
    trustState: "verified",
    validation: "upstream",
    firstContact: "pin",
    pinsResources: false,
    mutabilityClass: "read_only",
    containment: {
      declared: { networkEgress: "deny", filesystemWrite: "deny", maxExecutionSeconds: 30 },
      effective: {
        networkEgress: "deny",
        filesystemWrite: "deny",
        maxExecutionSeconds: 30,
        egressAllow: [],
        egressPassthrough: [],
        writePaths: [],
        readPaths: [],
        readsArguments: true,
        hasState: false,
      },
      needsSandbox: false,
      enforced: ["max_execution_seconds"],
      bySandbox: [],
      notEnforced: ["network_egress", "filesystem_write"],
      judged: ["network_egress", "filesystem_write"],
    },
    labels: { team: "platform", environment: "production" },
    dataLabels: [],
    notEnforced: [
      'Containment of tool server "code-search" is NOT enforced: network_egress: deny (calls are blocked by what tools declare), filesystem_write: deny (calls are blocked by what tools declare); the server runs elsewhere, where nothing contains it',
    ],
    problems: [],
  });
  assert.deepEqual(plain(serverOf(config, "my-tool").transport), {
    kind: "stdio",
    command: { kind: "literal", text: "/usr/local/bin/my-tool-server", isSecret: false },
    args: [
      { kind: "literal", text: "--port", isSecret: false },
      { kind: "literal", text: "0", isSecret: false },
    ],
    env: { API_KEY: { kind: "secret", ref: { kind: "named", name: "my-tool-api-key" }, prefix: "" } },
  });
  assert.equal(serverOf(config, "events").transport.kind, "sse");
});

test("parseConfig() gives an omitted field its documented default", () => {
  const server = serverOf(parsed(documentExample), "my-tool");
  assert.equal(server.trustState, "unverified");
  assert.equal(server.mutabilityClass, "unknown");
  assert.deepEqual(server.labels, {});
  assert.equal(server.containment.needsSandbox, true);
  assert.deepEqual(server.containment.bySandbox, ["network_egress", "filesystem_write"]);
});

test("parseConfig() fills omitted containment by trust state", () => {
  const effective = (trust: string, containment = "{}"): unknown =>
    parsed(
      `tool_servers: [{ id: a, transport: { kind: stdio, command: x }, trust_state: ${trust}, containment: ${containment} }]`,
    ).toolServers[0]?.containment.effective;
  const lists = {
    egressAllow: [],
    egressPassthrough: [],
    writePaths: [],
    readPaths: [],
    readsArguments: true,
    hasState: false,
  };
  assert.deepEqual(effective("unverified"), {
    networkEgress: "deny",
    filesystemWrite: "deny",
    maxExecutionSeconds: 30,
    ...lists,
  });
  assert.deepEqual(effective("verified"), {
    networkEgress: "allow",
    filesystemWrite: "deny",
    maxExecutionSeconds: 60,
    ...lists,
  });
  assert.deepEqual(effective("certified"), {
    networkEgress: "allow",
    filesystemWrite: "allow",
    maxExecutionSeconds: 300,
    ...lists,
  });
  assert.deepEqual(effective("verified", "{ filesystem_write: allow }"), {
    networkEgress: "allow",
    filesystemWrite: "allow",
    maxExecutionSeconds: 60,
    ...lists,
  });
});

test("parseConfig() raises defaults to the policy floor, and keeps stricter values", () => {
  const config = parsed(
    "tool_servers: [{ id: a, transport: { kind: stdio, command: x }, trust_state: certified }, { id: b, transport: { kind: stdio, command: x } }]\n" +
      "policy: { floor: { network_egress: scoped, filesystem_write: deny, max_execution_seconds: 60 } }",
  );
  const [certified, unverified] = config.toolServers.map((server) => server.containment.effective);
  assert.deepEqual(certified, {
    networkEgress: "deny",
    filesystemWrite: "deny",
    maxExecutionSeconds: 60,
    egressAllow: [],
    egressPassthrough: [],
    writePaths: [],
    readPaths: [],
    readsArguments: true,
    hasState: false,
  });
  assert.equal(unverified?.maxExecutionSeconds, 30);
});

/** The settings of a package without an entry. */
const unverifiedPackage = {
  isEnabled: true,
  trustState: "unverified",
  mutabilityClass: "unknown",
  firstContact: "pin",
  declared: {
    networkEgress: undefined,
    filesystemWrite: undefined,
    maxExecutionSeconds: undefined,
    egressAllow: undefined,
    egressPassthrough: undefined,
    writePaths: undefined,
    readPaths: undefined,
    readsArguments: undefined,
    hasState: undefined,
  },
  effective: {
    networkEgress: "deny",
    filesystemWrite: "deny",
    maxExecutionSeconds: 30,
    egressAllow: [],
    egressPassthrough: [],
    writePaths: [],
    readPaths: [],
    readsArguments: true,
    hasState: false,
  },
  endpointUrl: undefined,
  credentials: {},
  language: undefined,
  implementation: undefined,
  labels: {},
  dataLabels: [],
  limits: { maxConcurrentCalls: 4, outputMaxBytes: 10_485_760 },
};

test("parseConfig() returns the default configuration for an empty text", () => {
  for (const text of ["", "\n", "# nothing\n", "{}", "tool_servers: []"]) {
    assert.deepEqual(parsed(text), {
      toolServers: [],
      toolspecs: [],
      dataLabels: [],
      disabled: { toolServers: [], toolspecs: [], packages: [] },
      egress: { internalRanges: [], connectTo: {}, caFiles: [], caCertificates: [] },
      policy: {
        waiveApproval: [],
        files: [],
        allow: undefined,
        deny: [],
        clients: {},
        floor: { networkEgress: undefined, filesystemWrite: undefined, maxExecutionSeconds: undefined },
      },
      packages: { byId: {}, others: unverifiedPackage, maxPrograms: 16 },
      guards: { rules: [], costs: [] },
      telemetry: undefined,
      tests: { everyMs: undefined },
      hooks: {
        before: [],
        after: [],
        limits: { maxRunning: 16, maxWaiting: 128, inputMaxBytes: 4_194_304, answerMaxBytes: 4_194_304 },
      },
      profiles: {},
      toolOverrides: [],
      serve: {
        listen: { host: "127.0.0.1", port: 7420 },
        auth: "token",
        listWaitSeconds: 5,
        sharesHome: true,
        mode: "full",
        list: { tokenBudget: 10_000, mostUsed: 8 },
        results: { tokenBudget: undefined },
        tools: { hidden: [], pinned: [] },
        allowedHosts: [],
        allowedOrigins: [],
        limits: {
          bodyMaxBytes: 4_194_304,
          resultMaxBytes: 16_777_216,
          maxSessions: 1000,
          sessionIdleSeconds: 3600,
          maxConcurrentCalls: 1024,
          maxCallsPerServer: 128,
          maxQueuedCallsPerServer: 256,
          maxTasks: 1000,
          taskResultsMaxBytes: 67_108_864,
          taskTtlSeconds: 3600,
          taskTtlMaxSeconds: 86_400,
        },
      },
      audit: {
        durability: "process",
        retentionMaxBytes: 4_294_967_296,
        clientMaxBytesPerDay: 2_147_483_648,
        retentionDays: 400,
        anchor: {},
        fingerprints: true,
        redact: [],
      },
      execution: {
        timeoutMs: 30_000,
        memoryBytes: 134_217_728,
        steps: 10_000_000,
        callDepth: 200,
        toolCalls: 100,
        parallelWidth: 8,
        logBytes: 65_536,
        resultBytes: 1_048_576,
        isEnabled: undefined,
        debug: false,
        isolation: "none",
      },
      sandbox: { mode: "required", registryHosts: [], totals: {} },
      registries: [],
      search: { embeddings: undefined, learns: true, learnsExcept: [] },
    });
  }
});

test("parseConfig() reads every field of every section", () => {
  const config = parsed(everySection);
  const scoped = serverOf(config, "scoped.server");
  assert.deepEqual(plain(scoped.transport), {
    kind: "streamable_http",
    url: { kind: "literal", text: "http://10.0.0.5:8080/mcp", isSecret: false },
    headers: {
      "X-Team": { kind: "literal", text: "core", isSecret: false },
      Authorization: { kind: "secret", ref: { kind: "env", name: "SCOPED_TOKEN" }, prefix: "Bearer " },
      "X-Api-Key": { kind: "secret", ref: { kind: "file", path: "./key" }, prefix: "" },
    },
    allowHttp: true,
  });
  assert.deepEqual(scoped.containment.declared, {
    networkEgress: "scoped",
    filesystemWrite: "scoped",
    maxExecutionSeconds: 3600,
    egressAllow: ["api.example.com", "*.example.org:8443", "files.example.com"],
    egressPassthrough: ["files.example.com"],
    writePaths: ["/srv/data", "~/data"],
    readPaths: undefined,
    readsArguments: undefined,
    hasState: undefined,
  });
  assert.deepEqual(scoped.containment.notEnforced, ["network_egress", "filesystem_write"]);
  assert.deepEqual(config.policy, {
    allow: ["github:*", "files__read"],
    deny: ["*:delete_*"],
    clients: { ci: { allow: ["files:*"], deny: [] } },
    waiveApproval: [],
    files: [],
    floor: { networkEgress: "allow", filesystemWrite: "allow", maxExecutionSeconds: 3600 },
    profiles: { reading: { tools: ["files:*"], servers: ["files"], exclude: ["*:delete_*"] } },
  });
  assert.deepEqual(config.profiles, {
    reading: {
      mode: "search",
      tokenBudget: 700,
      mostUsed: 0,
      pinned: ["files:read", "files:read"],
      resultTokenBudget: 0,
      instructions: "Read.",
      clients: ["ci"],
    },
  });
  assert.deepEqual(plain(config.toolOverrides), [
    {
      pattern: "files:read",
      name: "read_file",
      title: "Read",
      description: "Reads.",
      resultTokenBudget: 100,
      arguments: {
        path: { hidden: false, default: "/tmp", description: "Where." },
        mode: { fixed: { a: [1] } },
      },
    },
  ]);
  assert.deepEqual(config.serve, {
    listen: { host: "::1", port: 0 },
    auth: "none",
    listWaitSeconds: 5,
    mode: "auto",
    sharesHome: false,
    list: { tokenBudget: 5000, mostUsed: 3 },
    results: { tokenBudget: 9000 },
    tools: { hidden: ["files:rm"], pinned: ["files:read"] },
    allowedHosts: ["tools.example.com"],
    allowedOrigins: ["https://app.example.com"],
    limits: {
      bodyMaxBytes: 1_048_576,
      resultMaxBytes: 1_048_576,
      maxSessions: 10,
      sessionIdleSeconds: 60,
      maxConcurrentCalls: 5,
      maxCallsPerServer: 4,
      maxQueuedCallsPerServer: 3,
      maxTasks: 4,
      taskResultsMaxBytes: 65_536,
      taskTtlSeconds: 5,
      taskTtlMaxSeconds: 6,
    },
  });
  assert.deepEqual(config.audit, {
    durability: "fsync",
    retentionMaxBytes: 268_435_456,
    clientMaxBytesPerDay: 67_108_864,
    retentionDays: 30,
    anchor: { file: resolve("anchors.jsonl"), command: ["logger", "-t", "toolcrib"] },
    fingerprints: false,
    redact: [{ tool: "files:*", arguments: ["content", "/meta/a~1b", "rows.*.email", "*"] }],
  });
});

test("parseConfig() reads JSON with comments and trailing commas, with or without a byte order mark", () => {
  const text = `\ufeff// first
{ /* second */ "tool_servers": [ { "id": "a", "transport": { "kind": "stdio", "command": "C:\\\\x \\u00e9", }, }, ], }`;
  const [server] = parsed(text, "toolcrib.json").toolServers;
  assert.equal(
    server?.transport.kind === "stdio" &&
      server.transport.command.kind === "literal" &&
      server.transport.command.text,
    "C:\\x é",
  );
});

test("parseConfig() resolves aliases", () => {
  const config = parsed(
    "tool_servers:\n- id: a\n  transport: { kind: stdio, command: x }\n  containment: &strict { network_egress: deny }\n- id: b\n  transport: { kind: stdio, command: x }\n  containment: *strict\n",
  );
  assert.equal(config.toolServers[1]?.containment.declared.networkEgress, "deny");
});

test("parseConfig() reads a bare on as a text, not as a boolean", () => {
  assert.deepEqual(
    parsed("tool_servers: [{ id: on, transport: { kind: stdio, command: yes } }]").toolServers[0]?.id,
    "on",
  );
});

test("parseConfig() returns the place of each declaration", () => {
  const text = "tool_servers:\n- id: files\n  transport: { kind: stdio, command: x }\n";
  const [server] = parsed(text).toolServers;
  assert.ok(server);
  assert.equal(server.source.name, "toolcrib.yaml");
  assert.equal(server.source.text.slice(server.span.start, server.span.end), "files");
});

test("parseConfig() trims ids", () => {
  assert.equal(
    parsed('tool_servers: [{ id: "  files ", transport: { kind: stdio, command: x } }]').toolServers[0]?.id,
    "files",
  );
});

test("parseConfig() allows http to every name of this machine", () => {
  for (const host of [
    "localhost",
    "127.0.0.1",
    "127.8.9.1",
    "[::1]",
    "sub.localhost",
    "LOCALHOST",
    "0x7f.1",
  ]) {
    parsed(`tool_servers: [{ id: a, transport: { kind: sse, url: "http://${host}:1/x" } }]`);
  }
  for (const host of [
    "127.0.0.1.example.com",
    "localhost.example.com",
    "10.0.0.1",
    "[::ffff:7f00:1]",
    "128.0.0.1",
    "xlocalhost",
  ]) {
    const { value } = parseConfig([
      {
        name: "toolcrib.yaml",
        text: `tool_servers: [{ id: a, transport: { kind: sse, url: "http://${host}:1/x" } }]`,
      },
    ]);
    assert.equal(value, undefined, host);
  }
});

test("parseConfig() accepts literals that are not credentials", () => {
  const { value, diagnostics } = parseConfig([
    {
      name: "toolcrib.yaml",
      text: `tool_servers:
- id: a
  transport: { kind: sse, url: https://x.test/task-list/sk-overview, headers: { X-Team: core, Accept-Language: sk-SK, X-Request: "Bearer" } }
- id: b
  description: Bearer tokens and sk-keys are explained here
  transport: { kind: stdio, command: x, args: [--desk-mode, disk-usage, sk], env: { LOG_LEVEL: info, API_KEY: "", LANG: sk-SK } }
`,
    },
  ]);
  assert.ok(value, formatConfigReport([], diagnostics));
});

test("loadConfig() reads files and reports all findings of all files together", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-config-"));
  try {
    const path = (name: string): string => join(folder, name);
    await writeFile(path("good.yaml"), "serve: { mode: auto }\n");
    await writeFile(path("bad.yaml"), "serve: { mode: fast }\n");
    await writeFile(path("large.yaml"), "#".repeat(1024 * 1024 + 1));
    await writeFile(path("binary.yaml"), Buffer.from([0x61, 0xff, 0xfe]));
    await mkdir(path("folder.yaml"));
    await symlink(path("loop.yaml"), path("loop.yaml"));
    const names = [
      "good.yaml",
      "bad.yaml",
      "missing.yaml",
      "large.yaml",
      "binary.yaml",
      "folder.yaml",
      "loop.yaml",
    ];
    const { value, diagnostics } = await loadConfig(names.map(path), { readFile: readRegularFile });
    assert.equal(value, undefined);
    const reported = diagnostics.map(
      ({ code, message, source }) => `${source?.name.slice(folder.length + 1)} ${code} ${message}`,
    );
    assert.deepEqual(reported.sort(), [
      'bad.yaml CONFIG_INVALID_VALUE "serve.mode" must be full, search or auto, but is "fast"',
      "binary.yaml CONFIG_SYNTAX Cannot read the configuration: it is not text in UTF-8",
      "folder.yaml CONFIG_FILE_UNREADABLE Cannot read the configuration: it is a folder",
      "large.yaml CONFIG_FILE_TOO_LARGE Cannot read a configuration of more than 1,048,576 bytes",
      "loop.yaml CONFIG_FILE_UNREADABLE Cannot read the configuration: its symbolic links form a loop",
      "missing.yaml CONFIG_FILE_UNREADABLE Cannot read the configuration: the file does not exist",
    ]);
    const report = formatConfigReport(names.map(path), diagnostics);
    assert.match(report, new RegExp(`^${path("missing.yaml")}: error CONFIG_FILE_UNREADABLE$`, "m"));
    assert.match(report, new RegExp(`^OK ${path("good.yaml")}$`, "m"));
    await chmod(path("good.yaml"), 0o600);
    const sound = await loadConfig([path("good.yaml")], { readFile: readRegularFile });
    assert.equal(sound.value?.serve.mode, "auto");
    assert.equal(formatConfigReport([path("good.yaml")], sound.diagnostics), `OK ${path("good.yaml")}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("loadConfig() composes overrides after the files, and checks them like a file", async () => {
  const deps = {
    readFile: async () => ({
      bytes: new TextEncoder().encode("serve: { listen: 0.0.0.0:80 }"),
      mode: undefined,
    }),
  };
  const overridden = await loadConfig(["a.yaml"], deps, {
    overrides: [{ name: "--listen", text: JSON.stringify({ serve: { listen: "127.0.0.1:0" } }) }],
  });
  assert.deepEqual(overridden.value?.serve.listen, { host: "127.0.0.1", port: 0 });
  const exposed = await loadConfig(["a.yaml"], deps, {
    overrides: [{ name: "--auth", text: JSON.stringify({ serve: { auth: "none" } }) }],
  });
  assert.deepEqual(
    exposed.diagnostics.map(({ code, source }) => [code, source?.name]),
    [["CONFIG_AUTH_EXPOSED", "--auth"]],
  );
  // The host of a resource may be allowed by another file than the one that names it.
  const auth = { resource: "https://tools.example.com/mcp", jwt: [{ issuer: "https://id.example.com" }] };
  for (const [hosts, expected] of [
    [[], ["CONFIG_RESOURCE_HOST"]],
    [["TOOLS.example.com"], []],
  ] as const) {
    const overrides = [
      { name: "--hosts", text: JSON.stringify({ serve: { allowed_hosts: hosts } }) },
      { name: "--auth", text: JSON.stringify({ serve: { auth } }) },
    ];
    const { diagnostics } = await loadConfig(["a.yaml"], deps, { overrides });
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      expected,
    );
  }
});

test("readRegularFile() does not wait for a pipe without a writer", {
  skip: process.platform === "win32",
}, async () => {
  const { execFileSync } = await import("node:child_process");
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-config-"));
  try {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await assert.rejects(readRegularFile(join(folder, "pipe"), 100), { code: "EINVAL" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("parseConfig() accepts every example of docs/reference/configuration.md", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/reference/configuration.md"), "utf8");
  const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? "");
  assert.equal(examples.length, 5);
  for (const text of examples) {
    assert.deepEqual(parseConfig([{ name: "toolcrib.yaml", text }]).diagnostics, []);
  }
});
