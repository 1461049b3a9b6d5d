import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { foldName } from "@toolcrib/tool";
import fc from "fast-check";

describe("foldName() treats as equal", () => {
  const rows: readonly [one: string, other: string][] = [
    ["read", "READ"],
    ["read_file", "read-file"],
    ["read_file", "read.file"],
    ["read__file", "read_file"],
    ["files:read", "files/read"],
    ["read", "re\u200dad"],
    ["read", "rеad"],
    ["send", "ѕend"],
    ["tool", "t00l"],
    ["list", "1ist"],
    ["cafe", "café"],
    ["read", "ｒｅａｄ"],
    ["file", "ﬁle"],
  ];
  for (const [one, other] of rows) {
    test(`"${one}" and "${other}"`, () => assert.equal(foldName(one), foldName(other)));
  }
});

describe("foldName() distinguishes", () => {
  const rows: readonly [one: string, other: string][] = [
    ["read", "reed"],
    ["getUser", "get_user"],
    ["a_b", "ab"],
    ["list", "lists"],
  ];
  for (const [one, other] of rows) {
    test(`"${one}" and "${other}"`, () => assert.notEqual(foldName(one), foldName(other)));
  }
});

test("foldName() leaves a folded name unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (name) => foldName(foldName(name)) === foldName(name)),
  );
});
