/** A toolspec from the catalog to a call: added, served over both transports, and used with a real API over TLS that receives the secret. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  startTlsServer,
  type TlsServer,
  waitUntil,
} from "@toolcrib/testing";
import { writeCatalog } from "../toolspec-samples.ts";
import { cleanEnvironment, commandLine, runToolcrib } from "../transcript.ts";
import { serveGateway } from "./gateway-process.ts";

const first = "c4nary-the-first-secret";
const second = "c4nary-the-second-secret";

function authorizationsOf(api: TlsServer): (string | undefined)[] {
  return api.requests.map(
    ({ headers }) => headers.find(([name]) => name.toLowerCase() === "authorization")?.[1],
  );
}

test("an added API is served over stdio and HTTP, and uses a new secret without a restart", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const authority = createTestAuthority();
  await using api = await startTlsServer({
    certificate: authority.sign({ hosts: ["api.acme.example"] }),
    // The API returns the whole request, including the secret.
    respond(request, response) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ target: request.target, headers: request.headers }));
    },
  });
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `egress:
  internal_ranges: [127.0.0.0/8]
  connect_to: { api.acme.example: "${api.endpoint}" }
  ca_files: [ca.pem]
`,
  );
  const setting = { directory: directory.path, env: { TOOLCRIB_CATALOG: directory.join("catalog") } };
  const added = await runToolcrib(["add", "acme", "--all-tools"], { ...setting, stdin: first });
  assert.equal(added.code, 0, added.stderr);

  const called = await runToolcrib(["call", "acme__get_repo", "--arg", "id=a/b", "--json"], setting);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stdout, /\/repos\/a%2Fb/);
  assert.deepEqual(authorizationsOf(api), [`Bearer ${first}`]);

  const env = { ...cleanEnvironment(directory.path), ...setting.env } as { readonly [name: string]: string };
  const stdio = new Client({ name: "stdio", version: "1" });
  await stdio.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...commandLine, "serve", "--stdio"],
      cwd: directory.path,
      stderr: "ignore",
      env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
    }),
  );
  const config = directory.join("toolcrib.yaml");
  await using gateway = await serveGateway(config, directory.join("http-home"), setting.env);
  const http = new Client({ name: "http", version: "1" });
  await http.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.baseUrl}/mcp/s/acme`), {
      requestInit: { headers: { Authorization: `Bearer ${gateway.token}` } },
    }),
  );
  // The other home lacks the secret, and reports this until it is set.
  assert.deepEqual((await http.listTools()).tools, []);
  await runToolcrib(["secret", "set", "acme-token", "--home", directory.join("http-home")], {
    ...setting,
    stdin: second,
  });
  const listed = async () => (await http.listTools()).tools.map(({ name }) => name);
  await waitUntil(async () => (await listed()).length > 0, { what: "the tools are listed" });
  assert.deepEqual(await listed(), ["list_repos", "get_repo", "add_repo"]);
  const overHttp = await http.callTool({ name: "get_repo", arguments: { id: "http" } });
  assert.equal(authorizationsOf(api).at(-1), `Bearer ${second}`);

  await waitUntil(async () => (await stdio.listTools()).tools.some(({ name }) => name === "acme__get_repo"), {
    what: "the tools are listed over stdio",
  });
  const overStdio = await stdio.callTool({ name: "acme__get_repo", arguments: { id: "stdio" } });
  assert.equal(authorizationsOf(api).at(-1), `Bearer ${first}`);
  await runToolcrib(["secret", "set", "acme-token"], { ...setting, stdin: second });
  await waitUntil(
    async () => {
      await stdio.callTool({ name: "acme__get_repo", arguments: { id: "again" } });
      return authorizationsOf(api).at(-1) === `Bearer ${second}`;
    },
    { what: "the new secret is sent" },
  );
  await Promise.all([stdio.close(), http.close()]);
  assert.doesNotMatch(JSON.stringify([overHttp, overStdio, called, added]), /c4nary/);

  const audit = await runToolcrib(["audit", "list", "--json", "--limit", "1000"], setting);
  assert.doesNotMatch(audit.stdout, /c4nary/);
  assert.match(audit.stdout, /"secret\.used"/);
  assert.match(audit.stdout, /"secret\.echoed"/);
});
