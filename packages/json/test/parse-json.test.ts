import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { isJsonObject, JsonError, type JsonLimits, parseJson } from "@toolcrib/json";
import fc from "fast-check";

/** Checks that `parseJson` refuses `text` with `code`. */
function refuses(text: string, code: string, limits?: JsonLimits): void {
  assert.throws(
    () => parseJson(text, limits),
    (error) => error instanceof JsonError && error.code === code,
  );
}

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

describe("parseJson() refuses", () => {
  const invalid = [
    "",
    " ",
    "{",
    "}",
    "[1,]",
    '{"a":1,}',
    "{'a':1}",
    '"\n"',
    '"\\x41"',
    "01",
    "+1",
    ".5",
    "NaN",
    "Infinity",
    "undefined",
    "1 2",
    "/* */ 1",
    "\uFEFF1",
    '"unfinished',
    '"ends in a backslash\\',
    "]]]]",
  ];
  for (const text of invalid) {
    test(`${JSON.stringify(text)}, which is not JSON`, () => refuses(text, "JSON_INVALID"));
  }

  test("a text with more characters than the limit, but not one at the limit", () => {
    assert.equal(parseJson('"abc"', { maxLength: 5 }), "abc");
    refuses('"abcd"', "JSON_TOO_LARGE", { maxLength: 5 });
  });

  test("nesting deeper than the limit, but not nesting at the limit", () => {
    assert.deepEqual(parseJson("[[[]]]", { maxDepth: 3 }), [[[]]]);
    refuses("[[[[]]]]", "JSON_TOO_DEEP", { maxDepth: 3 });
    refuses('{"a":[{"b":[]}]}', "JSON_TOO_DEEP", { maxDepth: 3 });
  });

  test("more than 128 levels by default", () => {
    assert.ok(parseJson(nested(128)));
    assert.ok(parseJson(nestedObjects(128)));
    refuses(nested(129), "JSON_TOO_DEEP");
    refuses(nestedObjects(129), "JSON_TOO_DEEP");
  });

  test("a million open brackets", () => refuses("[".repeat(1_000_000), "JSON_TOO_DEEP"));
});

describe("parseJson() counts only brackets that nest", () => {
  const rows: readonly [title: string, text: string][] = [
    ["in strings", JSON.stringify(["[[[[[[[[", "}}}}{{{{"])],
    ["in keys", JSON.stringify({ "[[[[[[{{{{": { "]": 1 } })],
    ["after an escaped quote", String.raw`["\"[[[[[[", "\\\"[[[[[["]`],
    ["after escaped backslashes at the end of a string", String.raw`["\\", ["\\\\"], "[[[[[["]`],
    ["side by side", `[${Array(50).fill("[]").join(",")}]`],
  ];
  for (const [title, text] of rows) {
    test(title, () => assert.deepEqual(parseJson(text, { maxDepth: 2 }), JSON.parse(text)));
  }

  test("including brackets after a string", () => {
    refuses(String.raw`["\\", [[[]]]]`, "JSON_TOO_DEEP", { maxDepth: 2 });
    refuses(String.raw`["\"", [[[]]]]`, "JSON_TOO_DEEP", { maxDepth: 2 });
  });
});

describe("parseJson() names the place of a fault, and what is expected there", () => {
  const rows: readonly [text: string, message: string][] = [
    ["", "at line 1, column 1 (position 0): expected a value, found the end of the text"],
    ["\uFEFF1", "at line 1, column 1 (position 0): expected a value"],
    ['{"a": 1,}', 'at line 1, column 9 (position 8): expected a name in "double quotes"'],
    ['{\n  "a": 1,\r\n  b', 'at line 3, column 3 (position 15): expected a name in "double quotes"'],
    ["[1\r2]", 'at line 2, column 1 (position 3): expected "," or "]"'],
    ['{"a" 1}', 'at line 1, column 6 (position 5): expected ":"'],
    ['["a', 'at line 1, column 4 (position 3): expected a closing ", found the end of the text'],
    ["1 2", "at line 1, column 3 (position 2): expected the end"],
  ];
  for (const [text, message] of rows) {
    test(JSON.stringify(text), () =>
      assert.throws(() => parseJson(text), {
        code: "JSON_INVALID",
        message: `JSON text is not valid ${message}`,
      }),
    );
  }
});

test("parseJson() quotes no part of the text in its errors, wherever it stops being JSON", () => {
  // Hexadecimal digits of capital letters stand in no message.
  const secret = fc.string({ unit: fc.constantFrom(..."ABCDEF789"), minLength: 6, maxLength: 12 });
  const around = fc.constantFrom(
    ["", ""],
    ['"', ""],
    ['{"token": ', "}"],
    ['{"token": "', '\n"}'],
    ['{"', '", 1}'],
    ["[1, ", ""],
    ['"\\', '"'],
    ["{} ", ""],
  );
  fc.assert(
    fc.property(secret, around, (value, [before = "", after = ""]) => {
      const text = `${before}x${value}${after}`;
      let thrown: unknown;
      try {
        parseJson(text);
      } catch (error) {
        thrown = error;
      }
      assert.ok(thrown instanceof JsonError, text);
      // Logs print causes and stacks, too.
      const shown = inspect(thrown, { depth: 10, showHidden: true });
      for (let at = 0; at + 3 <= value.length; at += 1) {
        assert.ok(!thrown.message.includes(value.slice(at, at + 3)), thrown.message);
      }
      assert.ok(!shown.includes(value), shown);
      assert.equal(thrown.cause, undefined);
    }),
  );
});

test("parseJson() treats __proto__ and constructor as ordinary keys", () => {
  const value = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
  assert.ok(isJsonObject(value));
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal((value as { polluted?: boolean }).polluted, undefined);
});

test("parseJson() returns the same value as JSON.parse, for any value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});

test("parseJson() measures the depth of any value", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(JSON.parse(text));
      assert.doesNotThrow(() => parseJson(text, { maxDepth: depth }));
      if (depth > 0) refuses(text, "JSON_TOO_DEEP", { maxDepth: depth - 1 });
    }),
  );
});

test("parseJson() returns a value or throws a JsonError, for any text", () => {
  const token = fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "1", "null", "a", "\n");
  fc.assert(
    fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
      try {
        parseJson(tokens.join(""), { maxDepth: 4 });
      } catch (error) {
        assert.ok(error instanceof JsonError);
      }
    }),
  );
});

test("isJsonObject() is true for objects only", () => {
  assert.equal(isJsonObject({}), true);
  for (const other of [null, undefined, [], "a", 1, true, () => 1]) assert.equal(isJsonObject(other), false);
});

describe("parseJson() with a maximum number of values", () => {
  const limited = (text: string) => parseJson(text, { maxValues: 100 });

  test("refuses texts with more, in arrays and objects, at any depth", () => {
    for (const text of [
      `[${"{},".repeat(101)}{}]`,
      `[${"1,".repeat(101)}1]`,
      `{${Array.from({ length: 102 }, (_, at) => `"${at}":1`).join()}}`,
      `[${`[${"0,".repeat(60)}0],`.repeat(2)}0]`,
    ]) {
      assert.throws(() => limited(text), { code: "JSON_TOO_MANY_VALUES" }, text.slice(0, 40));
    }
  });

  test("counts no commas and brackets in strings", () => {
    const text = JSON.stringify({ a: '{[,"\\'.repeat(1000), b: [1, 2] });
    assert.deepEqual(limited(text), JSON.parse(text));
  });

  test("accepts the maximum", () => {
    assert.deepEqual(limited(`[${"1,".repeat(98)}1]`), Array(99).fill(1));
  });
});
