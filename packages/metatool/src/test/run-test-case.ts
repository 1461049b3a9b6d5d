/**
 * One test case from its parameters to its verdict. The program runs as it does
 * otherwise, with its caller's catalogue and limits; only its calls are answered
 * from the case, and no tool is touched.
 */

import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeOutcome, ExecutionOptions } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { type CompositeDeps, runComposite } from "../run/run-composite.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import { type Difference, describeDifference, findDifferences } from "./differences.ts";
import { createRecordedReplies, type RepliesDeps } from "./recorded-replies.ts";
import type { TestCase, TestExpectation } from "./test-case.ts";

/** What running needs of the world. */
export interface TestDeps {
  readonly composite: CompositeDeps;
  readonly validator: SchemaValidator;
}

/** Whose tests are run, for whom. */
export interface TestRequest {
  readonly tool: Pick<SavedTool, "name" | "code" | "inputSchema">;
  /** The tools that its program is compiled against. What is denied to the caller stays so in a test, whatever stands here. */
  readonly catalog: Catalog;
  readonly context: CallContext;
  readonly options: ExecutionOptions;
}

/** The verdict on one case. */
export interface TestReport {
  readonly name: string;
  readonly passed: boolean;
  /** Why it did not pass, one thing a line; empty when it did. */
  readonly problems: readonly string[];
  readonly differences: readonly Difference[];
  /** Names of the tools whose replies nothing asked for. They fail no test. */
  readonly unusedReplies: readonly string[];
  readonly logs: readonly string[];
  /** Milliseconds. */
  readonly executionTime: number;
}

/** What `time.now` gives where a case says nothing: a test means the same on every day. */
const defaultNowNs = 946_684_800_000_000_000n;

/** Run a case and judge it. */
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
  const told = [...describeKind(testCase.expect, outcome), ...differences.map(describeDifference)];
  // What follows from a call without a reply says nothing of its own; and what was expected may be
  // made of what the caller may not see.
  const isDenied = told.length > 0 && replies.denied.length > 0;
  const hides = unmatched.length > 0 || isDenied;
  const problems = [
    ...unmatched,
    ...(isDenied
      ? [...new Set(replies.denied)].map((tool) => `${tool} may not be called by this caller`)
      : []),
    ...(hides ? [] : told),
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

/** Run a recorded case again; what comes of it is what came of it then: result, logs and calls. */
export async function replayTestCase(
  testCase: TestCase,
  request: TestRequest,
  deps: TestDeps,
): Promise<CompositeOutcome> {
  return (await replay(testCase, request, deps)).outcome;
}

async function replay(testCase: TestCase, { tool, catalog, context, options }: TestRequest, deps: TestDeps) {
  const replies = createRecordedReplies(testCase.replies, toRepliesDeps(context, deps.composite));
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

/** What recorded replies need, for the caller of `context`. */
export function toRepliesDeps(
  { identity }: CallContext,
  { host, nextTurn }: Pick<CompositeDeps, "host" | "nextTurn">,
): RepliesDeps {
  const allowed = new Set(host.catalog(identity).tools.map(({ id }) => id));
  return { mayCall: ({ id }) => allowed.has(id), nextTurn };
}

/** Where the outcome is not as expected; of another kind it is told by `describeKind`. */
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
