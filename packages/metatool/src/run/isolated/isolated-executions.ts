/**
 * Executions in separate processes (`execution.isolation: "process"`), for isolation
 * of agent-written code that does not depend on the language. Each execution uses one
 * child once; the next child is started ahead of time.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { SpawnWrap } from "@toolcrib/process";
import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { Slots } from "../slots.ts";
import { type ChildSettings, IsolatedChild } from "./isolated-child.ts";

/** Dependencies of isolated executions. */
export interface IsolatedExecutionsDeps {
  /** Calls `callback` after `delayMs`; the returned function cancels it. */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
  /**
   * Wraps each process in a sandbox, which must pass on the IPC channel (its descriptor, and the variable
   * `NODE_CHANNEL_FD`) and must end the program when it is killed itself. @default processes are started as they are
   */
  readonly wrap?: SpawnWrap | undefined;
}

/** Options of `startIsolatedExecutions`. */
export interface IsolatedExecutionsOptions {
  /** Maximum number of bytes of a program (`execution.maxMemory`); its process may use twice that plus 64 MiB. @default 134,217,728 */
  readonly memoryBytes?: number;
  /** Maximum number of executions at a time. @default 8 */
  readonly maxProcesses?: number;
  /** Milliseconds that a process may take to start. @default 10,000 */
  readonly readyMs?: number;
  /** Milliseconds after its deadline at which a running program is killed. @default 500 */
  readonly graceMs?: number;
}

/**
 * Starts isolated executions. The first child starts at once. While no process can be started, executions end with an
 * error.
 */
export function startIsolatedExecutions(
  { startTimer, wrap }: IsolatedExecutionsDeps,
  options: IsolatedExecutionsOptions = {},
): IsolatedExecutions {
  const { memoryBytes = 128 * 1024 * 1024, maxProcesses = 8, readyMs = 10_000, graceMs = 500 } = options;
  const heapMib = Math.ceil(memoryBytes / (1024 * 1024)) * 2 + 64;
  return new IsolatedExecutions({ heapMib, readyMs, graceMs, startTimer, wrap }, maxProcesses);
}

/**
 * Runs executions in processes. Disposing ends them all.
 *
 * One process is kept ready, and the next one starts when it is taken, so an execution
 * does not wait for a start unless executions follow each other faster than processes
 * start. A process executes one program and is never used again. An idle process uses
 * about 50 MB that it shares with no other process.
 */
export class IsolatedExecutions implements AsyncDisposable {
  readonly #settings: ChildSettings;
  readonly #slots: Slots;
  readonly #children = new Set<IsolatedChild>();
  #spare: IsolatedChild | undefined;
  #isClosed = false;

  /** Use `startIsolatedExecutions`. */
  constructor(settings: ChildSettings, maxProcesses: number) {
    this.#settings = settings;
    this.#slots = new Slots(maxProcesses);
    this.#spare = this.#startSpare();
  }

  /** Runs an execution in its own process. Never rejects. Waits while the maximum of executions is in flight. */
  async execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome> {
    await this.#slots.enter();
    try {
      if (this.#isClosed) return failure("The gateway is closing");
      return await this.#take().execute(execution, call);
    } catch (error) {
      return failure(`No process could be started: ${messageOf(error)}`);
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

  /** Starts a child ahead of time. The next execution repeats a start that failed, and reports its error. */
  #startSpare(): IsolatedChild | undefined {
    try {
      return this.#start();
    } catch {
      return undefined;
    }
  }

  /** Returns the prepared child, or a new one, and starts the next. */
  #take(): IsolatedChild {
    const spare = this.#spare;
    const taken = spare === undefined || spare.isGone ? this.#start() : spare;
    this.#spare = this.#startSpare();
    return taken;
  }
}

function failure(message: string): ExecutionOutcome {
  return { kind: "error", error: { type: "resource_error", message, details: {} }, logs: [], steps: 0 };
}
