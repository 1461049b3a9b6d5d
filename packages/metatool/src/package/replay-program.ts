/**
 * Runs the program of a package with the recorded replies of a test in place of its calls, and with the time of the
 * recording. No call reaches a tool; one that has no reply fails the run, also where the program catches it.
 */

import type { JsonValue } from "@toolcrib/json";
import type { CompositeOutcome } from "../run/outcome.ts";
import { type CompositeDeps, type CompositeRequest, runComposite } from "../run/run-composite.ts";
import { RecordedReplies } from "../test/recorded-replies.ts";
import { defaultNowNs, toRepliesDeps } from "../test/run-test-case.ts";
import { parseTestCaseList } from "../test/test-case.ts";

/** The recording of a test. */
export interface ProgramRecording {
  readonly replies: readonly JsonValue[];
  /** Nanoseconds since 1970, in digits. @default the beginning of the year 2000 */
  readonly now: string | undefined;
}

/** Runs a program. Errors of the program and of the recording are outcomes. */
export async function replayProgram(
  run: CompositeRequest,
  { replies, now }: ProgramRecording,
  deps: CompositeDeps,
): Promise<CompositeOutcome> {
  const { value, diagnostics } = parseTestCaseList(
    [{ name: "test", params: {}, replies, expect: { result: null }, ...(now === undefined ? {} : { now }) }],
    "tests",
  );
  const [testCase] = value;
  if (testCase === undefined) {
    return failure(
      `The recorded replies cannot be used: ${diagnostics.map(({ message }) => message).join("; ")}`,
    );
  }
  const recorded = new RecordedReplies(testCase.replies, toRepliesDeps(run.context, deps));
  const nowNs = testCase.now === undefined ? defaultNowNs : BigInt(testCase.now);
  const outcome = await runComposite({ ...run, replies: recorded.source }, { ...deps, nowNs: () => nowNs });
  const [first] = recorded.unmatched;
  return first === undefined ? outcome : failure(`${first.tool} was called, and ${first.reason}`);
}

function failure(message: string): CompositeOutcome {
  const error = {
    type: "tool_error",
    message,
    details: { hint: "record its tests again: toolcrib saved test NAME --record, then saved publish" },
  } as const;
  return { kind: "error", error, logs: [], executionTime: 0, toolCalls: [], steps: 0 };
}
