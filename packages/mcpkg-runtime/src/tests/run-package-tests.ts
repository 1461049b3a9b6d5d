/**
 * Runs the tests of a package (MCPKG document, sections 5 and 8.4): validates each input, calls the
 * tool through the function that it is given, which is the governed call, and judges the result.
 * One test after the other, each within its timeout and all within one limit.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue, type SchemaValidator } from "@toolcrib/json";
import { judgeResult, programsOf, type ToolPackage } from "@toolcrib/mcpkg";
import type { ToolResult } from "@toolcrib/tool";
import { programMeta } from "../starlark/starlark-runner.ts";
import { shapeOf } from "./result-shape.ts";
import type { TestRecording, TestReplies } from "./test-replies.ts";

/** Milliseconds of a call whose test names no timeout. */
const timeoutDefaultMs = 30_000;
/** Milliseconds of all tests of a package. */
const totalTimeoutDefaultMs = 600_000;
const failureMaxLength = 600;
const failuresMaxCount = 10;

/** The result of one test. */
export interface TestResult {
  /** Path of its file in the package. */
  readonly path: string;
  readonly name: string;
  /** `error`: there is no result to judge, because the call failed, was denied or took too long. */
  readonly outcome: "passed" | "failed" | "error";
  /** Why it did not pass, one line each. */
  readonly failures: readonly string[];
  /** Milliseconds of the call; 0 where none was made. */
  readonly latencyMs: number;
  /** Digest of the members and types of the result; absent where there is none. */
  readonly shape?: string;
  /** The number of recorded replies that answered in place of real ones; absent in a run that replays none. */
  readonly replayed?: number;
  /** The recording, for its file; absent in a run that records nothing. */
  readonly recording?: TestRecording;
}

/** The results of the tests of a package. */
export interface TestResults {
  readonly toolId: string;
  readonly version: string;
  readonly results: readonly TestResult[];
  readonly passed: number;
  readonly failed: number;
  readonly durationMs: number;
}

/** Dependencies of a run. */
export interface RunTestsDeps {
  /**
   * Calls the tool of the package.
   *
   * @throws {CodedError} when the call is denied or fails; the reason of the signal.
   */
  readonly call: (args: JsonObject, signal: AbortSignal) => Promise<ToolResult>;
  readonly validator: SchemaValidator;
  readonly monotonicMs: () => number;
  readonly signal: AbortSignal;
  /** That of the package under test. @default its calls are real, and not recorded */
  readonly replies?: TestReplies | undefined;
}

/** Options of a run. */
export interface RunTestsOptions {
  /** Longest time of all tests together, in milliseconds; further tests are errors. @default 600,000 */
  readonly totalTimeoutMs?: number | undefined;
  /** Called after each test. */
  readonly onResult?: (result: TestResult) => void;
}

/** A test ran longer than it may. */
class TestTimeout extends Error {}

/**
 * Runs the tests of `found` in the order of its manifest.
 *
 * @throws the reason of the signal; nothing else.
 */
export async function runPackageTests(
  { manifest, tests }: Pick<ToolPackage, "manifest" | "tests">,
  deps: RunTestsDeps,
  { totalTimeoutMs = totalTimeoutDefaultMs, onResult }: RunTestsOptions = {},
): Promise<TestResults> {
  const { monotonicMs } = deps;
  const startMs = monotonicMs();
  const results: TestResult[] = [];
  for (const [path, test] of tests) {
    deps.signal.throwIfAborted();
    const leftMs = totalTimeoutMs - (monotonicMs() - startMs);
    // Timers take whole milliseconds, and the clock does not give them.
    const timeoutMs = Math.ceil(Math.min(test.timeoutMs ?? timeoutDefaultMs, leftMs));
    deps.replies?.begin(test);
    const judged = await runTest(path, { test, manifest, timeoutMs }, deps);
    const result = deps.replies === undefined ? judged : withReplies(judged, deps.replies);
    results.push(result);
    onResult?.(result);
  }
  const passed = results.filter(({ outcome }) => outcome === "passed").length;
  return {
    toolId: manifest.toolId,
    version: manifest.version,
    results,
    passed,
    failed: results.length - passed,
    durationMs: Math.round(monotonicMs() - startMs),
  };
}

function withReplies(result: TestResult, replies: TestReplies): TestResult {
  const { usedCount, recording } = replies.end();
  return replies.mode === "replay" ? { ...result, replayed: usedCount } : { ...result, recording };
}

interface PlannedTest {
  readonly test: NonNullable<ReturnType<ToolPackage["tests"]["get"]>>;
  readonly manifest: ToolPackage["manifest"];
  readonly timeoutMs: number;
}

async function runTest(
  path: string,
  { test, manifest, timeoutMs }: PlannedTest,
  deps: RunTestsDeps,
): Promise<TestResult> {
  const { name, input } = test;
  const without = (failures: readonly string[], latencyMs: number): TestResult => ({
    path,
    name,
    outcome: "error",
    failures: shortened(failures),
    latencyMs,
  });
  // A composite converts and checks its arguments itself.
  const isProgram = programsOf(manifest).length > 0;
  const verdict = deps.validator.validate(manifest.input_schema, input);
  if (verdict.kind === "invalid" && !isProgram) {
    return without(
      verdict.problems.map(({ path: at, message }) => `input${at} ${message}`),
      0,
    );
  }
  if (timeoutMs <= 0) return without(["not run: the time for all tests is over"], 0);
  const before = deps.monotonicMs();
  const elapsed = () => Math.round((deps.monotonicMs() - before) * 100) / 100;
  let result: ToolResult;
  try {
    result = await callWithin(deps, input, timeoutMs);
  } catch (error) {
    deps.signal.throwIfAborted();
    const { code, hint } = isCodedError(error) ? error : {};
    const how = hint === undefined ? "" : ` (${hint})`;
    return without([`${code === undefined ? "" : `${code}: `}${messageOf(error)}${how}`], elapsed());
  }
  const latencyMs = elapsed();
  if (test.expectedError !== undefined) {
    const failures = judgeError(result, test.expectedError);
    const outcome = failures.length === 0 ? "passed" : "failed";
    return { path, name, outcome, failures: shortened(failures), latencyMs };
  }
  if (result.isError === true) return without([`the tool reported an error: ${textOf(result)}`], latencyMs);
  const value = valueOfResult(result);
  const failures = judgeResult(
    value,
    { test, outputSchema: manifest.output_schema },
    { validator: deps.validator, limits: { now: deps.monotonicMs } },
  ).map(({ message }) => message);
  const outcome = failures.length === 0 ? "passed" : "failed";
  return { path, name, outcome, failures: shortened(failures), latencyMs, shape: shapeOf(value) };
}

/** Returns the differences between a result and the error that a test expects. */
function judgeError(
  result: ToolResult,
  { type, message }: NonNullable<PlannedTest["test"]["expectedError"]>,
): readonly string[] {
  if (result.isError !== true) return [`expected ${type}, got a result`];
  const known = result._meta?.[programMeta];
  const error = isJsonObject(known) ? known["error"] : undefined;
  if (!isJsonObject(error)) return [`expected ${type}, got another error: ${textOf(result)}`];
  if (error["type"] !== type)
    return [`expected ${type}, got ${String(error["type"])}: ${String(error["message"])}`];
  if (message === undefined || error["message"] === message) return [];
  return [`expected the message "${message}", got "${String(error["message"])}"`];
}

/** Calls within a time, also where the call ignores its signal. */
async function callWithin(
  { call, signal }: RunTestsDeps,
  input: JsonObject,
  timeoutMs: number,
): Promise<ToolResult> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const both = AbortSignal.any([signal, timeout]);
  const late = Promise.withResolvers<never>();
  const stop = () =>
    late.reject(timeout.aborted ? new TestTimeout(`no result within ${timeoutMs} ms`) : signal.reason);
  both.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([call(input, both), late.promise]);
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new TestTimeout(`no result within ${timeoutMs} ms`);
    throw error;
  } finally {
    both.removeEventListener("abort", stop);
  }
}

/** The JSON of a result: its structured content, or the JSON of its text, or its text. */
function valueOfResult(result: ToolResult): JsonValue {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const text = textOf(result);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function textOf({ content }: ToolResult): string {
  return content
    .map((block) => ("text" in block && typeof block.text === "string" ? block.text : ""))
    .join("\n")
    .trim();
}

function shortened(failures: readonly string[]): readonly string[] {
  return failures
    .slice(0, failuresMaxCount)
    .map((text) => (text.length <= failureMaxLength ? text : `${text.slice(0, failureMaxLength - 1)}…`));
}
