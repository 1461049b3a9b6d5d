/**
 * A composite from its code to its outcome (document 003, Response Format): the
 * code is compiled, executed under its limits, and every call that it makes of
 * another tool is a call of the host's on account of the composite's own.
 *
 * What the program does never rejects: its errors are outcomes. What is counted
 * and recorded here is counted and recorded in the same way wherever the program
 * runs.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ThreadHost } from "@toolcrib/starlark";
import type { CallContext } from "@toolcrib/tool";
import type { Catalog, CatalogTool, MetatoolHost } from "./catalog.ts";
import { type CompositeCache, createCompositeCache } from "./composite-cache.ts";
import { toSyntaxError } from "./composite-error.ts";
import { type ExecutionOutcome, executeComposite, type InnerCaller } from "./execute-composite.ts";
import { createInnerCalls, type ReplyListener, type ReplySource } from "./inner-calls.ts";
import type { IsolatedExecutions } from "./isolated/isolated-executions.ts";
import type { CompositeOutcome, ExecutionOptions } from "./outcome.ts";

/** What executions need of the world. */
export interface CompositeDeps extends Required<ThreadHost> {
  readonly host: MetatoolHost;
  /** The time of day in nanoseconds since 1970; read once for each execution. */
  readonly nowNs: () => bigint;
  /** @default everything is compiled anew each time */
  readonly cache?: CompositeCache;
  /** Where executions with `isolation: "process"` go; needed for those alone. */
  readonly isolated?: IsolatedExecutions;
}

/** What to run, for whom. */
export interface CompositeRequest {
  /** What people call it; tracebacks say `NAME.star`. */
  readonly name: string;
  readonly code: string;
  /** Ready for the program: see `prepareArguments`. */
  readonly params: JsonObject;
  /** What the caller may call. */
  readonly catalog: Catalog;
  /** The call that this is the execution of. */
  readonly context: CallContext;
  readonly options: ExecutionOptions;
  /** Answers inner calls in place of the host: for tests, replays and dry runs. */
  readonly replies?: ReplySource;
  /** Hears of every inner call that was answered. */
  readonly onReply?: ReplyListener;
}

/** Run a composite to its end. */
export async function runComposite(
  request: CompositeRequest,
  deps: CompositeDeps,
): Promise<CompositeOutcome> {
  const { name, code, params, catalog, context, options } = request;
  const startedMs = deps.monotonicMs();
  const cache = deps.cache ?? createCompositeCache();
  const directory = cache.directoryOf(catalog);
  const { program, diagnostics, source } = cache.compile(name, code, directory);
  if (program === undefined) {
    const error = toSyntaxError(diagnostics, source);
    return { kind: "error", error, logs: [], executionTime: since(deps, startedMs), toolCalls: [], steps: 0 };
  }
  const inner = createInnerCalls(deps.host, request);
  // The directory is made of the catalogue's tools, so those that come back are whole.
  const call: InnerCaller = (tool, args) => inner.call(tool as CatalogTool, args);
  const execution = {
    program,
    directory,
    params,
    options,
    startedNs: deps.nowNs(),
    signal: context.signal,
  };
  let outcome: ExecutionOutcome;
  try {
    outcome =
      options.isolation === "process"
        ? await requireIsolated(deps).execute(execution, call)
        : await executeComposite(deps, execution, call);
  } finally {
    inner.close(context.signal.aborted ? context.signal.reason : new Error("the execution is over"));
  }
  return { ...outcome, executionTime: since(deps, startedMs), toolCalls: inner.records() };
}

function since(deps: CompositeDeps, startedMs: number): number {
  return Math.round((deps.monotonicMs() - startedMs) * 1000) / 1000;
}

function requireIsolated({ isolated }: CompositeDeps): IsolatedExecutions {
  if (isolated === undefined) throw new TypeError('isolation "process" needs deps.isolated');
  return isolated;
}
