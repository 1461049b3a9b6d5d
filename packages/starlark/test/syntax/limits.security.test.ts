import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, parseFile, programLimits, resolveFile, toolDialect } from "@toolcrib/starlark";

/** The codes of the findings in a program; its names are resolved if it parses. */
function codesOf(text: string): readonly string[] {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, toolDialect);
  const isPredeclared = () => true;
  const options = { dialect: toolDialect, isPredeclared, isUniversal: () => false };
  return [...diagnostics, ...resolveFile(value, options)].map(({ code }) => code);
}

const many = 100_000;

describe("A hostile program of", () => {
  const tooDeep = {
    parentheses: "x = ".concat("(".repeat(many)),
    "parentheses that are closed": `x = ${"(".repeat(many)}1${")".repeat(many)}`,
    brackets: "x = ".concat("[".repeat(many)),
    braces: "x = ".concat("{".repeat(many)),
    "nested calls": "x = ".concat("f(".repeat(many)),
    "indices within indices": "x = ".concat("a[".repeat(many)),
    negations: `x = ${"not ".repeat(many)}1`,
    signs: `x = ${"-".repeat(many)}1`,
    lambdas: `x = ${"lambda:".repeat(many)}1`,
    conditionals: `x = ${"1 if 1 else ".repeat(50_000)}1`,
    sums: `x = 1${"+1".repeat(many)}`,
    attributes: `x = a${".b".repeat(many)}`,
    "calls of calls": `x = a${"()".repeat(many)}`,
    "operators of rising precedence": `x = ${"(1 or 1 and 1 == 1 | 1 ^ 1 & 1 << 1 + 1 * ".repeat(10_000)}`,
    "defaults within defaults": "def f(a=".concat("lambda a=".repeat(many)),
    "blocks within blocks": Array.from({ length: 1000 }, (_, depth) => `${" ".repeat(depth)}if x:`).join(
      "\n",
    ),
  };
  for (const [what, text] of Object.entries(tooDeep)) {
    test(`${what} is rejected as too deep`, () => {
      assert(codesOf(text).includes("STARLARK_TOO_DEEP"));
    });
  }

  const wrong = {
    "f-strings within f-strings": 'x = f"{'.repeat(many),
    "closing brackets": ")".repeat(many),
    quotes: '"'.repeat(many + 1),
    stars: "*".repeat(many),
    async: "async ".repeat(many),
    await: "x = await ".repeat(many),
    yield: "yield ".repeat(many),
    is: `x = a${" is b".repeat(many)}`,
    powers: `x = 2${"**2".repeat(many)}`,
    "chained assignments": `x${" = x".repeat(many)}`,
    ternaries: "x = a ? b : c\n".repeat(10_000),
    annotations: "def f(".concat("a: ".repeat(many)),
    unindents: Array.from({ length: 1000 }, (_, at) => `${" ".repeat((at * 7) % 400)}x`).join("\n"),
    "one endless line": "x = (a ".concat("b ".repeat(400_000)),
    "strings side by side": `x = ${'"a" '.repeat(many)}`,
    digits: `x = ${"9".repeat(1_000_000)}`,
    "brackets of the wrong kind": "x = ".concat("([{)]}".repeat(many)),
    "comment openings": "/*".repeat(many),
    "nothing but backslashes": "\\".repeat(many),
  };
  for (const [what, text] of Object.entries(wrong)) {
    test(`${what} is rejected with at most twenty errors`, () => {
      const codes = codesOf(text);
      assert(codes.length > 0 && codes.length <= 20, `${codes.length} findings`);
    });
  }

  const legal = {
    "a long tuple": `x = ${"1,".repeat(many)}1`,
    "many statements on a line": "x = 1;".repeat(many),
    "many branches": `if x: pass\n${"elif x: pass\n".repeat(20_000)}`,
    "line continuations": "\\\n".repeat(many),
    "empty lines": "\n".repeat(programLimits.sourceLength),
    comments: "# x\n".repeat(many),
  };
  for (const [what, text] of Object.entries(legal)) {
    test(`${what} is accepted`, () => assert.deepEqual(codesOf(text), []));
  }
});

describe("A program can", () => {
  test("be nested up to the limit, and not deeper", () => {
    const nested = (depth: number) => `x = ${"(".repeat(depth)}1${")".repeat(depth)}`;
    assert.deepEqual(codesOf(nested(programLimits.nesting - 2)), []);
    assert.deepEqual(codesOf(nested(programLimits.nesting)), ["STARLARK_TOO_DEEP"]);
  });

  test("chain operators up to the limit, and not further", () => {
    const sum = (terms: number) => `x = ${Array.from({ length: terms }, () => "1").join("+")}`;
    assert.deepEqual(codesOf(sum(programLimits.treeDepth - 2)), []);
    assert.deepEqual(codesOf(sum(programLimits.treeDepth + 1)), ["STARLARK_TOO_DEEP"]);
  });

  test("have the maximum length, and not more", () => {
    assert.deepEqual(codesOf("#".repeat(programLimits.sourceLength)), []);
    assert.deepEqual(codesOf("#".repeat(programLimits.sourceLength + 1)), ["STARLARK_TOO_LARGE"]);
  });
});

test("parseFile() works with little stack space left", () => {
  const text = `x = ${"[".repeat(200)}1${"]".repeat(200)}`;
  const parseAt = (depth: number): number => {
    if (depth > 0) return parseAt(depth - 1);
    return parseFile({ name: "test.star", text }, coreDialect).diagnostics.length;
  };
  assert.equal(parseAt(2000), 0);
});
