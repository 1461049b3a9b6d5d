import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Diagnostic, formatDiagnostic, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import fc from "fast-check";

const finding = (more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: "error",
  code: "CONFIG_WRONG",
  message: "It is wrong",
  ...more,
});

/** The code frame of the first `wanted` in `text`: the line and the carets. */
function frame(text: string, wanted: string): readonly string[] {
  const start = text.indexOf(wanted);
  assert.notEqual(start, -1);
  const span = { start, end: start + wanted.length };
  return formatDiagnostic(finding({ source: { name: "a.yaml", text }, span }))
    .split("\n")
    .slice(2);
}

describe("formatDiagnostic() shows", () => {
  const source = { name: "toolcrib.yaml", text: "a: 1\nports: [80, x]\n" };
  const rows: readonly [title: string, diagnostic: Diagnostic, lines: readonly string[]][] = [
    ["a finding about nothing in particular", finding(), ["error CONFIG_WRONG", "It is wrong"]],
    ["a warning", finding({ severity: "warning" }), ["warning CONFIG_WRONG", "It is wrong"]],
    [
      "a finding about a whole file",
      finding({ source }),
      ["toolcrib.yaml: error CONFIG_WRONG", "It is wrong"],
    ],
    [
      "place, message, code frame and hint",
      finding({ source, span: { start: 17, end: 18 }, hint: "use a number" }),
      [
        "toolcrib.yaml:2:13: error CONFIG_WRONG",
        "It is wrong",
        "2 | ports: [80, x]",
        "                ^",
        "hint: use a number",
      ],
    ],
    [
      "one caret for an empty span",
      finding({ source, span: { start: 5, end: 5 } }),
      ["toolcrib.yaml:2:1: error CONFIG_WRONG", "It is wrong", "2 | ports: [80, x]", "    ^"],
    ],
    [
      "a span over several lines on its first",
      finding({ source, span: { start: 3, end: 12 } }),
      ["toolcrib.yaml:1:4: error CONFIG_WRONG", "It is wrong", "1 | a: 1", "       ^"],
    ],
    [
      "the end of the text",
      finding({ source: { name: "a", text: "a: [" }, span: { start: 99, end: 100 } }),
      ["a:1:5: error CONFIG_WRONG", "It is wrong", "1 | a: [", "        ^"],
    ],
    [
      "an empty text",
      finding({ source: { name: "a", text: "" }, span: { start: 0, end: 0 } }),
      ["a:1:1: error CONFIG_WRONG", "It is wrong", "1 | ", "    ^"],
    ],
  ];
  for (const [title, diagnostic, lines] of rows) {
    test(title, () => assert.deepEqual(formatDiagnostic(diagnostic).split("\n"), lines));
  }
});

describe("A code frame", () => {
  test("counts a tab as one column, so that the carets stay aligned", () => {
    assert.deepEqual(frame("\t\tkey:\tvalue\n", "value"), ["1 |   key: value", "           ^^^^^"]);
  });

  test("omits the carriage return of a line", () => {
    assert.deepEqual(frame("a\r\nb: c\r\n", "c"), ["2 | b: c", "       ^"]);
  });

  test("counts wide characters as two columns", () => {
    assert.deepEqual(frame("名前: 値, x: 1", "x"), ["1 | 名前: 値, x: 1", `${" ".repeat(14)}^`]);
    assert.deepEqual(frame("a: 値段!", "値段"), ["1 | a: 値段!", "       ^^^^"]);
    assert.deepEqual(frame("🙂 x", "x"), ["1 | 🙂 x", "       ^"]);
  });

  test("counts combining marks as zero columns", () => {
    assert.deepEqual(frame("cafe\u0301: x", "x"), ["1 | cafe\u0301: x", "          ^"]);
  });

  test("cuts a long line after the position", () => {
    assert.deepEqual(frame(`ab${"c".repeat(500)}`, "b"), [`1 | ab${"c".repeat(158)}…`, "     ^"]);
  });

  test("cuts a long line before and after the position", () => {
    const [line = "", carets = ""] = frame(`${"a".repeat(500)}XY${"b".repeat(500)}`, "XY");
    assert.equal(line, `1 | …${"a".repeat(40)}XY${"b".repeat(118)}…`);
    assert.equal(carets, `${" ".repeat(45)}^^`);
  });

  test("does not split a surrogate pair", () => {
    const [line = ""] = frame(`${"🙂".repeat(300)}X${"🙂".repeat(300)}`, "X");
    assert.ok(line.isWellFormed());
    assert.equal(line.includes("X"), true);
  });

  test("has no more carets than the line has columns", () => {
    const text = `[${"a".repeat(1000)}]`;
    const [, carets = ""] = frame(text, text);
    assert.equal(carets, `    ${"^".repeat(160)}`);
  });

  test("numbers lines from 1, and widens for long numbers", () => {
    assert.deepEqual(frame(`${"\n".repeat(1233)}a: x`, "x"), ["1234 | a: x", "          ^"]);
  });
});

test("formatDiagnostic() replaces every character that a terminal would interpret", () => {
  const evil = "\u001b[2J\u0007\u009b31m\u202e\u2066\r";
  const text = `a: ${evil}x`;
  const printed = formatDiagnostic(
    finding({
      message: `Cannot use "${evil}"`,
      hint: evil,
      source: { name: evil, text },
      span: { start: 3, end: text.length },
    }),
  );
  assert.doesNotMatch(printed, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  assert.equal(printed.split("\n").length, 5);
});

test("formatDiagnostic() keeps the lines of a message with several", () => {
  assert.equal(formatDiagnostic(finding({ message: "One\nTwo" })), "error CONFIG_WRONG\nOne\nTwo");
});

test("formatDiagnostic() aligns the carets with the position, for any position in any ASCII line", () => {
  const ascii = fc.string({ unit: "grapheme-ascii", maxLength: 400 });
  fc.assert(
    fc.property(ascii, ascii, fc.nat(50), (before, after, length) => {
      const text = `first\n${before}\u00a7${"x".repeat(length)}${after}\nlast`;
      const start = text.indexOf("\u00a7");
      const span = { start, end: start + 1 + length };
      const [, , line = "", carets = ""] = formatDiagnostic(
        finding({ source: { name: "a", text }, span }),
      ).split("\n");
      assert.equal(line.indexOf("\u00a7"), carets.indexOf("^"));
      assert.match(carets, /^ *\^+$/);
      assert.ok(carets.length <= line.length);
    }),
  );
});

test("formatDiagnostics() orders by source and position, with an empty line between", () => {
  const at = (name: string, start: number, code: string) =>
    finding({ code, source: { name, text: "abc\nabc" }, span: { start, end: start + 1 } });
  const text = formatDiagnostics([
    at("b", 0, "B1"),
    at("a", 4, "A2"),
    finding({ code: "NOWHERE" }),
    at("a", 0, "A1"),
    at("Z", 0, "Z1"),
  ]);
  const places = text.split("\n\n").map((one) => one.split("\n")[0]);
  assert.deepEqual(places, [
    "error NOWHERE",
    "Z:1:1: error Z1",
    "a:1:1: error A1",
    "a:2:1: error A2",
    "b:1:1: error B1",
  ]);
  assert.equal(formatDiagnostics([]), "");
});

test("hasErrors() does not count warnings", () => {
  assert.equal(hasErrors([]), false);
  assert.equal(hasErrors([finding({ severity: "warning" })]), false);
  assert.equal(hasErrors([finding({ severity: "warning" }), finding()]), true);
});

test("formatDiagnostics() shows 50 findings, errors before warnings, and counts the rest", () => {
  const at = (start: number, severity: Diagnostic["severity"]) =>
    finding({
      code: `C${start}`,
      severity,
      source: { name: "a", text: "x\n".repeat(100) },
      span: { start, end: start + 1 },
    });
  const many = Array.from({ length: 60 }, (_, index) => at(index, index < 20 ? "warning" : "error"));
  const blocks = formatDiagnostics(many).split("\n\n");
  assert.equal(blocks.length, 51);
  assert.equal(blocks.at(-1), "… and 10 more; fix these first");
  assert.equal(blocks.filter((block) => block.includes("error C")).length, 40);
});
