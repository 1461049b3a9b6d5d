/**
 * Entry point of the thread that executes composites, with a heap of its own. Programs
 * take turns and share their memory here. The thread has a lower priority than the
 * event loop that serves calls, where the system has priorities of threads.
 */

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setImmediate, setTimeout } from "node:timers";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { messageOf } from "@toolcrib/diagnostics";
import { compileProgram, type Program, toolDialect } from "@toolcrib/starlark";
import { defaultArgumentsMaxBytes, tooLarge } from "../arguments-limit.ts";
import { toSyntaxError } from "../composite-error.ts";
import { CompositeMemory } from "../composite-memory.ts";
import type { ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
import { executeTogether } from "../execute-together.ts";
import type { InnerReply } from "../inner-reply.ts";
import { jsonSize } from "../json-measure.ts";
import { ProgramTurns } from "../program-turns.ts";
import { type CallableTool, reservedNames, type ToolDirectory, toToolDirectory } from "../tool-directory.ts";
import {
  type ExecutionThreadData,
  type Explanation,
  type FromExecutionThread,
  sharedIndex,
  type ThreadReason,
  type ToExecutionThread,
} from "./thread-protocol.ts";

type Prepare = ToExecutionThread & { readonly kind: "prepare" };
type Execute = ToExecutionThread & { readonly kind: "execute" };

const { totalBytes, explanations, shared } = workerData as ExecutionThreadData;
yieldToCalls();

const port = parentPort!;
const host = {
  monotonicMs: () => performance.now(),
  nextTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
  startTimer: (delayMs: number, callback: () => void) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
const numbers = new Int32Array(shared);
const isBusy = () => Atomics.load(numbers, sharedIndex.isBusy) === 1;
const turns = new ProgramTurns({ ...host, hasOtherCalls: isBusy, untilIdle: rest });
const together = { ...host, memory: new CompositeMemory(host, { totalBytes }), turns };

/** A program that can be executed any number of times. */
interface Prepared {
  readonly directory: ToolDirectory;
  readonly indices: ReadonlyMap<CallableTool, number>;
  readonly compile: () => Program | ExecutionOutcome;
}

const prepared = new Map<number, Prepared>();
/** Cancels each execution. */
const running = new Map<number, AbortController>();
/** Resolves the calls of all executions. */
const waiting = new Map<number, (reply: InnerReply) => void>();
let lastCall = 0;
let lastQuestion = 0;

port.on("message", (message: ToExecutionThread) => {
  switch (message.kind) {
    case "prepare":
      prepared.set(message.program, prepare(message));
      break;
    case "forget":
      prepared.delete(message.program);
      break;
    case "execute":
      void execute(message);
      break;
    case "reply":
      waiting.get(message.call)?.(message.reply);
      waiting.delete(message.call);
      break;
    case "cancel":
      running.get(message.execution)?.abort(toError(message.reason));
  }
});

/** Only Linux has a priority for each thread; on other platforms, and without permission, nothing changes. */
function yieldToCalls(): void {
  if (process.platform !== "linux") return;
  try {
    const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (threadId !== process.pid) setPriority(threadId, 10);
  } catch {
    // Without /proc the thread cannot be named.
  }
}

/** Leaves the processor to the calls of other clients, which can share it, for `ms` or until there are none. */
async function rest(ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (isBusy() && performance.now() < end) {
    await new Promise<void>((resolve) => setTimeout(resolve, Math.min(5, end - performance.now())));
  }
}

function prepare({ source, tools }: Prepare): Prepared {
  const directory = toToolDirectory(tools);
  let compiled: Program | ExecutionOutcome | undefined;
  return {
    directory,
    indices: new Map(tools.map((tool, index) => [tool, index])),
    compile: () => (compiled ??= compile(source, directory)),
  };
}

function compile(source: Prepare["source"], directory: ToolDirectory): Program | ExecutionOutcome {
  const predeclared = [...reservedNames, ...directory.namespaces.keys()];
  const { program, diagnostics } = compileProgram(source, { dialect: toolDialect, predeclared });
  // The event loop compiled the same code with the same names before, so only the stack can be too small.
  return program ?? { kind: "error", error: toSyntaxError(diagnostics, source), logs: [], steps: 0 };
}

async function execute(message: Execute): Promise<void> {
  const { execution, client, cancelled } = message;
  const controller = new AbortController();
  if (cancelled !== undefined) controller.abort(toError(cancelled));
  running.set(execution, controller);
  const calls = new Set<number>();
  let outcome: ExecutionOutcome;
  try {
    const starting = together.turns.start(client);
    if (starting !== undefined) await starting;
    outcome = await run(message, calls, controller.signal);
  } catch (error) {
    outcome = failure(`internal error: ${messageOf(error)}`);
  }
  running.delete(execution);
  for (const call of calls) waiting.delete(call);
  try {
    send({ kind: "outcome", execution, outcome });
  } catch (error) {
    send({
      kind: "outcome",
      execution,
      outcome: failure(`the result cannot be passed on: ${messageOf(error)}`),
    });
  }
}

async function run(
  { execution, program: number, client, params, options, startedNs }: Execute,
  calls: Set<number>,
  signal: AbortSignal,
): Promise<ExecutionOutcome> {
  const { directory, indices, compile } = prepared.get(number)!;
  const program = compile();
  if ("kind" in program) return program;
  const call: InnerCaller = (tool, given) => {
    // Arguments that are refused anyway are not copied to the other thread.
    if (jsonSize(given, defaultArgumentsMaxBytes) > defaultArgumentsMaxBytes) {
      return Promise.resolve(tooLarge(tool, defaultArgumentsMaxBytes));
    }
    lastCall += 1;
    const call = lastCall;
    calls.add(call);
    return new Promise((resolve) => {
      waiting.set(call, (reply) => {
        calls.delete(call);
        resolve(reply);
      });
      send({ kind: "call", execution, call, tool: indices.get(tool)!, params: given });
    });
  };
  const explain = (name: string) => askFor(execution, name);
  const work = { program, directory: { ...directory, explain }, params, options, startedNs, signal };
  return executeTogether(together, client, work, call);
}

/** Milliseconds to wait for an explanation, which is part of an error message only. */
const explanationMs = 1000;

/** Asks the event loop why there is no tool of a name. */
function askFor(execution: number, name: string): string | undefined {
  lastQuestion += 1;
  const question = lastQuestion;
  const count = Atomics.load(numbers, sharedIndex.explained);
  send({ kind: "explain", execution, question, name });
  Atomics.wait(numbers, sharedIndex.explained, count, explanationMs);
  for (;;) {
    const answer = receiveMessageOnPort(explanations)?.message as Explanation | undefined;
    if (answer === undefined) return undefined;
    if (answer.question === question) return answer.reason;
  }
}

function toError({ message, code }: ThreadReason): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

function failure(message: string): ExecutionOutcome {
  return { kind: "error", error: { type: "runtime_error", message, details: {} }, logs: [], steps: 0 };
}

function send(message: FromExecutionThread): void {
  port.postMessage(message);
}
