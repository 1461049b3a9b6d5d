import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, parseFile, toolDialect } from "@toolcrib/starlark";
import { showFindings } from "./show-findings.ts";
import { showStatements } from "./show-tree.ts";

/** Checks the tree of a program, or its errors. */
function check(text: string, expected: string, dialect = coreDialect): void {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, dialect);
  const shown =
    diagnostics.length > 0 ? showFindings(diagnostics).join("; ") : showStatements(value.statements);
  assert.equal(shown, expected, text);
}

describe("parseFile() parses", () => {
  test("assignments", () => {
    check("a = 1", "(= a 1)");
    check("a, b = b, a", "(= (tuple a b) (tuple b a))");
    check("(a, [b, c]) = x", "(= (tuple (a [b c])) x)");
    check("a[0] = a.b", "(= a[0] a.b)");
    check("a.b = 1", "(= a.b 1)");
    for (const operator of ["+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>="]) {
      check(`a ${operator} 1`, `(${operator} a 1)`);
    }
    check("a, b, = 1, 2", "1:5 unparenthesized tuple with trailing comma");
    check("a = 1,", "1:6 unparenthesized tuple with trailing comma");
    check("(a, b,) = 1, 2", "(= (tuple (a b)) (tuple 1 2))");
  });

  test("several statements on a line", () => {
    check("a; b", "a b");
    check("a; b;", "a b");
    check("a;b = 1;pass\n", "a (= b 1) pass");
    check(";", "1:1 got ';', want primary expression");
    check("a b", "1:3 got identifier, want newline");
  });

  test("functions", () => {
    check("def f(): pass", "(def f [] {pass})");
    check("def f(a, b=1, *c, d, e=2, **g):\n  return a", "(def f [a b=1 *c d e=2 **g] {(return a)})");
    check("def f(a, *, b,):\n  return", "(def f [a * b] {(return)})");
    check(
      "def f():\n  def g():\n    return 1\n  return g",
      "(def f [] {(def g [] {(return 1)}) (return g)})",
    );
    check("def f(): a; b", "(def f [] {a b})");
    check("def f(a b): pass", "1:9 got identifier, want ','");
    check("def f(*-a): pass", "1:8 got '-', want ','");
    check("def f(**): pass", "1:9 not an identifier");
    check("def 1(): pass", "1:5 not an identifier");
  });

  test("conditionals", () => {
    check("if a: b", "(if a {b})");
    check("if a:\n  b\nelif c:\n  d\nelif e: f\nelse:\n  g\n", "(if a {b} c {d} e {f} else {g})");
    check("if a:\n  if b:\n    c\n  else:\n    d", "(if a {(if b {c} else {d})})");
  });

  test("loops", () => {
    check("for x in y: pass", "(for x y {pass})");
    check("for x, (y, z) in a, b:\n  continue", "(for (tuple x (tuple (y z))) (tuple a b) {continue})");
    check("for x.a, y[0] in z: break", "(for (tuple x.a y[0]) z {break})");
    check("for x, in y: pass", "(for (tuple x) y {pass})");
    check("while a or b:\n  pass", "(while (or a b) {pass})");
  });

  test("loads", () => {
    check('load("m.star", "a", b="c",)', '(load "m.star" a=a b=c)');
    check('load("m.star", b="c", "a")', '(load "m.star" b=c a=a)');
    check('load("m.star")', "1:5 load statement must import at least 1 symbol");
    check("load(m, 'a')", "1:6 first operand of load statement must be a string literal");
    check("load('m', 1)", '1:11 load operand must be "name" or localname="name" (got int literal)');
    check("load('m', a)", '1:12 load operand must be "a" or a="originalname" (want \'=\' after a)');
    check("load('m', a=b)", '1:13 original name of loaded symbol must be quoted: a="originalname"');
    check("x = load('m', 'a')", "1:5 got load, want primary expression");
  });

  test("try in the tool dialect", () => {
    const body = "try:\n  a\n";
    check(`${body}except:\n  b`, "(try {a} (except {b}))", toolDialect);
    check(`${body}except Error as e:\n  b`, "(try {a} (except [Error] as e {b}))", toolDialect);
    check(
      `${body}except (ToolError, Error) as e:\n  b\nelse:\n  c\nfinally:\n  d`,
      "(try {a} (except [ToolError Error] as e {b}) else {c} finally {d})",
      toolDialect,
    );
    check(
      `${body}except ToolError:\n  b\nexcept: c`,
      "(try {a} (except [ToolError] {b}) (except {c}))",
      toolDialect,
    );
    check(`${body}finally: b`, "(try {a} finally {b})", toolDialect);
    check(`${body}b`, "3:1 got identifier, want except or finally", toolDialect);
    check(
      `${body}except:\n  b\nexcept Error:\n  c`,
      "5:1 except after an except that catches every error",
      toolDialect,
    );
  });

  test("empty programs", () => {
    check("", "");
    check("\n\n# nothing\n", "");
    check("\ufeffa", "a");
  });
});

describe("parseFile() accepts", () => {
  test("line breaks of any kind, also without one at the end", () => {
    check("a\nb\r\nc\rd", "a b c d");
    check("if a:\r\n  b\r\n\r\n  c\r\nd", "(if a {b c}) d");
  });

  test("blank lines and comments anywhere", () => {
    check("if a:\n# one\n  b\n\n      # two\n  c\n# three\nd # four", "(if a {b c}) d");
    check("if a: # one\n\n  b", "(if a {b})");
  });

  test("a tab as indentation to the next multiple of eight columns", () => {
    check("if a:\n\tb\n        c", "(if a {b c})");
    check("if a:\n  \tb\n\tc\n\tif d:\n\t\te\n                f", "(if a {b c (if d {e f})})");
  });

  test("an outdent to an open block, and to no other column", () => {
    check("if a:\n    if b:\n        c\nd", "(if a {(if b {c})}) d");
    check("def f():\n    a\n  b", "3:3 unindent does not match any outer indentation level");
  });

  test("a backslash only at the end of a line", () => {
    check("a = 1 + \\\n  2", "(= a (+ 1 2))");
    check("a = 1 \\ + 2", "1:7 stray backslash in program");
  });

  test("no unmatched closing bracket", () => {
    check("a = f(1))", "1:9 unexpected ')'");
    check("a = f(1]", "1:8 got ']', want ','");
  });

  test("no character that starts no token", () => {
    check("a = $", "1:5 unexpected input character '$'");
    check("a = 1 \0", "1:7 unexpected input character '\0'");
    check("a\u00a0= 1", "1:2 unexpected input character '\u00a0'");
  });
});

test("parseFile() returns the comments in order with their positions", () => {
  const text = "# one\na = [ # two\n  1, # three\n]\n  # four";
  const { value } = parseFile({ name: "test.star", text }, coreDialect);
  assert.deepEqual(
    value.comments.map((comment) => comment.text),
    ["# one", "# two", "# three", "# four"],
  );
  for (const { text: shown, start, end } of value.comments) assert.equal(text.slice(start, end), shown);
});
