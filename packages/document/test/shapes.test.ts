import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyJson,
  anything,
  checkDocument,
  choice,
  type DocumentKind,
  dictionary,
  either,
  flag,
  integer,
  list,
  literalNumber,
  openDocument,
  record,
  reportRepeated,
  type Shape,
  text,
} from "@toolcrib/document";
import { slowTest } from "@toolcrib/testing";
import { kind, toLines } from "./kind.ts";

/** Checks that `shape` returns `expected` for `yaml`: a value, or findings. */
function check<T>(
  shape: Shape<T>,
  yaml: string,
  expected: T | readonly string[],
  more: Partial<DocumentKind> = {},
): void {
  const open = openDocument({ name: "x.yaml", text: yaml }, { ...kind, ...more });
  const value = checkDocument(open, shape);
  const lines = toLines(open.reporter.diagnostics);
  assert.deepEqual(lines.length > 0 ? lines : value, expected, yaml);
}

/** A document with the one field `a`. */
function fieldA<T>(shape: Shape<T>) {
  return record({ description: "A sample.", fields: { a: { required: shape } } });
}

const name = text({
  description: "A name.",
  pattern: { source: "[a-z]+", meaning: "small letters" },
  maxLength: 5,
  instead: (value) => value.toLowerCase(),
});

test("text() accepts texts by pattern and length", () => {
  check(fieldA(name), "a: abc", { a: "abc" });
  check(fieldA(name), "a: ABC", ['3-6 VALUE_INVALID: "a" must be small letters, but is "ABC" (write abc)']);
  check(fieldA(name), "a: abcdef", ['3-9 VALUE_INVALID: "a" has 6 characters; at most 5 are allowed']);
  check(fieldA(name), "a: 12", [
    '3-5 WRONG_TYPE: "a" must be a string, but is a number (write it in quotes: "12")',
  ]);
  check(fieldA(name), "a: on", [
    '3-5 BARE_WORD: A YAML 1.1 reader takes "on" without quotes for true (write it in quotes: "on")',
  ]);
  check(fieldA(name), 'a: "on"', { a: "on" });
  check(fieldA(name), "a: on", { a: "on" }, { codes: { ...kind.codes, bareWord: undefined } });
  check(fieldA(name), 'a: "a\\0"', ['3-8 VALUE_INVALID: "a" contains a NUL character']);
  check(record({ description: "", fields: { a: name } }), 'a: ""', [
    '3-5 VALUE_INVALID: "a" is empty (write a value, or remove the field)',
  ]);
  check(
    record({ description: "", fields: { a: text({ description: "", minLength: 0, maxLength: 1 }) } }),
    'a: ""',
    { a: "" },
  );
  const hidden = text({
    description: "",
    maxLength: 50,
    pattern: { source: "x", meaning: "x", code: "ODD" },
    isNameOfSecret: true,
  });
  check(fieldA(hidden), "a: hunter2", ['3-10 ODD: "a" must be x']);
});

test("integer() accepts whole numbers and suggests the intended number", () => {
  const size = integer({ description: "", minimum: 1, maximum: 100_000_000, perSecond: 1000 });
  check(fieldA(size), "a: 30", { a: 30 });
  const allowed = "a whole number from 1 to 100000000";
  check(fieldA(size), "a: 1.5", [`3-6 VALUE_INVALID: "a" must be ${allowed}, but is 1.5`]);
  for (const [written, meant] of [
    ["4MB", 4_194_304],
    ["30s", 30_000],
    ["250ms", 250],
    ['"7"', 7],
  ] as const) {
    const [line] = toLines(open(fieldA(size), `a: ${written}`));
    assert.equal(
      line,
      `3-${3 + written.length} WRONG_TYPE: "a" must be ${allowed}, but is a string (write ${meant})`,
    );
  }
});

function open<T>(shape: Shape<T>, yaml: string) {
  const opened = openDocument({ name: "x.yaml", text: yaml }, kind);
  checkDocument(opened, shape);
  return opened.reporter.diagnostics;
}

test("literalNumber(), flag() and choice() accept only the values that they list", () => {
  const version = literalNumber({ description: "", values: [1, 2], code: "VERSION" });
  check(fieldA(version), "a: 2", { a: 2 });
  check(fieldA(version), 'a: "2"', [
    '3-6 VERSION: "a" must be 1 or 2, but is the text "2" (write a: 2 without quotes)',
  ]);
  check(fieldA(flag("")), "a: true", { a: true });
  check(fieldA(flag("")), "a: yes", [
    '3-6 WRONG_TYPE: "a" must be true or false, but is a string (write true)',
  ]);
  const mode = choice({
    description: "",
    values: ["read_only", "write"],
    aliases: { rw: "write" },
    hints: { full: "write is all there is" },
    later: { code: "LATER", hints: { admin: "wait" } },
  });
  check(fieldA(mode), "a: write", { a: "write" });
  const must = '"a" must be read_only or write, but is';
  check(fieldA(mode), "a: RW", [`3-5 VALUE_INVALID: ${must} "RW" (write a: write)`]);
  check(fieldA(mode), "a: Read-Only", [`3-12 VALUE_INVALID: ${must} "Read-Only" (write a: read_only)`]);
  check(fieldA(mode), "a: wirte", [`3-8 VALUE_INVALID: ${must} "wirte" (did you mean write?)`]);
  check(fieldA(mode), "a: full", [`3-7 VALUE_INVALID: ${must} "full" (write is all there is)`]);
  check(fieldA(mode), "a: constructor", [`3-14 VALUE_INVALID: ${must} "constructor"`]);
  check(fieldA(mode), "a: admin", [
    '3-8 LATER: "a" cannot be "admin" yet: this version supports read_only or write (wait)',
  ]);
  check(fieldA(mode), "a: []", ['3-5 WRONG_TYPE: "a" must be one of read_only or write, but is a list']);
});

test("list() and dictionary() check each value by one shape", () => {
  const names = list(name, { description: "", maxItems: 2, emptyCode: "EMPTY" });
  check(fieldA(names), "a: [x, z]", { a: ["x", "z"] });
  check(fieldA(names), "a: x", [
    '3-4 WRONG_TYPE: "a" must be a list, but is a string (write it as a list: ["x"])',
  ]);
  check(fieldA(names), "a: []", ['3-5 EMPTY: "a" must not be empty (add an item)']);
  check(fieldA(names), "a: [x, Y, Z]", [
    '0-1 VALUE_INVALID: "a" has 3 items; at most 2 are allowed',
    '7-8 VALUE_INVALID: "a[1]" must be small letters, but is "Y" (write y)',
  ]);
  const labels = dictionary(name, {
    description: "",
    maxEntries: 2,
    key: { source: "[a-z]+", meaning: "letters" },
  });
  check(fieldA(labels), "a: {constructor: x}", { a: { constructor: "x" } });
  check(fieldA(labels), "a: {B1: x}", ['4-6 VALUE_INVALID: "B1" cannot be a name in "a": a name is letters']);
  check(fieldA(labels), "a: []", [
    '3-5 WRONG_TYPE: "a" must be a map, but is a list (write it as a map: { NAME: value })',
  ]);
});

test("record() reports missing, empty, unknown and misplaced fields", () => {
  const shape = record({
    description: "",
    fields: {
      id: { required: name, because: "it names the thing" },
      url: { required: name, missing: { code: "NO_URL", message: "There is no URL", hint: "write url" } },
      note: anything(""),
    },
    hints: { uri: "did you mean url?", other: ({ key }) => `no ${key}` },
    misplaced: ({ key }) =>
      key === "host" ? { code: "MISPLACED", message: "No host here", hint: "write url" } : undefined,
  });
  check(shape, "id: x\nurl: z\nnote: {z: 1}\n", { id: "x", url: "z", note: true });
  check(shape, "note: 1", [
    '0-4 FIELD_REQUIRED: Field "id" is required in the sample (it names the thing) (add id)',
    "0-4 NO_URL: There is no URL (write url)",
  ]);
  check(shape, "id:\nurl: ''\n", [
    '0-2 FIELD_REQUIRED: Field "id" is required in the sample (it names the thing): it is empty (write a value after id:)',
    "4-7 NO_URL: There is no URL: it is empty (write url)",
  ]);
  for (const [key, hint] of [
    ["uri", "did you mean url?"],
    ["other", "no other"],
    ["nota", "did you mean note?"],
    ["zzzz", "allowed: id, url, note"],
    ["<<", "merge keys are not read: repeat the fields, or use an alias for the whole map"],
  ] as const) {
    const message = `Unknown field "${key}" in the sample (${hint})`;
    check(shape, `id: x\nurl: z\n${key}: 1\n`, [`13-${13 + key.length} UNKNOWN_FIELD: ${message}`]);
  }
  check(shape, "id: x\nurl: z\nhost: z\n", ["13-17 MISPLACED: No host here (write url)"]);
  check(shape, "[1]", ["0-3 WRONG_TYPE: The sample must be a map, but is a list"]);
  check(record({ description: "", fields: {}, isOpen: true }), "b: 1", {});
});

test("findings do not quote a secret in a wrong place, as key or as value", () => {
  const secret = `ghp_${"a".repeat(20)}`;
  const shape = record({ description: "", fields: { a: name } });
  for (const { message, hint, path } of [...open(shape, `a: ${secret}`), ...open(shape, `${secret}: 1`)])
    assert.doesNotMatch(`${message} ${hint} ${path}`, /ghp_/);
});

test("either() selects a shape, anyJson() accepts any value, and reportRepeated() reports repeated items", () => {
  const shape = either(
    (node) => node.kind === "list",
    list(name, { description: "", maxItems: 9 }),
    name,
    "",
  );
  check(fieldA(shape), "a: [x]", { a: ["x"] });
  check(fieldA(shape), "a: x", { a: "x" });
  check(fieldA(anyJson("")), 'a: {b: [1, "on"]}', { a: { b: [1, "on"] } });
  const items = list(anything(""), {
    description: "",
    maxItems: 9,
    inspect: (_values, node, place) =>
      reportRepeated(node, place, "id", (value, lineNumber) => {
        return { code: "TWICE", message: `${value} is in line ${lineNumber} too` };
      }),
  });
  check(fieldA(items), "a:\n  - id: x\n  - id: z\n  - id: x\n", ["31-32 TWICE: x is in line 2 too"]);
});

test("toJsonSchema() describes the values that check() accepts", () => {
  const point = record({
    name: "Point",
    description: "A point.",
    fields: { x: integer({ description: "X.", minimum: 0, maximum: 9, default: 1 }) },
  });
  const shape = record({
    description: "",
    fields: { a: { required: point }, b: list(point, { description: "", maxItems: 3 }) },
  });
  const definitions = new Map();
  const reference = { $ref: "#/$defs/Point" };
  const pointSchema = {
    type: "object",
    description: "A point.",
    properties: { x: { type: "integer", description: "X.", minimum: 0, maximum: 9, default: 1 } },
    additionalProperties: false,
  };
  assert.deepEqual(shape.toJsonSchema(definitions), {
    type: "object",
    description: "",
    properties: { a: reference, b: { type: "array", description: "", items: reference, maxItems: 3 } },
    required: ["a"],
    additionalProperties: false,
  });
  assert.deepEqual([...definitions], [["Point", pointSchema]]);
  assert.deepEqual(point.toJsonSchema(), pointSchema);
});

test("a map with very many unknown fields is checked in linear time", slowTest, () => {
  // Quadratic time would be minutes.
  const count = 90_000;
  const yaml = Array.from({ length: count }, (_, index) => `k${index}: 1`).join("\n");
  const shape = record({
    description: "A sample.",
    fields: { a: text({ description: "A.", maxLength: 5 }) },
  });
  const open = openDocument({ name: "x.yaml", text: yaml }, kind);
  checkDocument(open, shape);
  assert.ok(open.reporter.diagnostics.length > 0);
  assert.match(open.reporter.diagnostics[0]?.message ?? "", /Unknown field "k0"/);
});
