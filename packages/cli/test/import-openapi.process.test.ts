import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkGolden, createTestAuthority, makeTemporaryDirectory, startTlsServer } from "@toolcrib/testing";
import { startApiProxy } from "./api-proxy.ts";
import { golden, runToolcrib, transcript } from "./transcript.ts";

const document = `openapi: 3.1.0
info: {title: Lending API, version: "1"}
servers: [{url: "https://{branch}.library.example/v1", variables: {branch: {default: main}}}]
security: [{card: []}]
paths:
  /books:
    get:
      operationId: listBooks
      tags: [books]
      summary: List books
      parameters:
        - {name: author, in: query, required: true, schema: {type: string}, example: Jane Austen}
        - {name: shelf, in: cookie, schema: {type: string}}
      responses: {"200": {description: Books}}
  /loans:
    post:
      operationId: lendBook
      tags: [loans]
      summary: Lend a book
      requestBody: {content: {application/json: {schema: {$ref: "parts/loan.yaml#/Loan"}}}}
      responses: {"201": {description: Lent}}
  /old: {get: {operationId: oldBooks, deprecated: true, responses: {}}}
components: {securitySchemes: {card: {type: apiKey, in: header, name: X-Card}}}
`;
const loan =
  "Loan: {type: object, required: [book], properties: {book: {type: string, example: emma}, days: {type: integer}}}\n";

test("import openapi writes a valid manifest and toolspec, and prints omissions and next steps", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("parts"));
  writeFileSync(directory.join("lending.yaml"), document);
  writeFileSync(directory.join("parts/loan.yaml"), loan);
  writeFileSync(directory.join("old.json"), '{"swagger": "2.0", "paths": {}}');
  const inTurn = [
    ["import", "openapi", "lending.yaml"],
    ["lint-toolspecs", "."],
    ["toolspec", "test", "."],
    ["import", "openapi", "lending.yaml"],
    ["import", "openapi", "lending.yaml", "--force", "--tag", "loans", "--json"],
  ];
  const atOnce = [
    [
      "import",
      "openapi",
      "lending.yaml",
      "--out",
      "more",
      "--name",
      "lib",
      "--spec-version",
      "1.2.0",
      "--method",
      "get",
      "--base-url",
      "https://lib.example/api",
    ],
    ["import", "openapi", "lending.yaml", "--list"],
    ["import", "openapi", "lending.yaml", "--list", "--json"],
    ["import", "openapi", "lending.yaml", "--operation", "lendBooks"],
    ["import", "openapi", "old.json"],
    ["import", "openapi", "none.yaml"],
    ["import", "openapi", "http://docs.example/api.yaml"],
    ["import", "openapi", "https://10.0.0.1/api.yaml"],
    ["import", "openapi", "lending.yaml", "--max-tools", "0"],
  ];
  const setting = { directory: directory.path };
  const lines: string[] = [];
  for (const args of inTurn) lines.push(await transcript([args], setting));
  lines.push(await transcript(atOnce, setting));
  checkGolden(golden("import-openapi.txt"), lines.join("\n"));
  assert.equal(
    readFileSync(directory.join("more/toolspecs/lib/1.2.0.yaml"), "utf8").includes("path: /api/books"),
    true,
  );
});

test("import openapi reads nothing outside the document's folder, and writes both files or none", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("api"));
  writeFileSync(
    directory.join("secret.yaml"),
    "Loan: {type: object, properties: {stolen: {type: string}}}\n",
  );
  symlinkSync("../secret.yaml", directory.join("api/linked.yaml"));
  for (const reference of [
    "../secret.yaml",
    "parts/../../secret.yaml",
    directory.join("secret.yaml"),
    "file:///etc/passwd",
    "https://other.example/x",
    "linked.yaml",
  ]) {
    writeFileSync(directory.join("api/lending.yaml"), document.replace("parts/loan.yaml", reference));
    const { stdout, stderr, code } = await runToolcrib(
      ["import", "openapi", "api/lending.yaml", "--force", "--json"],
      { directory: directory.path },
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /OPENAPI_REFERENCE/);
    const written = readFileSync(directory.join("toolspecs/lending/0.1.0.yaml"), "utf8");
    assert.equal(written.includes("stolen"), false, reference);
  }
  mkdirSync(directory.join("half/toolspecs/lending"), { recursive: true });
  writeFileSync(directory.join("half/toolspecs/lending/0.1.0.yaml"), "mine\n");
  const { code } = await runToolcrib(["import", "openapi", "api/lending.yaml", "--out", "half"], {
    directory: directory.path,
  });
  assert.equal(code, 2);
  assert.equal(existsSync(directory.join("half/manifests")), false);
  assert.equal(readFileSync(directory.join("half/toolspecs/lending/0.1.0.yaml"), "utf8"), "mine\n");
});

test("import openapi fetches a URL and its references on the same host, and nothing else", async () => {
  await using directory = await makeTemporaryDirectory();
  await using api = await startApiProxy(["docs.example.com"], ({ target }, response) => {
    if (target === "/moved") return void response.writeHead(302, { Location: "/v1/api.yaml" }).end();
    if (target === "/away")
      return void response.writeHead(302, { Location: "https://elsewhere.example.com/api.yaml" }).end();
    if (target === "/round") return void response.writeHead(302, { Location: "/round" }).end();
    const texts: { readonly [path: string]: string } = {
      "/v1/api.yaml": document.replace(/url: "[^"]*"/, "url: .").replace("$ref:", '"x": 1, $ref:'),
      "/v1/parts/loan.yaml": loan.replace(
        "days: {type: integer}",
        'days: {$ref: "https://elsewhere.example.com/d.yaml"}',
      ),
    };
    const text = texts[target];
    response.writeHead(text === undefined ? 404 : 200, { "Content-Type": "text/yaml" }).end(text ?? "no");
  });
  writeFileSync(directory.join("ca.pem"), api.certificate);
  const env = { HTTPS_PROXY: api.url, SSL_CERT_FILE: directory.join("ca.pem") };
  const run = async (url: string) => {
    const { stdout, code } = await runToolcrib(["import", "openapi", url, "--json", "--force"], {
      directory: directory.path,
      env,
    });
    return { code, report: JSON.parse(stdout) };
  };
  const moved = await run("https://docs.example.com/moved");
  assert.equal(moved.code, 0, JSON.stringify(moved.report));
  const tools = readFileSync(directory.join("toolspecs/lending/0.1.0.yaml"), "utf8");
  assert.match(tools, /baseUrl: https:\/\/docs\.example\.com\n/);
  assert.match(tools, /path: \/v1\/loans/);
  assert.match(tools, /name: book, in: body/);
  const codes = moved.report.diagnostics.map(({ code }: { code: string }) => code);
  assert.equal(codes.includes("OPENAPI_REFERENCE"), true);
  assert.deepEqual([...new Set(api.connects)], ["docs.example.com:443"]);
  for (const [path, message] of [
    ["/away", /redirects to another host/],
    ["/round", /more than 5 redirects/],
    ["/none", /HTTP 404/],
  ] as const) {
    const { code, report } = await run(`https://docs.example.com${path}`);
    assert.equal(code, 1);
    assert.match(report.error.message, message);
  }
  assert.deepEqual([...new Set(api.connects)], ["docs.example.com:443"]);
});

test("import openapi reaches no address of this network", async () => {
  await using directory = await makeTemporaryDirectory();
  const { stdout, code } = await runToolcrib(
    ["import", "openapi", "https://localhost.localdomain/x.yaml", "--json"],
    { directory: directory.path },
  );
  assert.notEqual(code, 0);
  assert.match(JSON.parse(stdout).error.code, /^EGRESS_/);
});

test("an imported API can be called through the gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  await using server = await startTlsServer({
    certificate: authority.sign({ hosts: ["main.library.example"] }),
    respond: (_request, response) =>
      void response.writeHead(201, { "Content-Type": "application/json" }).end('{"due":"tomorrow"}'),
  });
  mkdirSync(directory.join("parts"));
  writeFileSync(directory.join("lending.yaml"), document);
  writeFileSync(directory.join("parts/loan.yaml"), loan);
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `toolspecs:
  - path: ./toolspecs/lending/0.1.0.yaml
    credentials: {card: {secret_key_ref: {env: LIBRARY_CARD}}}
    tools: all
egress:
  internal_ranges: [127.0.0.0/8]
  connect_to: {main.library.example: "${server.endpoint}"}
  ca_files: [./ca.pem]
`,
  );
  const setting = { directory: directory.path, env: { LIBRARY_CARD: "card-of-emma" } };
  assert.equal((await runToolcrib(["import", "openapi", "lending.yaml"], setting)).code, 0);
  const called = await runToolcrib(["call", "lending__lend_book", '{"book": "emma", "days": "7"}'], setting);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stdout, /"due": ?"tomorrow"/);
  const [request] = server.requests;
  assert.equal(`${request?.method} ${request?.target}`, "POST /v1/loans");
  assert.equal(request?.body.toString(), '{"book":"emma","days":7}');
  assert.deepEqual(
    request?.headers.filter(([name]) => name.toLowerCase() === "x-card"),
    [["X-Card", "card-of-emma"]],
  );
});

test("an imported API gets its credentials in headers only, and prints which members of bodies it hides", async () => {
  await using directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  await using server = await startTlsServer({
    certificate: authority.sign({ hosts: ["bank.example"] }),
    respond: (_request, response) =>
      void response.writeHead(200, { "Content-Type": "application/json" }).end('{"accounts":[]}'),
  });
  writeFileSync(
    directory.join("bank.yaml"),
    `openapi: 3.0.0
info: {title: Bank, version: "1"}
servers: [{url: "https://bank.example"}]
security: [{clientId: [], secret: []}]
paths:
  /accounts/get:
    post:
      operationId: accountsGet
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [access_token]
              properties:
                client_id: {type: string, description: May be provided in the BANK-CLIENT-ID header.}
                secret: {type: string, description: May be provided in the BANK-SECRET header.}
                access_token: {type: string}
      responses: {"200": {description: Accounts}}
components:
  securitySchemes:
    clientId: {type: apiKey, in: header, name: BANK-CLIENT-ID}
    secret: {type: apiKey, in: header, name: BANK-SECRET}
`,
  );
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `toolspecs:
  - path: ./toolspecs/bank/0.1.0.yaml
    credentials: {client_id: {secret_key_ref: {env: BANK_ID}}, secret: {secret_key_ref: {env: BANK_SECRET}}}
    tools: all
egress:
  internal_ranges: [127.0.0.0/8]
  connect_to: {bank.example: "${server.endpoint}"}
  ca_files: [./ca.pem]
`,
  );
  const setting = { directory: directory.path, env: { BANK_ID: "id-of-app", BANK_SECRET: "secret-of-app" } };
  const kept = await runToolcrib(
    ["import", "openapi", "bank.yaml", "--out", "kept", "--keep-argument", "client_id", "--json"],
    setting,
  );
  assert.deepEqual(JSON.parse(kept.stdout).hidden, [
    { name: "secret", in: "body", tools: 1, credential: "secret" },
  ]);
  const { stdout, stderr } = await runToolcrib(["import", "openapi", "bank.yaml"], setting);
  assert.match(stdout, /\nhides client_id in the body of 1 tool: the credential client_id\nhides secret in /);
  assert.match(stderr, /import with --keep-argument client_id/);
  const called = await runToolcrib(["call", "bank__accounts_get", '{"access_token": "of-user"}'], setting);
  assert.equal(called.code, 0, called.stderr);
  const [request] = server.requests;
  assert.equal(request?.body.toString(), '{"access_token":"of-user"}');
  assert.deepEqual(
    request?.headers.filter(([name]) => name.startsWith("BANK-")),
    [
      ["BANK-CLIENT-ID", "id-of-app"],
      ["BANK-SECRET", "secret-of-app"],
    ],
  );
  const refused = await runToolcrib(
    ["call", "bank__accounts_get", '{"access_token": "of-user", "secret": "x"}'],
    setting,
  );
  assert.notEqual(refused.code, 0);
  assert.equal(server.requests.length, 1);
});
