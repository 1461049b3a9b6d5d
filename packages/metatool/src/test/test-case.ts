/**
 * Test cases of saved tools, stored in `tests` of the `toolcrib` object: parameters,
 * replies of the called tools, and the expected outcome. Parses and formats only.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { type CompositeErrorType, compositeErrorTypes, isCompositeErrorType } from "../run/outcome.ts";

/** A recorded error of a tool. */
export interface RecordedError {
  readonly message: string;
  /** The value of `e.details`. */
  readonly details?: JsonObject;
  /** `denied`: the caller may not call it. `limit`: a limit, which programs cannot catch. @default the tool failed */
  readonly kind?: "denied" | "limit";
}

/** The reply of a tool in a test. */
export type RecordedReply = {
  /** The tool: `namespace.name`, its name on the wire or its id. */
  readonly tool: string;
  /** Matches only calls with exactly these parameters. @default any parameters */
  readonly params?: JsonObject;
} & ({ readonly result: JsonValue } | { readonly error: RecordedError });

/** The expected outcome of a test. */
export type TestExpectation =
  | { readonly result: JsonValue }
  /** Without a message, any error of this type matches. */
  | { readonly error: { readonly type: CompositeErrorType; readonly message?: string } };

/** One test case of a saved tool. */
export interface TestCase {
  /** Unique among the cases of its tool. */
  readonly name: string;
  readonly params: JsonObject;
  /** In the order in which the tools replied. */
  readonly replies: readonly RecordedReply[];
  readonly expect: TestExpectation;
  /** Nanoseconds since 1970, in digits: the value of `time.now`. @default the beginning of the year 2000 */
  readonly now?: string;
}

/** Maximum number of cases of one tool. @limit program */
export const testCasesMaxCount = 100;
/** Longest name of a case. */
const nameMaxLength = 100;
/** Maximum number of replies of one case: the limit of inner calls of an execution. */
const repliesMaxCount = 10_000;
/** Maximum number of bytes of one case as JSON. @limit program */
export const testCaseMaxBytes = 128 * 1024;

/** Parses the cases in a `toolcrib` object, with findings about invalid ones. */
export function parseTestCases(toolcrib: JsonObject | undefined): {
  readonly value: readonly TestCase[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const tests = toolcrib?.["tests"];
  if (tests === undefined) return { value: [], diagnostics: [] };
  return parseTestCaseList(tests, "toolcrib.tests");
}

/** Parses a list of cases. @param path of the list, for findings */
export function parseTestCaseList(
  list: JsonValue,
  path: string,
): { readonly value: readonly TestCase[]; readonly diagnostics: readonly Diagnostic[] } {
  if (!Array.isArray(list)) return { value: [], diagnostics: [invalid(path, "it must be a list of cases")] };
  const value: TestCase[] = [];
  const diagnostics: Diagnostic[] = [];
  if (list.length > testCasesMaxCount) {
    diagnostics.push(
      invalid(path, `there are ${list.length} cases; at most ${testCasesMaxCount} are allowed`),
    );
  }
  const names = new Set<string>();
  for (const [index, one] of list.slice(0, testCasesMaxCount).entries()) {
    const at = `${path}[${index}]`;
    const found = lintTestCase(one, at);
    diagnostics.push(...found);
    if (found.length > 0) continue;
    const testCase = one as unknown as TestCase;
    if (names.has(testCase.name)) {
      diagnostics.push(invalid(`${at}.name`, `another case is called ${JSON.stringify(testCase.name)}`));
      continue;
    }
    names.add(testCase.name);
    value.push(testCase);
  }
  return { value, diagnostics };
}

/** Returns the `toolcrib` object with other cases. Other members stay. */
export function withTestCases(toolcrib: JsonObject | undefined, cases: readonly TestCase[]): JsonObject {
  const { tests: _replaced, ...others } = toolcrib ?? {};
  return cases.length === 0 ? others : { ...others, tests: cases as unknown as JsonValue };
}

/** Returns the findings about a case. */
export function lintTestCase(value: JsonValue | undefined, path: string): readonly Diagnostic[] {
  if (!isJsonObject(value)) return [invalid(path, "it must be an object")];
  const { name, params, replies, expect, now, ...others } = value;
  return [
    ...(typeof name === "string" && name.trim() !== "" && name.length <= nameMaxLength
      ? []
      : [invalid(`${path}.name`, `it must be a string of 1 to ${nameMaxLength} characters`)]),
    ...(isJsonObject(params) ? [] : [invalid(`${path}.params`, "it must be an object")]),
    ...lintReplies(replies, `${path}.replies`),
    ...lintExpectation(expect, `${path}.expect`),
    ...(now === undefined || (typeof now === "string" && /^-?[0-9]{1,19}$/.test(now))
      ? []
      : [invalid(`${path}.now`, "it must be nanoseconds since 1970, as a text of digits")]),
    ...unknownMembers(others, path, "name, params, replies, expect, now"),
    ...lintSize(value, path),
  ];
}

function lintReplies(replies: JsonValue | undefined, path: string): Diagnostic[] {
  if (!Array.isArray(replies)) return [invalid(path, "it must be a list")];
  if (replies.length > repliesMaxCount) {
    return [invalid(path, `there are ${replies.length}; at most ${repliesMaxCount} are allowed`)];
  }
  return (replies as readonly JsonValue[]).flatMap((reply, index) => lintReply(reply, `${path}[${index}]`));
}

function lintReply(reply: JsonValue, path: string): Diagnostic[] {
  if (!isJsonObject(reply)) return [invalid(path, "it must be an object")];
  const { tool, params, result, error, ...others } = reply;
  const findings = unknownMembers(others, path, "tool, params, result, error");
  if (typeof tool !== "string" || tool === "")
    findings.push(invalid(`${path}.tool`, "it must be the name of a tool"));
  if (params !== undefined && !isJsonObject(params))
    findings.push(invalid(`${path}.params`, "it must be an object"));
  if ((result === undefined) === (error === undefined)) {
    findings.push(invalid(path, "it must have either a result or an error"));
  } else if (error !== undefined) findings.push(...lintRecordedError(error, `${path}.error`));
  return findings;
}

function lintRecordedError(error: JsonValue, path: string): Diagnostic[] {
  if (!isJsonObject(error)) return [invalid(path, "it must be an object with a message")];
  const { message, details, kind, ...others } = error;
  const findings = unknownMembers(others, path, "message, details, kind");
  if (typeof message !== "string") findings.push(invalid(`${path}.message`, "it must be a string"));
  if (details !== undefined && !isJsonObject(details))
    findings.push(invalid(`${path}.details`, "it must be an object"));
  if (kind !== undefined && kind !== "denied" && kind !== "limit") {
    findings.push(invalid(`${path}.kind`, "it must be denied or limit, or be left out"));
  }
  return findings;
}

function lintExpectation(expect: JsonValue | undefined, path: string): Diagnostic[] {
  if (!isJsonObject(expect)) return [invalid(path, "it must be an object with a result or an error")];
  const { result, error, ...others } = expect;
  const findings = unknownMembers(others, path, "result, error");
  if ((result === undefined) === (error === undefined)) {
    findings.push(invalid(path, "it must have either a result or an error"));
  } else if (error !== undefined) {
    const { type, message, ...rest } = isJsonObject(error) ? error : {};
    findings.push(...unknownMembers(rest, `${path}.error`, "type, message"));
    if (!isCompositeErrorType(type)) {
      findings.push(invalid(`${path}.error.type`, `it must be one of ${compositeErrorTypes.join(", ")}`));
    }
    if (message !== undefined && typeof message !== "string") {
      findings.push(invalid(`${path}.error.message`, "it must be a string"));
    }
  }
  return findings;
}

/** Reports unknown members: a misspelt member would silently test less. */
function unknownMembers(others: JsonObject, path: string, known: string): Diagnostic[] {
  return Object.keys(others).map((name) =>
    invalid(`${path}.${name.slice(0, 60)}`, `it is not known; there are ${known}`),
  );
}

function lintSize(value: JsonObject, path: string): Diagnostic[] {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= testCaseMaxBytes) return [];
  return [invalid(path, `it has ${bytes} bytes; at most ${testCaseMaxBytes} are allowed`)];
}

function invalid(path: string, reason: string): Diagnostic {
  return {
    severity: "error",
    code: "METATOOL_TEST_INVALID",
    message: `Cannot use "${path}": ${reason}`,
    path,
  };
}
