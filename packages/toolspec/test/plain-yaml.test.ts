/**
 * Most texts are read by a quick reader, and any with a document mark by the
 * library: what comes of a text must not depend on which of the two it was.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseManifest, parseToolspec } from "@toolcrib/toolspec";
import fc from "fast-check";
import { manifest, toolspec } from "./samples.ts";

const mark = "---\n";

/** What is found in `text`, places counted from the end of `prefix`. */
function read(parse: typeof parseManifest | typeof parseToolspec, prefix: string, text: string) {
  const { value, diagnostics } = parse({ name: "x.yaml", text: prefix + text });
  return {
    value,
    findings: diagnostics.map(({ severity, code, message, hint, span }) => ({
      severity,
      code,
      message: message.replace(/line \d+/, "line N"),
      hint,
      start: span === undefined ? undefined : span.start - prefix.length,
    })),
  };
}

function check(text: string): void {
  for (const parse of [parseManifest, parseToolspec]) {
    const quick = read(parse, "", text);
    // The library says of a syntax error at the beginning that it is within its text.
    if (quick.findings.some(({ code }) => code.endsWith("_SYNTAX"))) continue;
    assert.deepEqual(quick, read(parse, mark, text));
  }
}

test("both readers read what catalogues are written in alike", () => {
  check(manifest);
  check(toolspec);
  check(`# comment\n\n${toolspec.replaceAll("\n", "   # comment\n\n")}`);
  check(toolspec.replace("description: Get an item", "description: 'It''s # no comment: \"really\"'"));
  check(toolspec.replace("description: Get an item", 'description: "tab\\t, quote \\" and \\u00e9"'));
  check(toolspec.replace("description: Get an item", "description: a:b, c#d -e {f} [g]"));
  check(toolspec.replace("name: limit", "name: $filter").replace("name: id,", 'name: "id",'));
  check(toolspec.replace("  - name: get_item\n    ", "-   name: get_item\n    ").replace(/^ {4}/gm, "    "));
  for (const scalar of [
    "~",
    "010",
    "1e3",
    "0x1f",
    "1.5",
    "-3",
    "true",
    "No",
    ".inf",
    "null",
    "2024-01-01",
    "é 😀",
  ])
    check(toolspec.replace("Get an item", scalar));
});

test("both readers read what is nearly that alike", () => {
  const pieces = [
    " ",
    "\n",
    ":",
    ": ",
    "- ",
    " #",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "&a ",
    "*a",
    "!",
    "%",
    "~",
    "1",
    "? ",
    "\\",
    "é",
    "key: v\n",
    "- x\n",
    "{a: 1}",
    "[]",
    "-",
    "a:b",
    "  ",
  ];
  const edit = fc.record({ at: fc.nat(2000), cut: fc.nat(3), piece: fc.constantFrom("", ...pieces) });
  fc.assert(
    fc.property(
      fc.constantFrom(manifest, toolspec),
      fc.array(edit, { minLength: 1, maxLength: 4 }),
      (sound, edits) => {
        let text = sound;
        for (const { at, cut, piece } of edits) {
          const from = at % text.length;
          text = text.slice(0, from) + piece + text.slice(from + cut);
        }
        check(text);
      },
    ),
    { numRuns: 1500 },
  );
});
