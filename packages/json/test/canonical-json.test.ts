import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalJson, JsonError, parseJson } from "@toolcrib/json";
import fc from "fast-check";

describe("canonicalJson() writes the samples of RFC 8785", () => {
  test("of section 3.2.2", () => {
    const value = parseJson(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    assert.equal(
      canonicalJson(value),
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("of section 3.2.3: keys by UTF-16 units", () => {
    const value = parseJson(String.raw`{
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`);
    assert.deepEqual(
      [...canonicalJson(value).matchAll(/:"([^"]*)"/g)].map(([, text]) => text),
      [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
      ],
    );
  });

  // Appendix B: the bits of a double, and its text.
  const numbers: readonly [bits: string, text: string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ];
  for (const [bits, text] of numbers) {
    test(`of appendix B: ${text}`, () => {
      assert.equal(canonicalJson(Buffer.from(bits, "hex").readDoubleBE()), text);
    });
  }
});

describe("canonicalJson() refuses", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const rows: readonly [title: string, value: unknown, message: RegExp][] = [
    ["NaN", Number.NaN, /the number NaN/],
    ["Infinity in an array", [Number.POSITIVE_INFINITY], /the number Infinity/],
    ["a function", { f: () => 1 }, /type function/],
    ["a symbol", Symbol("s"), /type symbol/],
    ["a bigint", 1n, /type bigint/],
    ["undefined", undefined, /type undefined/],
    ["a cycle", cycle, /deeper than 256 levels/],
    ["a date", { when: new Date(0) }, /class "Date"/],
    ["a map", new Map([["a", 1]]), /class "Map"/],
    ["an object of a class without a name", new (class {})(), /class ""/],
  ];
  for (const [title, value, message] of rows) {
    test(title, () => {
      assert.throws(
        () => canonicalJson(value),
        (error) =>
          error instanceof JsonError && error.code === "JSON_NOT_SERIALIZABLE" && message.test(error.message),
      );
    });
  }
});

describe("canonicalJson() writes", () => {
  const rows: readonly [title: string, value: unknown, text: string][] = [
    ["members that are undefined not at all", { a: undefined, b: 1 }, '{"b":1}'],
    [
      "items that are undefined or missing as null",
      Object.assign(Array(3), { 0: undefined, 2: 1 }),
      "[null,null,1]",
    ],
    ["objects without a prototype", Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
    [
      "own members called __proto__ and constructor",
      JSON.parse('{"constructor":1,"__proto__":2}'),
      '{"__proto__":2,"constructor":1}',
    ],
    [
      "control characters as escapes",
      "\u0000\u001f\b\t\n\f\r\u007f",
      String.raw`"\u0000\u001f\b\t\n\f\r${"\u007f"}"`,
    ],
    ["half a surrogate pair as an escape", "a\ud800", String.raw`"a\ud800"`],
    ["only brackets for empty arrays and objects", [{}, []], "[{},[]]"],
  ];
  for (const [title, value, text] of rows) {
    test(title, () => assert.equal(canonicalJson(value), text));
  }
});

test("canonicalJson() of any value is JSON for the same value, and the same text again", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      const back = parseJson(text);
      assert.deepEqual(back, JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(back), text);
    }),
  );
});

test("canonicalJson() does not depend on the order of keys", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (entries) => {
      const unique = [...new Map(entries)];
      assert.equal(
        canonicalJson(Object.fromEntries(unique)),
        canonicalJson(Object.fromEntries(unique.toReversed())),
      );
    }),
  );
});
