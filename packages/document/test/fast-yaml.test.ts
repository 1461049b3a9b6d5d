/**
 * The fast reader reads most texts; the library reads every text with a document
 * marker. The result must not depend on the reader.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type DocumentNode, openDocument } from "@toolcrib/document";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { kind } from "./kind.ts";

const mark = "---\n";

/** Reads `text`, and returns places without the first `prefixLength` characters. */
function read(text: string, prefixLength: number) {
  const { tree, reporter } = openDocument({ name: "x.yaml", text }, kind);
  const shift = ({ start, end }: { readonly start: number; readonly end: number }) => {
    return { start: start - prefixLength, end: end - prefixLength };
  };
  const moved = (node: DocumentNode): DocumentNode => {
    const span = shift(node.span);
    if (node.kind === "scalar") return { ...node, span };
    if (node.kind === "list") return { ...node, span, items: node.items.map(moved) };
    const entries = node.entries.map(({ key, keySpan, value }) => {
      return { key, keySpan: shift(keySpan), value: moved(value) };
    });
    return { ...node, span, entries };
  };
  const findings = reporter.diagnostics.map(({ code, message }) => ({ code, message }));
  return { tree: tree === undefined ? undefined : moved(tree), findings };
}

function check(text: string): void {
  const fast = read(text, 0);
  // Findings for an invalid text without a tree can depend on the marker.
  const slow = read(mark + text, mark.length);
  assert.deepEqual(fast.tree, slow.tree);
  if (fast.tree !== undefined) assert.deepEqual(fast.findings, slow.findings);
}

const catalogue = `# A toolspec.
schemaVersion: 2
name: demo
baseUrl: https://api.example.com   # no port
variables:
  site: {description: "The site's name: \\"acme\\"", default: acme}
tools:
  - name: get_item
    description: 'It''s an item'
    path: /items/{id}
    params:
    - {name: id, in: path, required: true, enum: [a, b c, "d, e"]}
    - name: ratio
      examples: [7.6, -3, 0x1f, 1e3, ~, true]
  -   name: other
      description: |
        Several lines,

          one indented.
      note: >-
        folded
        text

        and more
      more: on several
        lines # and a comment
`;
const config = `tool_servers:
- id: files
  transport:
    kind: stdio
    command: npx
    args: [-y, "@scope/server", .]
"quoted key": {"a":b, 'c': {}, d: []}
a key with spaces: x:y#z
`;

test("the fast reader and the library agree on documents for Toolcrib", () => {
  check(catalogue);
  check(config);
  check(catalogue.replaceAll("\n", "   # comment\n"));
  check(config.trimEnd());
  const scalars = [
    "~",
    "010",
    "1e3",
    "0x1f",
    "1.50",
    "-3",
    "+1",
    "-0",
    "1e999",
    "true",
    "No",
    ".inf",
    "-.INF",
    ".nan",
  ];
  for (const scalar of [
    ...scalars,
    "null",
    "2024-01-01",
    "é 😀",
    "a\u00a0",
    "full\uff01width",
    "<<",
    "=",
    "12ab",
    "3e",
  ])
    check(`a: ${scalar}\nb: [${scalar}]\nc: {d: ${scalar}}\n`);
  for (const key of ["1", "true", "~", "null", "1.5", "<<", "a b", "-x", "?x", ":x", "/a/{b}", "a[0]", "é"])
    check(`${key}: x\n`);
  for (const text of ["text\n", "- a\n- - b\n  - c: d\n", "a:\n", "a:\nb: c\n", "- \n- a\n"]) check(text);
});

test("JSON in a YAML file has the same result as with the library", () => {
  const hostile = [
    '{"a": 1, "a": 2}',
    '{"a": [1, 2,], "b": {}}',
    '{"a": 1} # a comment',
    '{"a": 1}\n---\n{"b": 2}',
    '{"a":1}',
    "{'a': 1}",
    '{"a": "two\n  lines"}',
    '{"a": "\\u00e9\\/\\ud83d\\ude00\\ud800"}',
    '{"a": 1e400, "b": -0, "c": 12345678901234567890, "d": 0.1e-7, "<<": {"e": 1}}',
    '{"on": true, "no": null, "": "", "__proto__": {"x": 1}}',
    "[]",
    " \n[ 1 ]\n\n",
    '{"a": \t1}',
    "{",
    "[1",
  ];
  for (const text of hostile) check(text);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2, "\t"), (value, space) => {
      if (typeof value === "object" && value !== null) check(JSON.stringify(value, undefined, space));
    }),
    { numRuns: runCount(500) },
  );
});

test("the fast reader and the library agree on edited documents for Toolcrib", () => {
  const pieces = [
    ...[
      " ",
      "\n",
      ":",
      ": ",
      "- ",
      " #",
      "#",
      "'",
      '"',
      "{",
      "}",
      "[",
      "]",
      ",",
      "|",
      ">",
      "|-\n",
      "|+\n",
      "|2\n",
    ],
    ...[
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
    ],
    ...[
      "\n\n",
      "\n \n",
      "\n  ",
      "\n      ",
      "\t",
      "\r",
      "<<: ",
      "@",
      "`",
      "\u00a0",
      "1.0",
      "...",
      "null",
      "\n# c\n",
    ],
  ];
  const edit = fc.record({ at: fc.nat(2000), cut: fc.nat(3), piece: fc.constantFrom("", ...pieces) });
  fc.assert(
    fc.property(
      fc.constantFrom(catalogue, config),
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
    { numRuns: runCount(1500) },
  );
});
