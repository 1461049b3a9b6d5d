import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { startApiProxy } from "./api-proxy.ts";
import { golden, runToolcrib, transcript } from "./transcript.ts";

const manifest = `schemaVersion: 2
name: demo
version: 0.1.0
source: {repo: github.com/example/demo, tag: v1}
image: {ref: ghcr.io/example/demo, digest: "sha256:${"0a".repeat(32)}", entrypoint: /app/server, builder: toolpack}
tier: sealed
entitlements: {egress: ["*.example.com"]}
credentials:
  - {id: key, type: api_key, inject: {header: Authorization, format: "Bearer {token}"}}
  - {id: app, type: api_key, inject: {query: app_id}}
  - {id: bot, type: api_key, inject: {pathPrefix: "/bot{token}"}}
tools:
  - {name: find, default: true}
  - {name: make, default: false}
  - {name: send, default: false}
  - {name: bare, default: true}
`;
const toolspec = `schemaVersion: 2
name: demo
version: 0.1.0
baseUrl: "https://{tenant}.example.com"
variables: {tenant: {description: Your tenant}}
tools:
  - name: find
    description: Find things
    method: GET
    path: /things/{kind}
    params:
      - {name: kind, in: path, type: string, required: true}
      - {name: tags, in: query, type: array, style: comma}
    examples:
      - args: {kind: "a/b", tags: [x, "y z"]}
        request: {method: GET, url: "https://acme.example.com/things/a%2Fb?tags=x,y%20z"}
      - args: {kind: c}
        request: {url: "https://other.example.com/things/c", headers: {Accept: "application/json, */*"}}
  - name: make
    description: Make a thing
    method: POST
    path: /things
    params:
      - {name: name, in: body, type: string, required: true}
      - {name: size, in: body, type: integer}
    examples:
      - args: {name: é, size: 3}
        request: {url: "https://acme.example.com/things", body: {size: 3, name: é}}
  - name: send
    description: Send a form
    method: POST
    path: /forms
    encoding: form
    params:
      - {name: to, in: body, type: string, required: true}
    examples:
      - args: {to: "a & b"}
        request: {url: "https://acme.example.com/forms", body: "to=a+%26+b"}
  - name: bare
    description: Show nothing
    method: GET
    path: /
`;

async function folder(changes: readonly (readonly [from: string, to: string])[] = []) {
  const directory = await makeTemporaryDirectory();
  let text = toolspec;
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  writeFiles(directory.path, { "manifests/demo/0.1.0.yaml": manifest, "toolspecs/demo/0.1.0.yaml": text });
  return directory;
}

test("toolspec test sends each example through the engine and checks the received request and its credentials", async () => {
  await using directory = await folder();
  const text = await transcript(
    [
      ["toolspec", "test", "."],
      ["toolspec", "test", "toolspecs/demo/0.1.0.yaml", "--tool", "make", "--json"],
      ["toolspec", "test", "none"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("toolspec-test.txt"), text);
});

test("toolspec test shows the differences and exits with 1", async () => {
  await using directory = await folder([
    ["things/a%2Fb?tags", "things/a/b?tag"],
    ["*/*", "text/plain"],
    ["{size: 3, name: é}", "{size: 4}"],
    ['args: {to: "a & b"}', "args: {too: x}"],
  ]);
  const text = await transcript([["toolspec", "test", "."]], { directory: directory.path });
  checkGolden(golden("toolspec-test-bad.txt"), text);
});

test("toolspec test runs no example of a toolspec with an error", async () => {
  await using directory = await folder([["method: GET", "method: FETCH"]]);
  const { stdout, code } = await runToolcrib(["toolspec", "test", ".", "--json"], {
    directory: directory.path,
  });
  assert.equal(code, 2);
  assert.equal(JSON.parse(stdout).error.code, "CLI_CONFIG_INVALID");
});

test("toolspec test --live calls the API only for tools that read", async () => {
  await using directory = await folder();
  await using api = await startApiProxy(["acme.example.com", "other.example.com"], ({ target }, response) => {
    const isFound = target.includes("a%2Fb");
    response
      .writeHead(isFound ? 200 : 404, { "Content-Type": "application/json" })
      .end(isFound ? '{"ok":true}' : '{"no":1}');
  });
  writeFileSync(directory.join("ca.pem"), api.certificate);
  const env = {
    HTTPS_PROXY: api.url,
    SSL_CERT_FILE: directory.join("ca.pem"),
    TOOLCRIB_CREDENTIAL_KEY: "toolcrib-ph-key",
    TOOLCRIB_CREDENTIAL_APP: "toolcrib-ph-app",
    TOOLCRIB_CREDENTIAL_BOT: "toolcrib-ph-bot",
  };
  const { stdout, code } = await runToolcrib(["toolspec", "test", ".", "--live"], {
    directory: directory.path,
    env,
  });
  assert.equal(
    stdout,
    `ok   demo find 1 (11 bytes)
FAIL demo find 2: HTTP 404 Not Found: {"no":1}
skip demo make 1: it may change data
skip demo send 1: it may change data

1 passed, 1 failed, 2 skipped; 1 tool has no example
`,
  );
  assert.equal(code, 1);
  assert.deepEqual(
    api.server.requests.map(({ method, target }) => `${method} ${target}`),
    [
      "GET /bottoolcrib-ph-bot/things/a%2Fb?tags=x,y%20z&app_id=toolcrib-ph-app",
      "GET /bottoolcrib-ph-bot/things/c?app_id=toolcrib-ph-app",
    ],
  );
});
