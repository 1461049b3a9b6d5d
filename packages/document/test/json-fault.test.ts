import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findJsonFault } from "@toolcrib/document";
import fc from "fast-check";

/** Check that the marked stretch of `marked` (`»…«`) is where it stops being JSON, and what belongs there. */
function check(marked: string, expected: string): void {
  const start = marked.indexOf("»");
  const end = marked.indexOf("«") - 1;
  const fault = findJsonFault(marked.replace(/[»«]/g, ""));
  assert.deepEqual(fault?.span, { start, end });
  assert.equal(fault.expected, expected);
}

describe("findJsonFault() points at", () => {
  const rows: readonly [what: string, marked: string, expected: string][] = [
    ["a word that is none of JSON's", '{"a": »tru«}', "a value"],
    ["a name without quotes", '{\n  »name«: "x"\n}', 'a name in "double quotes"'],
    ["a value that is missing", '{"a":»}«', "a value"],
    ["a comma that is missing", '{"a": 1\n »"«b": 2}', '"," or "}"'],
    ["a comma too many in an object", '{"a":1,»}«', 'a name in "double quotes"'],
    ["a comma too many in a list", "[1,»]«", "a value"],
    ["a colon that is missing", '{"a" »1«}', '":"'],
    ["the wrong bracket", "[1»}«", '"," or "]"'],
    ["what follows the document", "{} »x«", "the end"],
    ["a number with a leading zero", "[0»1«]", '"," or "]"'],
    ["a line break in a text", '["a»\n«b"]', "a character that may stand in a text"],
    ["a bad escape", String.raw`["a»\«x"]`, "a character that may stand in a text"],
    ["a text that does not end", '["a»b«', 'a closing "'],
    ["the end of a text that breaks off", '{"a": [1, 2»]«', '"," or "}"'],
    ["a comment", "{»/«/ one\n}", 'a name in "double quotes"'],
  ];
  for (const [what, marked, expected] of rows) test(what, () => check(marked, expected));

  test("the start of an empty text", () => {
    assert.deepEqual(findJsonFault(" "), { span: { start: 0, end: 1 }, offset: 1, expected: "a value" });
  });
});

test("findJsonFault() finds nothing in JSON, and something in everything else", () => {
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
    { numRuns: 2000 },
  );
});

test("findJsonFault() takes a million brackets", () => {
  const { span, offset } = findJsonFault("[".repeat(1_000_000)) ?? {};
  assert.deepEqual(span, { start: 999_999, end: 1_000_000 });
  assert.equal(offset, 1_000_000);
});
