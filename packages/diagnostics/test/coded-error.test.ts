import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";

class StoreError extends CodedError {}

test("A CodedError has the name of its class, a code, a hint, a cause and data", () => {
  const cause = new Error("disk full");
  const error = new StoreError("STORE_FULL", "Cannot write", {
    hint: "delete some",
    cause,
    data: { bytes: 1 },
  });
  assert.ok(error instanceof Error);
  assert.equal(error.name, "StoreError");
  assert.equal(error.code, "STORE_FULL");
  assert.equal(error.message, "Cannot write");
  assert.equal(error.hint, "delete some");
  assert.equal(error.cause, cause);
  assert.deepEqual(error.data, { bytes: 1 });
  assert.match(String(error.stack), /^StoreError: Cannot write/);
});

test("A CodedError has no cause by default", () => {
  const error = new StoreError("STORE_FULL", "Cannot write");
  assert.equal(Object.hasOwn(error, "cause"), false);
  assert.equal(error.hint, undefined);
  assert.equal(error.data, undefined);
});

test("isCodedError() recognizes the errors of every package", () => {
  assert.equal(isCodedError(new StoreError("A_B", "c")), true);
  for (const other of [new Error("a"), { code: "A_B" }, "A_B", undefined])
    assert.equal(isCodedError(other), false);
});

describe("messageOf() is the text", () => {
  const rows: readonly [what: string, thrown: unknown, text: string][] = [
    ["of an error", new TypeError("bad"), "bad"],
    ["of a string", "bad", "bad"],
    ["of a number", 42, "42"],
    ["of undefined", undefined, "undefined"],
    ["of a symbol", Symbol("bad"), "Symbol(bad)"],
    ["that stands for what has none", Object.create(null), "something that has no text was thrown"],
  ];
  for (const [title, thrown, text] of rows) test(title, () => assert.equal(messageOf(thrown), text));
});
