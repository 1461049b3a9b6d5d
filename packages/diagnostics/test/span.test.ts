import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lineText, positionAt } from "@toolcrib/diagnostics";
import fc from "fast-check";

describe("positionAt()", () => {
  const rows: readonly [text: string, offset: number, lineNumber: number, columnNumber: number][] = [
    ["", 0, 1, 1],
    ["abc", 0, 1, 1],
    ["abc", 2, 1, 3],
    ["abc", 3, 1, 4],
    ["abc", 99, 1, 4],
    ["a\nb", 1, 1, 2],
    ["a\nb", 2, 2, 1],
    ["a\n\nb", 2, 2, 1],
    ["a\r\nb", 3, 2, 1],
    ["a\n", 2, 2, 1],
  ];
  for (const [text, offset, lineNumber, columnNumber] of rows) {
    test(`of offset ${offset} in ${JSON.stringify(text)} is ${lineNumber}:${columnNumber}`, () => {
      assert.deepEqual(positionAt(text, offset), { lineNumber, columnNumber });
    });
  }

  test("and lineText() find the character again, for any text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "🙂", " ") });
    fc.assert(
      fc.property(text, fc.nat(), (whole, number) => {
        const offset = whole.length === 0 ? 0 : number % whole.length;
        const { lineNumber, columnNumber } = positionAt(whole, offset);
        const character = whole.charAt(offset);
        assert.equal(
          lineText(whole, lineNumber).charAt(columnNumber - 1),
          character === "\n" ? "" : character,
        );
      }),
    );
  });
});

test("lineText() omits line breaks and is empty past the end", () => {
  const text = "one\r\ntwo\n\nfour";
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((lineNumber) => lineText(text, lineNumber)),
    ["one", "two", "", "four", "", ""],
  );
});
