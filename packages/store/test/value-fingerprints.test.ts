/** Fingerprints of values: HMAC under the key of the home, for the values of a call that can identify something. */

import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openFingerprints } from "@toolcrib/store";
import { makeTemporaryDirectory, rejectsWith } from "@toolcrib/testing";

const key = randomBytes(32);
/** A home with this key. */
await using keyHome = await makeTemporaryDirectory();
writeFileSync(keyHome.join("audit-fingerprints.key"), key.toString("hex"), { mode: 0o600 });
const fingerprints = await openFingerprints(keyHome.path, { randomBytes });
const hmac = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 16);
const asIs = (places: string) => places;
const placesOf = (args: object) => Object.keys(fingerprints.ofArguments(args, asIs) ?? {});

test("a fingerprint is an HMAC of the value as text, and a value that is too short has none", () => {
  for (const text of ["acme", "ünï \u{1f600}", "x".repeat(16 * 1024), "ü".repeat(16 * 1024), "a\u0000b\n"])
    assert.equal(fingerprints.of(text), hmac(text));
  assert.equal(fingerprints.of(123_456), hmac("123456"));
  assert.equal(fingerprints.of(-1.5e-7), hmac("-1.5e-7"));
  for (const value of ["", "abc", 0, 999, true, false, null, undefined, {}, ["acme"]])
    assert.equal(fingerprints.of(value), undefined, JSON.stringify(value));
  const halves = ["\ud83dabc", "\ude00abc", "\ufffdabc", "\ud83d".repeat(16 * 1024), "\ude00".repeat(20_000)];
  assert.equal(new Set(halves.map((text) => fingerprints.of(text))).size, halves.length);
  const long = "y".repeat(16 * 1024);
  const made = [`${long}1`, `${long}22`].map((text) => fingerprints.of(text));
  assert.equal(made[0], hmac(`${long}\u0000${long.length + 1}`));
  assert.notEqual(made[0], made[1]);
});

test("a value that was seen before has the same fingerprint, however many came between", () => {
  const values = Array.from({ length: 1000 }, (_, index) => `value ${index % 400}`);
  for (const value of values) assert.equal(fingerprints.of(value), hmac(value));
});

test("values of arguments are found by their JSON Pointer, and names can be cleaned", () => {
  const args = { to: "jane@x.test", n: 5, list: ["first", { "a/b~c": "deep one" }], flag: true, none: null };
  assert.deepEqual(fingerprints.ofArguments(args, asIs), {
    "/to": hmac("jane@x.test"),
    "/list/0": hmac("first"),
    "/list/1/a~1b~0c": hmac("deep one"),
  });
  assert.equal(fingerprints.ofArguments({ a: 1 }, asIs), undefined);
  const secret = JSON.parse('{"sekret":"one value","__proto__":{"x\\ny":"two values"}}');
  const clean = (places: string) => places.replaceAll("sekret", "[redacted]");
  assert.deepEqual(Object.keys(fingerprints.ofArguments(secret, clean) ?? {}), [
    "/[redacted]",
    "/__proto__/x y",
  ]);
});

test("values of a result are those of its content, and those in a text that is JSON", () => {
  const json = JSON.stringify({ id: 987_654, user: ["jane"] });
  const content = [
    { type: "text", text: "a plain text", annotations: { audience: ["user"] } },
    { type: "text", text: json },
    { type: "text", text: "{not json}" },
    { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
  ];
  assert.deepEqual(fingerprints.ofResult({ content, isError: false, _meta: { x: "meta" } }), {
    "/content/0/text": hmac("a plain text"),
    "/content/1/text#/id": hmac("987654"),
    "/content/1/text#/user/0": hmac("jane"),
    "/content/2/text": hmac("{not json}"),
    "/content/3/data": hmac("aGVsbG8="),
  });
  const structured = { content: [{ type: "text", text: json }], structuredContent: { id: 987_654 } };
  assert.deepEqual(Object.keys(fingerprints.ofResult(structured) ?? {}), [
    "/structuredContent/id",
    "/content/0/text",
  ]);
  assert.deepEqual(
    Object.keys(fingerprints.ofResult({ contents: [{ uri: "file:///a", text: "read" }] }) ?? {}),
    ["/contents/0/uri", "/contents/0/text"],
  );
  assert.equal(fingerprints.ofResult({}), undefined);
});

test("the number, the size and the depth of the values of a call are limited", () => {
  const many = Array.from({ length: 500 }, (_, at) => `value ${at}`);
  assert.equal(placesOf({ many }).length, 64);
  // Values without a fingerprint count as looked at.
  const short = Array.from({ length: 5000 }, (_, at) => (at === 4999 ? "long enough" : "x"));
  assert.deepEqual(placesOf({ short }), []);
  const large = Array.from({ length: 20 }, (_, at) => `${at}${"z".repeat(20_000)}`);
  assert.equal(placesOf({ large }).length, 8);
  let deep: object = { text: "at the bottom" };
  for (let at = 0; at < 10_000; at += 1) deep = { deep };
  assert.deepEqual(placesOf(deep), []);
  const [place = ""] = placesOf({ ["k".repeat(1000)]: "some value" });
  assert.equal(place.length, 201);
});

test("the key of a home is created once, for its owner only, and never replaced", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  assert.equal(await openFingerprints(home), undefined);
  const opened = await Promise.all(Array.from({ length: 5 }, () => openFingerprints(home, { randomBytes })));
  assert.notEqual(opened[0]?.of("acme"), fingerprints.of("acme"));
  const made = new Set(opened.map((one) => one.of("acme")));
  assert.equal(made.size, 1);
  assert.ok(made.has((await openFingerprints(home))?.of("acme")));
  const path = directory.join("home/audit-fingerprints.key");
  if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, "utf8"), /^[0-9a-f]{64}\n$/);
  writeFileSync(path, "damaged");
  await rejectsWith("STORE_UNREADABLE", openFingerprints(home, { randomBytes }));
  assert.equal(readFileSync(path, "utf8"), "damaged");
});
