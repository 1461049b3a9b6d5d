/**
 * Executions in processes of their own (`execution.isolation: "process"`), for
 * those who want a wall around agent-written code that does not depend on the
 * language. Each takes one child, which is used once; the next one is started
 * ahead of time, while the first still works.
 */

import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { createSlots } from "../slots.ts";
import { type ChildSettings, IsolatedChild } from "./isolated-child.ts";

/** Runs executions in processes until it is disposed, which ends them all. */
export interface IsolatedExecutions extends AsyncDisposable {
  /** Run it to its end in a process of its own; never rejects. Waits while there are as many as there may be. */
  execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome>;
}

/** What it needs of the world. */
export interface IsolatedExecutionsDeps {
  /** Calls `callback` after `delayMs`; the function returned takes it back. */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
}

/** Options of `startIsolatedExecutions`. */
export interface IsolatedExecutionsOptions {
  /** Most bytes that a program may hold (`execution.maxMemory`); a process may take twice that, and 64 MiB. @default 134,217,728 */
  readonly memoryBytes?: number;
  /** Most executions at a time. @default 8 */
  readonly maxProcesses?: number;
  /** Milliseconds that a process may take to start. @default 10,000 */
  readonly readyMs?: number;
  /** Milliseconds after its deadline at which a program that did not end is killed. @default 500 */
  readonly graceMs?: number;
}

/** Start executing in processes: the first one is started at once. */
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

  /** The child that is ready, or one that will be; and another is started in its place. */
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
