/**
 * Executions in separate processes (`execution.isolation: "process"`), for isolation
 * of agent-written code that does not depend on the language. Each execution uses one
 * child once; the next child is started ahead of time.
 */

import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { createSlots } from "../slots.ts";
import { type ChildSettings, IsolatedChild } from "./isolated-child.ts";

/** Runs executions in processes. Disposing ends them all. */
export interface IsolatedExecutions extends AsyncDisposable {
  /** Runs an execution in its own process. Never rejects. Waits while the maximum of executions is in flight. */
  execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome>;
}

/** Dependencies of isolated executions. */
export interface IsolatedExecutionsDeps {
  /** Calls `callback` after `delayMs`; the returned function cancels it. */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
}

/** Options of `startIsolatedExecutions`. */
export interface IsolatedExecutionsOptions {
  /** Most bytes of a program (`execution.maxMemory`); its process may use twice that plus 64 MiB. @default 134,217,728 */
  readonly memoryBytes?: number;
  /** Most executions at a time. @default 8 */
  readonly maxProcesses?: number;
  /** Milliseconds that a process may take to start. @default 10,000 */
  readonly readyMs?: number;
  /** Milliseconds after its deadline at which a running program is killed. @default 500 */
  readonly graceMs?: number;
}

/** Starts isolated executions. The first child starts at once. */
export function startIsolatedExecutions(
  { startTimer }: IsolatedExecutionsDeps,
  options: IsolatedExecutionsOptions = {},
): IsolatedExecutions {
  const { memoryBytes = 128 * 1024 * 1024, maxProcesses = 8, readyMs = 10_000, graceMs = 500 } = options;
  const heapMib = Math.ceil(memoryBytes / (1024 * 1024)) * 2 + 64;
  const settings: ChildSettings = { heapMib, readyMs, graceMs, startTimer };
  const children = new Set<IsolatedChild>();
  const slots = createSlots(maxProcesses);
  let isClosed = false;
  let spare: IsolatedChild | undefined = start();

  function start(): IsolatedChild {
    const child = new IsolatedChild(settings);
    children.add(child);
    child.gone.then(() => children.delete(child));
    return child;
  }

  /** Returns the prepared child, or a new one, and starts the next. */
  function take(): IsolatedChild {
    const taken = spare === undefined || spare.isGone ? start() : spare;
    spare = start();
    return taken;
  }

  return {
    async execute(execution, call) {
      await slots.enter();
      try {
        return isClosed ? closedOutcome : await take().execute(execution, call);
      } finally {
        slots.leave();
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all([...children].map((child) => child.kill()));
    },
  };
}

const closedOutcome: ExecutionOutcome = {
  kind: "error",
  error: { type: "resource_error", message: "The gateway is closing", details: {} },
  logs: [],
  steps: 0,
};
