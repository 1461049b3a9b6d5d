import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { SchemaValidator } from "@toolcrib/json";
import { type PackageFiles, parsePackage } from "@toolcrib/mcpkg";
import { bareManifest, echoFiles, echoManifest, echoTest, filesOf } from "./sample-packages.ts";

const validator = new SchemaValidator();

/** Checks which codes are reported, at which places. */
function check(files: PackageFiles, expected: readonly string[]): void {
  const { value, diagnostics } = parsePackage(files, validator);
  const found = diagnostics.map(({ code, path, severity }) => `${severity} ${code} ${path ?? ""}`);
  assert.deepEqual(found.toSorted(), [...expected].toSorted(), formatDiagnostics(diagnostics));
  assert.equal(
    value === undefined,
    expected.some((one) => one.startsWith("error")),
  );
  for (const { source } of diagnostics) assert(source !== undefined || expected.length === 1);
}

test("the echo package of the document is valid", () => {
  check(echoFiles(), []);
});

test("the manifest of section 4 is valid with its comments and placeholders", () => {
  const manifest = `{
    "toolId": "stripe.payments.create_charge",
    "name": "Create Stripe Charge",
    "version": "1.0.0",
    "description": "Create a payment charge in Stripe for a given customer and amount.",
    "capabilities": ["payments", "stripe", "charges"],
    "endpoint": { "type": "http", "method": "POST", "url": "https://api.stripe.com/v1/charges", "timeoutMs": 10000 },
    "input_schema": { /* JSON Schema */ },
    "output_schema": { /* JSON Schema */ },
    "auth": {
      "type": "bearer",              // or "oauth2", "api_key", "none"
      "scopes": ["charges:write"],   // optional
      "configHints": { "env": ["STRIPE_API_KEY"], "docsUrl": "https://docs.stripe.com/..." }
    },
    "tests": ["tests/basic_charge.test.json"],
    "examples": ["examples/basic_usage.md"],
    "meta": {
      "publisher": { "id": "stripe", "name": "Stripe", "website": "https://stripe.com" },
      "license": "proprietary", "homepage": "https://stripe.com/mcp", "tags": ["production", "payments", "eu-ready"]
    }
  }`;
  const charge = {
    name: "basic_eur_charge",
    description: "Simple EUR 10 charge with valid card.",
    input: { amount: 1000, currency: "EUR", source: "tok_visa" },
    expected: { status: "succeeded", currency: "eur", amount: 1000 },
    assertions: [
      { path: "$.status", equals: "succeeded" },
      { path: "$.amount_refunded", equals: 0 },
    ],
    timeoutMs: 10_000,
  };
  check(
    filesOf({
      "manifest.json": manifest,
      "tests/basic_charge.test.json": charge,
      "examples/basic_usage.md": "# Basic Usage",
      "meta/publisher.json": {
        id: "stripe",
        name: "Stripe",
        website: "https://stripe.com",
        contact: "support@stripe.com",
      },
      "meta/provenance.json": {
        sourceRepo: "https://github.com/stripe/stripe-mcp-tools",
        commit: "a1b2c3d4e5f6",
      },
    }),
    [],
  );
});

const implementations = [
  {
    id: "node-pdfjs",
    language: "javascript",
    runtime: "node",
    platforms: ["linux-x64", "win-x64", "darwin-arm64"],
    endpoint: { type: "local", command: "node ./sdk/javascript/pdf-read.js" },
    requirements: { minNodeVersion: "18.0.0" },
  },
  {
    id: "dotnet-itext",
    language: "dotnet",
    runtime: "net8.0",
    platforms: ["win-x64", "linux-x64"],
    endpoint: { type: "local", command: "dotnet ./sdk/dotnet/PdfReader.dll" },
  },
  {
    id: "python-pymupdf",
    language: "python",
    runtime: "python3.11",
    platforms: ["linux-x64", "darwin-arm64"],
    endpoint: { type: "local", command: "python ./sdk/python/pdf_reader.py" },
    requirements: { packages: ["PyMuPDF>=1.23.0"] },
  },
];

test("the implementations of section 10 are valid; the files that they start are looked for", () => {
  const manifest = { ...bareManifest, toolId: "tools.pdf.read_local", implementations };
  check(
    filesOf({
      "manifest.json": manifest,
      "sdk/javascript/pdf-read.js": "",
      "sdk/dotnet/PdfReader.dll": "",
      "sdk/python/pdf_reader.py": "",
    }),
    [],
  );
  check(filesOf({ "manifest.json": manifest }), [
    "warning MCPKG_FILE_MISSING implementations[0].endpoint.command",
    "warning MCPKG_FILE_MISSING implementations[1].endpoint.command",
    "warning MCPKG_FILE_MISSING implementations[2].endpoint.command",
  ]);
});

const chain = [
  {
    step: "read_pdf",
    tool: "tools.pdf.read_local",
    inputMapping: { path: "$.input.pdfPath" },
    outputKey: "raw_text",
  },
  {
    step: "clean_text",
    tool: "tools.text.clean",
    inputMapping: { text: "$.raw_text.content" },
    outputKey: "cleaned_text",
  },
  {
    step: "generate_embeddings",
    tool: "tools.embeddings.generate",
    inputMapping: { text: "$.cleaned_text.result", model: "$.input.embeddingModel" },
    outputKey: "embeddings",
  },
] as const;

const chainManifest = {
  ...bareManifest,
  toolId: "tools.pdf.pipeline.embed",
  chain,
  input_schema: {
    type: "object",
    properties: {
      pdfPath: { type: "string" },
      embeddingModel: { type: "string", default: "text-embedding-3-small" },
    },
    required: ["pdfPath"],
  },
};

function chainFiles(steps: readonly object[]): PackageFiles {
  return filesOf({ "manifest.json": { ...chainManifest, chain: steps } });
}

test("the chain of section 11 is valid; a mapping refers to the input and to earlier steps alone", () => {
  check(chainFiles(chain), []);
  const [read, clean, embed] = chain;
  check(chainFiles([clean, read, embed]), ["error MCPKG_CHAIN_INVALID chain[0].inputMapping.text"]);
  check(chainFiles([{ ...read, inputMapping: { path: "$.nosuch.path" } }]), [
    "error MCPKG_CHAIN_INVALID chain[0].inputMapping.path",
  ]);
  check(chainFiles([{ ...read, inputMapping: { path: "$.input.pdfpath" } }]), [
    "warning MCPKG_CHAIN_INVALID chain[0].inputMapping.path",
  ]);
  check(chainFiles([{ ...read, inputMapping: { path: "$.input[" } }]), [
    "error MCPKG_JSON_PATH_INVALID chain[0].inputMapping.path",
  ]);
  check(chainFiles([read, { ...clean, outputKey: "raw_text" }]), [
    "error MCPKG_CHAIN_INVALID chain[1].outputKey",
  ]);
  check(chainFiles([{ ...read, step: "input" }]), ["error MCPKG_CHAIN_INVALID chain[0].step"]);
  check(chainFiles([{ ...read, tool: "tools.pdf.pipeline.embed" }]), [
    "error MCPKG_CHAIN_INVALID chain[0].tool",
  ]);
  // A step name is another name of its output, and a literal needs no $.
  check(
    chainFiles([read, { ...clean, inputMapping: { text: "$.read_pdf.content", mode: "fast", level: 3 } }]),
    [],
  );
});

const errors: readonly (readonly [title: string, files: PackageFiles, expected: readonly string[]])[] = [
  [
    "no manifest",
    filesOf({ "echo/manifest.json": echoManifest }),
    ["error MCPKG_FILE_MISSING manifest.json"],
  ],
  ["a manifest that is no JSON", filesOf({ "manifest.json": "{" }), ["error MCPKG_SYNTAX "]],
  [
    "a repeated member",
    filesOf({
      "manifest.json": `${JSON.stringify({ ...bareManifest, chain }).slice(0, -1)},"toolId":"a.b"}`,
    }),
    ["error MCPKG_DUPLICATE_KEY "],
  ],
  ["an id of one part", echoFiles({ toolId: "echo" }), ["error MCPKG_TOOL_ID_INVALID toolId"]],
  ["an id with other characters", echoFiles({ toolId: "Acme.Echo" }), ["error MCPKG_TOOL_ID_INVALID toolId"]],
  ["a version that is not SemVer", echoFiles({ version: "1.0" }), ["error MCPKG_VERSION_INVALID version"]],
  ["a version with leading zeros", echoFiles({ version: "1.02.0" }), ["error MCPKG_VERSION_INVALID version"]],
  ["an unknown member", echoFiles({ chian: [] }), ["warning MCPKG_UNKNOWN_FIELD chian"]],
  ["a schema that is a list", echoFiles({ input_schema: [] }), ["error MCPKG_WRONG_TYPE input_schema"]],
  [
    "an input that is no object",
    echoFiles({ input_schema: { type: "string" } }),
    ["error MCPKG_SCHEMA_INVALID input_schema.type", "error MCPKG_TEST_INPUT_INVALID input"],
  ],
  [
    "a schema with an unknown type",
    echoFiles({ output_schema: { type: "text" } }),
    ["error MCPKG_SCHEMA_INVALID output_schema"],
  ],
  [
    "a schema from the network",
    echoFiles({ output_schema: { $ref: "https://example.com/s.json" } }),
    ["error MCPKG_SCHEMA_INVALID output_schema"],
  ],
  ["no way to run", filesOf({ "manifest.json": bareManifest }), ["error MCPKG_FIELD_REQUIRED "]],
  ["a chain beside an endpoint", echoFiles({ chain: [] }), ["error MCPKG_VALUE_INVALID chain"]],
  ["an endpoint without a type", echoFiles({ endpoint: {} }), ["error MCPKG_FIELD_REQUIRED endpoint"]],
  [
    "an endpoint of a later version",
    echoFiles({ endpoint: { type: "grpc" } }),
    ["error MCPKG_VALUE_INVALID endpoint.type"],
  ],
  [
    "an unknown method",
    echoFiles({ endpoint: { ...echoManifest.endpoint, method: "FETCH" } }),
    ["error MCPKG_VALUE_INVALID endpoint.method"],
  ],
  [
    "a test that is missing",
    echoFiles({ tests: ["tests/no.test.json"] }),
    ["error MCPKG_FILE_MISSING tests[0]", "warning MCPKG_FILE_UNUSED tests"],
  ],
  [
    "a test that is named twice",
    echoFiles({ tests: ["tests/echo.test.json", "tests/echo.test.json"] }),
    ["error MCPKG_VALUE_INVALID tests[1]"],
  ],
  [
    "an example that is missing",
    echoFiles({ examples: ["README.md"] }),
    ["error MCPKG_FILE_MISSING examples[0]"],
  ],
  [
    "two implementations with one id",
    echoFiles({ implementations: [implementations[0], implementations[0]] }),
    [
      "error MCPKG_VALUE_INVALID implementations[1].id",
      "warning MCPKG_FILE_MISSING implementations[0].endpoint.command",
      "warning MCPKG_FILE_MISSING implementations[1].endpoint.command",
    ],
  ],
  [
    "a test without an input",
    echoFiles({}, { "tests/echo.test.json": { name: "x" } }),
    ["error MCPKG_FIELD_REQUIRED "],
  ],
  [
    "a test that tests nothing",
    echoFiles({}, { "tests/echo.test.json": { name: "x", input: { message: "a" } } }),
    ["warning MCPKG_ASSERTION_INVALID "],
  ],
  [
    "an input that does not match",
    echoFiles({}, { "tests/echo.test.json": { ...echoTest, input: { message: 1 } } }),
    ["error MCPKG_TEST_INPUT_INVALID input"],
  ],
  [
    "an assertion without a condition",
    testWith({ path: "$.a" }),
    ["error MCPKG_ASSERTION_INVALID assertions[0]"],
  ],
  [
    "an assertion with two conditions",
    testWith({ path: "$.a", equals: 1, exists: true }),
    ["error MCPKG_ASSERTION_INVALID assertions[0]"],
  ],
  [
    "an assertion with an unknown condition",
    testWith({ path: "$.a", equal: 1 }),
    ["error MCPKG_UNKNOWN_FIELD assertions[0].equal"],
  ],
  [
    "an assertion without a JSONPath",
    testWith({ path: "status", equals: 1 }),
    ["error MCPKG_JSON_PATH_INVALID assertions[0].path"],
  ],
  ["an assertion about null", testWith({ path: "$.a", equals: null }), []],
  [
    "errors in the manifest and in a test",
    echoFiles({ version: "1" }, { "tests/echo.test.json": { name: "x" } }),
    ["error MCPKG_FIELD_REQUIRED ", "error MCPKG_VERSION_INVALID version"],
  ],
];

function testWith(assertion: object): PackageFiles {
  return echoFiles({}, { "tests/echo.test.json": { ...echoTest, assertions: [assertion] } });
}

for (const [title, files, expected] of errors) {
  test(`parsePackage() reports ${title} as it should`, () => check(files, expected));
}

const urls: readonly (readonly [url: string, expected: readonly string[]])[] = [
  ["https://example.com/{message}?q={message}", []],
  ["http://127.0.0.1:8080/echo", []],
  ["https://example.com/{id}", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["https://{message}.example.com/", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["https://user:pw@example.com/", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["ftp://example.com/", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["file:///etc/passwd", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["example.com/echo", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
  ["https://example.com/#top", ["error MCPKG_ENDPOINT_INVALID endpoint.url"]],
];

for (const [url, expected] of urls) {
  test(`parsePackage() ${expected.length === 0 ? "accepts" : "refuses"} the URL ${url}`, () =>
    check(echoFiles({ endpoint: { ...echoManifest.endpoint, url } }), expected));
}

const commands: readonly (readonly [command: string, expected: readonly string[]])[] = [
  ["node ./run.js --fast", []],
  ["python3.12 run.js", []],
  ["./run.js", []],
  ["node ./gone.js", ["warning MCPKG_FILE_MISSING endpoint.command"]],
  ["./gone", ["error MCPKG_FILE_MISSING endpoint.command"]],
  ["bash ./run.js", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["run.js", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["/bin/sh -c ls", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["../run.js", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["node ./run.js; rm -rf /", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["node ./run.js $(id)", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["node ./run.js > /etc/passwd", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
  ["node 'my file.js'", ["error MCPKG_COMMAND_INVALID endpoint.command"]],
];

for (const [command, expected] of commands) {
  test(`parsePackage() ${expected.length === 0 ? "accepts" : "reports"} the command ${command}`, () =>
    check(echoFiles({ endpoint: { type: "local", command } }, { "run.js": "" }), expected));
}
