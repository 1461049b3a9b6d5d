import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateTokens } from "@toolcrib/discovery";
import { anyCharacter } from "@toolcrib/testing";
import fc from "fast-check";

describe("estimateTokens()", () => {
  it("counts runs of letters, digits, marks and other characters", () => {
    const rows: readonly (readonly [text: string, tokens: number])[] = [
      ["", 0],
      ["hello", 1],
      ["hello world", 2],
      ["internationalization", 3],
      ["12345", 2],
      ['{"a":"b"}', 5],
      ["a\n\n  b", 3],
      ["日本語", 2],
      ["привет", 2],
      ["😀", 1],
    ];
    for (const [text, tokens] of rows) assert.equal(estimateTokens(text), tokens, JSON.stringify(text));
  });

  it("is never more than the number of characters, and never less for a longer text", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter(fc) }), fc.string(), (text, more) => {
        const tokens = estimateTokens(text);
        return tokens <= text.length && tokens <= estimateTokens(text + more);
      }),
    );
  });
});
