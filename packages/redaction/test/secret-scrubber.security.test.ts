/** Secrets in JSON values: strings, keys, numbers, and texts that are split across content items. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "@toolcrib/json";
import { ByteScrubber, SecretScrubber } from "@toolcrib/redaction";
import { fastSample } from "@toolcrib/testing";
import { encodings } from "./encodings.ts";

const secret = "sk_live_4eC39HqLyjWDarjt";

function check(value: JsonValue, expected: JsonValue, values: readonly string[] = [secret]): void {
  const scrubber = new SecretScrubber();
  for (const [at, one] of values.entries()) scrubber.learn(at === 0 ? "s" : `s${at}`, one);
  assert.deepEqual(scrubber.value(value), expected);
}

test("strings, keys and numbers of a value are scrubbed", () => {
  check(
    { [`key ${secret}`]: [secret, { deep: `a ${secret} b` }], n: 1 },
    { "key [secret s]": ["[secret s]", { deep: "a [secret s] b" }], n: 1 },
  );
  check({ pin: 12345678, other: 1234567 }, { pin: "[secret s]", other: 1234567 }, ["12345678"]);
});

test("a value without secrets is the same object", () => {
  const scrubber = new SecretScrubber();
  const value = {
    content: [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ],
    list: [1, "a", null],
  };
  assert.equal(scrubber.value(value), value);
  scrubber.learn("s", secret);
  assert.equal(scrubber.value(value), value);
});

test("a definition without secrets is searched once for each generation, also in copies of it", () => {
  let reads = 0;
  const inputSchema = {
    get description() {
      reads += 1;
      return `About ${secret}`;
    },
  };
  const definition = { name: "a", inputSchema };
  const scrubber = new SecretScrubber();
  scrubber.learn("other", "another-secret");
  for (const one of [definition, definition, { ...definition, name: "b" }])
    assert.equal(scrubber.definition(one), one);
  assert.equal(reads, 1);
  // One with a secret, and all of them after another secret was learned, are searched again.
  const named = { name: "another-secret", inputSchema };
  for (let count = 0; count < 2; count += 1)
    assert.deepEqual(Object.values(scrubber.definition(named))[0], "[secret other]");
  assert.equal(reads, 1);
  scrubber.learn("s", secret);
  for (const one of [definition, definition, { ...definition, name: "c" }])
    assert.deepEqual(scrubber.definition(one), {
      name: one.name,
      inputSchema: { description: "About [secret s]" },
    });
  assert.ok(reads > 3);
});

const text = (part: string): JsonValue => ({ type: "text", text: part });
const resource = (part: string): JsonValue => ({ type: "resource", resource: { uri: "a://b", text: part } });
const message = (part: string): JsonValue => ({ role: "user", content: { type: "text", text: part } });

test("a secret that is split across two items is replaced in both, at every position and in every encoding", () => {
  for (const { encode, extent } of encodings) {
    if (extent === "within") continue;
    const encoded = encode(secret);
    for (const cut of fastSample(Array.from({ length: encoded.length - 1 }, (_, at) => at + 1))) {
      check(
        { content: [text(`a ${encoded.slice(0, cut)}`), text(`${encoded.slice(cut)} b`)] },
        { content: [text("a [secret s]"), text("[secret s] b")] },
      );
    }
  }
});

test("a secret that is split across items of several kinds is replaced in each", () => {
  for (const item of [text, resource, message]) {
    check(
      [item("a sk_live"), item("_4eC39"), item("HqLyjWDarjt b")],
      [item("a [secret s]"), item("[secret s]"), item("[secret s] b")],
    );
  }
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  check(
    [text("sk_live_4eC3"), image, text(""), resource("9HqLyjWDarjt")],
    [text("[secret s]"), image, text(""), resource("[secret s]")],
  );
});

test("whole secrets in several items are replaced once each", () => {
  check(
    [text(`${secret} and ${secret}`), text(secret)],
    [text("[secret s] and [secret s]"), text("[secret s]")],
  );
});

test("of several secrets at one place, the longest is replaced", () => {
  check("12345678-and-more 12345678", "[secret s1] [secret s]", ["12345678", "12345678-and-more"]);
});

test("a value keeps the name that it was learned by first", () => {
  const scrubber = new SecretScrubber();
  scrubber.learn("first", secret);
  scrubber.learn("second", secret);
  assert.equal(scrubber.text(secret), "[secret first]");
});

test("the token of a header, a trimmed value and the lines of a key are secrets too", () => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
  check(
    ["token-of-a-header", "padded-value", `log: ${line}`],
    ["[secret s]", "[secret s1]", "log: [secret s2]"],
    [
      "Bearer token-of-a-header",
      "  padded-value\n",
      `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----\n`,
    ],
  );
});

test("a header value is scrubbed byte by byte", () => {
  const scrubber = new ByteScrubber([{ owner: 1, texts: ["ключ-secret"], replacement: "[x]" }]);
  const found: number[] = [];
  const header = Buffer.from("a ключ-secret, b").toString("latin1");
  assert.equal(
    scrubber.text(header, (owner) => found.push(owner)),
    "a [x], b",
  );
  assert.deepEqual(found, [1]);
  assert.equal(
    scrubber.text("nothing", () => assert.fail()),
    "nothing",
  );
});
