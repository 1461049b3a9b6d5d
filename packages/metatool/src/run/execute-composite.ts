/**
 * Executes a compiled composite in its own Starlark thread, with its parameters and
 * tools as values and with its limits, and returns its outcome as data. The caller
 * makes the inner calls: this file knows no host, so that it runs in any process.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import {
  executeProgram,
  freeze,
  fromStarlark,
  type Json,
  jsonModule,
  type Limits,
  mathModule,
  type Program,
  StarlarkError,
  StarlarkModule,
  Thread,
  type ThreadHost,
  timeModule,
  toStarlark,
  type Value,
} from "@toolcrib/starlark";
import { InnerCallError, toCompositeError, type Wait } from "./composite-error.ts";
import type { InnerReply } from "./inner-reply.ts";
import { jsonSize, toJsonValue } from "./json-measure.ts";
import type { CompositeError, ExecutionOptions } from "./outcome.ts";
import { type CallableTool, displayName, type ToolDirectory } from "./tool-directory.ts";
import { toToolValues } from "./tool-values.ts";

/** One execution. */
export interface Execution {
  readonly program: Program;
  readonly directory: ToolDirectory;
  readonly params: JsonObject;
  readonly options: ExecutionOptions;
  /** Time at the start, in nanoseconds since 1970: the value of `time.now` for the whole execution. */
  readonly startedNs: bigint;
  readonly signal: AbortSignal | undefined;
  /** Reserves memory that executions share; see `ThreadOptions`. @default none is shared */
  readonly reserveMemory?: (bytes: number) => boolean;
}

/** Makes an inner call. Never rejects. */
export type InnerCaller = (tool: CallableTool, params: JsonObject) => Promise<InnerReply>;

/** The outcome without the inner calls and the time, which the host measures. */
export type ExecutionOutcome = { readonly logs: readonly string[]; readonly steps: number } & (
  | { readonly kind: "result"; readonly result: JsonValue }
  | { readonly kind: "error"; readonly error: CompositeError }
);

/** Runs the execution to its end. Errors of the program are outcomes, never rejections. */
export async function executeComposite(
  host: ThreadHost,
  execution: Execution,
  call: InnerCaller,
): Promise<ExecutionOutcome> {
  const { program, options, startedNs, signal, reserveMemory } = execution;
  const logs: string[] = [];
  const thread = new Thread(host, {
    name: program.source.name,
    limits: toLimits(options),
    print: (line) => logs.push(line),
    nowNs: () => startedNs,
    load: loadModule,
    signal,
    reserveMemory,
  });
  const waits: Wait[] = [];
  try {
    const { value } = await executeProgram(thread, program, valuesFor(execution, call, thread, waits));
    const result = toResult(value, thread, options.resultBytes);
    return { kind: "result", result, logs, steps: thread.steps };
  } catch (thrown) {
    const error = toCompositeError(thrown, program.source, { debug: options.debug, wait: waits[0] });
    return { kind: "error", error, logs, steps: thread.steps };
  }
}

function toLimits(options: ExecutionOptions): Partial<Limits> {
  return {
    wallMs: options.timeoutMs,
    memoryBytes: options.memoryBytes,
    steps: options.steps,
    depth: options.callDepth,
    outputBytes: options.logBytes,
  };
}

const modules: ReadonlyMap<string, Value> = new Map([
  ["json", jsonModule],
  ["math", mathModule],
  ["time", timeModule],
]);

/** Returns a value for each name that the program uses and does not define. */
function valuesFor(
  { program, directory, params }: Execution,
  call: InnerCaller,
  thread: Thread,
  waits: Wait[],
): ReadonlyMap<string, Value> {
  const toolValue = toToolValues(directory, async (tool, given) => {
    const wait = { tool: displayName(tool), at: thread.at };
    waits.push(wait);
    const reply = await call(tool, given);
    // A pending inner call at the end is the place of a timeout.
    if (!thread.signal.aborted) waits.splice(waits.indexOf(wait), 1);
    // The execution has ended: no further step of the program may run.
    if (thread.signal.aborted) return null;
    return toValue(tool, reply, thread);
  });
  const values = new Map<string, Value>();
  for (const name of program.predeclared) {
    const value =
      name === "params" ? toStarlark(params as Json, thread) : (modules.get(name) ?? toolValue(name));
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** @throws {StarlarkError} for a reply that is an error. */
function toValue(tool: CallableTool, reply: InnerReply, thread: Thread): Value {
  if (reply.kind === "value") return toStarlark(reply.value as Json, thread);
  let details: Value = null;
  if (reply.kind !== "limit" && reply.details !== undefined) {
    details = toStarlark(reply.details as Json, thread);
    freeze(details);
  }
  throw new InnerCallError(displayName(tool), reply, details);
}

/** @throws {StarlarkError} when it is not representable as JSON or too large. */
function toResult(value: Value, thread: Thread, maxBytes: number): JsonValue {
  const result = toJsonValue(fromStarlark(value, thread), "the result");
  // The size is estimated first, so that a far too large value is not serialized.
  const bytes = jsonSize(result, maxBytes) > maxBytes ? undefined : Buffer.byteLength(JSON.stringify(result));
  if (bytes !== undefined && bytes <= maxBytes) return result;
  throw new StarlarkError(`the result is larger than ${maxBytes} bytes of JSON`, {
    kind: "resource",
    hint: "return less: only the needed fields and items, or a summary",
  });
}

/** `load` provides the modules that programs of other hosts load. */
function loadModule(name: string): StarlarkModule {
  const [, stem] = /^([a-z]+)(?:\.star)?$/.exec(name) ?? [];
  const module = stem === undefined ? undefined : modules.get(stem);
  if (stem !== undefined && module !== undefined) return new StarlarkModule(name, new Map([[stem, module]]));
  throw new StarlarkError(`cannot load ${JSON.stringify(name)}: composites have no files`, {
    hint: "json, math and time need no load; a saved tool is called as saved.NAME",
  });
}
