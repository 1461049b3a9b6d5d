import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseFile, toolDialect } from "@toolcrib/starlark";
import { showFindings } from "./show-findings.ts";
import { showStatements } from "./show-tree.ts";

/** Checks all findings in a program, and the tree of the valid part. */
function check(lines: readonly string[], findings: readonly string[], tree?: string): void {
  const text = lines.join("\n");
  const { value, diagnostics } = parseFile({ name: "test.star", text }, toolDialect);
  assert.deepEqual(showFindings(diagnostics), findings, text);
  if (tree !== undefined) assert.equal(showStatements(value.statements), tree, text);
}

describe("parseFile() finds", () => {
  test("three independent errors in one text, and parses the text between them", () => {
    check(
      ["a = 1 +", "b = 2", "c = f(1 2)", "d = 3", "e = [1, 2", "g = 4"],
      [
        "1:8 got newline, want primary expression",
        "3:9 got int literal, want ','",
        "6:1 got identifier, want ']'",
      ],
      "(= b 2) (= d 3) (= g 4)",
    );
  });

  test("errors in blocks, and continues the block", () => {
    check(
      ["def f(x):", "  a = 1 +", "  if a b:", "    c = )", "    d = 2", "  return d", "e = 3"],
      ["2:10 got newline, want primary expression", "3:8 got identifier, want ':'", "4:9 unexpected ')'"],
      "(def f [x] {(= d 2) (return d)}) (= e 3)",
    );
  });

  test("the errors of a block whose header has an error", () => {
    check(
      ["if a = 1:", "  b = 1 +", "class C:", "  def m(self):", "    return 1 2"],
      [
        "1:6 got '=', want ':'",
        "2:10 got newline, want primary expression",
        "3:1 got class, want primary expression",
        "5:14 got int literal, want newline",
      ],
    );
  });

  test("a bracket that is never closed, and continues at the next line that clearly starts a statement", () => {
    check(
      ["a = f(1,", "b = 2", "", "def g():", "  return [1,", "", "def h():", "  return 3"],
      ["4:1 got def, want ','", "7:1 got def, want primary expression"],
      "(def g [] {}) (def h [] {(return 3)})",
    );
    check(["a = {", '  "x": 1,', "for b in c:", "  pass"], ["3:1 got for, want primary expression"]);
  });

  test("one error if the following lines belong to the same statement", () => {
    check(["a = {", '  "x" 1,', '  "y": 2,', "}", "b = 3"], ["2:7 got int literal, want ':'"], "(= b 3)");
    check(["a = [", "  1 2,", "  3 4,", "]", "b = 3"], ["2:5 got int literal, want ']'"], "(= b 3)");
    check(["a = ", "    b", "    c", "d = 1"], ["1:5 got newline, want primary expression"], "(= d 1)");
    check(
      ["a = f", "  (1,", "   2)", "b = 3"],
      ["2:3 got indent, want primary expression"],
      "(= a f) (= b 3)",
    );
    check(["a = (1 + ]", "  2", ")", "b = 3"], ["1:10 got ']', want primary expression"], "(= b 3)");
    check(['a = "', "  b c", "  d e", "f = 1"], ["1:5 unexpected newline in string"], "(= f 1)");
  });

  test("one error for an indentation that matches no block", () => {
    check(
      ["def f():", "    a", "  b", "  c", "d = 1"],
      ["3:3 unindent does not match any outer indentation level"],
      "(def f [] {a b c}) (= d 1)",
    );
    check(["  a = 1", "b = 2"], ["1:3 got indent, want primary expression"], "(= b 2)");
    check(["if a:", "b = 1", "c = 2"], ["2:1 got identifier, want indent"], "(if a {}) (= b 1) (= c 2)");
  });

  test("one error for a missing colon", () => {
    check(["if a", "  b", "c"], ["1:5 got newline, want ':'"], "(if a {b}) c");
    check(["def f()", "  return 1", "c"], ["1:8 got newline, want ':'"], "(def f [] {(return 1)}) c");
  });

  test("at most twenty errors", () => {
    const { diagnostics } = parseFile({ name: "test.star", text: "a b\n".repeat(100) }, toolDialect);
    assert.equal(diagnostics.length, 20);
  });
});

test("a text that more lines could complete has its own code", () => {
  const codeOf = (text: string) => parseFile({ name: "test.star", text }, toolDialect).diagnostics[0]?.code;
  for (const text of ["f(1,", "[", "def f():", "def f():\n", "if a:\n  b = [", '"""abc', "try:\n  a\n"]) {
    assert.equal(codeOf(text), "STARLARK_UNFINISHED", text);
  }
  for (const text of ["a b", "a +", "a = )", '"abc', "def f(:"])
    assert.equal(codeOf(text), "STARLARK_SYNTAX", text);
  assert.equal(codeOf("a"), undefined);
});
