/**
 * The parent side of one child process. A child executes at most one composite and is
 * always killed afterwards.
 *
 * An idle child does not keep the parent process alive.
 */

import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { messageOf } from "@toolcrib/diagnostics";
import {
  type ContainedRequest,
  forkRequest,
  moduleRequest,
  type SpawnRequest,
  type SpawnWrap,
} from "@toolcrib/process";
import type { CatalogTool } from "../catalog.ts";
import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import type { CompositeError, CompositeErrorType } from "../outcome.ts";
import { type ChildMessage, type ReplyMessage, readChildMessage, toExecuteMessage } from "./protocol.ts";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const entryPath = fileURLToPath(new URL(`./child-process.${extension}`, import.meta.url));
/** The child resolves sources as this process does. */
const conditions = extension === "ts" ? ["--conditions=toolcrib-source"] : [];

/**
 * A new process compiles a program with unoptimized code, whose stack frames are
 * larger: at the documented nesting, the default stack is too small. The main thread
 * has 8 MiB, except on Windows, where Node reserves 1 MiB.
 */
const stackArgs = process.platform === "win32" ? [] : ["--stack-size=3000"];

/** Start parameters of a child. */
export interface ChildSettings {
  /** Size of its heap in MiB. */
  readonly heapMib: number;
  /** Milliseconds until it must be ready. */
  readonly readyMs: number;
  /** Milliseconds after the deadline of its program until it is killed. */
  readonly graceMs: number;
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
  readonly wrap: SpawnWrap | undefined;
  /** Contains the process. @default it is started as it is */
  readonly contain: ((request: SpawnRequest) => Promise<ContainedRequest>) | undefined;
}

/** A child for one execution. */
export class IsolatedChild {
  readonly #settings: ChildSettings;
  readonly #process: ChildProcess;
  /** Settles when the process has ended. */
  readonly gone: Promise<string>;
  /** Settles when what its sandbox held is removed too. No execution waits for it. Never rejects. */
  readonly released: Promise<void>;
  #isGone = false;
  #onMessage: ((message: ChildMessage | undefined) => void) | undefined;
  readonly #ready: Promise<void>;

  /** Starts a child, at once or as soon as its sandbox is prepared. @throws what the sandbox throws */
  static async start(settings: ChildSettings): Promise<IsolatedChild> {
    const request = toRequest(settings);
    const { contain } = settings;
    return new IsolatedChild(settings, contain === undefined ? { request } : await contain(request));
  }

  private constructor(
    settings: ChildSettings,
    contained: Pick<ContainedRequest, "request"> & Partial<AsyncDisposable>,
  ) {
    this.#settings = settings;
    this.#process = forkRequest(contained.request, settings);
    this.gone = new Promise((resolve) => {
      const end = (how: string) => {
        this.#isGone = true;
        resolve(how);
      };
      this.#process.once("exit", (code, signal) =>
        end(signal === null ? `code ${code}` : `signal ${signal}`),
      );
      this.#process.once("error", (error) => end(messageOf(error)));
    });
    const release = async () => contained[Symbol.asyncDispose]?.();
    this.released = this.gone.then(release).catch(() => {});
    this.#ready = new Promise((resolve) => {
      this.#onMessage = (message) => {
        if (message?.kind === "ready") resolve();
        else this.kill();
      };
    });
    this.#process.on("message", (message) => this.#onMessage?.(readChildMessage(message)));
    this.#keepAlive(false);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Executes, then ends the process. Never rejects. */
  async execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome> {
    this.#keepAlive(true);
    const { graceMs, readyMs, startTimer } = this.#settings;
    const { options, signal } = execution;
    const ended = Promise.withResolvers<ExecutionOutcome>();
    const fail = (type: CompositeErrorType, message: string, hint?: string) => {
      const details = hint === undefined ? {} : { hint };
      ended.resolve(failure({ type, message, details }));
    };
    const cancel = () => ended.resolve(failure(cancelledError(signal?.reason)));
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    this.gone.then((how) =>
      fail("resource_error", `The process of the execution ended with ${how}`, outOfMemoryHint),
    );
    // The start of the process counts against the time of the program.
    const stopDeadline = startTimer(options.timeoutMs + graceMs, () =>
      fail("timeout_error", `out of time: the limit is ${options.timeoutMs} ms`),
    );
    const stopReady = startTimer(readyMs, () =>
      fail("resource_error", `No process was ready within ${readyMs} ms`),
    );
    try {
      const isReady = await Promise.race([this.#ready.then(() => true), ended.promise.then(() => false)]);
      if (!isReady) return await ended.promise;
      stopReady();
      this.#converse(execution, call, ended.resolve, fail);
      return await ended.promise;
    } finally {
      stopReady();
      stopDeadline();
      signal?.removeEventListener("abort", cancel);
      await this.kill();
    }
  }

  /** Kills the process; resolves when it has ended. Safe to repeat. */
  async kill(): Promise<void> {
    this.#onMessage = undefined;
    if (!this.#isGone) {
      // The parent must stay alive until the child has ended.
      this.#process.ref();
      this.#process.kill("SIGKILL");
    }
    await this.gone;
  }

  #converse(
    execution: Execution,
    call: InnerCaller,
    resolve: (outcome: ExecutionOutcome) => void,
    fail: (type: CompositeErrorType, message: string) => void,
  ): void {
    const { message: work, tools } = toExecuteMessage(execution);
    const answer = async (number: number, tool: CatalogTool, params: Parameters<InnerCaller>[1]) => {
      const reply = await call(tool, params);
      this.#send({ kind: "reply", call: number, reply });
    };
    this.#onMessage = (message) => {
      const tool = message?.kind === "call" ? tools[message.tool] : undefined;
      if (message?.kind === "outcome") resolve(message.outcome);
      else if (message?.kind === "call" && tool !== undefined)
        answer(message.call, tool as CatalogTool, message.params);
      else fail("resource_error", "The process of the execution said what no execution says");
    };
    this.#send(work);
  }

  /** A failed send means that the child has ended, which its exit event reports. */
  #send(message: ReplyMessage | ReturnType<typeof toExecuteMessage>["message"]): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  #keepAlive(isKept: boolean): void {
    const { channel } = this.#process;
    if (isKept) {
      this.#process.ref();
      channel?.ref();
    } else {
      this.#process.unref();
      channel?.unref();
    }
  }
}

const outOfMemoryHint = "the process may have run out of memory; hold less data at a time";

function toRequest({ heapMib }: ChildSettings): SpawnRequest {
  // The process is denied everything that a Starlark program never needs.
  const nodeArgs = [
    ...conditions,
    `--max-old-space-size=${heapMib}`,
    ...stackArgs,
    "--disallow-code-generation-from-strings",
    "--permission",
    "--allow-fs-read=*",
  ];
  return moduleRequest({ entryPath, env: {}, nodeArgs });
}

function failure(error: CompositeError): ExecutionOutcome {
  return { kind: "error", error, logs: [], steps: 0 };
}

/** Returns the error that a cancelled program in this process has. */
function cancelledError(reason: unknown): CompositeError {
  const isTimeout =
    typeof reason === "object" && reason !== null && "code" in reason && reason.code === "CALL_TIMEOUT";
  return {
    type: isTimeout ? "timeout_error" : "runtime_error",
    message: `cancelled: ${messageOf(reason)}`,
    details: {},
  };
}
