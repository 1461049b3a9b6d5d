/**
 * Runs a composite (document 003, Response Format): compiles the code and executes it
 * under its limits. Every inner call is a call of the host, whose parent is the call
 * of the composite.
 *
 * Errors of the program are outcomes, never rejections. Inner calls are counted and
 * recorded here, in the same way for every isolation of the program.
 */

import type { JsonObject } from "@toolcrib/json";
import { type CallContext, identityKey } from "@toolcrib/tool";
import type { Catalog, CatalogTool, MetatoolHost } from "./catalog.ts";
import { CompositeCache } from "./composite-cache.ts";
import { toSyntaxError } from "./composite-error.ts";
import type { Execution, ExecutionOutcome, InnerCaller } from "./execute-composite.ts";
import { executeTogether, type TogetherDeps } from "./execute-together.ts";
import { InnerCalls, type ReplyListener, type ReplySource } from "./inner-calls.ts";
import type { IsolatedExecutions } from "./isolated/isolated-executions.ts";
import type { CompositeOutcome, ExecutionOptions } from "./outcome.ts";
import type { ThreadedExecutions } from "./threaded/threaded-executions.ts";

/** Dependencies of executions. */
export interface CompositeDeps extends TogetherDeps {
  readonly host: MetatoolHost;
  /** Wall clock in nanoseconds since 1970, read once for each execution. */
  readonly nowNs: () => bigint;
  /** @default no cache */
  readonly cache?: CompositeCache;
  /** Runs executions with `isolation: "none"` in a thread. @default they run in this one, with `memory` and `turns` */
  readonly threaded?: ThreadedExecutions | undefined;
  /** Runs executions with `isolation: "process"`; required only for those. */
  readonly isolated?: IsolatedExecutions | undefined;
}

/** One execution of a composite. */
export interface CompositeRequest {
  /** Name of the composite; tracebacks show `NAME.star`. */
  readonly name: string;
  readonly code: string;
  /** Prepared arguments: see `prepareArguments`. */
  readonly params: JsonObject;
  /** The tools that the caller may call. */
  readonly catalog: Catalog;
  /** The call of the composite. */
  readonly context: CallContext;
  readonly options: ExecutionOptions;
  /** Replies to inner calls in place of the host: for tests, replays and dry runs. */
  readonly replies?: ReplySource;
  /** Called with every inner call that has a reply. */
  readonly onReply?: ReplyListener;
}

/** Runs a composite to its end. */
export async function runComposite(
  request: CompositeRequest,
  deps: CompositeDeps,
): Promise<CompositeOutcome> {
  const { name, code, params, catalog, context, options } = request;
  const startedMs = deps.monotonicMs();
  const cache = deps.cache ?? new CompositeCache();
  const directory = cache.directoryOf(catalog);
  const client = identityKey(context.identity);
  const starting = deps.turns?.start(client);
  if (starting !== undefined) await starting;
  const { program, diagnostics, source } = cache.compile(name, code, directory);
  if (program === undefined) {
    const error = toSyntaxError(diagnostics, source);
    return { kind: "error", error, logs: [], executionTime: since(deps, startedMs), toolCalls: [], steps: 0 };
  }
  const inner = new InnerCalls(deps.host, request);
  // The directory contains the tools of the catalogue, so the tools of inner calls are complete.
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
    outcome = await execute(deps, client, execution, call);
  } finally {
    inner.close(context.signal.aborted ? context.signal.reason : new Error("the execution has ended"));
  }
  return { ...outcome, executionTime: since(deps, startedMs), toolCalls: inner.records() };
}

function execute(
  deps: CompositeDeps,
  client: string,
  execution: Execution,
  call: InnerCaller,
): Promise<ExecutionOutcome> {
  if (execution.options.isolation === "process") return requireIsolated(deps).execute(execution, call);
  if (deps.threaded !== undefined) return deps.threaded.execute(client, execution, call);
  return executeTogether(deps, client, execution, call);
}

function since(deps: CompositeDeps, startedMs: number): number {
  return Math.round((deps.monotonicMs() - startedMs) * 1000) / 1000;
}

function requireIsolated({ isolated }: CompositeDeps): IsolatedExecutions {
  if (isolated === undefined) throw new TypeError('isolation "process" needs deps.isolated');
  return isolated;
}
