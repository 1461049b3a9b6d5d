import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toolDialect } from "@toolcrib/starlark";
import { execute } from "../execute.ts";

/** The value of an expression in the tool dialect, or the message and the hint of its error. */
async function evaluate(expression: string): Promise<unknown> {
  const outcome = await execute(
    { name: "spec.star", text: `result = ${expression}\n` },
    { dialect: toolDialect },
  );
  if (outcome.kind === "done") return outcome.module.members.get("result");
  return outcome.kind === "failed"
    ? { message: outcome.error.message, hint: outcome.error.hint }
    : { message: outcome.errors.map(({ message }) => message).join("; "), hint: undefined };
}

async function check(expression: string, expected: string): Promise<void> {
  assert.equal(await evaluate(expression), expected, expression);
}

/** Checks that `"{:spec}".format(value)` fails with `message` and a hint that matches `hint`. */
async function checkError(spec: string, value: string, message: string, hint: RegExp): Promise<void> {
  const error = (await evaluate(`"{:${spec}}".format(${value})`)) as { message: string; hint: string };
  assert.equal(error.message, `format specification "${spec}": ${message}`);
  assert.match(error.hint, hint);
}

describe("format specifications", () => {
  test("format ints like Python", async () => {
    const rows: [expression: string, expected: string][] = [
      ['f"{42}"', "42"],
      ['f"{42:5}|{42:<5}|{42:^5}|{42:>5}|{42:=5}"', "   42|42   | 42  |   42|   42"],
      ['f"{42:05}|{-42:05}|{42:+05d}|{42: d}|{-42:=6}"', "00042|-0042|+0042| 42|-   42"],
      ['f"{42:*^9}|{42:x<4}|{42:😿>4}"', "***42****|42xx|😿😿42"],
      ['f"{255:x} {255:X} {255:o} {255:b} {255:c}"', "ff FF 377 11111111 ÿ"],
      [
        '"{:#x} {:#X} {:#o} {:#b} {:#06x} {:#d}".format(255, 255, 8, 5, 10, 1)',
        "0xff 0XFF 0o10 0b101 0x000a 1",
      ],
      ['f"{1234567:,}"', "1,234,567"],
      ['"{:_} {:_x} {:_b}".format(1234567, 0x12345678, 170)', "1_234_567 1234_5678 1010_1010"],
      ['"{:010,}|{:09,}|{:08,}|{:,}".format(1234, 123456, 123456, 12)', "00,001,234|0,123,456|0,123,456|12"],
      ['"{:,}".format(123456789012345678901234567890)', "123,456,789,012,345,678,901,234,567,890"],
      ['"{:e} {:.1f} {:%} {:g}".format(1500, 2, 1, 1000000)', "1.500000e+03 2.0 100.000000% 1e+06"],
    ];
    for (const [expression, expected] of rows) await check(expression, expected);
  });

  test("format floats like Python, with exact digits and ties to even", async () => {
    const rows: [expression: string, expected: string][] = [
      ['f"{3.14159:.2f}|{3.14159:8.2f}|{3.14159:<8.2f}|{-3.14159:08.2f}"', "3.14|    3.14|3.14    |-0003.14"],
      ['f"{0.125:.2f} {0.375:.2f} {2.5:.0f} {3.5:.0f} {1.005:.2f}"', "0.12 0.38 2 4 1.00"],
      ['f"{1234567.891:,.2f}|{1234567.0:,}|{1e6:>12}"', "1,234,567.89|1,234,567.0|   1000000.0"],
      ['f"{0.256:.1%}|{1e300:%}"', `25.6%|${BigInt(1e300 * 100)}.000000%`],
      ['f"{1e22:.1f} {1e16:} {1e15:} {1e-5:}"', "10000000000000000000000.0 1e+16 1e+15 1e-05"],
      ['"{:>8} {:>22}".format(1e16, 123456789.5)', "   1e+16            123456789.5"],
      ['f"{12345.678:e} {12345.678:.0e} {0.0:.1e}"', "1.234568e+04 1e+04 0.0e+00"],
      ['"{:.3E} {:G} {:F}".format(0.00012345, 1e-10, 1.5)', "1.234E-04 1E-10 1.500000"],
      [
        'f"{1234.5:g} {1e6:g} {0.0001:g} {0.00001:g} {100000.0:.3g} {12.0:g}"',
        "1234.5 1e+06 0.0001 1e-05 1e+05 12",
      ],
      ['"{:#.3g} {:#.0f} {:#.0e} {:#.1g}".format(1.0, 2.0, 3.0, 4.0)', "1.00 2. 3.e+00 4."],
      ['f"{1234.5:.3}|{12.0:.3}|{123.0:.3}|{0.5:.3}"', "1.23e+03|12.0|1.23e+02|0.5"],
      ['f"{0.1:.30f}"', "0.100000000000000005551115123126"],
      ['f"{5e-324:.1080f}"[-8:]', "25000000"],
      ['f"{1e-7:.16e}"', "9.9999999999999995e-08"],
      ['"{:z.1f} {:.1f} {:+.0f}".format(-0.01, -0.01, 0.0)', "0.0 -0.0 +0"],
      [
        '"{:f} {:F} {:06.1f} {:,} {:e}".format(float("inf"), float("nan"), -float("inf"), float("inf"), float("nan"))',
        "inf NAN -00inf inf nan",
      ],
    ];
    for (const [expression, expected] of rows) await check(expression, expected);
  });

  test("format strings like Python, counting code points", async () => {
    const rows: [expression: string, expected: string][] = [
      ['f"{"ab":5}|{"ab":>5}|{"ab":^5}|{"ab":.1}|{"ab":-^6s}"', "ab   |   ab| ab  |a|--ab--"],
      ['f"{"😿é":4}|{"😿é":.1}|{"😿é":1}"', "😿é  |😿|😿é"],
      ['"{:05}".format("ab")', "ab000"],
      ['f"{"q"!r:>5}|{None!s:>6}|{[1]!s:^5}|{"q"!r}"', '  "q"|  None| [1] |"q"'],
      ['"{0!r:>5}|{0}|{name:>3}".format("q", name = 1)', '  "q"|q|  1'],
    ];
    for (const [expression, expected] of rows) await check(expression, expected);
  });

  test("that are invalid, or not supported by the value, are errors with hints", async () => {
    await checkError("5.d", "1", "digits are missing after the point", /\.2f/);
    await checkError("q", "1", "unknown format code q", /valid codes/);
    await checkError("n", "1", "unknown format code n", /, or _/);
    await checkError("r", "1", "unknown format code r", /!r before the colon/);
    await checkError("5 d", "1", "not a format specification", /such as >10/);
    await checkError("10001", "1", "width or precision too large", /the most is 10000/);
    await checkError(".10001f", "1.0", "width or precision too large", /the most is 10000/);
    await checkError(",x", "1", "cannot group digits by , with x", /use _/);
    await checkError(",s", '"a"', "cannot group digits by , with s", /only numbers/);
    await checkError(".2d", "1", "a precision is not for int", /\.2f/);
    await checkError("s", "1", "format code s is not for int", /!s before the colon/);
    await checkError("d", "1.5", "format code d is not for float", /int\(x\)/);
    await checkError(".2f", '"1.5"', "format code f is not for string", /float\(x\)/);
    await checkError("+", '"a"', "a sign is not for string", /float\(x\)/);
    await checkError("=5", '"a"', "= (alignment after the sign) is not for string", /float\(x\)/);
    await checkError(".2f", "None", "NoneType takes no format specification", /the value is None/);
    await checkError(">5", "True", "bool takes no format specification", /!s before the colon/);
    await checkError(">5", "[1]", "list takes no format specification", /!s before the colon/);
    await checkError("c", "-1", "-1 is not a Unicode code point", /ord/);
    await checkError("c", "0xd800", "55296 is not a Unicode code point", /ord/);
    assert.deepEqual(await evaluate('"{:f}".format((1 << 511) * (1 << 511) * (1 << 511))'), {
      message: "int too large to convert to float",
      hint: undefined,
    });
  });
});
