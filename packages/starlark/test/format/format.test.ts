/**
 * The layout of formatted programs, and properties of the formatter for test programs
 * and random programs.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hasErrors } from "@toolcrib/diagnostics";
import { type Dialect, formatProgram, parseFile, toolDialect } from "@toolcrib/starlark";
import { checkGolden, fastSample, runCount, slowTest } from "@toolcrib/testing";
import fc from "fast-check";
import { readChunks } from "../chunked-file.ts";
import { dialectOfText, programsFolder } from "../program-environment.ts";
import { randomProgram } from "./random-program.ts";

/** Fields of nodes that contain positions. */
const place = /^(?:start|end|\w+Start|binding|scope|globals|source|comments)$/;

/** A tree without positions. */
function shapeOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shapeOf);
  if (typeof node !== "object" || node === null || node instanceof Uint8Array) return node;
  const parts = Object.entries(node).filter(([name, part]) => !place.test(name) && part !== undefined);
  return Object.fromEntries(parts.map(([name, part]) => [name, shapeOf(part)]));
}

function parse(text: string, dialect: Dialect) {
  const { value, diagnostics } = parseFile({ name: "x.star", text }, dialect);
  return { tree: shapeOf(value), comments: value.comments.map((one) => one.text.trimEnd()), diagnostics };
}

function format(text: string, dialect: Dialect = toolDialect): string | undefined {
  return formatProgram({ name: "x.star", text }, dialect).text;
}

/** Checks all properties for one text. */
function checkLaws(text: string, dialect: Dialect): void {
  const before = parse(text, dialect);
  const formatted = format(text, dialect);
  if (hasErrors(before.diagnostics)) {
    assert.equal(formatted, undefined);
    return;
  }
  assert.ok(formatted !== undefined);
  const after = parse(formatted, dialect);
  assert.deepEqual(
    after.diagnostics.filter(({ severity }) => severity === "error"),
    [],
    formatted,
  );
  assert.deepEqual(after.tree, before.tree, formatted);
  assert.deepEqual(after.comments.toSorted(), before.comments.toSorted(), formatted);
  assert.equal(format(formatted, dialect), formatted);
  // Only strings may contain white space at the ends of lines.
  assert.match(formatted, /^$|[^\n]\n$/);
}

test("formatProgram() keeps the tree and the comments of every test program, and is idempotent", () => {
  for (const name of fastSample(
    readdirSync(programsFolder)
      .filter((one) => one.endsWith(".star"))
      .sort(),
  )) {
    for (const { text } of readChunks(readFileSync(join(programsFolder, name), "utf8"))) {
      checkLaws(text, dialectOfText(text));
    }
  }
});

test("formatProgram() keeps its properties for random programs", () => {
  let formatted = 0;
  const numRuns = runCount(1000);
  fc.assert(
    fc.property(randomProgram, (text) => {
      checkLaws(text, toolDialect);
      if (format(text) !== undefined) formatted += 1;
    }),
    { numRuns },
  );
  // Random programs must be valid.
  assert.ok(formatted > 0.9 * numRuns, `${formatted}`);
});

test("formatProgram() accepts any text", () => {
  const pieces = fc.constantFrom(..."()[]{}:,#\\\n\t \"'=+.ifx1", "def f():", "else:", "for x in y:", "    ");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => checkLaws(parts.join(""), toolDialect)),
    { numRuns: runCount(2000) },
  );
});

test("formatProgram() reports errors instead of formatting", () => {
  const { text, diagnostics } = formatProgram({ name: "x.star", text: "x = 1\ny = (\n" }, toolDialect);
  assert.equal(text, undefined);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["STARLARK_UNFINISHED"],
  );
});

test(
  "formatProgram() rejects programs that would become too long, and formats deeply nested ones",
  slowTest,
  () => {
    const deep = `x = ${"[".repeat(290)}${"1,".repeat(200_000)}${"]".repeat(290)}\n`;
    const { text, diagnostics } = formatProgram({ name: "x.star", text: deep }, toolDialect);
    assert.equal(text, undefined);
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ["STARLARK_TOO_LARGE"],
    );
    checkLaws(`x = ${"[".repeat(290)}${"]".repeat(290)}\n`, toolDialect);
    checkLaws(`x = (${Array.from({ length: 900 }, (_, index) => `a${index}`).join(" + ")})\n`, toolDialect);
    checkLaws(`x = a${".b()".repeat(490)}\n`, toolDialect);
  },
);

test("formatProgram() produces the golden file", () => {
  const folder = join(import.meta.dirname, "golden");
  const input = readFileSync(join(folder, "input.star"), "utf8");
  checkGolden(join(folder, "formatted.star"), format(input) ?? "");
});

test("formatProgram() produces the documented layout", () => {
  const check = (input: string, expected: string) => assert.equal(format(input), expected);
  check("", "");
  check("\n\n# only\n\n\n# comments", "# only\n\n# comments\n");
  check("x=1;y=2 # c", "x = 1\ny = 2  # c\n");
  check("if a:b\nelse:c", "if a:\n    b\nelse:\n    c\n");
  check("f( a,b = 2,*c,**d )", "f(a, b=2, *c, **d)\n");
  check("f(\na)", "f(\n    a,\n)\n");
  check("f([\n1])", "f([\n    1,\n])\n");
  check("x = (a\n+ b)", "x = (a + b)\n");
  check("x = a + \\\n  b", "x = a + b\n");
  check("for x , in y : pass", "for x, in y:\n    pass\n");
  check("x[ a : b : c ]", "x[a:b:c]\n");
  check("x = 1 .real", "x = 1 .real\n");
  check("x = 'it' + \"is\" + r'raw'", "x = 'it' + \"is\" + r'raw'\n");
  check("x = - - y", "x = --y\n");
  check("not(x)", "not (x)\n");
  check("return(x)", "return (x)\n");
  check("lambda x,y=1,*z:x", "lambda x, y=1, *z: x\n");
  check("def f():\n  a\n\n\n\n  b\ndef g(): c\nd", "def f():\n    a\n\n    b\n\ndef g():\n    c\n\nd\n");
  check("load('m','a',b='c')\nx", "load('m', 'a', b='c')\n\nx\n");
  check("x = '''a\r\nb'''\r\n", "x = '''a\nb'''\n");
});
