import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  coreDialect,
  type Dialect,
  type File,
  parseFile,
  resolveFile,
  type Statement,
  toolDialect,
} from "@toolcrib/starlark";
import { showFindings } from "../syntax/show-findings.ts";
import { showBindings, showScope } from "./show-bindings.ts";

const universe = new Set(["None", "len", "range", "set"]);

/** A program with its names resolved; `P` is predeclared. */
function resolved(text: string, dialect: Dialect = coreDialect, globals: readonly string[] = []): File {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, dialect);
  const names = resolveFile(value, {
    dialect,
    isPredeclared: (name) => name === "P",
    isUniversal: (name) => universe.has(name),
    globals,
  });
  assert.deepEqual(showFindings([...diagnostics, ...names]), [], text);
  return value;
}

/** Checks the bindings of the names in a program. */
function check(text: string, expected: string, dialect: Dialect = coreDialect): void {
  assert.equal(showBindings(resolved(text, dialect)), expected, text);
}

type FunctionNode = Extract<Statement, { readonly kind: "DefStatement" }>;

/** The scopes of the functions in a program, from the outermost in. */
function scopesOf(text: string, dialect: Dialect = coreDialect): readonly string[] {
  const functions: FunctionNode[] = [];
  const visit = (node: object): void => {
    if ("parameters" in node) functions.push(node as FunctionNode);
    for (const [field, value] of Object.entries(node)) {
      if (["source", "scope", "globals", "binding"].includes(field)) continue;
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child === "object" && child !== null && "start" in child) visit(child);
      }
    }
  };
  visit(resolved(text, dialect));
  return functions.map(({ scope }) => showScope(scope));
}

describe("resolveFile() binds", () => {
  test("names of the environment, predeclared ones first", () => {
    check("P; len; None", "P:predeclared len:universal None:universal");
  });

  test("globals, numbered as they are first bound", () => {
    check("a = 1\nb = a", "a:global0 b:global1 a:global0");
    check("a, (b, [c]) = P", "a:global0 b:global1 c:global2 P:predeclared");
    check("def f(): pass\nx = f", "f:global0 x:global1 f:global0");
    check("len = 1\nx = len", "len:global0 x:global1 len:global0");
    assert.deepEqual(
      resolved("a = 1\nb = 2").globals?.map(({ name, index, firstStart }) => [name, index, firstStart]),
      [
        ["a", 0, 0],
        ["b", 1, 6],
      ],
    );
  });

  test("uses that precede their definitions", () => {
    check("x = len\nlen = 1", "x:global0 len:global1 len:global1");
    check("def f(): return g()\ndef g(): pass", "f:global0 g:global1 g:global1");
    check("def f():\n  P(x)\n  x = 1", "f:global0 P:predeclared x:local0 x:local0");
  });

  test("locals of functions: parameters in call order, then all others", () => {
    check(
      "def f(a, *b, c, d=P, **e):\n  x = a\n  y = [b, c, d, e]",
      "f:global0 a:local0 b:local3 c:local1 d:local2 P:predeclared e:local4 x:local5 a:local0 y:local6 b:local3 c:local1 d:local2 e:local4",
    );
    check("def f(x):\n  for x in x: x += 1", "f:global0 x:local0 x:local0 x:local0 x:local0");
    assert.deepEqual(scopesOf("def f(a, *, b):\n  c = 1\n  c = 2"), ["a b c |"]);
  });

  test("defaults of parameters outside the function", () => {
    check("x = 1\ny = lambda x=x: x", "x:global0 y:global1 x:local0 x:global0 x:local0");
  });

  test("variables of comprehensions separately from all others", () => {
    check("x = [x for x in P]", "x:global0 x:local0 x:local0 P:predeclared");
    check(
      "[x for x in P]; [x for x in P]",
      "x:local0 x:local0 P:predeclared x:local1 x:local1 P:predeclared",
    );
    check("def f(x):\n  return [x for x in x]", "f:global0 x:local0 x:local1 x:local1 x:local0");
    check("[y for x in P for y in x if y]", "y:local1 x:local0 P:predeclared y:local1 x:local0 y:local1");
    check("{k: v for k, v in P}", "k:local0 v:local1 k:local0 v:local1 P:predeclared");
  });

  test("captured variables as cells", () => {
    check("def f(a):\n  def g():\n    return a\n  return g", "f:global0 a:cell0 g:local1 a:free0 g:local1");
    assert.deepEqual(scopesOf("def f(a):\n  def g():\n    return a\n  return g"), ["&a g |", "| a(cell)"]);
  });

  test("variables captured through a function that does not use them", () => {
    const text = "def f(a, b):\n  def g():\n    return lambda: [b, a, b]\n  a = 2";
    assert.deepEqual(scopesOf(text), ["&a &b g |", "| b(cell) a(cell)", "| b(free) a(free)"]);
  });

  test("a captured variable once, even if it is used several times", () => {
    assert.deepEqual(scopesOf("def f(a):\n  return lambda: a + a * a"), ["&a |", "| a(cell)"]);
  });

  test("the variable of a comprehension that a lambda captures", () => {
    assert.deepEqual(scopesOf("def f():\n  return [lambda: x for x in P]"), ["&x |", "| x(cell)"]);
    check("[lambda: x for x in P]", "x:free0 x:cell0 P:predeclared");
  });

  test("names of an inner function before those of the outer one", () => {
    check("def f(x):\n  def g():\n    x = 1\n  return g", "f:global0 x:local0 g:local1 x:local0 g:local1");
  });

  test("functions that are recursive, directly and mutually", () => {
    check("def f(): return f()", "f:global0 f:global0");
    assert.deepEqual(scopesOf("def f():\n  def g(): return h()\n  def h(): return g()"), [
      "&g &h |",
      "| h(cell)",
      "| g(cell)",
    ]);
  });

  test("names of load as variables of the file, which functions can capture", () => {
    check('load("m", "a")\ndef f(): return a', "a:cell0 f:global0 a:free0");
    check('load("m", b="a")\nb', "b:local0 b:local0");
    check('load("m", "a")\na', "a:global0 a:global0", { loadBindsGlobally: true });
  });

  test("the error of an except clause", () => {
    check(
      "def f():\n  try: pass\n  except Error as e: e.message",
      "f:global0 e:local0 e:local0",
      toolDialect,
    );
  });

  test("names within f-strings", () => {
    check('def f(a): return f"{a} {P!r:>3}"', "f:global0 a:local0 a:local0 P:predeclared", toolDialect);
  });
});

describe("If globals can be reassigned", () => {
  const dialect: Dialect = { globalReassign: true, topLevelControl: true };

  test("a use outside functions refers to an earlier binding", () => {
    check("x = len\nlen = x", "x:global0 len:universal len:global1 x:global0", dialect);
    check("a = 1\na = a", "a:global0 a:global0 a:global0", dialect);
  });

  test("a use in a loop can refer to a later binding in the loop", () => {
    check(
      "for i in P:\n  if i: before\n  before = i",
      "i:global0 P:predeclared i:global0 before:global1 before:global1 i:global0",
      dialect,
    );
  });
});

describe("At a prompt", () => {
  test("existing globals keep their indices, and new ones follow", () => {
    const file = resolved("c = a + b", coreDialect, ["a", "b"]);
    assert.equal(showBindings(file), "c:global2 a:global0 b:global1");
    assert.deepEqual(
      file.globals?.map(({ name }) => name),
      ["a", "b", "c"],
    );
  });

  test("an existing global can be bound again, once for each input", () => {
    assert.equal(showBindings(resolved("a = 1", coreDialect, ["a"])), "a:global0");
    const { value } = parseFile({ name: "test.star", text: "a = 1\na = 2" }, coreDialect);
    const options = {
      dialect: coreDialect,
      isPredeclared: () => false,
      isUniversal: () => false,
      globals: ["a"],
    };
    assert.deepEqual(showFindings(resolveFile(value, options)), [
      "2:1 cannot reassign global a declared at test.star:1:1",
    ]);
  });
});

test("every name of a program without errors has a binding", () => {
  const file = resolved("def f(a):\n  return [a.b(c=len) for d in range(3) if d]\nf(*P, **{'x': f})");
  assert.equal(
    showBindings(file),
    "f:global0 a:local0 a:local0 len:universal d:local1 range:universal d:local1 f:global0 P:predeclared f:global0",
  );
});
