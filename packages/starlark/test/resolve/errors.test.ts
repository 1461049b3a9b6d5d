import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { positionAt } from "@toolcrib/diagnostics";
import { coreDialect, type Dialect, parseFile, resolveFile } from "@toolcrib/starlark";
import { type Chunk, hasOption, readChunks } from "../chunked-file.ts";

const universe = new Set(["len", "range", "None", "True", "set"]);

function dialectOf(chunk: Chunk): Dialect {
  return {
    ...coreDialect,
    set: hasOption(chunk, "set"),
    while: hasOption(chunk, "while"),
    topLevelControl: hasOption(chunk, "toplevelcontrol"),
    globalReassign: hasOption(chunk, "globalreassign"),
  };
}

function optionsFor(dialect: Dialect): Parameters<typeof resolveFile>[1] {
  return {
    dialect,
    isPredeclared: (name) => name === "P",
    isUniversal: (name) => universe.has(name),
    universalNames: universe,
  };
}

/** Checks that a program has its expected errors, and none on any other line. */
function check(chunk: Chunk): void {
  const { text, expected } = chunk;
  const dialect = dialectOf(chunk);
  const { value, diagnostics } = parseFile({ name: "errors.star", text }, dialect);
  const found = new Map<number, string[]>();
  for (const { message, span } of [...diagnostics, ...resolveFile(value, optionsFor(dialect))]) {
    const { lineNumber } = positionAt(text, span!.start);
    found.set(lineNumber, [...(found.get(lineNumber) ?? []), message]);
  }
  assert.deepEqual([...found.keys()].sort(byNumber), [...expected.keys()].sort(byNumber), String([...found]));
  for (const [line, messages] of found) {
    const pattern = expected.get(line)!;
    assert(
      messages.some((message) => pattern.test(message)),
      `line ${line}: ${messages.join("; ")} does not match ${pattern}`,
    );
  }
}

function byNumber(a: number, b: number): number {
  return a - b;
}

describe("resolveFile() reports the errors that errors.star expects", () => {
  const file = readFileSync(new URL("errors.star", import.meta.url), "utf8");
  for (const chunk of readChunks(file)) {
    test(`from line ${chunk.firstLine} on`, () => check(chunk));
  }
});

/** The findings of a program in the core dialect. */
function messagesOf(text: string): readonly string[] {
  const { value } = parseFile({ name: "errors.star", text }, coreDialect);
  return resolveFile(value, optionsFor(coreDialect)).map(({ message }) => message);
}

test("a call has at most 255 positional and 255 named arguments", () => {
  const positional = (count: number) => `P(${Array.from({ length: count }, (_, at) => at).join(", ")})`;
  const named = (count: number) => `P(${Array.from({ length: count }, (_, at) => `a${at}=1`).join(", ")})`;
  assert.deepEqual(messagesOf(positional(255)), []);
  assert.deepEqual(messagesOf(positional(256)), ["256 positional arguments in call, limit is 255"]);
  assert.deepEqual(messagesOf(named(255)), []);
  assert.deepEqual(messagesOf(named(256)), ["256 keyword arguments in call, limit is 255"]);
});

test("an undefined name is reported once in a function, and each time outside", () => {
  const lines = ["def f():", "  return missing + missing", "missing", "missing"];
  assert.equal(messagesOf(lines.join("\n")).length, 3);
});

test("at most 200 errors of a program are reported", () => {
  assert.equal(messagesOf("nothing\n".repeat(1000)).length, 200);
});
