/** The section `search.embeddings`: what it means, and what is wrong with it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "@toolcrib/config";

const parse = (embeddings: string) =>
  parseConfig([{ name: "/etc/toolcrib.yaml", text: `search: { embeddings: ${embeddings} }` }]);

test("search.embeddings is read, with its defaults, and is absent without the section", () => {
  const { value, diagnostics } = parse(
    "{ url: 'https://api.example.com/v1/embeddings', model: small, secret_key_ref: { file: key }, dimensions: 256 }",
  );
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(value?.search.embeddings, {
    url: "https://api.example.com/v1/embeddings",
    model: "small",
    secret: { kind: "file", path: "/etc/key" },
    dimensions: 256,
    timeoutMs: 300,
  });
  const local = parse("{ url: 'http://127.0.0.1:11434/v1/embeddings', model: m, timeout_ms: 50 }");
  assert.equal(local.value?.search.embeddings?.timeoutMs, 50);
  assert.equal(
    parseConfig([{ name: "toolcrib.yaml", text: "search: {}" }]).value?.search.embeddings,
    undefined,
  );
});

test("what is wrong with search.embeddings is reported with its place and never with a secret", () => {
  const secret = "sk-proj-4f9aQ2mZx81LtPq0VbNs77Yd";
  const check = (embeddings: string, code: string, hint: RegExp) => {
    const { diagnostics } = parse(embeddings);
    const found = diagnostics.find((one) => one.code === code);
    assert.ok(found, `${embeddings}: ${diagnostics.map((one) => one.code).join()}`);
    assert.match(`${found.message} ${found.hint}`, hint);
    assert.equal(
      JSON.stringify(diagnostics.map(({ message, hint: how }) => [message, how])).includes(secret),
      false,
    );
  };
  check("{ model: m }", "CONFIG_URL_REQUIRED", /127\.0\.0\.1:11434/);
  check("{ url: 'http://api.example.com/v1', model: m }", "CONFIG_URL_INSECURE", /write https/);
  check("{ url: 'https://10.0.0.1/v1', model: m }", "CONFIG_URL_INVALID", /internal_ranges/);
  check("{ url: 'https://u:p@api.example.com/', model: m }", "CONFIG_URL_INVALID", /secret_key_ref/);
  check(
    `{ url: 'https://api.example.com/?key=${secret}', model: m }`,
    "CONFIG_INLINE_SECRET",
    /secret_key_ref/,
  );
  check(
    `{ url: 'https://a.example.com/', model: m, secret_key_ref: ${secret} }`,
    "CONFIG_INLINE_SECRET",
    /NAME/,
  );
  check("{ url: 'https://a.example.com/', model: m, api_key: x }", "CONFIG_UNKNOWN_FIELD", /secret_key_ref/);
  check("{ url: 'https://a.example.com/', model: m, timeout_ms: 0 }", "CONFIG_INVALID_VALUE", /10/);
});
