import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findJsonFault } from "@toolcrib/json";
import fc from "fast-check";

/** Check that the marked stretch of `marked` (`»…«`) is where it stops being JSON. */
function check(marked: string): void {
  const start = marked.indexOf("»");
  const end = marked.indexOf("«") - 1;
  assert.deepEqual(findJsonFault(marked.replace(/[»«]/g, "")), { start, end });
}

describe("findJsonFault() points at", () => {
  const rows: readonly [what: string, marked: string][] = [
    ["a word that is none of JSON's", '{"a": »tru«}'],
    ["a name without quotes", '{\n  »name«: "x"\n}'],
    ["a value that is missing", '{"a":»}«'],
    ["a comma that is missing", '{"a": 1\n »"«b": 2}'],
    ["a comma too many in an object", '{"a":1,»}«'],
    ["a comma too many in a list", "[1,»]«"],
    ["a colon that is missing", '{"a" »1«}'],
    ["the wrong bracket", "[1»}«"],
    ["what follows the document", "{} »x«"],
    ["a number with a leading zero", "[0»1«]"],
    ["a line break in a text", '["a»\n«b"]'],
    ["a bad escape", String.raw`["a»\«x"]`],
    ["a text that does not end", '["a»b«'],
    ["the end of a text that breaks off", '{"a": [1, 2»]«'],
    ["a comment", "{»/«/ one\n}"],
  ];
  for (const [what, marked] of rows) test(what, () => check(marked));

  test("the start of an empty text", () => assert.deepEqual(findJsonFault(" "), { start: 0, end: 1 }));
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
      if (fault !== undefined) assert(fault.start >= 0 && fault.end > fault.start);
    }),
    { numRuns: 2000 },
  );
});

test("findJsonFault() takes a million brackets", () => {
  assert.deepEqual(findJsonFault("[".repeat(1_000_000)), { start: 999_999, end: 1_000_000 });
});
