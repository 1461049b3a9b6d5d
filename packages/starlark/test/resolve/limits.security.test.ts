import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, parseFile, programLimits, resolveFile } from "@toolcrib/starlark";
import { slowTest } from "@toolcrib/testing";

/** The number of findings in a program without syntax errors. */
function countFindings(text: string): number {
  const { value, diagnostics } = parseFile({ name: "test.star", text }, coreDialect);
  assert.deepEqual(diagnostics, []);
  const options = {
    dialect: coreDialect,
    isPredeclared: (name: string) => name === "P",
    isUniversal: () => false,
  };
  return resolveFile(value, options).length;
}

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

describe("A hostile program of", () => {
  test("many globals and many undefined names is resolved, with the maximum number of errors", () => {
    const globals = lines(40_000, (at) => `name${at} = 1`);
    assert.equal(
      countFindings(`${globals}\n${lines(20_000, (at) => `nam${at}x`)}`),
      programLimits.nameErrors,
    );
  });

  test("long names that are nearly alike is resolved without comparing all of them", () => {
    const name = "a".repeat(94);
    const globals = lines(500, (at) => `${name}b${at} = 1`);
    const uses = lines(250, (at) => `${name.slice(1)}c${at}`);
    let comparedCount = 0;
    const { value } = parseFile({ name: "test.star", text: `${globals}\n${uses}` }, coreDialect);
    const findings = resolveFile(value, {
      dialect: coreDialect,
      isPredeclared: () => false,
      isUniversal: () => false,
      // Read only while there is work left.
      predeclaredNames: (function* () {
        for (;;) {
          comparedCount += 1;
          yield "other";
        }
      })(),
    });
    assert.equal(findings.length, programLimits.nameErrors);
    assert.ok(findings.some(({ message }) => message.includes("did you mean")));
    assert.ok(comparedCount < 200_000, String(comparedCount));
  });

  test(
    "many reassignments far from the first is resolved, with the maximum number of errors",
    slowTest,
    () => {
      assert.equal(
        countFindings(`${"\n".repeat(500_000)}x = 1\n${"x=1\n".repeat(100_000)}`),
        programLimits.nameErrors,
      );
    },
  );

  test("many nested functions, each with a capture, is resolved", () => {
    const nested = lines(250, (at) => `${" ".repeat(at)}def f${at}(a${at}):`);
    const uses = Array.from({ length: 250 }, (_, at) => `a${at}`).join(", ");
    assert.equal(countFindings(`${nested}\n${" ".repeat(250)}return P(${uses})`), 0);
  });

  test("many locals, comprehensions and lambdas is resolved", () => {
    const body = lines(5_000, (at) => `  x${at} = [lambda: y + x${at} for y in P]`);
    assert.equal(countFindings(`def f():\n${body}`), 0);
  });
});
