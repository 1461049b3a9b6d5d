/**
 * Runs a `starlark` endpoint: a composite in the package. The gateway runs the program, within the limits of
 * composites and with the declared tools alone; this file turns its outcome into a result. What the program
 * returns is the result of the tool, and its log and its time are in `_meta`.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { StarlarkEndpoint } from "@toolcrib/mcpkg";
import { type CallContext, failedResult, type ToolResult, textResult } from "@toolcrib/tool";
import type { EndpointRunner } from "../endpoint-runner.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";

/** The outcome of a program. */
export type ProgramOutcome = {
  readonly logs: readonly string[];
  /** Milliseconds. */
  readonly executionTime: number;
} & (
  | { readonly kind: "result"; readonly result: JsonValue }
  | {
      readonly kind: "error";
      readonly error: { readonly type: string; readonly message: string; readonly details?: JsonObject };
    }
);

/** Dependencies of a runner of a `starlark` endpoint. */
export interface StarlarkRunnerDeps {
  /** Runs the program. @throws {CodedError} when it cannot run at all */
  readonly run: (
    endpoint: StarlarkEndpoint,
    args: JsonObject,
    context: CallContext,
  ) => Promise<ProgramOutcome>;
}

/** Member of `_meta` with what is known about a run. */
export const programMeta = "toolcrib/program";

/** Longest log in `_meta` in lines. */
const logMaxLines = 100;

/** Creates the runner of `endpoint`. */
export function createStarlarkRunner(
  toolId: string,
  endpoint: StarlarkEndpoint,
  { run }: StarlarkRunnerDeps,
): EndpointRunner {
  return {
    async run(args, context) {
      const outcome = await run(endpoint, args, context);
      return outcome.kind === "result"
        ? withMeta(
            { ...textResult(JSON.stringify(outcome.result)), structuredContent: outcome.result },
            outcome,
          )
        : toFailure(toolId, outcome, context);
    },
  };
}

function toFailure(
  toolId: string,
  outcome: ProgramOutcome & { readonly kind: "error" },
  { callId }: CallContext,
): ToolResult {
  const { type, message, details = {} } = outcome.error;
  const { line, hint } = details;
  const place = typeof line === "number" ? ` (${type}, line ${line})` : ` (${type})`;
  const error = new McpkgRuntimeError(
    "PACKAGE_PROGRAM_FAILED",
    `The program of "${toolId}" failed${place}: ${message}`,
    { hint: typeof hint === "string" ? hint : undefined },
  );
  return withMeta(failedResult(error, callId), outcome);
}

function withMeta(result: ToolResult, outcome: ProgramOutcome): ToolResult {
  const { logs, executionTime } = outcome;
  const known = {
    executionTime,
    ...(logs.length === 0 ? {} : { logs: logs.slice(0, logMaxLines) }),
    ...(outcome.kind === "result"
      ? {}
      : { error: { type: outcome.error.type, message: outcome.error.message } }),
  };
  return { ...result, _meta: { ...result._meta, [programMeta]: known } };
}
