/** Valid files that examples change in one place: a manifest with its toolspec, and a tool package. */

const manifest = `schemaVersion: 2
name: acme
version: 0.1.0
source: { repo: github.com/acme/acme, tag: v0.1.0 }
image:
  ref: registry.example/acme
  digest: sha256:0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements: { egress: [api.acme.example] }
credentials:
  - id: token
    type: api_key
    inject: { header: Authorization, format: "Bearer {token}" }
tools:
  - { name: get_repo, default: true }
`;

const toolspec = `schemaVersion: 2
name: acme
version: 0.1.0
baseUrl: https://api.acme.example
tools:
  - name: get_repo
    description: Get one repository
    method: GET
    path: /repos/{id}
    params:
      - { name: id, in: path, type: string, required: true }
`;

/** A replacement in a sample. */
export type Change = readonly [from: string, to: string];

/** Returns the files of a manifest and its toolspec in a folder `acme`, each with its changes. */
export function pairFiles(changes: {
  readonly manifest?: readonly Change[];
  readonly toolspec?: readonly Change[];
}): { readonly [path: string]: string } {
  return {
    "acme/manifests/acme/0.1.0.yaml": changed(manifest, changes.manifest ?? []),
    "acme/toolspecs/acme/0.1.0.yaml": changed(toolspec, changes.toolspec ?? []),
  };
}

/** Returns only the manifest of `pairFiles`, in a file of its own. */
export function manifestFile(...changes: readonly Change[]): { readonly [path: string]: string } {
  return { "manifest.yaml": changed(manifest, changes) };
}

/** A change whose text the sample does not have leaves no difference, and its example then fails its test. */
function changed(text: string, changes: readonly Change[]): string {
  return changes.reduce((now, [from, to]) => now.replace(from, to), text);
}

const messageSchema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
};

const packageManifest = {
  toolId: "demo.echo",
  name: "Echo",
  version: "0.1.0",
  description: "Returns the message that it gets.",
  capabilities: ["demo"],
  endpoint: { type: "http", method: "POST", url: "https://example.com/echo" },
  input_schema: messageSchema,
  output_schema: messageSchema,
  tests: ["tests/echo.test.json"],
};

const packageTest = { name: "echo", input: { message: "hello" }, expected: { message: "hello" } };

/** Returns the files of a package in a folder `echo`, with other members in its manifest and its test. */
export function packageFiles(
  changes: object,
  testChanges: object = {},
  more: { readonly [path: string]: string } = {},
): { readonly [path: string]: string } {
  const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
  return {
    "echo/manifest.json": json({ ...packageManifest, ...changes }),
    "echo/tests/echo.test.json": json({ ...packageTest, ...testChanges }),
    ...more,
  };
}

/** Returns the files of a package whose program is a script, and of a configuration that trusts it. */
export function programPackage(script: string): { readonly [path: string]: string } {
  return {
    "toolcrib.yaml": "packages: { demo.echo: { trust_state: verified } }\n",
    ...packageFiles({
      endpoint: undefined,
      implementations: [{ id: "shell", endpoint: { type: "local", command: "./run" } }],
    }),
    "echo/run": `#!/bin/sh\n${script}\n`,
  };
}

/** The lines before a call of `programPackage`. */
export const installProgram = ["chmod +x echo/run; toolcrib install ./echo --yes"] as const;

/** Returns a configuration with one server, `notes`, which is `name` of the test servers at port 9000. */
export function serverFile(
  name: string,
  entry: readonly string[] = [],
  more = "",
): { readonly [path: string]: string } {
  const lines = [
    "tool_servers:",
    "  - id: notes",
    `    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/${name}" }`,
    ...(entry.some((line) => line.startsWith("first_contact")) ? [] : ["    first_contact: pin"]),
    ...entry.map((line) => `    ${line}`),
  ];
  return { "toolcrib.yaml": `${lines.join("\n")}\n${more}` };
}

/** Returns the configuration of a gateway with the server `notes`, whose tool `notes__job` runs as a task. */
export function jobsFile(name: string): { readonly [path: string]: string } {
  return serverFile(name, ["mutability_class: read_only"], "serve: { auth: none }\n");
}

/** Returns a configuration with the server `notes`, which needs a login. @param more further settings of the login */
export function loginFile(kind: string, more = ""): { readonly [path: string]: string } {
  const lines = [
    "tool_servers:",
    "  - id: notes",
    "    transport:",
    "      kind: streamable_http",
    `      url: http://127.0.0.1:9000/login-${kind}`,
    `      auth: { type: oauth${more} }`,
  ];
  return { "toolcrib.yaml": `${lines.join("\n")}\n` };
}

/** Returns the files of `pairFiles` with a configuration that uses them. */
export function toolspecFiles(
  entry: string,
  changes: Parameters<typeof pairFiles>[0] = {},
): { readonly [path: string]: string } {
  return {
    "toolcrib.yaml": `toolspecs:\n  - { path: ./acme${entry} }\n`,
    ...pairFiles(changes),
  };
}

/** Returns the files of `pairFiles` with a configuration that sends their requests to the API at port 9443. */
export function apiFiles(
  entry = "",
  changes: Parameters<typeof pairFiles>[0] = {},
): { readonly [path: string]: string } {
  const { "toolcrib.yaml": configuration = "", ...pair } = toolspecFiles(
    `, credentials: { token: { secret_key_ref: acme-token } }${entry}`,
    changes,
  );
  const egress = `egress:
  internal_ranges: [127.0.0.0/8]
  connect_to: { api.acme.example: "127.0.0.1:9443" }
  ca_files: [ca.pem]
`;
  return { "toolcrib.yaml": `${configuration}${egress}`, ...pair, "token.txt": "token-of-ada\n" };
}

/** The lines before a call of `apiFiles`. */
export const apiBefore = ["toolcrib secret set acme-token < token.txt"] as const;

/** A gateway without tokens that serves the server `notes`. Examples with it share one. */
export const gateway = {
  files: serverFile("notes", [], "serve: { auth: none }\n"),
  before: ["toolcrib serve &"],
} as const;

/** Returns the message of a request, as a client with a session sends it. */
export function message(method: string, params: object = {}, id = 7): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** Returns the message of a call. */
export function call(name: string, args: object = {}, id = 7): string {
  return message("tools/call", { name, arguments: args }, id);
}

/** The id of the last task. */
export const taskId = "786512e2-9e0d-44bd-8f29-789f320fe840";

/** The message of a call that runs as a task. */
export const taskCall = message("tools/call", { name: "notes__job", arguments: {}, task: { ttl: 60_000 } });

/** Returns the line that asks the gateway as its operator, who needs no token at the socket in the home. */
export function operatorRequest(method: "GET" | "POST", path: string): string {
  return `curl -s -X ${method} --unix-socket .toolcrib/run/*.sock 'http://localhost${path}'`;
}

/** Returns an HTTP request to the gateway, with more lines in its head, and a body. */
export function httpRequest(line: string, head: readonly string[] = [], body = ""): string {
  return `${[`${line} HTTP/1.1`, "Host: 127.0.0.1:7420", ...head].join("\n")}\n\n${body}`;
}

/** The request with which a client opens a session. */
export const opening = httpRequest(
  "POST /mcp",
  ["Content-Type: application/json", "Accept: application/json, text/event-stream"],
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "example", version: "1.0.0" },
    },
  }),
);

/** Returns the files of a composite program `report.star`, and a configuration with the server `notes`. */
export function programFiles(...lines: readonly string[]): { readonly [path: string]: string } {
  return { ...serverFile("notes"), "report.star": `# Reports about notes\n${lines.join("\n")}\n` };
}

const imports = [
  ["canonicalJson", "json"],
  ["createAuthority", "egress"],
  ["createEgress", "egress"],
  ["createProcessLauncher", "process"],
  ["createRegistry", "registry"],
  ["createServer", "node:http"],
  ["createToolSearch", "search"],
  ["createToolpackSource", "toolpack"],
  ["evaluatePath", "mcpkg"],
  ["exchange", "toolpack"],
  ["execFileSync", "node:child_process"],
  ["once", "node:events"],
  ["makePrivateDirectory", "files"],
  ["openApprovalStore", "store"],
  ["openAuditReader", "store"],
  ["openOfflinePolicy", "cedar"],
  ["openSavedToolStore", "metatool"],
  ["openSync", "node:fs"],
  ["openSecretStore", "secrets"],
  ["openStore", "store"],
  ["parseAuthority", "egress"],
  ["parseJson", "json"],
  ["parseManifest", "toolspec"],
  ["parsePolicyTests", "cedar"],
  ["parseToolspec", "toolspec"],
  ["planRequest", "toolspec"],
  ["randomBytes", "node:crypto"],
  ["readFileSync", "node:fs"],
  ["readPart", "toolpack-image"],
  ["runtimeParts", "toolpack-image"],
  ["startHttpServer", "http"],
  ["tryLock", "files"],
] as const;

/** Returns a program that uses the libraries, and prints the code and the message of its error. */
export function library(...lines: readonly string[]): { readonly [path: string]: string } {
  const used = imports.filter(([name = ""]) => lines.some((line) => new RegExp(`\\b${name}\\b`).test(line)));
  const text = [
    ...used.map(
      ([name, from]) => `import { ${name} } from "${from.startsWith("node:") ? from : `@toolcrib/${from}`}";`,
    ),
    "",
    "try {",
    ...lines.map((line) => `  ${line}`),
    "} catch ({ code, message, hint }) {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
    '  console.log(`${code}: ${message}`, hint ?? "");',
    "}",
    "process.exit();",
  ];
  return { "program.mjs": `${text.join("\n")}\n` };
}
