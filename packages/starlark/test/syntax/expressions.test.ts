import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, parseExpression } from "@toolcrib/starlark";
import { showFindings } from "./show-findings.ts";
import { showStatements } from "./show-tree.ts";

/** Checks the tree of an expression, or its errors. */
function check(text: string, expected: string): void {
  const { value, diagnostics } = parseExpression({ name: "test.star", text }, coreDialect);
  const shown =
    diagnostics.length > 0 ? showFindings(diagnostics).join("; ") : showStatements(value.statements);
  assert.equal(shown, expected, text);
}

describe("parseExpression() parses", () => {
  test("operators by their precedence", () => {
    check("1 + 2 * 3", "(+ 1 (* 2 3))");
    check("(1 + 2) * 3", "(* (paren (+ 1 2)) 3)");
    check("a - b - c", "(- (- a b) c)");
    check("a // b % c / d", "(/ (% (// a b) c) d)");
    check("a or b and not c == d", "(or a (and b (not (== c d))))");
    check("a | b ^ c & d << e + f", "(| a (^ b (& c (<< d (+ e f)))))");
    check("a < b | c", "(< a (| b c))");
    check("a << b >> c", "(>> (<< a b) c)");
    check("not not a", "(not (not a))");
    check("not a in b", "(not (in a b))");
    check("not a or b", "(or (not a) b)");
    check("a not in b or c", "(or (not in a b) c)");
    check("a == b and c != d or e >= f", "(or (and (== a b) (!= c d)) (>= e f))");
    check("-a.b[c] + ~d", "(+ (- a.b[c]) (~ d))");
    check("--a", "(- (- a))");
    check("-1 * +2", "(* (- 1) (+ 2))");
  });

  test("comparisons as not associative", () => {
    check("0 == 1 == 2", "1:8 == does not associate with == (use parens)");
    check("(0 == 1) == 2", "(== (paren (== 0 1)) 2)");
    check("a in b not in c", "1:8 in does not associate with not in (use parens)");
    check("a + b == c + d", "(== (+ a b) (+ c d))");
  });

  test("conditionals and lambdas with the lowest precedence", () => {
    check("a if b else c if d else e", "(if b a (if d c e))");
    check("a or b if c or d else e", "(if (or c d) (or a b) e)");
    check("lambda: a, b", "(tuple (lambda [] a) b)");
    check("lambda x, y=1, *a, z, **k: x if y else z", "(lambda [x y=1 *a z **k] (if y x z))");
    check("lambda *, x: x", "(lambda [* x] x)");
    check("lambda: lambda: 1", "(lambda [] (lambda [] 1))");
    check("a if b", "1:3 conditional expression without else clause");
    check("1 + lambda: 2", "1:5 got lambda, want primary expression");
  });

  test("the suffixes of an operand", () => {
    check("a.b.c(d)[e](f)", "(call (call a.b.c d)[e] f)");
    check("a[1]", "a[1]");
    check("a[1, 2]", "a[(tuple 1 2)]");
    check("a[:]", "a[::]");
    check("a[1:]", "a[1::]");
    check("a[:2]", "a[:2:]");
    check("a[::3]", "a[::3]");
    check("a[1:2:3]", "a[1:2:3]");
    check("a[1, 2:3]", "a[(tuple 1 2):3:]");
    check("a[1, 2,:]", "1:8 got ':', want primary expression");
    check('"x".join(y)', '(call "x".join y)');
    check("1.5.x", "1.5.x");
    check("{}.x", "{}.x");
  });

  test("arguments of every kind", () => {
    check("f()", "(call f)");
    check("f(a, b=c, *d, **e)", "(call f a b=c *d **e)");
    check("f(a,)", "(call f a)");
    check("f(a=lambda: 1)", "(call f a=(lambda [] 1))");
    check("f(a if b else c)", "(call f (if b a c))");
    check("f(a.b=1)", "1:6 keyword argument must have form name=expr");
    check("f(a, , b)", "1:6 got ',', want primary expression");
    check("f(,)", "1:3 got ',', want primary expression");
  });

  test("tuples, with and without parentheses", () => {
    check("()", "(tuple ())");
    check("(a)", "(paren a)");
    check("(a,)", "(tuple (a))");
    check("a, b", "(tuple a b)");
    check("(a, b), c", "(tuple (tuple (a b)) c)");
    check("((a, b))", "(paren (tuple (a b)))");
    check("a,", "1:2 unparenthesized tuple with trailing comma");
  });

  test("lists and dicts", () => {
    check("[]", "[]");
    check("[a, b,]", "[a b]");
    check("[[a], [b]]", "[[a] [b]]");
    check("{}", "{}");
    check('{"a": 1, b: [c],}', '{"a":1 b:[c]}');
    check("{a if b else c: lambda: 1}", "{(if b a c):(lambda [] 1)}");
    check("[,]", "1:2 got ',', want primary expression");
  });

  test("comprehensions", () => {
    check("[x for x in y]", "(comprehension x for x y)");
    check("[x for x in y if z if w]", "(comprehension x for x y if z if w)");
    check("[a for b, c in d for e in b]", "(comprehension a for (tuple b c) d for e b)");
    check("[a for (b, [c, d.e]) in f]", "(comprehension a for (tuple (b [c d.e])) f)");
    check("[a for b, in c]", "(comprehension a for (tuple b) c)");
    check("{k: v for k, v in d}", "(comprehension k:v for (tuple k v) d)");
    check("[a for a in b or c]", "(comprehension a for a (or b c))");
    check("[a for b in c if lambda: d]", "(comprehension a for b c if (lambda [] d))");
    check("[(a, b) for a in c]", "(comprehension (tuple (a b)) for a c)");
    check("[a for b in lambda: c]", "1:13 got lambda, want primary expression");
    check("[a for b in c, d]", "1:14 got ',', want ']', for, or if");
  });

  test("several lines within brackets as one line", () => {
    check("(\n  a +\nb\n)", "(paren (+ a b))");
    check("[ # comment\n  1,\n\n  2, # another\n]", "[1 2]");
    check("a + \\\n b", "(+ a b)");
  });

  test("a single expression, and nothing after it", () => {
    check("  a\n", "a");
    check("a b", "1:3 got identifier after expression, want EOF");
    check("a = 1", "1:3 got '=' after expression, want EOF");
    check("", "1:1 got end of file, want primary expression");
    check("a\nb", "2:1 got identifier after expression, want EOF");
  });
});
