/**
 * Records a test case from a real run: its parameters, the replies of the tools, and
 * the outcome. All replies passed the governed call of the host, so the case contains
 * no secret that the host knows. A case whose replay differs is refused.
 */

import { isSameJson, type JsonObject } from "@toolcrib/json";
import { MetatoolError } from "../metatool-error.ts";
import type { ReplyListener } from "../run/inner-calls.ts";
import type { InnerReply } from "../run/inner-reply.ts";
import type { CompositeOutcome, ToolCallRecord } from "../run/outcome.ts";
import { type CompositeRequest, runComposite } from "../run/run-composite.ts";
import { displayName } from "../run/tool-directory.ts";
import { runTestCase, type TestDeps, type TestReport, type TestRequest } from "./run-test-case.ts";
import { type RecordedReply, type TestCase, testCaseMaxBytes } from "./test-case.ts";

/** The recorded case, and the outcome of the run. */
export interface Recording {
  readonly testCase: TestCase;
  readonly outcome: CompositeOutcome;
  /** Result of its first replay. */
  readonly report: TestReport;
}

/**
 * Runs a saved tool and records a case.
 *
 * @param params the given arguments, before defaults.
 * @param prepared the prepared arguments.
 * @throws {MetatoolError} `METATOOL_TEST_NOT_REPEATABLE` when it timed out, was cancelled, or its replay differs;
 *   `METATOOL_TEST_TOO_LARGE`.
 */
export async function recordTestCase(
  name: string,
  params: JsonObject,
  prepared: JsonObject,
  request: TestRequest,
  deps: TestDeps,
): Promise<Recording> {
  const replies: RecordedReply[] = [];
  let isOver = false;
  const onReply: ReplyListener = (tool, args, reply) => {
    // Inner calls that the end of the program cancelled are a consequence of that end.
    if (!isOver) replies.push(toRecordedReply(displayName(tool), args, reply));
  };
  const nowNs = deps.composite.nowNs();
  const { tool, catalog, context, options } = request;
  const run: CompositeRequest = {
    name: tool.name,
    code: tool.code,
    params: prepared,
    catalog,
    context,
    options,
    onReply,
  };
  const outcome = await runComposite(run, { ...deps.composite, nowNs: () => nowNs });
  isOver = true;
  context.signal.throwIfAborted();
  const testCase: TestCase = {
    name,
    params,
    replies: [...replies, ...unanswered(outcome.toolCalls, replies)],
    expect: expectationOf(outcome),
    now: String(nowNs),
  };
  const bytes = Buffer.byteLength(JSON.stringify(testCase));
  if (bytes > testCaseMaxBytes) {
    const message = `Cannot record the run as a test: it has ${bytes} bytes; at most ${testCaseMaxBytes} are allowed`;
    const hint = "record a run over less data, or write a case by hand";
    throw new MetatoolError("METATOOL_TEST_TOO_LARGE", message, { hint });
  }
  const report = await runTestCase(testCase, request, deps);
  if (!report.passed) {
    const message = `Cannot record the run as a test: its replay differs: ${report.problems[0]}`;
    throw new MetatoolError("METATOOL_TEST_NOT_REPEATABLE", message);
  }
  return { testCase, outcome, report };
}

function toRecordedReply(tool: string, params: JsonObject, reply: InnerReply): RecordedReply {
  if (reply.kind === "value") return { tool, params, result: reply.value };
  const { kind, message } = reply;
  const details = reply.kind === "limit" ? undefined : reply.details;
  const error = {
    message,
    ...(details === undefined ? undefined : { details }),
    ...(kind === "error" ? undefined : { kind }),
  };
  return { tool, params, error };
}

/** Returns replies for the inner calls that had none at the end: the replay makes these calls, too. */
function unanswered(
  calls: readonly ToolCallRecord[],
  replies: readonly RecordedReply[],
): readonly RecordedReply[] {
  const left = [...replies];
  return calls.flatMap(({ tool, params }): readonly RecordedReply[] => {
    const at = left.findIndex((reply) => reply.tool === tool && isSameOrCut(reply.params, params));
    if (at !== -1) left.splice(at, 1);
    if (at !== -1 || typeof params !== "object" || params === null || Array.isArray(params)) return [];
    return [
      {
        tool,
        params: params as JsonObject,
        error: { message: "The program ended before the tool replied" },
      },
    ];
  });
}

/** Returns whether a record omits long parameters (`{ truncated: true, bytes }`). */
function isSameOrCut(params: JsonObject | undefined, recorded: ToolCallRecord["params"]): boolean {
  const isCut = typeof recorded === "object" && recorded !== null && "truncated" in recorded;
  return isCut || isSameJson(params, recorded);
}

function expectationOf(outcome: CompositeOutcome): TestCase["expect"] {
  if (outcome.kind === "result") return { result: outcome.result };
  const { type, message } = outcome.error;
  if (type !== "timeout_error") return { error: { type, message } };
  throw new MetatoolError(
    "METATOOL_TEST_NOT_REPEATABLE",
    `Cannot record the run as a test: it timed out, so its replay may differ (${message})`,
  );
}
