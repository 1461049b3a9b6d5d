import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failedResult, normalizeTags, textResult, toToolId } from "@toolcrib/tool";
import fc from "fast-check";

describe("toToolId()", () => {
  const rows: readonly [parts: Parameters<typeof toToolId>, id: string][] = [
    [["github", "create_issue"], "github:create_issue"],
    [["weather", "forecast", "1.2.0"], "weather:forecast:1.2.0"],
    [["", "sum"], "sum"],
    [["", "sum", "2"], "sum:2"],
  ];
  for (const [parts, id] of rows) {
    test(`writes ${JSON.stringify(parts)} as ${id}`, () => assert.equal(toToolId(...parts), id));
  }
});

describe("normalizeTags()", () => {
  const rows: readonly [title: string, tags: readonly string[], normal: readonly string[]][] = [
    ["trims and folds case", [" Files ", "READ"], ["files", "read"]],
    ["joins words", ["read only", "a \t b"], ["a-b", "read-only"]],
    ["leaves out what is empty", ["", "   ", "a"], ["a"]],
    ["leaves out what comes twice", ["Web", "web", " web"], ["web"]],
    ["sorts", ["b", "a", "c"], ["a", "b", "c"]],
    ["makes nothing of nothing", [], []],
  ];
  for (const [title, tags, normal] of rows) {
    test(title, () => assert.deepEqual(normalizeTags(tags), normal));
  }

  test("accepts any iterable", () => assert.deepEqual(normalizeTags(new Set(["B", "a"])), ["a", "b"]));

  test("is idempotent and independent of the order", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (tags) => {
        const once = normalizeTags(tags);
        assert.deepEqual(normalizeTags(once), once);
        assert.deepEqual(normalizeTags(tags.toReversed()), once);
      }),
    );
  });
});

test("failedResult() contains message and hint, with the code and the call id in _meta", () => {
  const rows = [
    [{ code: "A_B", message: "Cannot do it" }, "Cannot do it"],
    [{ code: "A_B", message: "Cannot do it", hint: "try again" }, "Cannot do it\nHint: try again"],
  ] as const;
  for (const [failure, text] of rows) {
    assert.deepEqual(failedResult(failure, "call-1"), {
      content: [{ type: "text", text }],
      isError: true,
      _meta: { "toolcrib/code": "A_B", "toolcrib/callId": "call-1" },
    });
  }
});

test("textResult() is one text block, and sets isError only for a failure", () => {
  assert.deepEqual(textResult("done"), { content: [{ type: "text", text: "done" }] });
  assert.deepEqual(textResult("no", true), { content: [{ type: "text", text: "no" }], isError: true });
});
