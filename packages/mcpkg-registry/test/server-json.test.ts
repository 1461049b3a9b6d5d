import assert from "node:assert/strict";
import { test } from "node:test";
import { readServerJson, toServerEntry } from "@toolcrib/mcpkg-registry";

interface Given {
  readonly use?: number;
  readonly set?: { readonly [name: string]: readonly string[] };
  readonly secret?: { readonly [name: string]: string };
}

/** Imports an offer of a server. */
function imported(server: object, { use = 1, set = {}, secret = {} }: Given = {}) {
  const read = readServerJson({
    name: "server.json",
    text: JSON.stringify({ name: "io.example/tool", ...server }),
  });
  const offer = read.value?.offers[use - 1];
  assert.ok(
    read.value !== undefined && offer !== undefined && offer.kind !== "bundle",
    JSON.stringify(read.diagnostics),
  );
  const given = { values: new Map(Object.entries(set)), secrets: new Map(Object.entries(secret)) };
  const { entry, secrets, diagnostics } = toServerEntry(read.value, offer, "tool", given, "server.json");
  const findings = [...read.diagnostics, ...diagnostics].map(
    ({ severity, code, message }) => `${severity} ${code.replace("SERVER_IMPORT_", "")}: ${message}`,
  );
  return { entry, transport: entry?.["transport"], secrets: secrets.map(({ name }) => name), findings };
}

const npm = (changes: object = {}) => ({
  packages: [
    {
      registryType: "npm",
      identifier: "@example/tool",
      version: "1.0.2",
      transport: { type: "stdio" },
      ...changes,
    },
  ],
});

test("packages of npm, PyPI, NuGet and OCI become pinned commands", () => {
  const flag = { type: "positional", value: "mcp" };
  const cases: readonly (readonly [changes: object, command: string, args: readonly string[]])[] = [
    [{}, "npx", ["-y", "@example/tool@1.0.2"]],
    [
      { runtimeArguments: [{ type: "positional", value: "-y" }], packageArguments: [flag] },
      "npx",
      ["-y", "@example/tool@1.0.2", "mcp"],
    ],
    [{ registryType: "pypi", identifier: "weather", runtimeHint: "uvx" }, "uvx", ["weather@1.0.2"]],
    [
      { registryType: "nuget", identifier: "Sample.Server", runtimeHint: "dnx", packageArguments: [flag] },
      "dnx",
      ["Sample.Server@1.0.2", "--yes", "--", "mcp"],
    ],
    [
      {
        registryType: "oci",
        identifier: "ghcr.io/example/tool:1.0.2",
        version: undefined,
        environmentVariables: [{ name: "MODE", value: "fast" }],
        runtimeArguments: [{ type: "named", name: "--network", value: "host" }],
      },
      "docker",
      ["run", "-i", "--rm", "-e", "MODE", "--network", "host", "ghcr.io/example/tool:1.0.2"],
    ],
    [
      { registryType: "oci", identifier: "mcp/tool", version: "2.0" },
      "docker",
      ["run", "-i", "--rm", "mcp/tool:2.0"],
    ],
  ];
  for (const [changes, command, args] of cases) {
    const { entry, findings } = imported(npm(changes));
    const transport = entry?.["transport"] as { command: string; args: unknown } | undefined;
    assert.equal(transport?.command, command, findings.join("\n"));
    assert.deepEqual(transport?.args, args);
    assert.equal(entry?.["trust_state"], "unverified");
  }
});

test("the first schema, in snake_case, and the responses of the registry's API are read like the latest", () => {
  const early = {
    name: "io.example/tool",
    version_detail: { version: "1.0.2" },
    packages: [
      {
        registry_name: "npm",
        name: "@example/tool",
        version: "1.0.2",
        package_arguments: [
          {
            type: "named",
            name: "--dsn",
            value: "db={db_type}",
            variables: { db_type: { is_required: true, default: "sqlite" } },
          },
        ],
        environment_variables: [{ name: "API_KEY", is_required: true, is_secret: true }],
      },
    ],
    remotes: [{ transport_type: "streamable-http", url: "https://example.com/mcp" }],
  };
  const { transport, secrets, findings } = imported(early);
  assert.deepEqual(transport, {
    kind: "stdio",
    command: "npx",
    args: ["-y", "@example/tool@1.0.2", "--dsn", "db=sqlite"],
    env: { API_KEY: { secret_key_ref: "tool-api-key" } },
  });
  assert.deepEqual(secrets, ["tool-api-key"]);
  assert.deepEqual(findings, []);
  assert.deepEqual(imported(early, { use: 2 }).transport, {
    kind: "streamable_http",
    url: "https://example.com/mcp",
  });
  const response = {
    server: { ...early, title: "Tool" },
    _meta: { "io.modelcontextprotocol.registry/official": {} },
  };
  const read = readServerJson({ name: "response", text: JSON.stringify(response) });
  assert.equal(read.value?.server.title, "Tool");
  assert.equal(read.value?.version, "1.0.2");
});

test("secrets become references, wherever that is possible, and nothing else", () => {
  const remote = (header: object, url = "https://example.com/mcp") => ({
    remotes: [
      {
        type: "sse",
        url,
        variables: { tenant: { isRequired: true }, key: { isSecret: true } },
        headers: [header],
      },
    ],
  });
  const bearer = {
    name: "Authorization",
    value: "Bearer {token}",
    variables: { token: { isSecret: true, isRequired: true } },
  };
  assert.deepEqual(
    imported(remote(bearer, "https://{tenant}.example.com/mcp"), { set: { tenant: ["acme"] } }).transport,
    {
      kind: "sse",
      url: "https://acme.example.com/mcp",
      headers: { Authorization: { prefix: "Bearer ", secret_key_ref: "tool-token" } },
    },
  );
  const named = imported(remote(bearer), { secret: { token: "my-token" } });
  assert.deepEqual((named.transport as { headers: unknown }).headers, {
    Authorization: { prefix: "Bearer ", secret_key_ref: "my-token" },
  });
  const key = { name: "KEY", isSecret: true };
  const cases: readonly (readonly [server: object, given: Given, finding: RegExp])[] = [
    [remote(bearer), { set: { token: ["abc"] } }, /error SECRET_EXPOSED: .*not taken from the command line/],
    [remote({ ...bearer, value: "A {token} B" }), {}, /error UNSUPPORTED: .*secret within a longer text/],
    [
      remote({ name: "X" }, "https://example.com/{key}"),
      { secret: { key: "k" } },
      /error SECRET_EXPOSED: The URL contains a secret/,
    ],
    [
      npm({ packageArguments: [{ type: "named", name: "--token", isSecret: true, isRequired: true }] }),
      {},
      /error SECRET_EXPOSED: argument --token is a secret/,
    ],
    [
      npm({ environmentVariables: [key] }),
      {},
      /warning LEFT_OUT: variable KEY is left out: it is an optional secret/,
    ],
    [
      npm({ environmentVariables: [{ ...key, value: "hunter2" }] }),
      {},
      /warning SECRET_EXPOSED: The file contains the value of variable KEY/,
    ],
  ];
  for (const [server, given, finding] of cases) {
    const { entry, findings } = imported(server, given);
    assert.match(findings.join("\n"), finding);
    assert.equal(
      entry === undefined,
      findings.some((one) => one.startsWith("error")),
    );
    assert.ok(!JSON.stringify(entry ?? {}).includes("hunter2"));
  }
});

test("values are given, checked, repeated and defaulted", () => {
  const server = npm({
    packageArguments: [
      { type: "positional", valueHint: "folder", isRequired: true, isRepeated: true },
      { type: "named", name: "--mode", choices: ["a", "b"], default: "a" },
      { type: "named", name: "--port", format: "number" },
      { type: "named", name: "--verbose" },
    ],
  });
  const argsOf = (set: Given["set"]) => {
    const { transport, findings } = imported(server, { set });
    return (
      (transport as { args: readonly string[] } | undefined)?.args.slice(2) ??
      findings.filter((one) => one.startsWith("error"))
    );
  };
  assert.deepEqual(argsOf({ folder: ["x", "y"], port: ["80"], verbose: [""] }), [
    "x",
    "y",
    "--mode",
    "a",
    "--port",
    "80",
    "--verbose",
  ]);
  assert.deepEqual(argsOf({ folder: ["x"], "--mode": ["b"] }), ["x", "--mode", "b"]);
  assert.deepEqual(argsOf({}), ["error VALUE_MISSING: argument folder needs a value"]);
  assert.deepEqual(argsOf({ folder: ["x"], mode: ["c"] }), [
    'error VALUE_INVALID: The value of "--mode" is not allowed: it must be one of a, b',
  ]);
  assert.deepEqual(argsOf({ folder: ["x"], port: ["eighty"] }), [
    'error VALUE_INVALID: The value of "--port" is not allowed: it must be a number',
  ]);
  assert.deepEqual(argsOf({ folder: ["x"], mode: ["a", "b"] }), [
    "error VALUE_INVALID: argument --mode has several values, and takes one",
  ]);
  assert.deepEqual(argsOf({ folder: ["x"], other: ["1"] }), [
    'error VALUE_INVALID: The server has no input "other"',
  ]);
});

test("what cannot be expressed is a finding", () => {
  const cases: readonly (readonly [server: object, finding: RegExp])[] = [
    [
      { ...npm(), websiteUrl: "https://x", icons: [], _meta: {} },
      /warning LEFT_OUT: Left out: websiteUrl, icons, _meta/,
    ],
    [{ ...npm(), status: "deprecated" }, /warning DEPRECATED/],
    [npm({ version: "latest" }), /error UNPINNED/],
    [npm({ version: undefined }), /error UNPINNED/],
    [npm({ version: "^1.0" }), /error UNPINNED/],
    [npm({ registryType: "oci", identifier: "x/y:latest", version: undefined }), /error UNPINNED/],
    [npm({ registryType: "oci", identifier: "x/y:1" }), /warning CONTAINMENT: docker asks a daemon/],
    [npm({ registryType: "cargo" }), /error UNSUPPORTED: The package has the type "cargo"/],
    [npm({ identifier: "--call" }), /error UNSUPPORTED/],
    [
      npm({ transport: { type: "streamable-http", url: "http://localhost:{port}/mcp" } }),
      /error UNSUPPORTED: .*transport "streamable-http"/,
    ],
    [
      npm({ registryBaseUrl: "https://npm.internal" }),
      /warning LEFT_OUT: The registry https:\/\/npm\.internal is left out/,
    ],
    [npm({ runtimeHint: "deno" }), /warning LEFT_OUT: The runtime "deno" is left out/],
    [
      { remotes: [{ type: "websocket", url: "wss://x" }] },
      /error UNSUPPORTED: The endpoint has the type "websocket"/,
    ],
    [
      npm({ postInstallInstructions: [{ description: "x" }] }),
      /warning LEFT_OUT: Left out of packages\[0\]: postInstallInstructions/,
    ],
  ];
  for (const [server, finding] of cases) assert.match(imported(server).findings.join("\n"), finding);
});

test("a server.json that is no such file is refused with the place of each problem", () => {
  const cases: readonly (readonly [text: string, code: string])[] = [
    ["{", "SERVER_IMPORT_SYNTAX"],
    ["[]", "SERVER_IMPORT_WRONG_TYPE"],
    ["{}", "SERVER_IMPORT_FIELD_REQUIRED"],
    ['{"name":"a","packages":"x"}', "SERVER_IMPORT_WRONG_TYPE"],
    ['{"name":"a"}', "SERVER_IMPORT_UNSUPPORTED"],
    [`{"name":${"[".repeat(5000)}`, "SERVER_IMPORT_TOO_COMPLEX"],
    [
      JSON.stringify({ name: "a", packages: Array.from({ length: 300 }, () => ({})) }),
      "SERVER_IMPORT_VALUE_INVALID",
    ],
    [JSON.stringify({ name: "x".repeat(2_000_000) }), "SERVER_IMPORT_FILE_TOO_LARGE"],
  ];
  for (const [text, code] of cases) {
    const { diagnostics } = readServerJson({ name: "server.json", text });
    assert.ok(
      diagnostics.some((one) => one.code === code && one.severity === "error"),
      `${text.slice(0, 60)}: ${JSON.stringify(diagnostics.map((one) => one.code))}`,
    );
  }
});

test("variables that choose the code of a program are not imported from a file, and the user can set them", () => {
  for (const name of [
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "node_options",
    "PYTHONPATH",
    "DYLD_INSERT_LIBRARIES",
    "PATH",
  ]) {
    for (const input of [{ value: "/x" }, { default: "/x" }]) {
      const file = npm({ environmentVariables: [{ name, ...input }] });
      const { entry, findings } = imported(file);
      assert.equal(entry, undefined);
      assert.match(findings.join("\n"), new RegExp(`LOADER_VARIABLE.* the variable ${name}, `));
      const { transport } = imported(file, { set: { [name]: ["mine"] } });
      assert.deepEqual((transport as { env?: unknown } | undefined)?.env, { [name]: "mine" });
    }
  }
  const option = { type: "named", name: "--node-options", value: "--require=/tmp/x.js" };
  assert.match(
    imported(npm({ runtimeArguments: [option] })).findings.join(),
    /LOADER_VARIABLE.*--node-options/,
  );
  const harmless = npm({ environmentVariables: [{ name: "LOG_PATH", value: "/x" }] });
  assert.deepEqual(imported(harmless).findings, []);
});
