/**
 * Runs a composite (document 003, Response Format): compiles the code and executes it
 * under its limits. Every inner call is a call of the host, whose parent is the call
 * of the composite.
 *
 * Errors of the program are outcomes, never rejections. Inner calls are counted and
 * recorded here, in the same way for every isolation of the program.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ThreadHost } from "@toolcrib/starlark";
import { type CallContext, identityKey } from "@toolcrib/tool";
import type { Catalog, CatalogTool, MetatoolHost } from "./catalog.ts";
import { CompositeCache } from "./composite-cache.ts";
import { toSyntaxError } from "./composite-error.ts";
import type { CompositeMemory } from "./composite-memory.ts";
import {
  type Execution,
  type ExecutionOutcome,
  executeComposite,
  type InnerCaller,
} from "./execute-composite.ts";
import { InnerCalls, type ReplyListener, type ReplySource } from "./inner-calls.ts";
import type { IsolatedExecutions } from "./isolated/isolated-executions.ts";
import type { CompositeError, CompositeOutcome, ExecutionOptions } from "./outcome.ts";
import type { ProgramTurns } from "./program-turns.ts";

/** Dependencies of executions. */
export interface CompositeDeps extends Required<ThreadHost> {
  readonly host: MetatoolHost;
  /** Wall clock in nanoseconds since 1970, read once for each execution. */
  readonly nowNs: () => bigint;
  /** @default no cache */
  readonly cache?: CompositeCache;
  /** Memory that executions in this process share. @default no shared limit */
  readonly memory?: CompositeMemory;
  /** Lets programs take turns in this process. @default each runs for a slice in every turn of the event loop */
  readonly turns?: ProgramTurns;
  /** Runs executions with `isolation: "process"`; required only for those. */
  readonly isolated?: IsolatedExecutions;
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
  const call: InnerCaller = async (tool, args) => {
    const reply = await inner.call(tool as CatalogTool, args);
    const continuing = deps.turns?.start(client);
    if (continuing !== undefined) await continuing;
    return reply;
  };
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
        : await executeHere(withTurns(deps, client), execution, call, context);
  } finally {
    inner.close(context.signal.aborted ? context.signal.reason : new Error("the execution has ended"));
  }
  return { ...outcome, executionTime: since(deps, startedMs), toolCalls: inner.records() };
}

/** Lets a program of `client` continue after a slice when it is its turn. */
function withTurns(deps: CompositeDeps, client: string): CompositeDeps {
  const { turns } = deps;
  return turns === undefined ? deps : { ...deps, nextTurn: () => turns.next(client) };
}

/** Executes in this process, once there is memory. */
async function executeHere(
  deps: CompositeDeps,
  execution: Execution,
  call: InnerCaller,
  { identity, signal }: CallContext,
): Promise<ExecutionOutcome> {
  if (deps.memory === undefined) return executeComposite(deps, execution, call);
  const lease = await deps.memory.enter(identityKey(identity), signal);
  // A cancelled execution ends with the usual error.
  if (lease === undefined && !signal.aborted) return memoryBusy();
  try {
    return await executeComposite(
      deps,
      { ...execution, reserveMemory: (bytes) => lease?.resize(bytes) !== false },
      call,
    );
  } finally {
    lease?.release();
  }
}

function memoryBusy(): ExecutionOutcome {
  const error: CompositeError = {
    type: "resource_error",
    message: "Running composites use all of their shared memory",
    details: {
      code: "METATOOL_MEMORY_BUSY",
      hint: "try again later, or run fewer composites at the same time",
    },
  };
  return { kind: "error", error, logs: [], steps: 0 };
}

function since(deps: CompositeDeps, startedMs: number): number {
  return Math.round((deps.monotonicMs() - startedMs) * 1000) / 1000;
}

function requireIsolated({ isolated }: CompositeDeps): IsolatedExecutions {
  if (isolated === undefined) throw new TypeError('isolation "process" needs deps.isolated');
  return isolated;
}
