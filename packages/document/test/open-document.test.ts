import assert from "node:assert/strict";
import { test } from "node:test";
import { type DocumentKind, documentMaxBytes, nodeAt, openDocument, toJsonValue } from "@toolcrib/document";
import { kind, toLines } from "./kind.ts";

/** Checks that the file `name` with `text` is read as `expected`: a value, or findings. */
function check(
  text: string | Uint8Array,
  expected: unknown,
  name = "x.yaml",
  more: Partial<DocumentKind> = {},
): void {
  const { tree, reporter } = openDocument({ name, text }, { ...kind, ...more });
  const lines = toLines(reporter.diagnostics);
  if (lines.length > 0 || tree === undefined) assert.deepEqual(lines, expected);
  else assert.deepEqual(toJsonValue(tree), expected);
}

test("openDocument() reads YAML", () => {
  check("a: 1\nb: [true, x]\n", { a: 1, b: [true, "x"] });
  check("\ufeffa: 1\n", { a: 1 });
  check("a: 1\r\nb: |\r\n  x\r\n  y\r\n", { a: 1, b: "x\ny\n" });
  check("a: &x {b: 1}\nc: *x\n", { a: { b: 1 }, c: { b: 1 } });
  check("a: on\n", { a: "on" });
  check("", []);
  check("# nothing\n", []);
});

test("openDocument() reads JSON unless the file name is that of a YAML file", () => {
  check(' {"a": [1.50, null, "\\u00e9"]}', { a: [1.5, null, "é"] }, "x.json");
  check("[1]", [1], "x");
  check("{a: 1}", { a: 1 }, "x.yml");
  check('// c\n{"a": 1, /* d */ "b": [2,],}', { a: 1, b: [2] }, "x.json", { allowsComments: true });
});

test("openDocument() reports syntax errors with their places", () => {
  const closing = "look for a missing quote, bracket, comma or colon";
  check("a: [1, 2\n", [`7-8 SYNTAX: A quoted text, list or map is not closed (${closing})`]);
  check("a: b: c\n", [
    "3-4 SYNTAX: A second `: ` in one line (put a text that contains `: ` in quotes, or begin a new line for a nested map)",
  ]);
  check("a: 1\n---\nb: 2\n", [
    "5-13 SYNTAX: Cannot read more than one YAML document from a file (remove the --- line, or write each document to its own file)",
  ]);
  check("a: 1\na: 2\n", [
    '5-6 DUPLICATE_KEY: Duplicate field "a": it is given before in the same map (remove one of the two)',
  ]);
  check("a: *b\n", [
    "3-5 SYNTAX: Cannot follow the alias *b: no anchor &b stands before it (write &b before the value that is meant, or quote a text that begins with *)",
  ]);
  check("%YAML 1.1\n---\na: 1\n", [
    "0-1 SYNTAX: Cannot read YAML 1.1: this file is read as YAML 1.2 (remove the %YAML line)",
  ]);
  check(
    '{"a": 1 "b": 2}',
    ['8-9 SYNTAX: Expected "," or "}" after the value (look for a missing comma or bracket just before)'],
    "x.json",
  );
  check(
    '{"a": 1,}',
    ["8-9 SYNTAX: Unexpected comma before the closing bracket (remove the comma)"],
    "x.json",
  );
  check('{"a": // c\n1}', ["6-7 SYNTAX: Cannot read this JSON value (comments are not JSON)"], "x.json");
  check(
    '{"a": [1, {"b": tru}]}',
    [
      "16-17 SYNTAX: Cannot read this JSON value (texts stand in double quotes; the rest is true, false, null, a number, {…} or […])",
    ],
    "x.json",
  );
  check(
    '{"a": "b',
    [
      "6-7 SYNTAX: Cannot read this JSON text: its closing quote is missing, or it contains a line break or an invalid escape sequence (write \\n for a line break and \\\\ for a backslash)",
    ],
    "x.json",
  );
  check(
    '{"a": 1, "a": 2}',
    ['9-12 DUPLICATE_KEY: Duplicate field "a": it is given before in the same map (remove one of the two)'],
    "x.json",
  );
});

test("openDocument() limits length, depth and number of values, with aliases expanded", () => {
  check(" ".repeat(documentMaxBytes + 1), ["TOO_LARGE: Cannot read a sample of more than 1,048,576 bytes"]);
  check("é".repeat(documentMaxBytes / 2 + 1), [
    "TOO_LARGE: Cannot read a sample of more than 1,048,576 bytes",
  ]);
  const deep = "Cannot read the sample: it nests deeper than 64 levels";
  check("[".repeat(65) + "]".repeat(65), [`64-65 TOO_COMPLEX: ${deep}`], "x.json");
  check(`${"- ".repeat(65)}x`, [`128-131 TOO_COMPLEX: ${deep}`]);
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
  for (const [from, to] of ["ab", "bc", "cd", "de", "ef"])
    bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`).join(",")}]`);
  const { tree, reporter } = openDocument({ name: "x.yaml", text: bomb.join("\n") }, kind);
  assert.equal(tree, undefined);
  assert.equal(
    reporter.diagnostics[0]?.message,
    "Cannot read the sample: with its aliases it has more than 100,000 values",
  );
  check(
    `[${"1,".repeat(100_000)}1]`,
    ["199999-200000 TOO_COMPLEX: Cannot read the sample: it has more than 100,000 values"],
    "x.json",
  );
});

test("openDocument() reads bytes in UTF-8", () => {
  check(new TextEncoder().encode("\ufeffa: é\n"), { a: "é" });
  check(Uint8Array.of(0x61, 0x3a, 0x20, 0xff), [
    "SYNTAX: Cannot read the sample: it is not text in UTF-8 (store the file as UTF-8)",
  ]);
});

test("openDocument() reports an empty file if its kind does not allow one", () => {
  check("# nothing\n", ["0-0 SYNTAX: The sample is empty (write a: 1)"], "x.yaml", {
    emptyHint: "write a: 1",
  });
});

test("openDocument() hides secrets in the text that findings refer to", () => {
  const secret = `ghp_${"a".repeat(30)}`;
  const { reporter } = openDocument(
    { name: "x.yaml", text: `a: ${secret}\n${secret}: 1\n${secret}: 2\n` },
    kind,
  );
  assert.equal(reporter.source.text.includes("ghp_"), false);
  assert.equal(reporter.source.text.length, `a: ${secret}\n${secret}: 1\n${secret}: 2\n`.length);
  assert.deepEqual(
    reporter.diagnostics.map(({ message }) => message),
    ["Duplicate field (possible secret): it is given before in the same map"],
  );
});

test("nodes have the same places in YAML and in JSON", () => {
  const yaml = 'a:\n  - "x": [1, "y"]\n    z: b  # c\n';
  const { tree } = openDocument({ name: "x.yaml", text: yaml }, kind);
  const slices = (text: string, steps: readonly (string | number)[], root = tree): string => {
    const span = nodeAt(root, steps)?.span;
    return span === undefined ? "nothing" : text.slice(span.start, span.end);
  };
  assert.equal(slices(yaml, ["a", 0, "x"]), '[1, "y"]');
  assert.equal(slices(yaml, ["a", 0, "x", 1]), '"y"');
  assert.equal(slices(yaml, ["a", 0, "z"]), "b");
  assert.equal(slices(yaml, ["a", 0]), '"x": [1, "y"]\n    z: b');
  assert.equal(slices(yaml, ["a", 1]), "nothing");
  const json = '{"a": [ {"x": [1, "y"], "z": "b"} ]}';
  const opened = openDocument({ name: "x.json", text: json }, kind).tree;
  assert.equal(slices(json, ["a", 0], opened), '{"x": [1, "y"], "z": "b"}');
  assert.equal(slices(json, ["a", 0, "z"], opened), '"b"');
});
