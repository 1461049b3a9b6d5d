/**
 * Executions in a thread of this process: programs of agents neither run in the event
 * loop that serves calls, nor fill its heap, whose garbage collection stops it. One
 * thread executes the programs of all clients, which take turns in it. It starts with
 * the first execution, and ends when there was none for a while.
 *
 * A thread whose heap is full, or that does not end a program after its deadline, is
 * ended with all its executions. The next execution starts another one.
 */

import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "@toolcrib/diagnostics";
import type { Program } from "@toolcrib/starlark";
import { totalBytesFor } from "../composite-memory.ts";
import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { toExecuteMessage } from "../isolated/protocol.ts";
import type { CallableTool, ToolDirectory } from "../tool-directory.ts";
import {
  type ExecutionThreadData,
  type FromExecutionThread,
  sharedIndex,
  type ThreadReason,
  type ToExecutionThread,
} from "./thread-protocol.ts";

/** Dependencies of threaded executions. */
export interface ThreadedExecutionsDeps {
  /** Calls `callback` after `delayMs`; the returned function cancels it. */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
  /** Whether clients other than `clients` have calls in flight: programs then rest between slices. @default there are no other calls */
  readonly hasOtherCalls?: (clients: Iterable<string>) => boolean;
}

/** Options of `startThreadedExecutions`. */
export interface ThreadedExecutionsOptions {
  /**
   * Maximum number of bytes of a program (`execution.maxMemory`). All programs share twice that, but at least 256 MiB;
   * the heap of the thread can have twice what they share, and 64 MiB. @default 134,217,728
   */
  readonly memoryBytes?: number;
  /** Milliseconds without an execution after which the thread ends. @default 60,000 */
  readonly idleMs?: number;
  /** Milliseconds after the time limit of a program at which its thread is ended. @default 15,000 */
  readonly graceMs?: number;
}

/** Returns the executions of one gateway. No thread is started before the first of them. */
export function startThreadedExecutions(
  { startTimer, hasOtherCalls = () => false }: ThreadedExecutionsDeps,
  options: ThreadedExecutionsOptions = {},
): ThreadedExecutions {
  const { memoryBytes = 128 * 1024 * 1024, idleMs = 60_000, graceMs = 15_000 } = options;
  return new ThreadedExecutions({
    startTimer,
    hasOtherCalls,
    totalBytes: totalBytesFor(memoryBytes),
    idleMs,
    graceMs,
  });
}

type Settings = Required<ThreadedExecutionsDeps> &
  Required<Omit<ThreadedExecutionsOptions, "memoryBytes">> & { readonly totalBytes: number };

/** Runs executions in a thread. Disposing ends them all. */
export class ThreadedExecutions implements AsyncDisposable {
  readonly #settings: Settings;
  #thread: ExecutionThread | undefined;
  /** The ends of all threads that have not ended. */
  readonly #ends = new Set<Promise<void>>();
  #stopIdling: () => void = () => {};
  #isClosed = false;

  /** Use `startThreadedExecutions`. */
  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Runs an execution of `client`, an `identityKey`. Never rejects. */
  async execute(client: string, execution: Execution, call: InnerCaller): Promise<ExecutionOutcome> {
    if (this.#isClosed) return failure("The gateway is closing");
    this.#stopIdling();
    let thread: ExecutionThread;
    try {
      thread = this.#thread?.isEnding === false ? this.#thread : this.#start();
      this.#thread = thread;
    } catch (error) {
      return failure(`No thread could be started: ${messageOf(error)}`);
    }
    try {
      return await thread.execute(client, execution, call);
    } finally {
      if (thread === this.#thread && thread.isIdle && !this.#isClosed) this.#idle(thread);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stopIdling();
    this.#thread?.end("The gateway is closing");
    await Promise.all(this.#ends);
  }

  #start(): ExecutionThread {
    const thread = new ExecutionThread(this.#settings);
    const ended = thread.ended.then(() => {
      this.#ends.delete(ended);
      if (this.#thread === thread) this.#thread = undefined;
    });
    this.#ends.add(ended);
    return thread;
  }

  #idle(thread: ExecutionThread): void {
    this.#stopIdling();
    this.#stopIdling = this.#settings.startTimer(this.#settings.idleMs, () => {
      if (this.#thread !== thread || !thread.isIdle) return;
      this.#thread = undefined;
      thread.end("The thread has nothing to do");
    });
  }
}

/** Milliseconds between two reports of whether other clients have calls in flight. */
const reportMs = 5;

/** Greatest total weight of the programs that a thread keeps: units of code and tools. */
const programsMaxWeight = 250_000;

interface PreparedProgram {
  readonly number: number;
  readonly directory: ToolDirectory;
  readonly tools: readonly CallableTool[];
  readonly weight: number;
}

interface Running {
  readonly client: string;
  readonly execution: Execution;
  readonly call: InnerCaller;
  readonly tools: readonly CallableTool[];
  readonly resolve: (outcome: ExecutionOutcome) => void;
}

/** One thread, until it ends. */
class ExecutionThread {
  readonly #settings: Settings;
  readonly #worker: Worker;
  readonly #explanations: MessagePort;
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #running = new Map<number, Running>();
  /** The programs that the thread keeps; the least recently used first. */
  readonly #programs = new Map<Program, PreparedProgram>();
  #programsWeight = 0;
  #lastNumber = 0;
  #isReporting = false;
  /** Why executions fail; set once the thread ends. */
  #failure: string | undefined;
  /** Settles when the thread has ended. */
  readonly ended: Promise<void>;

  constructor(settings: Settings) {
    this.#settings = settings;
    const { port1, port2 } = new MessageChannel();
    this.#explanations = port1;
    port1.unref();
    // The build keeps the module of the thread as a file of its own, next to this one.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./execution-thread.${extension}`, import.meta.url), {
      name: "toolcrib-composites",
      env: environment(),
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(settings.totalBytes / (1024 * 1024)) * 2 + 64,
        maxYoungGenerationSizeMb: 48,
      },
      transferList: [port2],
      workerData: {
        totalBytes: settings.totalBytes,
        explanations: port2,
        shared: this.#shared.buffer,
      } satisfies ExecutionThreadData,
    });
    // Only an execution keeps the process alive.
    this.#worker.unref();
    this.#worker.on("message", (message: FromExecutionThread) => this.#receive(message));
    this.#worker.on("error", (error) => this.#fail(`The thread of the programs ended: ${messageOf(error)}`));
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#fail("The thread of the programs ended");
        port1.close();
        resolve();
      });
    });
  }

  /** Whether it takes no more executions. */
  get isEnding(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether it executes nothing. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Never rejects. */
  async execute(client: string, execution: Execution, call: InnerCaller): Promise<ExecutionOutcome> {
    if (this.#failure !== undefined) return failure(this.#failure);
    const { options, params, startedNs, signal } = execution;
    const { number: program, tools } = this.#prepare(execution);
    const number = this.#nextNumber();
    const { promise, resolve } = Promise.withResolvers<ExecutionOutcome>();
    this.#running.set(number, { client, execution, call, tools, resolve });
    this.#report();
    this.#worker.ref();
    const cancel = () =>
      this.#send({ kind: "cancel", execution: number, reason: toThreadReason(signal?.reason) });
    const { graceMs, startTimer } = this.#settings;
    const stopWatch = startTimer(options.timeoutMs + graceMs, () =>
      this.end(`A program did not end within ${options.timeoutMs} ms, and its thread was ended`),
    );
    try {
      const cancelled = signal?.aborted === true ? toThreadReason(signal.reason) : undefined;
      this.#send({
        kind: "execute",
        execution: number,
        program,
        client,
        params,
        options,
        startedNs,
        cancelled,
      });
      signal?.addEventListener("abort", cancel);
      return await promise;
    } catch (error) {
      return failure(`The program could not be passed to its thread: ${messageOf(error)}`);
    } finally {
      stopWatch();
      signal?.removeEventListener("abort", cancel);
      this.#running.delete(number);
      if (this.isIdle && !this.isEnding) this.#worker.unref();
    }
  }

  /** Ends the thread; its executions fail. Safe to repeat. */
  end(reason: string): void {
    this.#fail(reason);
    // A disposal waits for the end.
    this.#worker.ref();
    void this.#worker.terminate();
  }

  /** Passes a program and its tools to the thread, unless it has them. */
  #prepare(execution: Execution): PreparedProgram {
    const { program, directory } = execution;
    const known = this.#programs.get(program);
    this.#programs.delete(program);
    if (known?.directory === directory) {
      this.#programs.set(program, known);
      return known;
    }
    if (known !== undefined) this.#forget(known);
    const { message, tools } = toExecuteMessage(execution);
    const weight = program.codeSize + Math.ceil(message.source.text.length / 128) + 4 * tools.length;
    const prepared = { number: this.#nextNumber(), directory, tools, weight };
    this.#send({ kind: "prepare", program: prepared.number, source: message.source, tools: message.tools });
    this.#programs.set(program, prepared);
    this.#programsWeight += weight;
    for (const [oldest, other] of this.#programs) {
      if (this.#programsWeight <= programsMaxWeight || other === prepared) break;
      this.#programs.delete(oldest);
      this.#forget(other);
    }
    return prepared;
  }

  /** The messages are in order: executions before this one have the program already. */
  #forget({ number, weight }: PreparedProgram): void {
    this.#programsWeight -= weight;
    this.#send({ kind: "forget", program: number });
  }

  /** Reports, while programs run, whether other clients have calls in flight. */
  #report(): void {
    if (this.#isReporting) return;
    const { startTimer, hasOtherCalls } = this.#settings;
    const clients = new Set([...this.#running.values()].map(({ client }) => client));
    Atomics.store(this.#shared, sharedIndex.isBusy, hasOtherCalls(clients) ? 1 : 0);
    this.#isReporting = clients.size > 0;
    if (!this.#isReporting) return;
    startTimer(reportMs, () => {
      this.#isReporting = false;
      this.#report();
    });
  }

  #receive(message: FromExecutionThread): void {
    const running = this.#running.get(message.execution);
    switch (message.kind) {
      case "outcome":
        running?.resolve(message.outcome);
        break;
      case "call":
        if (running !== undefined) void this.#answer(running, message);
        break;
      case "explain": {
        const reason = running?.execution.directory.explain?.(message.name);
        this.#explanations.postMessage({ question: message.question, reason });
        Atomics.add(this.#shared, sharedIndex.explained, 1);
        Atomics.notify(this.#shared, sharedIndex.explained);
      }
    }
  }

  async #answer(
    { call, tools }: Running,
    { execution, call: number, tool, params }: FromExecutionThread & { readonly kind: "call" },
  ): Promise<void> {
    const reply = await call(tools[tool]!, params);
    if (!this.#running.has(execution)) return;
    try {
      this.#send({ kind: "reply", execution, call: number, reply });
    } catch (error) {
      const message = `The reply cannot be passed to the program: ${messageOf(error)}`;
      this.#send({ kind: "reply", execution, call: number, reply: { kind: "error", message } });
    }
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    for (const { resolve } of this.#running.values()) resolve(failure(this.#failure));
  }

  #nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  #send(message: ToExecutionThread): void {
    this.#worker.postMessage(message);
  }
}

/**
 * The environment of a thread: nothing but the folder of Node's compile cache. The thread can turn the cache on itself
 * only when its modules are loaded already.
 */
function environment(): { readonly [name: string]: string } {
  // A folder for this version of Node, in the one of the variable.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function toThreadReason(reason: unknown): ThreadReason {
  const code = typeof reason === "object" && reason !== null && "code" in reason ? reason.code : undefined;
  return { message: messageOf(reason), code: typeof code === "string" ? code : undefined };
}

function failure(message: string): ExecutionOutcome {
  const details = { hint: "keep less data at a time, and try again" };
  return { kind: "error", error: { type: "resource_error", message, details }, logs: [], steps: 0 };
}
