/**
 * Executions in separate processes (`execution.isolation: "process"`), for isolation
 * of agent-written code that does not depend on the language. Each execution uses one
 * child once; the next child is started ahead of time.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { ContainedRequest, SpawnRequest, SpawnWrap } from "@toolcrib/process";
import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { Slots } from "../slots.ts";
import { type ChildSettings, IsolatedChild } from "./isolated-child.ts";

/** Dependencies of isolated executions. */
export interface IsolatedExecutionsDeps {
  /** Calls `callback` after `delayMs`; the returned function cancels it. */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
  /**
   * Rewrites each start, after `contain`; what it starts must pass on the IPC channel (its descriptor, and the variable
   * `NODE_CHANNEL_FD`) and must end the program when it is killed itself. @default processes are started as they are
   */
  readonly wrap?: SpawnWrap | undefined;
  /**
   * Contains each process in a sandbox of the operating system, which passes on the IPC channel. What it throws fails
   * the execution. @default processes are started as they are
   */
  readonly contain?: ((request: SpawnRequest) => Promise<ContainedRequest>) | undefined;
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
  { startTimer, wrap, contain }: IsolatedExecutionsDeps,
  options: IsolatedExecutionsOptions = {},
): IsolatedExecutions {
  const { memoryBytes = 128 * 1024 * 1024, maxProcesses = 8, readyMs = 10_000, graceMs = 500 } = options;
  const heapMib = Math.ceil(memoryBytes / (1024 * 1024)) * 2 + 64;
  return new IsolatedExecutions({ heapMib, readyMs, graceMs, startTimer, wrap, contain }, maxProcesses);
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
  /** Children whose sandboxes are being prepared. */
  readonly #starting = new Set<Promise<unknown>>();
  #spare: Promise<IsolatedChild | undefined>;
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
      return await (await this.#take()).execute(execution, call);
    } catch (error) {
      return failure(`No process could be started: ${messageOf(error)}`);
    } finally {
      this.#slots.leave();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting);
    const children = [...this.#children];
    await Promise.all(children.map((child) => child.kill()));
    await Promise.all(children.map(({ released }) => released));
  }

  async #start(): Promise<IsolatedChild> {
    const starting = IsolatedChild.start(this.#settings);
    this.#starting.add(starting);
    try {
      const child = await starting;
      this.#children.add(child);
      child.released.then(() => this.#children.delete(child));
      return child;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Starts a child ahead of time. The next execution repeats a start that failed, and reports its error. */
  #startSpare(): Promise<IsolatedChild | undefined> {
    return this.#start().catch(() => undefined);
  }

  /** Returns the prepared child, or a new one, and starts the next. */
  async #take(): Promise<IsolatedChild> {
    const prepared = this.#spare;
    this.#spare = this.#startSpare();
    const spare = await prepared;
    return spare === undefined || spare.isGone ? await this.#start() : spare;
  }
}

function failure(message: string): ExecutionOutcome {
  return { kind: "error", error: { type: "resource_error", message, details: {} }, logs: [], steps: 0 };
}
