/**
 * Executions in separate processes (`execution.isolation: "process"`), for isolation
 * of agent-written code that does not depend on the language. Each execution uses one
 * child once; the next child is started ahead of time.
 */

import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { Slots } from "../slots.ts";
import { type ChildSettings, IsolatedChild } from "./isolated-child.ts";

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
  return new IsolatedExecutions({ heapMib, readyMs, graceMs, startTimer }, maxProcesses);
}

/** Runs executions in processes. Disposing ends them all. */
export class IsolatedExecutions implements AsyncDisposable {
  readonly #settings: ChildSettings;
  readonly #slots: Slots;
  readonly #children = new Set<IsolatedChild>();
  #spare: IsolatedChild;
  #isClosed = false;

  /** Use `startIsolatedExecutions`. */
  constructor(settings: ChildSettings, maxProcesses: number) {
    this.#settings = settings;
    this.#slots = new Slots(maxProcesses);
    this.#spare = this.#start();
  }

  /** Runs an execution in its own process. Never rejects. Waits while the maximum of executions is in flight. */
  async execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome> {
    await this.#slots.enter();
    try {
      return this.#isClosed ? closedOutcome : await this.#take().execute(execution, call);
    } finally {
      this.#slots.leave();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
  }

  #start(): IsolatedChild {
    const child = new IsolatedChild(this.#settings);
    this.#children.add(child);
    child.gone.then(() => this.#children.delete(child));
    return child;
  }

  /** Returns the prepared child, or a new one, and starts the next. */
  #take(): IsolatedChild {
    const taken = this.#spare.isGone ? this.#start() : this.#spare;
    this.#spare = this.#start();
    return taken;
  }
}

const closedOutcome: ExecutionOutcome = {
  kind: "error",
  error: { type: "resource_error", message: "The gateway is closing", details: {} },
  logs: [],
  steps: 0,
};
