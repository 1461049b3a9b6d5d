import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { positionAt } from "@toolcrib/diagnostics";
import { coreDialect, parseFile } from "@toolcrib/starlark";
import { type Chunk, readChunks } from "../chunked-file.ts";

/** Checks that the first error of a program is the expected one. */
function check({ text, expected }: Chunk): void {
  const { diagnostics } = parseFile({ name: "errors.star", text }, coreDialect);
  const [first] = diagnostics;
  const [[line, pattern]] = [...expected] as [[number, RegExp]];
  assert(first?.span !== undefined, "no error was found");
  assert.equal(positionAt(text, first.span.start).lineNumber, line, first.message);
  assert.match(first.message, pattern);
}

describe("parseFile() reports the first error that errors.star expects", () => {
  const file = readFileSync(new URL("errors.star", import.meta.url), "utf8");
  for (const chunk of readChunks(file)) {
    test(`from line ${chunk.firstLine} on`, () => check(chunk));
  }
});
