/**
 * The standalone engine as the Toolspecs document specifies it: a process that speaks MCP
 * over stdio, with and without a proxy that opens tunnels. Clients of both eras.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createEgress, createPlaceholder } from "@toolcrib/egress";
import { parseHostPattern } from "@toolcrib/hosts";
import type { JsonObject } from "@toolcrib/json";
import { metaKeys } from "@toolcrib/mcp";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  startTlsServer,
  type TlsServer,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib } from "../transcript.ts";

const manifest = `schemaVersion: 1
name: demo
version: 0.1.0
displayName: Demo
description: Things to look up
source: {repo: github.com/example/demo, tag: v0.1.0}
image: {ref: ghcr.io/example/demo, digest: "sha256:${"0a".repeat(32)}", entrypoint: /app/server, builder: toolpack}
tier: sealed
entitlements: {egress: [api.example.com]}
credentials:
  - {id: api-key, type: api_key, inject: {header: Authorization, format: "Bearer {token}"}}
tools:
  - {name: list_things, default: true}
  - {name: make_thing}
`;
const entrustedManifest = manifest
  .replace("tier: sealed", "tier: entrusted")
  .replace(/inject: .*/, "inject: {env: DEMO_KEY}}");
const toolspec = `schemaVersion: 1
name: demo
version: 0.1.0
baseUrl: https://api.example.com
tools:
  - name: list_things
    description: List things
    method: GET
    path: /things/{kind}
    params:
      - {name: kind, in: path, type: string, required: true}
      - {name: limit, in: query, type: integer}
  - name: make_thing
    description: Make a thing
    method: POST
    path: /things
    params:
      - {name: name, in: body, type: string, required: true}
`;
const entrustedToolspec = toolspec.replace(
  "tools:\n",
  'auth: {header: X-Key, format: "k {token}"}\ntools:\n',
);

const placeholder = "toolcrib-ph-00000000000000000000000000000001";

interface Setting extends AsyncDisposable {
  readonly directory: string;
  readonly server: TlsServer;
  /** The requested tunnels, with their credentials. */
  readonly connects: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
}

/** A folder with both files, a service, and a proxy that opens tunnels to `api.example.com` only. */
async function openSetting(
  files: { readonly manifest?: string; readonly toolspec?: string } = {},
): Promise<Setting> {
  const directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("manifest.yaml"), files.manifest ?? manifest);
  writeFileSync(directory.join("toolspec.yaml"), files.toolspec ?? toolspec);
  const authority = createTestAuthority();
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  const server = await startTlsServer({
    certificate: authority.sign({ hosts: ["api.example.com"] }),
    respond({ target, method }, response) {
      if (target === "/things/forever") return;
      response.writeHead(target.endsWith("/none") ? 404 : 200, { "Content-Type": "application/json" });
      if (target === "/things/stalled") response.write("[");
      else response.end(JSON.stringify([{ method, target }]));
    },
  });
  const connects: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const proxy = createServer();
  proxy.on("connect", (request, client) => {
    connects.push(`${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
    sockets.add(client);
    client.on("error", () => {});
    if (request.url !== "api.example.com:443") {
      const reason = '{"code":"EGRESS_HOST_DENIED"}';
      client.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${reason.length}\r\n\r\n${reason}`);
      return;
    }
    const upstream = connect(server.port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    // An engine that ends a connection with unread data resets it, which `pipe` does not pass on.
    client.on("close", () => upstream.destroy());
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    directory: directory.path,
    server,
    connects,
    env: {
      HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${port}`,
      SSL_CERT_FILE: directory.join("ca.pem"),
      TOOLCRIB_CREDENTIAL_API_KEY: placeholder,
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
      await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const files = ["toolpack", "--manifest", "manifest.yaml", "--toolspec", "toolspec.yaml"];

const modern = {
  [metaKeys.protocolVersion]: "2026-07-28",
  [metaKeys.clientInfo]: { name: "t", version: "1" },
  [metaKeys.clientCapabilities]: {},
};

const call = (id: number, name: string, args: object, isModern = false) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(isModern ? { _meta: modern } : {}) },
});

const opening: readonly object[] = [
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
];

interface Talk {
  /** Returns results and errors by the id of their request. */
  readonly answers: ReadonlyMap<number, JsonObject>;
  readonly code: number | null;
  readonly stderr: string;
}

/** Starts the engine, sends all `messages`, and reads its output to the end. */
async function talk(
  setting: Setting,
  messages: readonly object[],
  given: { readonly args?: readonly string[]; readonly env?: Setting["env"] } = {},
): Promise<Talk> {
  const { stdout, stderr, code } = await runToolcrib(given.args ?? files, {
    directory: setting.directory,
    env: { ...setting.env, ...given.env },
    stdin: messages.map((message) => `${JSON.stringify(message)}\n`).join(""),
  });
  const lines = stdout.split("\n").filter((line) => line !== "");
  const answers = lines.map(
    (line) => JSON.parse(line) as { id: number; result?: JsonObject; error?: JsonObject },
  );
  return {
    answers: new Map(answers.map(({ id, result, error }) => [id, result ?? error ?? {}])),
    code,
    stderr,
  };
}

const textOf = (answer: JsonObject | undefined) =>
  (answer?.["content"] as readonly { readonly text?: string }[] | undefined)
    ?.map(({ text }) => text)
    .join("\n");

test("toolcrib toolpack lists every tool under its own name, and calls through the proxy with placeholders", async () => {
  await using setting = await openSetting();
  const { answers, code, stderr } = await talk(setting, [
    ...opening,
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    call(2, "list_things", { kind: "a/b", limit: "2" }),
    call(3, "list_things", { kind: "none" }),
    call(4, "list_things", {}),
    call(5, "no_tool", {}),
    { jsonrpc: "2.0", id: 6, method: "resources/list" },
    call(7, "list_things", { kind: "c" }, true),
    { jsonrpc: "2.0", id: 8, method: "tools/list", params: { _meta: modern } },
  ]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.deepEqual(answers.get(0), {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "demo", version: "0.1.0", title: "Demo" },
    instructions: "Things to look up",
  });
  for (const id of [1, 8]) {
    const tools = answers.get(id)?.["tools"] as readonly JsonObject[];
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["list_things", "make_thing"],
    );
  }
  // Only modern clients get a list as structured content.
  assert.equal(textOf(answers.get(2)), '[{"method":"GET","target":"/things/a%2Fb?limit=2"}]');
  assert.equal(answers.get(2)?.["structuredContent"], undefined);
  assert.deepEqual(answers.get(7)?.["structuredContent"], [{ method: "GET", target: "/things/c" }]);
  assert.equal(textOf(answers.get(3)), 'HTTP 404 Not Found: [{"method":"GET","target":"/things/none"}]');
  assert.equal(answers.get(3)?.["isError"], true);
  assert.equal(
    textOf(answers.get(4)),
    'Parameter "kind" of tool "list_things" is required\nHint: give it as string',
  );
  assert.equal(answers.get(5)?.["message"], 'Unknown tool: "no_tool"');
  assert.equal(answers.get(5)?.["code"], -32602);
  assert.equal(answers.get(6)?.["code"], -32601);
  assert.equal(setting.server.requests.length, 3);
  for (const { headers, servername } of setting.server.requests) {
    const sent = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
    assert.equal(sent.get("authorization"), `Bearer ${placeholder}`);
    assert.equal(sent.get("host"), "api.example.com");
    assert.match(sent.get("user-agent") ?? "", /^toolcrib\/\d/);
    assert.equal(servername, "api.example.com");
  }
  assert.deepEqual([...new Set(setting.connects)], [`api.example.com:443 Basic ${btoa("me:p@ss")}`]);
});

test("toolcrib toolpack sends bodies byte for byte", async () => {
  await using setting = await openSetting();
  const { answers } = await talk(setting, [...opening, call(1, "make_thing", { name: 'é "x"' })]);
  assert.equal(textOf(answers.get(1)), '[{"method":"POST","target":"/things"}]');
  const [request] = setting.server.requests;
  assert.equal(request?.body.toString(), '{"name":"é \\"x\\""}');
  assert.deepEqual(request?.headers.filter(([name]) => /^content-/i.test(name)).toSorted(), [
    ["Content-Length", "19"],
    ["Content-Type", "application/json"],
  ]);
});

test("toolcrib toolpack serves clients of the SDK, and a call that they cancel ends", async () => {
  await using setting = await openSetting();
  const client = new Client({ name: "toolpack-test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...commandLine, ...files],
      cwd: setting.directory,
      env: Object.fromEntries(
        Object.entries({ ...cleanEnvironment(setting.directory), ...setting.env }).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        ),
      ),
      stderr: "ignore",
    }),
  );
  try {
    const result = await client.callTool({ name: "list_things", arguments: { kind: "a" } });
    assert.deepEqual(result.content, [{ type: "text", text: '[{"method":"GET","target":"/things/a"}]' }]);
    for (const kind of ["forever", "stalled"]) {
      const before = setting.server.requests.length;
      const cancelling = new AbortController();
      const endless = client.callTool({ name: "list_things", arguments: { kind } }, undefined, {
        signal: cancelling.signal,
      });
      await waitUntil(() => setting.server.requests.length > before, { what: "the request arrives" });
      // The connection of the call before can still be open, and idle.
      const open = setting.server.openCount;
      cancelling.abort(new Error("not needed any more"));
      await assert.rejects(endless, /not needed any more/);
      await waitUntil(() => setting.server.openCount < open, { what: "the connection of the call ends" });
    }
    const after = await client.callTool({ name: "list_things", arguments: { kind: "b" } });
    assert.deepEqual(after.content, [{ type: "text", text: '[{"method":"GET","target":"/things/b"}]' }]);
  } finally {
    await client.close();
  }
});

test("toolcrib toolpack sends the secret itself where the manifest is entrusted", async () => {
  await using setting = await openSetting({ manifest: entrustedManifest, toolspec: entrustedToolspec });
  const env = { DEMO_KEY: "hunter2" };
  await talk(setting, [...opening, call(1, "list_things", { kind: "a" })], { env });
  const headers = setting.server.requests[0]?.headers.filter(([name]) => name === "X-Key");
  assert.deepEqual(headers, [["X-Key", "k hunter2"]]);
});

test("toolcrib toolpack reports refusals of the proxy, and a proxy that cannot be reached", async () => {
  await using setting = await openSetting({
    manifest: manifest.replace("[api.example.com]", "[other.example.com]"),
    toolspec: toolspec.replace("api.example.com", "other.example.com"),
  });
  const messages = [...opening, call(1, "list_things", { kind: "a" })];
  const refused = await talk(setting, messages);
  assert.equal(
    textOf(refused.answers.get(1)),
    'The proxy refuses requests to other.example.com: HTTP 403: {"code":"EGRESS_HOST_DENIED"}\nHint: the proxy decides which hosts are allowed',
  );
  assert.equal(refused.answers.get(1)?.["isError"], true);
  const gone = await talk(setting, messages, { env: { HTTPS_PROXY: "http://127.0.0.1:9" } });
  assert.match(textOf(gone.answers.get(1)) ?? "", /^Cannot reach the proxy: .*\nHint: check HTTPS_PROXY/);
  assert.deepEqual(setting.server.requests, []);
});

test("toolcrib toolpack trusts only the configured certificates", async () => {
  await using setting = await openSetting();
  const other = createTestAuthority();
  writeFileSync(`${setting.directory}/other.pem`, other.certificate);
  const messages = [...opening, call(1, "list_things", { kind: "a" })];
  const distrusted = await talk(setting, messages, { env: { SSL_CERT_FILE: "other.pem" } });
  assert.match(
    textOf(distrusted.answers.get(1)) ?? "",
    /^Cannot reach api\.example\.com through the proxy: .*certificate/,
  );
  const added = await talk(setting, messages, {
    env: { SSL_CERT_FILE: "other.pem", NODE_EXTRA_CA_CERTS: `${setting.directory}/ca.pem` },
  });
  assert.equal(textOf(added.answers.get(1)), '[{"method":"GET","target":"/things/a"}]');
  assert.equal(setting.server.requests.length, 1);
});

test("toolcrib toolpack behind an egress proxy never sees the secret, for any response of the service", async () => {
  await using setting = await openSetting();
  const authority = createTestAuthority();
  await using service = await startTlsServer({
    certificate: authority.sign({ hosts: ["api.example.com"] }),
    respond({ headers }, response) {
      const key = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ "your key is": key }));
    },
  });
  await using egress = createEgress(
    {
      connectTo: { "api.example.com": service.endpoint },
      internalRanges: ["127.0.0.0/8"],
      caCertificates: [authority.certificate],
    },
    { directory: `${setting.directory}/egress`, now: Date.now, randomBytes, onEvent() {} },
  );
  const host = parseHostPattern("api.example.com");
  assert.equal(host.kind, "valid");
  const own = createPlaceholder(randomBytes);
  await using proxy = await egress.openProxy({
    id: "process:toolpack",
    allow: host.kind === "valid" ? [host.value] : [],
    credentials: [
      {
        id: "api-key",
        place: { kind: "header", name: "Authorization", format: "Bearer {token}" },
        placeholder: own,
        secretName: "demo-api-key",
        read: () => "hunter2hunter2",
      },
    ],
  });
  const { answers, stderr } = await talk(setting, [...opening, call(1, "list_things", { kind: "a" })], {
    env: {
      HTTPS_PROXY: proxy.url,
      SSL_CERT_FILE: proxy.caBundleFile,
      NODE_EXTRA_CA_CERTS: proxy.caFile,
      TOOLCRIB_CREDENTIAL_API_KEY: own,
    },
  });
  const sent = service.requests[0]?.headers.find(([name]) => name.toLowerCase() === "authorization");
  assert.equal(sent?.[1], "Bearer hunter2hunter2", stderr + textOf(answers.get(1)));
  assert.equal(textOf(answers.get(1)), `{"your key is":"Bearer ${own}"}`);
});

test("toolcrib toolpack without a proxy uses its own egress, and reaches no address of this machine", async () => {
  await using setting = await openSetting({
    manifest: manifest.replace("[api.example.com]", "[api.toolcrib.invalid]"),
    toolspec: toolspec.replace("api.example.com", "api.toolcrib.invalid"),
  });
  const { answers, stderr } = await talk(setting, [...opening, call(1, "list_things", { kind: "a" })], {
    env: { HTTPS_PROXY: undefined, TOOLCRIB_SECRET_DEMO_API_KEY: "hunter2" },
  });
  assert.equal(answers.get(1)?.["isError"], true);
  const meta = answers.get(1)?.["_meta"] as JsonObject | undefined;
  assert.match(String(meta?.["toolcrib/code"]), /^EGRESS_/);
  assert.doesNotMatch(JSON.stringify([...answers]) + stderr, /hunter2|toolcrib-ph-/);
});

/** An invalid command line or environment, and the expected message. */
function checkRefusal(
  title: string,
  given: { readonly args?: readonly string[]; readonly env?: Setting["env"]; readonly manifest?: string },
  expected: RegExp,
  exitCode = 2,
): void {
  test(`toolcrib toolpack refuses to start: ${title}`, async () => {
    await using setting = await openSetting(given.manifest === undefined ? {} : { manifest: given.manifest });
    const { code, stdout, stderr } = await runToolcrib(given.args ?? files, {
      directory: setting.directory,
      env: { ...setting.env, ...given.env },
      stdin: `${JSON.stringify(opening[0])}\n`,
    });
    assert.match(stderr, expected);
    assert.equal(code, exitCode);
    assert.doesNotMatch(stdout, /jsonrpc/);
  });
}

checkRefusal("no files", { args: ["toolpack"] }, /No manifest: there is no \/app\/manifest\.yaml/);
checkRefusal(
  "a file with an error",
  { manifest: manifest.replace("sealed", "seald") },
  /manifest\.yaml:8:7: error MANIFEST_TIER_INVALID/,
);
checkRefusal(
  "files that are no pair",
  { manifest: manifest.replace("name: demo", "name: other") },
  /TOOLSPEC_NAME_MISMATCH/,
);
checkRefusal(
  "no placeholder",
  { env: { TOOLCRIB_CREDENTIAL_API_KEY: undefined } },
  /No value for the credential "api-key": TOOLCRIB_CREDENTIAL_API_KEY is not set/,
);
checkRefusal(
  "a proxy that is none",
  { env: { HTTPS_PROXY: "socks5://x" } },
  /HTTPS_PROXY is not the address of an HTTP proxy/,
);
checkRefusal(
  "a proxy with a password that cannot be decoded",
  { env: { HTTPS_PROXY: "http://me:50%zz@127.0.0.1:9" } },
  /CLI_USAGE: HTTPS_PROXY has a percent sign that encodes no character\nhint: .*%25/,
);
checkRefusal(
  "no certificates",
  { env: { SSL_CERT_FILE: "manifest.yaml" } },
  /Cannot read SSL_CERT_FILE: the file contains no certificate/,
  1,
);
checkRefusal(
  "a credential that is not there",
  { args: [...files, "--secret", "key=x"] },
  /The manifest has no credential "key"/,
);
checkRefusal("--json", { args: [...files, "--json"] }, /toolpack cannot be used with --json/);
