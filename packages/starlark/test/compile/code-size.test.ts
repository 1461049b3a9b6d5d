/**
 * The size of compiled code is proportional to the size of the program, and limited.
 */

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compileProgram, type Dialect, programLimits, toolDialect } from "@toolcrib/starlark";
import { fastSample, runCount, slowTest } from "@toolcrib/testing";

/** Every construct, and recursion for the `while` statement. */
const dialect: Dialect = { ...toolDialect, while: true, set: true };

function compile(text: string): ReturnType<typeof compileProgram> {
  return compileProgram({ name: "size.star", text }, { dialect, predeclared: ["f", "x", "y"] });
}

/** The size of the code of a program. */
function sizeOf(text: string): number {
  const { program, diagnostics } = compile(text);
  assert(program !== undefined, `${diagnostics[0]?.message}:\n${text.slice(0, 2000)}`);
  return program.codeSize;
}

/** Puts an expression into a larger one. */
type Wrap = (inner: string) => string;
/** Puts the lines of a block into a larger statement. */
type WrapLines = (inner: readonly string[]) => readonly string[];

const expressions: Readonly<Record<string, Wrap>> = {
  parentheses: (e) => `(${e})`,
  negation: (e) => `(not ${e})`,
  sign: (e) => `(-${e})`,
  "left operand": (e) => `(${e} - 1)`,
  "right operand": (e) => `(y + ${e})`,
  "left side of a comparison": (e) => `(${e} < 1)`,
  "right side of a comparison": (e) => `(y == ${e})`,
  membership: (e) => `(1 not in ${e})`,
  "left side of and": (e) => `(${e} and y)`,
  "right side of and": (e) => `(f() and ${e})`,
  "left side of or": (e) => `(${e} or f())`,
  "right side of or": (e) => `(y or ${e})`,
  "condition of a conditional": (e) => `(1 if ${e} else 2)`,
  "first branch of a conditional": (e) => `(${e} if y else f())`,
  "second branch of a conditional": (e) => `(f() if f() else ${e})`,
  list: (e) => `[1, ${e}, f()]`,
  tuple: (e) => `(${e}, 2)`,
  key: (e) => `{${e}: 1}`,
  value: (e) => `{"a": ${e}, f(): f()}`,
  object: (e) => `(${e})[0]`,
  index: (e) => `x[${e}]`,
  "bounds of a slice": (e) => `x[${e}:f():y]`,
  attribute: (e) => `(${e}).name`,
  callee: (e) => `(${e})(1)`,
  argument: (e) => `f(1, ${e}, f())`,
  "argument of a builtin": (e) => `len(${e})`,
  "named argument": (e) => `f(a=${e})`,
  "starred arguments": (e) => `f(*f(), **${e})`,
  receiver: (e) => `(${e}).append(f())`,
  "argument of a method": (e) => `x.append(${e})`,
  "named argument of a method": (e) => `x.sort(key=${e})`,
  lambda: (e) => `(lambda: ${e})`,
  "default of a lambda": (e) => `(lambda a=${e}: a)`,
  "element of a comprehension": (e) => `[${e} for i in x]`,
  "iterable of a comprehension": (e) => `[i for i in ${e}]`,
  "condition of a comprehension": (e) => `[i for i in x if ${e}]`,
  "second clause of a comprehension": (e) => `[i for i in x for j in ${e} if f()]`,
  "dict comprehension": (e) => `{f(): ${e} for i in x}`,
  "f-string": (e) => `f"a {f([${e}])!r} {f()}"`,
};

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => ` ${line}`);

const statements: Readonly<Record<string, WrapLines>> = {
  if: (lines) => ["if f():", ...indented(lines)],
  elif: (lines) => ["if x:", " f()", "elif x < 1 and f():", ...indented(lines)],
  else: (lines) => ["if x and y:", " f()", "else:", ...indented(lines)],
  for: (lines) => ["for i in f():", ...indented(lines)],
  "for with break and continue": (lines) => [
    "for i, (j, x[f()]) in f():",
    " if i: break",
    " if j: continue",
    ...indented(lines),
  ],
  while: (lines) => ["while x and f():", ...indented(lines), " break"],
  try: (lines) => ["try:", ...indented(lines), "except ToolError as e:", " f(e)", "except:", " f()"],
  except: (lines) => ["try:", " f()", "except Error as e:", ...indented(lines)],
  "else of try": (lines) => ["try:", " f()", "except:", " pass", "else:", ...indented(lines)],
  "try with finally": (lines) => ["try:", ...indented(lines), "finally:", " f()"],
  "try with return and finally": (lines) => ["try:", ...indented(lines), " return 1", "finally:", " f()"],
  finally: (lines) => ["try:", " f()", "finally:", ...indented(lines)],
  "finally after return": (lines) => ["try:", " return f()", "finally:", ...indented(lines)],
  "finally in a loop": (lines) => [
    "for i in x:",
    " try:",
    "  if f(): return 1",
    "  if f(): break",
    "  if f(): continue",
    " except:",
    "  continue",
    " finally:",
    ...indented(indented(lines)),
  ],
  "try with loop exits and finally": (lines) => [
    "for i in x:",
    " try:",
    ...indented(indented(lines)),
    "  if f(): return 1",
    "  if f(): break",
    "  continue",
    " finally:",
    "  if f(): y",
  ],
  def: (lines) => ["def g(a, b=1, *args, **kwargs):", ...indented(lines), " return a"],
};

/** Statements around an expression. */
const frames: Readonly<Record<string, Wrap>> = {
  expression: (e) => e,
  assignment: (e) => `a = ${e}`,
  "assignment to an element": (e) => `x[${e}] = ${e}`,
  "assignment to an attribute": (e) => `(${e}).name = ${e}`,
  unpacking: (e) => `a, (b, x[${e}]) = ${e}`,
  swap: (e) => `a, b = ${e}, ${e}`,
  "augmented assignment": (e) => `a = 1; a += ${e}`,
  "augmented assignment to an element": (e) => `x[${e}] |= ${e}`,
  "augmented assignment to an attribute": (e) => `(${e}).name -= ${e}`,
  condition: (e) => `if ${e}: pass`,
  "loop condition": (e) => `while ${e}: pass`,
  "loop iterable": (e) => `for i in ${e}: pass`,
  "loop target": (e) => `for x[${e}] in x: pass`,
  return: (e) => `return ${e}`,
  default: (e) => `def g(a, *, b=${e}): return ${e}`,
};

/** Applies `depth` wraps in turn, the last one outermost. */
function nest<T>(wraps: readonly ((inner: T) => T)[], depth: number, innermost: T): T {
  let inner = innermost;
  for (let level = 0; level < depth; level += 1) inner = wraps[level % wraps.length]!(inner);
  return inner;
}

const inFunction = (lines: readonly string[]): string => ["def main():", ...indented(lines), ""].join("\n");

/** Checks that doubling the depth doubles the size, apart from a constant. */
function checkGrowth(what: string, depth: number, programOf: (depth: number) => string): void {
  const [a, b, c] = [depth, 2 * depth, 4 * depth].map((levels) => sizeOf(programOf(levels)));
  assert(
    c! - b! <= 2 * (b! - a!),
    `${what}: the sizes at depths 1, 2 and 4 times ${depth} are ${a}, ${b}, ${c}`,
  );
}

suite("The size of the code is proportional to the depth of", () => {
  for (const [name, wrap] of Object.entries(expressions)) {
    test(`${name}, in every statement`, () => {
      for (const [frame, wrapFrame] of fastSample(Object.entries(frames))) {
        for (const atom of ["x", "f()"]) {
          checkGrowth(`${name} in ${frame}`, 4, (depth) =>
            inFunction([wrapFrame(nest([wrap], depth, atom))]),
          );
        }
      }
    });
  }

  for (const [name, wrap] of Object.entries(statements)) {
    test(`${name} statements`, () => {
      checkGrowth(name, 8, (depth) => inFunction(nest([wrap], depth, ["f()"])));
    });
  }

  test("any two statements within each other", () => {
    for (const [outerName, outer] of fastSample(Object.entries(statements))) {
      for (const [innerName, inner] of Object.entries(statements)) {
        checkGrowth(`${innerName} in ${outerName}`, 4, (depth) =>
          inFunction(nest([inner, outer], depth, ["f()"])),
        );
      }
    }
  });

  test("expressions and statements in random order", () => {
    let state = 1;
    const below = (end: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % end;
    };
    const pick = <T>(from: Readonly<Record<string, T>>): T =>
      Object.values(from)[below(Object.keys(from).length)]!;
    for (let round = 0; round < runCount(200); round += 1) {
      const wraps = Array.from({ length: 2 + below(4) }, () => pick(statements));
      const inner = Array.from({ length: 1 + below(4) }, () => pick(expressions));
      const frame = pick(frames);
      checkGrowth(`round ${round}`, 2 * wraps.length, (depth) =>
        inFunction(nest(wraps, depth, [frame(nest(inner, 5, "f()"))])),
      );
    }
  });
});

suite("The size of the code is proportional to the number of", () => {
  const levels = (count: number, inner: readonly string[]) =>
    nest([statements["try with finally"]!], count, inner);
  const rows: Readonly<Record<string, (count: number) => readonly string[]>> = {
    "returns within as many finally blocks": (count) =>
      levels(
        count,
        Array.from({ length: count }, () => "if f(): return x"),
      ),
    "loop exits within as many finally blocks": (count) => [
      "for i in x:",
      ...indented(
        levels(
          count,
          Array.from({ length: count }, () => "if f(): break"),
        ),
      ),
    ],
    "returns within as many loops": (count) =>
      nest(
        [statements.for!],
        count,
        Array.from({ length: count }, () => "if f(): return x"),
      ),
    "statements in a finally block with every exit": (count) =>
      statements["finally in a loop"]!(Array.from({ length: count }, () => "f()")),
  };
  for (const [name, linesOf] of Object.entries(rows)) {
    test(name, () => checkGrowth(name, 20, (count) => inFunction(linesOf(count))));
  }
});

suite("A program is refused when it", () => {
  /** Checks that a program has one error, which reports that it is too large. */
  function check(text: string, message: string): void {
    const { program, diagnostics } = compile(text);
    assert(program === undefined);
    assert.deepEqual(
      diagnostics.map((diagnostic) => [diagnostic.code, diagnostic.message]),
      [["STARLARK_TOO_LARGE", message]],
    );
  }

  test("has too many statements and expressions", slowTest, () => {
    const message = `The program has more than ${programLimits.treeNodes} statements and expressions`;
    check("0;".repeat(programLimits.treeNodes / 2 + 1), message);
    check(`x = [${"0,".repeat(programLimits.treeNodes + 1)}]`, message);
    assert(compile(`x = [${"0,".repeat(programLimits.treeNodes - 10)}]`).program !== undefined);
  });

  test("has functions that capture too many variables", () => {
    const depth = 100;
    const names = Array.from({ length: programLimits.captures / depth + 20 }, (_, at) => `a${at}`);
    const defs = Array.from({ length: depth }, (_, at) => `${" ".repeat(at + 1)}def g():`);
    const use = `${" ".repeat(depth + 1)}x([${names.join(", ")}])`;
    check(
      ["def main():", ` ${names.join(" = 0; ")} = 0`, ...defs, use].join("\n"),
      `The functions of the program capture more than ${programLimits.captures} variables`,
    );
  });

  test("is compiled to too many instructions", slowTest, () => {
    const body = "f();".repeat(100_000);
    const program = `def main():\n for i in x:\n  try:\n   if y: return 1\n   if y: break\n   continue\n  finally: ${body}`;
    check(program, `The program is compiled to more than ${programLimits.codeSize} instructions`);
  });
});

test("compileProgram() compiles 100 nested finally blocks", () => {
  const lines = nest([statements.finally!], 100, ["pass"]);
  assert(sizeOf(inFunction(lines)) < 1000);
});
