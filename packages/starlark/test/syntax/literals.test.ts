import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, parseExpression } from "@toolcrib/starlark";
import { showFindings } from "./show-findings.ts";
import { showStatements } from "./show-tree.ts";

/** Checks the value of a literal, or its errors. */
function check(text: string, expected: string): void {
  const { value, diagnostics } = parseExpression({ name: "test.star", text }, coreDialect);
  const shown =
    diagnostics.length > 0 ? showFindings(diagnostics).join("; ") : showStatements(value.statements);
  assert.equal(shown, expected, text);
}

/** Checks the value of a string literal. */
function checkString(text: string, expected: string): void {
  check(text, JSON.stringify(expected));
}

describe("A literal", () => {
  test("of an int has any size and one of four bases", () => {
    check("0", "0");
    check("00", "0");
    check("123", "123");
    check("0xA", "10");
    check("0XaF", "175");
    check("0o17", "15");
    check("0O17", "15");
    check("0b101", "5");
    check("0B0", "0");
    check("9007199254740991", "9007199254740991");
    check("9007199254740992", "9007199254740992");
    check("9007199254740993", "9007199254740993");
    check("0x12345678deadbeef12345678", "5634002672576678570168178296");
    check("9".repeat(60), "9".repeat(60));
  });

  test("of an int is a number only if the number is exact", () => {
    const valueOfInt = (text: string) => {
      const [statement] = parseExpression({ name: "test.star", text }, coreDialect).value.statements;
      assert(statement?.kind === "ExpressionStatement" && statement.expression.kind === "IntLiteral");
      return statement.expression.value;
    };
    assert.equal(valueOfInt("9007199254740991"), 9007199254740991);
    assert.equal(valueOfInt("9007199254740992"), 9007199254740992n);
    assert.equal(valueOfInt("0xffffffffffffffff"), 0xffffffffffffffffn);
  });

  test("of an int has digits of its base, and no leading zeros", () => {
    check("0x", "1:1 invalid hex literal");
    check("0xG", "1:1 invalid hex literal");
    check("0o8", "1:1 invalid octal literal");
    check("0b2", "1:1 invalid binary literal");
    check("0123", "1:1 obsolete form of octal literal; use 0o123");
    check("089", "1:1 invalid int literal");
    check("0b1012", "1:6 got int literal after expression, want EOF");
    check("1".repeat(20_001), "1:1 int literal has more than 20000 digits");
    check("1_000", "1:1 Starlark has no _ between digits");
  });

  test("of a float has a point or an exponent", () => {
    check("0.", "0.0");
    check(".5", "0.5");
    check("1.25", "1.25");
    check("1e3", "1000.0");
    check("1E-2", "0.01");
    check("1.5e+3", "1500.0");
    check("0.e1", "0.0");
    check("0123.5", "123.5");
    check("089.", "89.0");
    check("1e", "1:1 invalid float literal");
    check("1e+", "1:1 invalid float literal");
    check("1e999", "1:1 invalid float literal");
    check("1e-999", "0.0");
  });

  test("of a string has quotes of either kind", () => {
    checkString('"a"', "a");
    checkString("'a'", "a");
    checkString(`"it's"`, "it's");
    checkString(`'say "x"'`, 'say "x"');
    checkString('""', "");
    checkString('""""""', "");
    checkString('"""a"b""c"""', 'a"b""c');
    checkString("'''a\nb'''", "a\nb");
    checkString('"é世😿"', "é世😿");
    check('"a', "1:1 unexpected EOF in string");
    check('"a\nb"', "1:1 unexpected newline in string");
    check('"""a\nb', "1:1 unexpected EOF in string");
  });

  test("of a string has a line feed for each line break of any kind", () => {
    checkString("'''a\r\nb\rc\nd'''", "a\nb\nc\nd");
    checkString("r'''a\r\nb'''", "a\nb");
    checkString("'a\\\r\nb'", "ab");
    checkString("r'a\\\r\nb'", "a\\\nb");
    checkString("r'a\\\rb'", "a\\\nb");
  });

  test("of a string has escape sequences", () => {
    checkString(String.raw`"\a\b\f\n\r\t\v\\\'\""`, "\x07\b\f\n\r\t\v\\'\"");
    checkString(String.raw`"\0\12\101\378"`, "\0\nA\x1f8");
    checkString(String.raw`"\x00\x41\x7f"`, "\0A\x7f");
    checkString(String.raw`"\u00e9\u4E16\U0001F63F"`, "é世😿");
    checkString('"a\\\nb"', "ab");
    checkString(String.raw`'''\''''`, "'");
  });

  test("of a string rejects invalid escape sequences", () => {
    check(String.raw`"\z"`, String.raw`1:2 invalid escape sequence \z`);
    check(String.raw`"ab\("`, String.raw`1:4 invalid escape sequence \(`);
    check(String.raw`"\x4"`, String.raw`1:2 truncated escape sequence \x4`);
    check(String.raw`"\xfg"`, String.raw`1:2 invalid escape sequence \xfg`);
    check(String.raw`"\x-0"`, String.raw`1:2 invalid escape sequence \x-0`);
    check(String.raw`"\u100"`, String.raw`1:2 truncated escape sequence \u100`);
    check(String.raw`"\udc00"`, "1:2 invalid Unicode code point U+DC00");
    check(String.raw`"\U00110000"`, String.raw`1:2 code point out of range: \U00110000 (max \U0010ffff)`);
    check(
      String.raw`"\xff"`,
      String.raw`1:2 non-ASCII hex escape \xff (use \u00FF for the UTF-8 encoding of U+00FF)`,
    );
    check(
      String.raw`"\377"`,
      String.raw`1:2 non-ASCII octal escape \377 (use \u00FF for the UTF-8 encoding of U+00FF)`,
    );
    check(
      String.raw`"\q and \w"`,
      String.raw`1:2 invalid escape sequence \q; 1:9 invalid escape sequence \w`,
    );
  });

  test("of a raw string keeps its backslashes", () => {
    checkString(String.raw`r"a\nb"`, "a\\nb");
    checkString(String.raw`r"\""`, '\\"');
    checkString(String.raw`r'\\'`, "\\\\");
    checkString(String.raw`r'''\''''`, "\\'");
    checkString("r'a\\\nb'", "a\\\nb");
  });

  test("of bytes has the UTF-8 of its text, and escaped octets", () => {
    check('b"AЀ世😿"', "b[65 208 128 228 184 150 240 159 152 191]");
    check(String.raw`b"\x41\u0400\xff\377\0"`, "b[65 208 128 255 255 0]");
    check(String.raw`rb"\n"`, "b[92 110]");
    check(String.raw`br"\n"`, "b[92 110]");
    check("b'''a\r\nb'''", "b[97 10 98]");
    check("b'\ud800'", "b[239 191 189]");
    check(String.raw`b"\400"`, String.raw`1:3 invalid escape sequence \400`);
    check(String.raw`b"\udc00"`, "1:3 invalid Unicode code point U+DC00");
    check('b"a', "1:1 unexpected EOF in string");
  });

  test("is not joined with an adjacent one", () => {
    check('"a" "b"', "1:5 got string literal, want an operator");
  });
});

describe("A name", () => {
  test("has letters of any script, digits and underscores", () => {
    check("_x1", "_x1");
    check("éclair", "éclair");
    check("变量", "变量");
    check("𝒳y", "𝒳y");
    check("rb", "rb");
    check("f", "f");
    check("1a", "1:2 got identifier after expression, want EOF");
  });

  test("is not a reserved word", () => {
    for (const word of ["and", "load", "import", "is", "yield", "try", "as"]) {
      check(`x.${word}`, "1:3 not an identifier");
    }
    check("assert", "assert");
  });
});
