/**
 * `test_saved_tool`: runs the test cases of a saved tool, adds cases, or records one
 * from a real run. A test calls no tool. A recording is a real run with the authority
 * of its caller.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { SavedTool, SavedToolStore } from "@toolcrib/store";
import type { CallContext, ToolResult } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import type { Catalog } from "../run/catalog.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeError, ExecutionOptions } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { recordTestCase } from "./record-test-case.ts";
import { runTestCase, type TestDeps, type TestReport, type TestRequest } from "./run-test-case.ts";
import { parseTestCaseList, parseTestCases, type TestCase, withTestCases } from "./test-case.ts";

/** Dependencies of testing. */
export interface SavedTestDeps extends TestDeps {
  readonly saved: SavedToolStore;
  readonly options: ExecutionOptions;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the tools that the program of a saved tool can call. */
  readonly catalogFor: (tool: SavedTool, context: CallContext) => Catalog;
  /** Returns the context in which the program of a saved tool runs, with the permissions that it has. */
  readonly contextFor: (tool: SavedTool, context: CallContext) => Promise<CallContext>;
  /** Returns why a saved tool may not run now, such as a missing approval. Called before a run is recorded. */
  readonly refusal: (tool: SavedTool) => Promise<CompositeError | undefined>;
}

/** The outcome of testing. */
export type SavedTestOutcome =
  | {
      readonly kind: "tested";
      readonly tool: string;
      readonly reports: readonly TestReport[];
      /** Name of the recorded case, if any. */
      readonly recorded: string | undefined;
      /** The failure of the recorded run, if it failed: the new case expects this failure. */
      readonly recordedError: Pick<CompositeError, "type" | "message"> | undefined;
      /** Findings about cases in the file of the tool. They count as failed. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly kind: "refused"; readonly error: CompositeError };

/**
 * Tests a saved tool with the arguments of `test_saved_tool`.
 *
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`; `METATOOL_TEST_INVALID` for invalid cases; as `recordTestCase`
 *   and `SavedToolStore.save`.
 */
export async function testSavedTool(
  args: JsonObject,
  caller: CallContext,
  deps: SavedTestDeps,
): Promise<SavedTestOutcome> {
  const name = String(args["name"]);
  let tool = await requireTool(deps.saved, name);
  if (args["cases"] !== undefined) tool = await addCases(tool, toCases(args["cases"]), deps.saved);
  const context = await deps.contextFor(tool, caller);
  const catalog = deps.catalogFor(tool, context);
  let recorded: string | undefined;
  let recordedError: CompositeError | undefined;
  if (args["record"] === true) {
    const refusal = await deps.refusal(tool);
    if (refusal !== undefined) return { kind: "refused", error: refusal };
    const params = isJsonObject(args["params"]) ? args["params"] : {};
    const prepared = prepareArguments(deps.validator, tool.inputSchema, params);
    if (prepared.kind === "invalid") return { kind: "refused", error: toArgumentsError(prepared.problems) };
    recorded = nameFor(args["caseName"], parseTestCases(tool.toolcrib).value);
    const request = { tool, catalog, context, options: deps.options };
    deps.saved.recordExecution(name, deps.now());
    const { testCase, outcome } = await recordTestCase(recorded, params, prepared.params, request, deps);
    if (outcome.kind === "error") recordedError = outcome.error;
    tool = await addCases(tool, [testCase], deps.saved);
  }
  const { value: cases, diagnostics } = parseTestCases(tool.toolcrib);
  const request: TestRequest = { tool, catalog, context, options: deps.options };
  const reports: TestReport[] = [];
  for (const one of cases) {
    context.signal.throwIfAborted();
    reports.push(await runTestCase(one, request, deps));
  }
  return { kind: "tested", tool: name, reports, recorded, recordedError, diagnostics };
}

async function requireTool(saved: SavedToolStore, name: string): Promise<SavedTool> {
  const tool = await saved.get(name);
  if (tool !== undefined) return tool;
  throw new MetatoolError(
    "METATOOL_NOT_FOUND",
    `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
  );
}

function toCases(list: JsonValue): readonly TestCase[] {
  const { value, diagnostics } = parseTestCaseList(list, "cases");
  const [first] = diagnostics;
  if (first === undefined) return value;
  const hint = diagnostics.length === 1 ? undefined : `there are ${diagnostics.length - 1} more problems`;
  throw new MetatoolError(first.code, first.message, { hint, data: { diagnostics } });
}

/** Adds cases to the tool. They replace cases of the same names. */
async function addCases(
  tool: SavedTool,
  added: readonly TestCase[],
  saved: SavedToolStore,
): Promise<SavedTool> {
  const { metadata, ...definition } = tool;
  const names = new Set<unknown>(added.map(({ name }) => name));
  const before = definition.toolcrib?.["tests"] ?? [];
  // Invalid cases in the file stay, so that a person can fix them.
  const kept = Array.isArray(before)
    ? (before as readonly JsonValue[]).filter((one) => !names.has(nameOf(one)))
    : before;
  const all = Array.isArray(kept) ? [...kept, ...(added as unknown as readonly JsonValue[])] : kept;
  const toolcrib = withTestCases(definition.toolcrib, toCases(all as JsonValue));
  const result = await saved.save({ ...definition, toolcrib }, { expectedModified: metadata.modified });
  return result.tool;
}

function nameOf(one: JsonValue): JsonValue | undefined {
  return isJsonObject(one) ? one["name"] : undefined;
}

function nameFor(asked: JsonValue | undefined, cases: readonly TestCase[]): string {
  if (typeof asked === "string" && asked.trim() !== "") return asked;
  const names = new Set(cases.map(({ name }) => name));
  for (let number = cases.length + 1; ; number += 1) {
    const name = `recorded ${number}`;
    if (!names.has(name)) return name;
  }
}

/** Returns the result of the core tool. */
export function toTestResult(outcome: Extract<SavedTestOutcome, { kind: "tested" }>): ToolResult {
  const { tool, reports, recorded, recordedError, diagnostics } = outcome;
  const unusable = diagnostics.map(({ path = "", message, code }) => ({
    name: path,
    passed: false,
    code,
    problems: [message],
  }));
  const cases = [
    ...reports.map(
      (report): JsonObject => ({
        name: report.name,
        passed: report.passed,
        problems: report.problems,
        differences: report.differences.map((one) => ({ ...one })),
        unusedReplies: report.unusedReplies,
        logs: report.logs,
        executionTime: report.executionTime,
      }),
    ),
    ...unusable,
  ];
  const passed = reports.filter((report) => report.passed).length;
  const structuredContent: JsonObject = {
    name: tool,
    passed,
    failed: cases.length - passed,
    ...(recorded === undefined ? undefined : { recorded }),
    ...(recordedError === undefined
      ? undefined
      : { recordedError: { type: recordedError.type, message: recordedError.message } }),
    cases,
  };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

const refusalCodes: ReadonlySet<string> = new Set([
  "METATOOL_CHANGED_MEANWHILE",
  "METATOOL_FIELD_TOO_LARGE",
  "METATOOL_FILE_TOO_LARGE",
  "METATOOL_TEST_INVALID",
  "METATOOL_TEST_NOT_REPEATABLE",
  "METATOOL_TEST_TOO_LARGE",
]);

/** Returns the error of an invalid request for the caller; undefined for other errors. */
export function toTestError(error: unknown): CompositeError | undefined {
  if (!(error instanceof MetatoolError) || !refusalCodes.has(error.code)) return undefined;
  const { code, message, hint } = error;
  const found = error.data?.["diagnostics"];
  const problems = (Array.isArray(found) ? (found as readonly Diagnostic[]) : [])
    .slice(0, 50)
    .map(({ path = "", message, code }): JsonObject => ({ path, message, code }));
  return {
    type: "validation_error",
    message,
    details: {
      code,
      ...(hint === undefined ? undefined : { hint }),
      ...(problems.length === 0 ? undefined : { problems }),
    },
  };
}
