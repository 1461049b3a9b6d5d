/**
 * Executes composites next to others in one event loop: a program starts and continues
 * in its turn, and once there is memory for it.
 */

import type { ThreadHost } from "@toolcrib/starlark";
import type { CompositeMemory } from "./composite-memory.ts";
import {
  type Execution,
  type ExecutionOutcome,
  executeComposite,
  type InnerCaller,
} from "./execute-composite.ts";
import type { CompositeError } from "./outcome.ts";
import type { ProgramTurns } from "./program-turns.ts";

/** The state that the executions of one event loop share. */
export interface TogetherDeps extends Required<ThreadHost> {
  /** Memory that the executions share. @default no shared limit */
  readonly memory?: CompositeMemory;
  /** Lets programs take turns. @default each runs for a slice in every turn of the event loop */
  readonly turns?: ProgramTurns;
}

const neverAborted = new AbortController().signal;

/** Runs an execution of `client`, an `identityKey`, to its end. Errors of the program are outcomes, never rejections. */
export async function executeTogether(
  deps: TogetherDeps,
  client: string,
  execution: Execution,
  call: InnerCaller,
): Promise<ExecutionOutcome> {
  const { turns, memory } = deps;
  const host = turns === undefined ? deps : { ...deps, nextTurn: () => turns.next(client) };
  const callInTurn: InnerCaller = async (tool, args) => {
    const reply = await call(tool, args);
    const continuing = turns?.start(client);
    if (continuing !== undefined) await continuing;
    return reply;
  };
  if (memory === undefined) return executeComposite(host, execution, callInTurn);
  const signal = execution.signal ?? neverAborted;
  const lease = await memory.enter(client, signal);
  // A cancelled execution ends with the usual error.
  if (lease === undefined && !signal.aborted) return memoryBusy();
  try {
    const reserveMemory = (bytes: number) => lease?.resize(bytes) !== false;
    return await executeComposite(host, { ...execution, reserveMemory }, callInTurn);
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
