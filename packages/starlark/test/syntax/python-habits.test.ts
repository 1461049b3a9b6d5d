import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { coreDialect, type Dialect, parseFile, resolveFile, toolDialect } from "@toolcrib/starlark";
import { showFinding } from "./show-findings.ts";

const universe = new Set(
  "None True False len list dict set type range fail print str float json math".split(" "),
);

/** All findings in a program. Names of one letter are predeclared. */
function findingsOf(text: string, dialect: Dialect): readonly Diagnostic[] {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, dialect);
  if (hasErrors(diagnostics)) return diagnostics;
  const isPredeclared = (name: string) => name.length === 1;
  const names = resolveFile(value, { dialect, isPredeclared, isUniversal: (name) => universe.has(name) });
  return [...diagnostics, ...names];
}

/** A text, the position of the finding (line:column), its hint, and the program that the hint suggests. */
type Row = readonly [wrong: string, place: string, hint: string, right: string];

/**
 * Checks that the first finding in `wrong` is this one, with the code for habits, and
 * that `right` has no findings.
 */
function check([wrong, place, hint, right]: Row, dialect: Dialect): void {
  const [first] = findingsOf(wrong, dialect);
  assert(first !== undefined, `nothing found in ${JSON.stringify(wrong)}`);
  assert.equal(`${showFinding(first).split(" ", 1)[0]} ${first.hint}`, `${place} ${hint}`, wrong);
  assert.equal(first.code, "STARLARK_PYTHON_HABIT", wrong);
  assert.deepEqual(findingsOf(right, dialect).map(showFinding), [], right);
}

function checkAll(rows: readonly Row[], dialects: readonly Dialect[]): void {
  for (const row of rows) for (const dialect of dialects) check(row, dialect);
}

/** The core dialect with statements outside functions. */
const core: Dialect = { ...coreDialect, topLevelControl: true, globalReassign: true, while: true, set: true };
const both = [core, toolDialect];

describe("Syntax of Python is reported with its equivalent, in both dialects:", () => {
  test("modules", () => {
    const known = "json, math and time need no import; another module: ";
    checkAll(
      [
        ["import json", "1:1", `${known}load("json.star", "json")`, 'load("json.star", "json")'],
        ["import re as r", "1:1", `${known}load("re.star", r="re")`, 'load("re.star", r="re")'],
        ["from m import a", "1:1", 'write load("m.star", "a")', 'load("m.star", "a")'],
        [
          "from m import (a, b as c)",
          "1:1",
          'write load("m.star", "a", c="b")',
          'load("m.star", "a", c="b")',
        ],
      ],
      both,
    );
  });

  test("operators", () => {
    checkAll(
      [
        ["if x is None: pass", "1:6", "write x == None", "if x == None: pass"],
        ["y = x.z is not None", "1:9", "write x.z != None", "y = x.z != None"],
        ["if 0 < x <= 9: pass", "1:10", "write 0 < x and x <= 9", "if 0 < x and x <= 9: pass"],
        ["y = x ** 2", "1:7", "write x * x, or math.pow(x, 2) for a float", "y = x * x"],
        ["y = 2 ** 10", "1:7", "write 1024", "y = 1024"],
        ["y = x ** 0.5", "1:7", "write math.pow(x, 0.5) for a float", "y = math.pow(x, 0.5)"],
        ["if x <> y: pass", "1:6", "write !=", "if x != y: pass"],
        ["if x && y: pass", "1:6", "write and", "if x and y: pass"],
        ["if x || y: pass", "1:6", "write or", "if x or y: pass"],
        ["if !x: pass", "1:4", "write not", "if not x: pass"],
        ["if x === y: pass", "1:6", "write ==", "if x == y: pass"],
        ["if x !== y: pass", "1:6", "write !=", "if x != y: pass"],
        ["y = x ? a : b", "1:7", "write y = a if x else b", "y = a if x else b"],
        ["y = x ?? a", "1:7", "write y = x if x != None else a", "y = x if x != None else a"],
        ["x++", "1:4", "write x += 1", "x += 1"],
        ["x--\n", "1:4", "write x -= 1", "x -= 1"],
        ["++x", "1:1", "write x += 1", "x += 1"],
        ["--x", "1:1", "write x -= 1", "x -= 1"],
        ["f(x++)", "1:6", "write x += 1 on a line of its own, and x here", "x += 1\nf(x)"],
      ],
      both,
    );
  });

  test("assignments and declarations", () => {
    const before = "assign on a line of its own before: ";
    checkAll(
      [
        ["if (n := len(x)) > 3: pass", "1:7", `${before}n = len(x)`, "n = len(x)\nif n > 3: pass"],
        ["n := 3", "1:3", `${before}n = 3`, "n = 3"],
        ["if x = 1: pass", "1:6", "write == to compare", "if x == 1: pass"],
        ["a = b = c", "1:7", "write b = c; a = b", "b = c; a = b"],
        ["a, *b = x", "1:4", "write a = x[0]; b = x[1:]", "a = x[0]; b = x[1:]"],
        [
          "a, *b, c = f(x)",
          "1:4",
          "write xs = f(x); a = xs[0]; b = xs[1:-1]; c = xs[-1]",
          "xs = f(x); a = xs[0]; b = xs[1:-1]; c = xs[-1]",
        ],
        ["x: int = 1", "1:2", "types are not declared; write x = 1", "x = 1"],
        ["x: list[str] = []", "1:2", "types are not declared; write x = []", "x = []"],
        [
          "def g(a: int, b: str = 'x', *c) -> dict:\n  return a",
          "1:8",
          "types are not declared; write def g(a, b='x', *c):",
          "def g(a, b='x', *c):\n  return a",
        ],
        ["def g() -> None:\n  pass", "1:9", "types are not declared; write def g():", "def g():\n  pass"],
        ["var x = 1", "1:5", "names are not declared; write x = 1", "x = 1"],
        ["const x = 1", "1:7", "names are not declared; write x = 1", "x = 1"],
        [
          "def g(a, /, b): pass",
          "1:10",
          "parameters are not positional-only; remove the /",
          "def g(a, b): pass",
        ],
        [
          "def g():\n  global n\n  n = 1",
          "2:3",
          'a function cannot rebind a name outside it; keep the value in a dict, as in state["n"] += 1, or return it',
          'state = {"n": 0}\ndef g():\n  state["n"] += 1',
        ],
        ["del d['k']", "1:1", "write d.pop('k')", "d.pop('k')"],
        ["del d", "1:1", "names are not deleted; remove the statement", ""],
      ],
      both,
    );
  });

  test("statements", () => {
    checkAll(
      [
        ["print x, y", "1:7", "write print(x, y)", "print(x, y)"],
        ["print 'a'", "1:7", "write print('a')", "print('a')"],
        ["assert x == 1, 'm'", "1:8", "write if not (x == 1): fail('m')", "if not (x == 1): fail('m')"],
        ["assert x", "1:8", 'write if not (x): fail("what is wrong")', 'if not (x): fail("what is wrong")'],
        ["raise ValueError('no')", "1:1", "write fail('no')", "fail('no')"],
        ["raise", "1:1", 'write fail("what went wrong")', 'fail("what went wrong")'],
        [
          "with f(x) as y:\n  pass",
          "1:1",
          "there is no with statement; call the function and use its result",
          "y = f(x)",
        ],
        [
          "class A:\n  pass",
          "1:1",
          "there are no classes; keep data in a dict and write functions that take it",
          "def make():\n  return {}",
        ],
        [
          "for x in y:\n  pass\nelse:\n  pass",
          "3:1",
          "loops have no else; set found = False before, found = True where you break, and test it after",
          "found = False\nfor x in y:\n  found = True\n  break\nif not found: pass",
        ],
        ["if x:\n  pass\nelsif y:\n  pass", "3:1", "write elif", "if x:\n  pass\nelif y:\n  pass"],
        ["if x:\n  pass\nelse if y:\n  pass", "3:6", "write elif", "if x:\n  pass\nelif y:\n  pass"],
        ["throw 'no'", "1:7", "write fail('no')", "fail('no')"],
        ["function g(a) {\n  return a\n}", "1:10", "write def g(a):", "def g(a):\n  return a"],
        [
          "if x {\n  f(x)\n}",
          "1:6",
          "end the line with a colon and indent the block; there are no braces around it",
          "if x:\n  f(x)",
        ],
        ["for x of y:\n  pass", "1:7", "write in", "for x in y:\n  pass"],
        [
          "for (i = 0; i < 3; i++) {\n  f(i)\n}",
          "1:8",
          "write for i in range(3):",
          "for i in range(3):\n  f(i)",
        ],
        ["async def g():\n  pass", "1:1", "remove async: calls wait", "def g():\n  pass"],
        ["y = await f(x)", "1:5", "remove await: calls wait", "y = f(x)"],
        [
          "def g():\n  yield 1",
          "2:3",
          "collect the values in a list and return it",
          "def g():\n  return [1]",
        ],
        ["...", "1:1", "write pass", "pass"],
      ],
      both,
    );
  });

  test("values", () => {
    checkAll(
      [
        ["y = null", "1:5", "write None", "y = None"],
        ["y = nil", "1:5", "write None", "y = None"],
        ["y = undefined", "1:5", "write None", "y = None"],
        ["y = true", "1:5", "write True", "y = True"],
        ["y = false", "1:5", "write False", "y = False"],
        ["y = {1, 2}", "1:7", "write set([1, 2])", "y = set([1, 2])"],
        ["y = {x for x in z}", "1:8", "write set([x for x in z])", "y = set([x for x in z])"],
        ["y = f(x for x in z)", "1:9", "put brackets around it: [x for x in z]", "y = f([x for x in z])"],
        ["y = (x for x in z)", "1:8", "put brackets around it: [x for x in z]", "y = [x for x in z]"],
        ["y = [*a, b, *c]", "1:6", "write list(a) + [b] + list(c)", "y = list(a) + [b] + list(c)"],
        ['y = {**a, "b": 1}', "1:6", 'merge dicts with a | b, as in defaults | {"b": 1}', 'y = a | {"b": 1}'],
        ["y = 'a' 'b'", "1:9", "write 'a' + 'b'", "y = 'a' + 'b'"],
        ["y = `a`", "1:5", "strings stand in \"…\" or '…'", 'y = "a"'],
        ["y = “a”", "1:5", 'write the straight quote "', 'y = "a"'],
        ["y = u'a'", "1:5", "leave the prefix out; strings are Unicode", "y = 'a'"],
        ["y = R'a'", "1:5", "write r", "y = r'a'"],
        ["y = 1_000", "1:5", "write 1000", "y = 1000"],
        ["y = 10L", "1:7", "numbers have no suffix, and names do not begin with a digit", "y = 10"],
        ["y = x => x + 1", "1:7", "an anonymous function is written lambda x: x + 1", "y = lambda x: x + 1"],
        [
          "y = lambda: return 1",
          "1:13",
          "a lambda holds one expression and no return; write a def",
          "def y(): return 1",
        ],
        [
          "y = lambda (a, b): a",
          "1:12",
          "a parameter is one name; take the tuple apart in the body",
          "y = lambda p: p[0]",
        ],
        [
          "isinstance(x, str)",
          "1:1",
          'write type(x) == "string" (or "int", "float", "list", "dict", "bool", "NoneType")',
          'type(x) == "string"',
        ],
        ["d.has_key(x)", "1:3", "write key in d", "x in d"],
        ["a.push(x)", "1:3", "write xs.append(x)", "a.append(x)"],
        ["f(class=1)", "1:3", '"class" is reserved; pass it as **{"class": …}', 'f(**{"class": 1})'],
        ["y = x.from", "1:7", '"from" is reserved; write ["from"] in place of .from', 'y = x["from"]'],
      ],
      both,
    );
  });

  test("comments", () => {
    checkAll(
      [
        ["// a comment", "1:1", "comments begin with #", "# a comment"],
        ["x = 1 // a comment", "1:12", "comments begin with #", "x = 1 # a comment"],
        [
          "/* a\n comment */\nx = 1",
          "1:1",
          "comments begin with # and end with the line",
          "# a comment\nx = 1",
        ],
        [
          "@decorate\ndef g(): pass",
          "1:1",
          "there are no decorators; call the function on the other: f = decorate(f)",
          "def g(): pass\ng = f(g)",
        ],
      ],
      both,
    );
  });
});

describe("Hints depend on the dialect:", () => {
  test("f-strings", () => {
    checkAll(
      [
        [
          "y = f'hello {x.name}, {z}!'",
          "1:6",
          "write 'hello {}, {}!'.format(x.name, z)",
          "y = 'hello {}, {}!'.format(x.name, z)",
        ],
        ["y = f'{x:>10}'", "1:6", 'there are no f-strings; write "… {} …".format(x)', "y = '{}'.format(x)"],
      ],
      [core],
    );
    checkAll(
      [
        ["y = F'{x}'", "1:5", "write f", "y = f'{x}'"],
        ["y = f'{x=}'", "1:9", "write x = {x!r}", "y = f'x = {x!r}'"],
      ],
      [toolDialect],
    );
  });

  test("sets", () => {
    const row: Row = ["y = {1, 2}", "1:7", "write [1, 2]; there are no sets", "y = [1, 2]"];
    check(row, { ...core, set: false });
  });

  test("errors", () => {
    const hint = "write except Error for every error, or except ToolError for those of tools";
    const right = "try:\n  f(x)\nexcept Error as e:\n  pass";
    checkAll(
      [
        ["try:\n  f(x)\nexcept Exception as e:\n  pass", "3:8", hint, right],
        ["try:\n  f(x)\nexcept (ToolError, KeyError) as e:\n  pass", "3:20", hint, right],
        [
          "try:\n  f(x)\nexcept Error, e:\n  pass",
          "3:13",
          "write except (Error, …):, or except Error as e:",
          right,
        ],
      ],
      [toolDialect],
    );
    const [found, ...others] = findingsOf("try:\n  f(x)\nexcept Exception:\n  pass", core);
    assert.equal(found?.code, "STARLARK_NOT_IN_DIALECT");
    assert.equal(
      found?.hint,
      "there are no exceptions to catch; test before you act, as in d.get(key) and if key in d",
    );
    assert.deepEqual(others, []);
  });
});

test("valid Starlark is not reported as a habit", () => {
  const legal = [
    "x = 1;",
    "y = a if b else c",
    "y = a & b | c",
    "y = 7 // 2",
    "y = - -x",
    "y = x - -1",
    "y = '{} {}'.format(a, b)",
    "assert = 1",
    "match = 1",
    "of = [x for x in y]",
    "echo = print",
    "f(*a, **b)",
  ];
  for (const text of legal) {
    for (const dialect of both) assert.deepEqual(findingsOf(text, dialect).map(showFinding), [], text);
  }
});
