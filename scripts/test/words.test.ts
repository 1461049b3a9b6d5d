import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatDiagnostics, positionAt } from "@toolcrib/diagnostics";
import { slowTest } from "@toolcrib/testing";
import { checkText, checkWords, listProseFiles, sampleExcerpts } from "../words/check-words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Checks that the words on the list in `text` are `expected`, as `line:column word`. */
function check(text: string, expected: readonly string[]): void {
  const source = { name: "a.ts", text };
  const found = checkText(source).map(({ span, message }) => {
    const { lineNumber, columnNumber } = positionAt(text, span?.start ?? 0);
    return `${lineNumber}:${columnNumber} ${/"(.*?)"/.exec(message)?.[1]}`;
  });
  assert.deepEqual(found.sort(), [...expected].sort());
}

describe("checkText() finds a word of the list", () => {
  test("in a comment", () => check("// Mend the file.\n", ["1:4 mend"]));
  test("over two lines of a comment", () => check("/**\n * The way\n * out.\n */\n", ["2:8 way out"]));
  test("in identifiers", () =>
    check("const wayBack = openDoor(way_out);\n", ["1:7 way back", "1:21 door", "1:26 way out"]));
  test("in a file name of an import", () => check('import "./front-door.ts";\n', ["1:17 door"]));
  test("in a message", () => check('"Whoever asks is told"\n', ["1:2 whoever", "1:18 told"]));
});

describe("checkText() accepts", () => {
  test("words that contain a word of the list", () =>
    check("amend, indoors, aworld, outdoor, strayed\n", []));
  test("terms with another meaning", () =>
    check("garbage collection, Hello, world; a world-readable file; find out\n", []));
  test("Starlark's message for a backslash", () => check('"stray backslash in program"\n', []));
  test("the documented example of capitalize()", () => check('"hELLO, World".capitalize()\n', []));
});

test("The texts of this repository use no word of the list", slowTest, () => {
  assert.ok(listProseFiles(root).length > 500, "too few files were found");
  assert.equal(formatDiagnostics(checkWords(root)), "");
});

test("sampleExcerpts() returns as many random excerpts as asked for", () => {
  const excerpts = sampleExcerpts(root, 25, Math.random);
  assert.equal(excerpts.length, 25);
  for (const { text } of excerpts) assert.match(text, /\w+ \w+/);
});
