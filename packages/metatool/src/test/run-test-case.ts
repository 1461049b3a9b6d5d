/**
 * Runs one test case. The program runs as usual, with the catalogue and limits of its
 * caller; its inner calls get the replies of the case and reach no tool.
 */

import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import type { CallContext } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeOutcome, ExecutionOptions } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { type CompositeDeps, runComposite } from "../run/run-composite.ts";
import { type Difference, describeDifference, findDifferences } from "./differences.ts";
import { RecordedReplies, type RepliesDeps } from "./recorded-replies.ts";
import type { TestCase, TestExpectation } from "./test-case.ts";

/** Dependencies of running a case. */
export interface TestDeps {
  readonly composite: CompositeDeps;
  readonly validator: SchemaValidator;
}

/** The tested tool and the caller. */
export interface TestRequest {
  readonly tool: Pick<SavedTool, "name" | "code" | "inputSchema">;
  /** The tools that its program can call. Tools that are denied to the caller are also denied in a test. */
  readonly catalog: Catalog;
  readonly context: CallContext;
  readonly options: ExecutionOptions;
}

/** The result of one case. */
export interface TestReport {
  readonly name: string;
  readonly passed: boolean;
  /** The problems, one for each line; empty when it passed. */
  readonly problems: readonly string[];
  readonly differences: readonly Difference[];
  /** Names of the tools with unused replies, which do not fail a test. */
  readonly unusedReplies: readonly string[];
  readonly logs: readonly string[];
  /** Milliseconds. */
  readonly executionTime: number;
}

/** The value of `time.now` in a case without one, so that a test does not depend on the day. */
export const defaultNowNs = 946_684_800_000_000_000n;

/** Runs a case and compares its outcome. */
export async function runTestCase(
  testCase: TestCase,
  request: TestRequest,
  deps: TestDeps,
): Promise<TestReport> {
  const { outcome, replies } = await replay(testCase, request, deps);
  const differences = compareOutcome(testCase.expect, outcome);
  const unmatched = replies.unmatched.map(
    ({ tool, params, reason }) => `${tool}(${shown(params)}) was called, and ${reason}`,
  );
  const found = [...describeKind(testCase.expect, outcome), ...differences.map(describeDifference)];
  // After a call without a reply, other differences are consequences; and the expected values may
  // contain data that the caller may not see.
  const isDenied = found.length > 0 && replies.denied.length > 0;
  const hides = unmatched.length > 0 || isDenied;
  const problems = [
    ...unmatched,
    ...(isDenied
      ? [...new Set(replies.denied)].map((tool) => `${tool} may not be called by this caller`)
      : []),
    ...(hides ? [] : found),
  ];
  return {
    name: testCase.name,
    passed: problems.length === 0,
    problems,
    differences: hides ? [] : differences,
    unusedReplies: replies.unused().map(({ tool }) => tool),
    logs: outcome.logs,
    executionTime: outcome.executionTime,
  };
}

/** Runs a recorded case again and compares result, logs and inner calls. */
export async function replayTestCase(
  testCase: TestCase,
  request: TestRequest,
  deps: TestDeps,
): Promise<CompositeOutcome> {
  return (await replay(testCase, request, deps)).outcome;
}

async function replay(testCase: TestCase, { tool, catalog, context, options }: TestRequest, deps: TestDeps) {
  const replies = new RecordedReplies(testCase.replies, toRepliesDeps(context, deps.composite));
  const prepared = prepareArguments(deps.validator, tool.inputSchema, testCase.params);
  if (prepared.kind === "invalid") {
    const error = toArgumentsError(prepared.problems);
    const outcome: CompositeOutcome = {
      kind: "error",
      error,
      logs: [],
      executionTime: 0,
      toolCalls: [],
      steps: 0,
    };
    return { outcome, replies };
  }
  const nowNs = testCase.now === undefined ? defaultNowNs : BigInt(testCase.now);
  const outcome = await runComposite(
    {
      name: tool.name,
      code: tool.code,
      params: prepared.params,
      catalog,
      context,
      options,
      replies: replies.source,
    },
    { ...deps.composite, nowNs: () => nowNs },
  );
  return { outcome, replies };
}

/** Returns the dependencies of recorded replies for the caller of `context`. */
export function toRepliesDeps(
  { identity }: CallContext,
  { host, nextTurn }: Pick<CompositeDeps, "host" | "nextTurn">,
): RepliesDeps {
  const allowed = new Set(host.catalog(identity).tools.map(({ id }) => id));
  return { mayCall: ({ id }) => allowed.has(id), nextTurn };
}

/** Returns the differences from the expected outcome; `describeKind` describes another kind. */
function compareOutcome(expect: TestExpectation, outcome: CompositeOutcome): readonly Difference[] {
  if ("result" in expect)
    return outcome.kind === "result" ? findDifferences(expect.result, outcome.result) : [];
  if (outcome.kind === "result") return [];
  const { message } = expect.error;
  const actual = {
    type: outcome.error.type,
    ...(message === undefined ? undefined : { message: outcome.error.message }),
  };
  return findDifferences({ ...expect.error }, actual);
}

function describeKind(expect: TestExpectation, outcome: CompositeOutcome): readonly string[] {
  if ("result" in expect && outcome.kind === "error") {
    const { type, message, details } = outcome.error;
    const line = details?.["line"];
    const place = typeof line === "number" ? ` (line ${line})` : "";
    return [`it failed with ${type}: ${message}${place}`];
  }
  if ("error" in expect && outcome.kind === "result") return ["it gave a result and should have failed"];
  return [];
}

function shown(params: JsonObject): string {
  const text = JSON.stringify(params);
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}
