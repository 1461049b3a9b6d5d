/** Settings of the guides: servers that they name, a registry on loopback, a client whose call waits. */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { writeArchive } from "@toolcrib/mcpkg";
import {
  browse,
  NpmRegistry,
  notesServer,
  sampleManifest,
  sampleToolspec,
  startEchoHttpServer,
  startIdentityProvider,
  startProtectedServer,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { copyParts, reasonWithoutImages } from "../e2e/toolpack-images.ts";
import { skipWithoutNpxAndSandbox } from "../skip-without-sandbox.ts";
import { echoServer } from "../transcript.ts";
import { serveHere, writeEchoes } from "./operations-settings.ts";
import type { PageSetting, Place } from "./page-settings.ts";

const root = join(import.meta.dirname, "../../../..");

/** Connects a client to a gateway. */
async function withClient<Result>(url: string, token: string, use: (client: Client) => Promise<Result>) {
  const client = new Client({ name: "desk", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Makes a call as a client of the served gateway that waits for approval. @returns its id */
async function waitingCall(place: Place): Promise<string> {
  const url = place.servers[0]?.url ?? assert.fail("the page has served nothing");
  const token = readFileSync(place.directory.join(".toolcrib/tokens/default"), "utf8").trim();
  const path = `note-${performance.now()}.txt`;
  const call = { name: "files__write_file", arguments: { path, content: "" } };
  const refused = await withClient(url, token, async (client) =>
    JSON.stringify(await client.callTool(call).catch(String)),
  );
  return /call:[0-9a-f]{16}/.exec(refused)?.[0] ?? assert.fail(refused);
}

/** Adds what the page needs of a registry of npm. */
function withRegistry(place: Place, registry: NpmRegistry): void {
  place.resources.use(registry);
  place.env["npm_config_registry"] = registry.url;
}

/** The files of a newcomer: a client with one server. */
function writeClient({ directory }: Place): void {
  const files = { command: "mcp-server-filesystem", args: [directory.join("files")] };
  const text = JSON.stringify({ mcpServers: { files } });
  writeFiles(directory.path, { ".config/Claude/claude_desktop_config.json": text });
}

/** A server with a login, the provider of its logins, and a browser that agrees. */
async function withLogin(place: Place) {
  const { directory, resources, env } = place;
  const provider = resources.use(await startIdentityProvider());
  const check = (token: string) => provider.find(token);
  const authorizationServers = [provider.issuer];
  const server = resources.use(await startProtectedServer({ check, authorizationServers }));
  const transport = { kind: "streamable_http", url: server.url, auth: { type: "oauth", per: "identity" } };
  const notes = { id: "notes", transport, trust_state: "verified" };
  const clients = { ci: { allow: ["notes:*"] } };
  writeFileSync(
    directory.join("toolcrib.yaml"),
    JSON.stringify({ tool_servers: [notes], policy: { clients } }),
  );
  const opened = directory.join("opened");
  mkdirSync(opened);
  writeFileSync(
    directory.join("browser"),
    `#!/bin/sh\nprintf '%s' "$1" > "${directory.join("address")}" && mv "${directory.join("address")}" "${opened}/$$"\n`,
    { mode: 0o755 },
  );
  env["BROWSER"] = directory.join("browser");
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const name of readdirSync(opened)) {
      if (seen.has(name)) continue;
      seen.add(name);
      void browse(readFileSync(join(opened, name), "utf8"));
    }
  }, 50);
  resources.defer(() => clearInterval(timer));
}

/** Two clients that searched and called what they found, which teaches the search. */
async function withLearned(place: Place): Promise<void> {
  const { directory } = place;
  const tools = [
    { name: "create_issue", description: "Creates an issue", annotations: { readOnlyHint: true } },
  ];
  writeFileSync(directory.join("github.cjs"), notesServer(tools));
  const transport = { kind: "stdio", command: "node", args: [directory.join("github.cjs")] };
  writeFileSync(
    directory.join("toolcrib.yaml"),
    JSON.stringify({
      sandbox: { mode: "preferred" },
      tool_servers: [{ id: "github", transport, trust_state: "verified" }],
    }),
  );
  await place.run("toolcrib token create ci");
  const url = await serveHere(place);
  for (const name of ["ci", "default"]) {
    const token = readFileSync(directory.join(".toolcrib/tokens", name), "utf8").trim();
    await withClient(url, token, async (client) => {
      await client.callTool({ name: "search_tools", arguments: { query: "issue for a complaint" } });
      await client.callTool({ name: "github__create_issue", arguments: {} });
    });
  }
  // What was learned is written in the background.
  const learned = directory.join(".toolcrib/search");
  await waitUntil(() => existsSync(learned) && readdirSync(learned).length === 2);
}

/** A tool that a client saved and nobody approved. */
async function savedByClient(place: Place): Promise<string> {
  const url = await serveHere(place);
  const token = readFileSync(place.directory.join(".toolcrib/tokens/default"), "utf8").trim();
  await withClient(url, token, async (client) => {
    const saved = await client.callTool({
      name: "save_tool",
      arguments: {
        name: "theirs",
        code: "return 1",
        description: "Returns one",
        inputSchema: { type: "object" },
      },
    });
    assert.notEqual(saved.isError, true, JSON.stringify(saved));
  });
  return "theirs";
}

/** Writes and installs packages that the guide names. */
async function installPackages(place: Place): Promise<void> {
  const { directory, resources } = place;
  const api = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const message = new URL(request.url ?? "", "http://127.0.0.1").searchParams.get("message");
      const answer = body === "" ? JSON.stringify({ message }) : body;
      response.setHeader("content-type", "application/json").end(answer);
    });
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  resources.defer(() => new Promise<void>((resolve) => void api.close(() => resolve())));
  const { port } = api.address() as AddressInfo;
  const endpoint = { url: `http://127.0.0.1:${port}/` };
  const manifest = readFileSync(directory.join("echo/manifest.json"), "utf8");
  const weather = manifest.replace("demo.echo", "demo.weather");
  const flow = {
    ...(JSON.parse(manifest) as object),
    toolId: "acme.text.flow",
    endpoint: undefined,
    chain: [
      { step: "say", tool: "demo.say", inputMapping: { message: "$.input.message" }, outputKey: "said" },
    ],
  };
  writeFiles(directory.path, {
    "weather/manifest.json": weather,
    "weather/tests/echo.test.json": readFileSync(directory.join("echo/tests/echo.test.json"), "utf8"),
    "say/manifest.json": manifest.replace("demo.echo", "demo.say").replace('"POST"', '"GET"'),
    "say/tests/echo.test.json": readFileSync(directory.join("echo/tests/echo.test.json"), "utf8"),
    "flow/manifest.json": JSON.stringify(flow),
    "flow/tests/echo.test.json": readFileSync(directory.join("echo/tests/echo.test.json"), "utf8"),
    "toolcrib.yaml": JSON.stringify({
      packages: {
        "demo.echo": { endpoint },
        "demo.weather": { endpoint },
        "demo.say": { endpoint },
      },
    }),
  });
  for (const name of ["echo", "weather", "say", "flow"]) await install(place, name);
}

async function install(place: Place, name: string): Promise<void> {
  const { code, stdout } = await place.run(`toolcrib install '${name}'`);
  assert.equal(code, 0, stdout);
}

/** A copy of the registry of the page, whose key is replaced: the page goes on with the first one. */
function copyRegistry({ directory }: Place): void {
  cpSync(directory.join("packages"), directory.join("rotated/packages"), { recursive: true });
}

const bundle = {
  manifest_version: "0.3",
  name: "notes",
  version: "1.0.0",
  description: "Reads notes.",
  author: { name: "Example" },
  server: {
    type: "node",
    entry_point: "index.js",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of bundles
    mcp_config: { command: "node", args: ["${__dirname}/index.js", "${user_config.folder}"] },
  },
  user_config: { folder: { type: "directory", title: "Folder", description: "The notes", required: true } },
};

const registryServer = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: "com.example/database",
  description: "Asks a database",
  version: "1.0.0",
  packages: [
    {
      registryType: "npm",
      identifier: "@example/database",
      version: "1.0.0",
      transport: { type: "stdio" },
      packageArguments: [
        { type: "positional", value: "{database_name}", variables: { database_name: { isRequired: true } } },
      ],
    },
  ],
};

export const guideSettings: { readonly [page: string]: PageSetting } = {
  "../README.md": { isEmpty: true, asks: true, prepare: writeClient },
  // Here without a terminal, where it prints the commands of its steps.
  "index.md": { isEmpty: true, codes: { "npx toolcrib": 2 } },
  "reference/configuration.md": {
    prepare: ({ directory }) => {
      const entries = { "manifest.json": JSON.stringify(bundle), "index.js": "process.stdin.resume();" };
      const files = Object.entries(entries).map(
        ([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: false }] as const,
      );
      writeFileSync(directory.join("notes.mcpb"), writeArchive(new Map(files)));
      writeFileSync(directory.join("server.json"), JSON.stringify(registryServer));
      mkdirSync(directory.join("notes"));
    },
  },
  "guides/first-composite-tool.md": {
    before: {
      [`npx toolcrib saved test longest_words --record --params '{"path": "welcome.txt", "count": 1}'`]:
        async (place) => void (await place.run("toolcrib saved delete theirs")),
    },
    values: (place) => ({
      NAME: () => savedByClient(place),
      TIME: async () => {
        const { stdout } = await place.run("toolcrib saved show theirs");
        return /--modified (\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);
      },
    }),
  },
  "guides/packages.md": {
    before: {
      "toolcrib info tools.pdf.read_local --why": (place) =>
        install(place, join(root, "examples/packages/pdf-read-local")),
      "toolcrib test ./echo --junit results.xml": installPackages,
    },
  },
  "guides/registry.md": {
    before: { "openssl genpkey -algorithm ed25519 -out new.pem": copyRegistry },
    folders: {
      "openssl genpkey -algorithm ed25519 -out new.pem": "rotated",
      "toolcrib registry rotate ./packages --new-key new.pem": "rotated",
    },
  },
  "../packages/cli/README.md": {
    prepare: ({ directory }) => {
      const files = { command: "mcp-server-filesystem", args: ["notes"] };
      writeFiles(directory.path, { "notes/README.md": "# Notes\n" });
      const memory = {
        command: "mcp-server-memory",
        env: { MEMORY_FILE_PATH: directory.join("memory.jsonl") },
      };
      writeFileSync(directory.join(".mcp.json"), JSON.stringify({ mcpServers: { files, memory } }));
    },
    // It would follow until somebody ends it.
    values: () => ({ "audit tail --follow": "audit tail" }),
    isEmpty: true,
  },
  "getting-started.md": {
    // The page creates everything that its commands use.
    isEmpty: true,
    asks: true,
    needs: skipWithoutNpxAndSandbox,
    folders: {
      "toolcrib import": "imported",
      "toolcrib init": "new",
      "toolcrib add npm:@modelcontextprotocol/server-memory": "new",
      "toolcrib add https://mcp.example.com/mcp": "new",
    },
    prepare: async (place) => {
      writeClient(place);
      const registry = await new NpmRegistry().listen();
      const name = "@modelcontextprotocol/server-memory";
      const server = notesServer([{ name: "read", description: "Reads a note" }]);
      registry.publish({ name, version: "1.0.0", bin: "server.js" }, { "server.js": server });
      withRegistry(place, registry);
    },
    values: ({ resources }) => ({
      "https://mcp.example.com/mcp": async () => resources.use(await startEchoHttpServer()).url,
    }),
  },
  "guides/secrets.md": {
    // Asks for the secret at a terminal.
    values: () => ({
      "toolcrib secret set notes-token --identity ada":
        "printf x-1 | toolcrib secret set notes-token --identity ada",
    }),
  },
  "guides/approvals.md": {
    asks: true,
    values: (place) => ({ "call:0123456789abcdef": () => waitingCall(place) }),
  },
  "guides/search.md": { isEmpty: true, prepare: withLearned },
  "guides/toolpack-images.md": {
    needs: reasonWithoutImages,
    prepare: ({ directory }) => {
      copyParts(directory);
      writeFileSync(directory.join("repos.yaml"), sampleManifest("repos"));
      writeFileSync(directory.join("repos.toolspec.yaml"), sampleToolspec("repos"));
    },
  },
  "guides/connecting-clients.md": {
    asks: "always",
    prepare: ({ directory }) => writeFiles(directory.path, { ".cursor/mcp.json": "{}" }),
  },
  "guides/changing-the-configuration.md": {
    isEmpty: true,
    prepare: async (place) => {
      writeEchoes(place, ["github"]);
      await serveHere(place);
    },
    before: {
      "toolcrib reload": (place) =>
        writeEchoes(place, ["github"], {
          policy: { deny: ["github:delete_*"] },
          serve: { limits: { session_idle_seconds: 60 } },
          profiles: {},
        }),
      "toolcrib reload (2)": ({ directory }) => {
        const comments = Array.from({ length: 8 }, () => "#");
        const lines = [
          `tool_servers: [${JSON.stringify(echoServer("github"))}]`,
          "serve: {}",
          ...comments,
          "policy: { deny: 5 }",
        ];
        writeFileSync(directory.join("toolcrib.yaml"), `${lines.join("\n")}\n`);
      },
    },
  },
  "guides/oauth.md": { isEmpty: true, prepare: withLogin },
  "guides/adopted-servers.md": {
    isEmpty: true,
    needs: skipWithoutNpxAndSandbox,
    prepare: async (place) => {
      const registry = await new NpmRegistry().listen();
      const server = notesServer([{ name: "read", description: "Reads a note" }]);
      const published = { name: "@acme/mcp-server", version: "1.2.3", bin: { "acme-mcp": "server.js" } };
      registry.publish(published as unknown as { name: string; version: string }, { "server.js": server });
      withRegistry(place, registry);
    },
  },
};
