import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, type Dialect, parseFile, toolDialect } from "@toolcrib/starlark";
import { showFindings } from "./show-findings.ts";
import { showStatements } from "./show-tree.ts";

/** Checks the tree of an f-string, or its errors. */
function check(text: string, expected: string, dialect: Dialect = toolDialect): void {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, dialect);
  const shown =
    diagnostics.length > 0 ? showFindings(diagnostics).join("; ") : showStatements(value.statements);
  assert.equal(shown, expected, text);
}

describe("An f-string", () => {
  test("is text with fields", () => {
    check('f"a {b} c {d}"', '(f "a " {b} " c " {d})');
    check('f""', "(f )");
    check('f"text"', '(f "text")');
    check('f"{a}{b}"', "(f {a} {b})");
    check("f'''a\n{b}\n'''", '(f "a\\n" {b} "\\n")');
  });

  test("can have any expression in a field", () => {
    check('f"{a + b * 2}"', "(f {(+ a (* b 2))})");
    check('f"{x.y(1)[2]}"', "(f {(call x.y 1)[2]})");
    check('f"{a if b else c}"', "(f {(if b a c)})");
    check('f"{ a , b }"', "(f {(tuple a b)})");
    check(
      `f"{{'k': 1}['k']}"`,
      "1:11 f-string: single '}' is not allowed; 1:17 f-string: single '}' is not allowed",
    );
    check(`f"{ {'k': 1}['k'] }"`, '(f {{"k":1}["k"]})');
    check('f"{[x for x in y if x != 1]}"', "(f {(comprehension x for x y if (!= x 1))})");
    check('f"{(lambda: 1)()}"', "(f {(call (paren (lambda [] 1)))})");
  });

  test("can have strings with any quotes in a field", () => {
    check(`f"{d['k']}"`, '(f {d["k"]})');
    check('f"{d["k"]}"', '(f {d["k"]})');
    check(`f'{f"{f'{a}'}"}'`, "(f {(f {(f {a})})})");
  });

  test("converts and formats", () => {
    check('f"{a!r} {b!s}"', '(f {a!r} " " {b!s})');
    check('f"{a:>10}"', "(f {a:>10})");
    check('f"{a!r:<10}"', "(f {a!r:<10})");
    check('f"{a:,.2f}{b:08x}{c:%}"', "(f {a:,.2f} {b:08x} {c:%})");
    check('f"{a:}"', "(f {a:})");
    check('f"{a != b}"', "(f {(!= a b)})");
    check('f"{a!x}"', "1:6 f-string: want r or s after '!'");
    check('f"{a:{w}}"', '1:6 f-string: fields within a format specification are not supported: "{w}"');
    check('f"{a:zz}"', '1:6 f-string: unknown format code z: "zz"');
  });

  test("has escape sequences and doubled braces in its text", () => {
    check(String.raw`f"\t{{a}}{b}\u00e9"`, '(f "\\t{a}" {b} "é")');
    check(String.raw`f"\z{a}"`, String.raw`1:3 invalid escape sequence \z`);
    check(String.raw`rf"\n{a}\{b}"`, String.raw`(f "\\n" {a} "\\" {b})`);
    check(String.raw`fr"\d"`, String.raw`(f "\\d")`);
  });

  test("must close its fields and quotes", () => {
    check('f"{a"', "1:3 f-string: a field is not closed on its line");
    check('f"{a\nb = 1', "1:3 f-string: a field is not closed on its line");
    check('f"a', "1:1 unexpected EOF in string");
    check('f"}"', "1:3 f-string: single '}' is not allowed");
    check('f"{}"', "1:4 f-string: empty expression");
    check('f"{a b}"', "1:6 f-string: got identifier, want '}'");
    check('f"{a=}"', "1:5 f-string: got '=', want '}'");
    check('f"{a +}"', "1:7 got '}', want primary expression");
  });

  test("with an error has one finding, and its statement is still parsed", () => {
    check('a = [f"{b c}", d e]', "1:11 f-string: got identifier, want '}'; 1:18 got identifier, want ']'");
    check('f(f"{}", x)\nb c', "1:6 f-string: empty expression; 2:3 got identifier, want newline");
  });

  test("is not part of the core dialect", () => {
    check('f"{a}"', "1:2 got string literal, want newline", coreDialect);
  });
});

test("the nodes of a field have offsets in the program", () => {
  const text = 'x = f"é {name!r:>5} {d["k"] + 1}"';
  const { value } = parseFile({ name: "test.star", text }, toolDialect);
  const [statement] = value.statements;
  assert(statement?.kind === "AssignStatement" && statement.value.kind === "FString");
  const { parts, start, end } = statement.value;
  assert.equal(text.slice(start, end), 'f"é {name!r:>5} {d["k"] + 1}"');
  const fields = parts.filter((part) => typeof part !== "string");
  assert.deepEqual(
    fields.map((field) => text.slice(field.start, field.end)),
    ["{name!r:>5}", '{d["k"] + 1}'],
  );
  assert.deepEqual(
    fields.map(({ expression }) => text.slice(expression.start, expression.end)),
    ["name", 'd["k"] + 1'],
  );
});
