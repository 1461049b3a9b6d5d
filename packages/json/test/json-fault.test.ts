import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findJsonFault } from "@toolcrib/json";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";

/** Checks that the fault is at the marked part (`»…«`) of `marked`, and the expected token. */
function check(marked: string, expected: string): void {
  const start = marked.indexOf("»");
  const end = marked.indexOf("«") - 1;
  const fault = findJsonFault(marked.replace(/[»«]/g, ""));
  assert.deepEqual(fault?.span, { start, end });
  assert.equal(fault.expected, expected);
}

describe("findJsonFault() points at", () => {
  const rows: readonly [title: string, marked: string, expected: string][] = [
    ["an unknown word", '{"a": »tru«}', "a value"],
    ["a name without quotes", '{\n  »name«: "x"\n}', 'a name in "double quotes"'],
    ["a missing value", '{"a":»}«', "a value"],
    ["a missing comma", '{"a": 1\n »"«b": 2}', '"," or "}"'],
    ["a trailing comma in an object", '{"a":1,»}«', 'a name in "double quotes"'],
    ["a trailing comma in a list", "[1,»]«", "a value"],
    ["a missing colon", '{"a" »1«}', '":"'],
    ["a bracket of the wrong kind", "[1»}«", '"," or "]"'],
    ["text after the document", "{} »x«", "the end"],
    ["a number with a leading zero", "[0»1«]", '"," or "]"'],
    ["a line break in a string", '["a»\n«b"]', "a character that may stand in a text"],
    ["a bad escape", String.raw`["a»\«x"]`, "a character that may stand in a text"],
    ["an unclosed string", '["a»b«', 'a closing "'],
    ["the end of an incomplete text", '{"a": [1, 2»]«', '"," or "}"'],
    ["a comment", "{»/«/ one\n}", 'a name in "double quotes"'],
  ];
  for (const [title, marked, expected] of rows) test(title, () => check(marked, expected));

  test("the start of an empty text", () => {
    assert.deepEqual(findJsonFault(" "), { span: { start: 0, end: 1 }, offset: 1, expected: "a value" });
  });
});

test("findJsonFault() finds a fault exactly in texts that are not JSON", () => {
  const token = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ",",
    ":",
    "1",
    "-",
    "0",
    ".5",
    "e",
    "null",
    "a",
    "\n",
    " ",
  );
  const texts = fc.oneof(
    fc.json(),
    fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join("")),
    fc.tuple(fc.json(), fc.nat(), token).map(([whole, at, put]) => {
      const cut = at % (whole.length + 1);
      return whole.slice(0, cut) + put + whole.slice(cut);
    }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const fault = findJsonFault(text);
      assert.equal(fault === undefined, isJson);
      if (fault !== undefined) assert(fault.span.start >= 0 && fault.span.end > fault.span.start);
    }),
    { numRuns: runCount(2000) },
  );
});

test("findJsonFault() handles a million brackets", () => {
  const { span, offset } = findJsonFault("[".repeat(1_000_000)) ?? {};
  assert.deepEqual(span, { start: 999_999, end: 1_000_000 });
  assert.equal(offset, 1_000_000);
});
