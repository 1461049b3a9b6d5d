/** The section `telemetry`: what it means, what is wrong with it, and that no finding or digest contains a secret. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { digestConfig, parseConfig, resolveTelemetryConnection, SecretResolver } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { makeTemporaryDirectory } from "@toolcrib/testing";

const parse = (...texts: readonly string[]) =>
  parseConfig(texts.map((text, at) => ({ name: `/etc/toolcrib/${at}.yaml`, text })));

test("telemetry is off without the section, and has defaults with it", () => {
  assert.equal(parse("serve: {}").value?.telemetry, undefined);
  const { value, diagnostics } = parse("telemetry: { otlp: { endpoint: http://127.0.0.1:4318 } }");
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(value?.telemetry, {
    compression: "none",
    endpoint: "http://127.0.0.1:4318",
    protocol: "http/protobuf",
    headers: {},
    signals: { traces: true, metrics: true, logs: false },
    serviceName: "toolcrib",
    sampleRatio: 1,
    resourceAttributes: {},
    metricsIntervalMs: 60_000,
  });
});

const cases: readonly (readonly [section: string, code: string, message: RegExp, hint: RegExp])[] = [
  ["{}", "CONFIG_URL_REQUIRED", /^telemetry\.otlp required$/, /environment variables name no collector/],
  ["{ otlp: {} }", "CONFIG_URL_REQUIRED", /^telemetry\.otlp\.endpoint required$/, /127\.0\.0\.1:4318/],
  [
    "{ otlp: { endpoint: http://otlp.example.com } }",
    "CONFIG_URL_INSECURE",
    /^telemetry\.otlp\.endpoint cannot be http to "otlp\.example\.com"/,
    /allow_http: true/,
  ],
  [
    "{ otlp: { endpoint: 'ftp://127.0.0.1' } }",
    "CONFIG_URL_INVALID",
    /cannot have the scheme "ftp"/,
    /https/,
  ],
  ...["127.0.0.1:4318", "localhost:4318", "[::1]:4318"].map(
    (endpoint) =>
      [
        `{ otlp: { endpoint: '${endpoint}' } }`,
        "CONFIG_URL_INVALID",
        /telemetry\.otlp\.endpoint/,
        new RegExp(`http://${endpoint.replaceAll(/[[\]]/g, "\\$&")}$`),
      ] as const,
  ),
  ["{ otlp: { endpoint: 'collector:4318' } }", "CONFIG_URL_INVALID", /telemetry\.otlp\.endpoint/, /https/],
  [
    "{ otlp: { endpoint: 'https://user:planted@a.example' } }",
    "CONFIG_URL_CREDENTIALS",
    /cannot contain a user name or password/,
    /secret_key_ref/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example/x?api-key=sk-planted0123456789abcdef0123' } }",
    "CONFIG_INLINE_SECRET",
    /contains a possible secret/,
    /secret_key_ref/,
  ],
  ["{ otlp: { endpoint: 'https://a.example/?x=1' } }", "CONFIG_INVALID_VALUE", /a query/, /remove/],
  [
    "{ otlp: { endpoint: 'https://a.example/v1/traces/' } }",
    "CONFIG_INVALID_VALUE",
    /must be the base URL, but ends in "\/v1\/traces\/"/,
    /remove/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example', headers: { Authorization: Bearer planted } } }",
    "CONFIG_INLINE_SECRET",
    /header "Authorization" contains a literal/,
    /secret_key_ref/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example', headers: { Content-Type: text/plain } } }",
    "CONFIG_HEADER_NOT_ALLOWED",
    /only Toolcrib sets it/,
    /remove/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example' }, resource_attributes: { service.name: x } }",
    "CONFIG_INVALID_VALUE",
    /"service\.name" cannot be declared/,
    /service_name/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example' }, traces: false, metrics: false }",
    "CONFIG_INVALID_VALUE",
    /sends nothing/,
    /turn one on/,
  ],
  [
    "{ otlp: { endpoint: 'https://a.example' }, resource_attributes: { key: sk-planted0123456789abcdef0123 } }",
    "CONFIG_INLINE_SECRET",
    /attribute "key" contains a possible secret/,
    /sent with everything/,
  ],
];

for (const [section, code, message, hint] of cases) {
  test(`telemetry: ${section.replaceAll(/sk-\w+/g, "…")} is refused with ${code}`, () => {
    const { value, diagnostics } = parse(`telemetry: ${section}`);
    assert.equal(value, undefined);
    assert.deepEqual([diagnostics.length, diagnostics[0]?.code], [1, code], JSON.stringify(diagnostics));
    assert.match(diagnostics[0]?.message ?? "", message);
    assert.match(diagnostics[0]?.hint ?? "", hint);
    assert.doesNotMatch(`${diagnostics[0]?.message} ${diagnostics[0]?.hint}`, /planted/);
  });
}

test("plain http to another machine needs a word of the operator, in the same file", () => {
  const insecure = "telemetry: { otlp: { endpoint: http://otlp.example.com, allow_http: true } }";
  assert.equal(parse(insecure).value?.telemetry?.endpoint, "http://otlp.example.com");
  const other = "telemetry: { otlp: { endpoint: http://other.example.com } }";
  assert.equal(parse(insecure, other).value, undefined);
});

test("files compose, and one header of two spellings is one header", () => {
  const first = `telemetry: { otlp: { endpoint: https://a.example, headers: { X-Team: a, X-Only: b } }, logs: true }`;
  const second = `telemetry: { otlp: { endpoint: https://b.example, headers: { x-team: c } } }`;
  const { telemetry } = parse(first, second).value ?? {};
  const headers = Object.entries(telemetry?.headers ?? {}).map(([name, value]) => [
    name,
    "text" in value && value.text,
  ]);
  assert.deepEqual(headers, [
    ["x-team", "c"],
    ["x-only", "b"],
  ]);
  assert.deepEqual([telemetry?.endpoint, telemetry?.signals.logs], ["https://b.example", true]);
});

test("headers are read from where they are kept, and findings name the place only", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(join(directory.path, "good.key"), "planted-value\n", { mode: 0o600 });
  writeFileSync(join(directory.path, "two-lines.key"), "planted\nlines", { mode: 0o600 });
  const resolver = new SecretResolver({
    env: { KEY: "planted-key" },
    readFile: readRegularFile,
    home: directory.path,
  });
  const headersOf = async (refs: string) => {
    const text = `telemetry: { otlp: { endpoint: https://a.example, headers: { ${refs} } } }`;
    const { value } = parseConfig([{ name: `${directory.path}/toolcrib.yaml`, text }]);
    assert.ok(value?.telemetry !== undefined);
    assert.doesNotMatch(digestConfig(value), /planted/);
    return (await resolveTelemetryConnection(value.telemetry, resolver)).headers;
  };
  assert.deepEqual(
    await headersOf(
      'a: { secret_key_ref: { env: KEY }, prefix: "Bearer " }, b: { secret_key_ref: { file: good.key } }, c: plain',
    ),
    { a: "Bearer planted-key", b: "planted-value", c: "plain" },
  );
  for (const [ref, code] of [
    ["{ env: MISSING }", "CONFIG_SECRET_NOT_FOUND"],
    ["{ file: two-lines.key }", "CONFIG_SECRET_UNUSABLE"],
  ] as const) {
    await assert.rejects(headersOf(`a: { secret_key_ref: ${ref} }`), (error: Error & { code?: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, /telemetry\.otlp\.headers\.a/);
      assert.doesNotMatch(error.message, /planted/);
      return true;
    });
  }
});
