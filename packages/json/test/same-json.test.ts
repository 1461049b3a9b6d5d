/** Equality of JSON values. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameJson, type JsonValue, parseJson } from "@toolcrib/json";

const values: readonly unknown[] = [
  null,
  undefined,
  0,
  1,
  "",
  "1",
  true,
  false,
  [],
  {},
  [null],
  [0],
  [[]],
  [1, 2],
  [2, 1],
  { a: 1 },
  { a: 2 },
  { a: null },
  { b: 1 },
  { a: 1, b: 2 },
  { a: { b: [1] } },
  { a: { b: [1, 1] } },
  { 0: 1 },
  { length: 0 },
  parseJson('{"__proto__": 1}'),
];

test("values are equal to themselves and their copies, and to nothing else", () => {
  for (const [at, one] of values.entries()) {
    for (const [index, other] of values.entries()) {
      const copy = other === undefined ? undefined : (JSON.parse(JSON.stringify(other)) as JsonValue);
      const text = `${JSON.stringify(one)} and ${JSON.stringify(other)}`;
      assert.equal(isSameJson(one, copy), at === index, text);
    }
  }
});

test("the order of members and members without a value do not count", () => {
  assert.ok(isSameJson({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }));
  assert.ok(isSameJson({ a: 1, b: undefined }, { a: 1 }));
  assert.ok(isSameJson({ a: 1 }, { a: 1, b: undefined }));
  assert.ok(!isSameJson({ a: 1, b: undefined }, { a: 1, c: 2 }));
});

test("cycles count as different", () => {
  const one: { a?: object } = {};
  one.a = one;
  const other: { a?: object } = {};
  other.a = other;
  assert.equal(isSameJson(one, other), false);
});
