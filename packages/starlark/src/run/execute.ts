/**
 * Executions: the scheduler runs the fibers of a thread in turns until the main fiber
 * ends. No other file of the engine awaits anything.
 */

import { freezeForNow } from "../value/freeze.ts";
import { listWeight } from "../value/heap-weight.ts";
import { type NamedArgument, StarlarkList, type Value } from "../value/value.ts";
import { noneNamed, openingFrame } from "./call.ts";
import { type CallRequest, type ParallelCalls, Pending } from "./deferred.ts";
import { Fiber, type Outcome } from "./fiber.ts";
import type { Frame } from "./frame.ts";
import { run, toStarlarkError } from "./machine.ts";
import type { StarlarkError } from "./starlark-error.ts";
import type { Thread } from "./thread.ts";

/**
 * Calls `callee` on `thread`, and waits until it returns.
 *
 * @throws {StarlarkError} the error that ended the program, with its `traceback`.
 */
export async function callFunction(
  thread: Thread,
  callee: Value,
  args: readonly Value[] = [],
  named: readonly NamedArgument[] = noneNamed,
): Promise<Value> {
  if (thread.frame !== undefined) throw new Error("a thread runs one call at a time");
  const scheduler = new Scheduler(thread, new Fiber(openingFrame(callee, args, named), 0));
  try {
    return await scheduler.run();
  } catch (error) {
    thread.end(error);
    throw error;
  } finally {
    thread.frame = undefined;
    thread.depth = 0;
    thread.output = undefined;
    thread.waitFor = undefined;
    thread.takesTurns = false;
    thread.otherFrames = () => [];
    thread.otherValues = () => [];
    thread.otherBytes = () => 0;
    scheduler.dispose();
  }
}

/** Bytes charged for a call of `parallel` until all calls have ended, and for its fiber. */
const callWeight = 200;
const fiberWeight = 400;

/** Runs the fibers of one call. */
class Scheduler {
  readonly #thread: Thread;
  readonly #main: Fiber;
  readonly #ready: Fiber[] = [];
  /** All fibers that have not ended, including the running one. */
  readonly #alive = new Set<Fiber>();
  /** All calls of `parallel` that are in flight. */
  readonly #groups = new Set<{ readonly calls: readonly CallRequest[]; readonly fibers: readonly Fiber[] }>();
  #running: Fiber | undefined = undefined;
  #wake: (() => void) | undefined = undefined;
  #stopWaiting: (() => void) | undefined = undefined;

  constructor(thread: Thread, main: Fiber) {
    this.#thread = thread;
    this.#main = main;
    this.#start(main);
    thread.otherFrames = () => this.#sleepingFrames();
    thread.otherValues = () => this.#heldValues();
    thread.otherBytes = () => this.#heldBytes();
  }

  async run(): Promise<Value> {
    const thread = this.#thread;
    thread.startClock();
    thread.checkInterrupts();
    for (;;) {
      const fiber = this.#ready.shift();
      if (fiber === undefined) await this.#sleep();
      else this.#runFiber(fiber);
      const { outcome } = this.#main;
      if (outcome !== undefined) {
        if (outcome.kind === "error") throw outcome.error;
        return outcome.value;
      }
      if (thread.sliceEnded) {
        await thread.host.nextTurn?.();
        thread.startSlice();
        thread.checkInterrupts();
      }
    }
  }

  dispose(): void {
    this.#stopWaiting?.();
    this.#wake = undefined;
    this.#alive.clear();
  }

  *#sleepingFrames(): Iterable<Frame> {
    for (const fiber of this.#alive) {
      if (fiber !== this.#running && fiber.frame !== undefined) yield fiber.frame;
    }
  }

  /** Values that no frame refers to: queued calls, results of ended fibers, and deliveries. */
  *#heldValues(): Iterable<Value> {
    for (const { calls, fibers } of this.#groups) {
      for (const { callee, args } of calls) yield* [callee, ...args];
      for (const { outcome } of fibers) {
        if (outcome?.kind === "value") yield outcome.value;
      }
    }
    for (const { delivery } of this.#alive) {
      if (delivery?.kind === "value") yield delivery.value;
    }
  }

  #heldBytes(): number {
    let bytes = 0;
    for (const { calls, fibers } of this.#groups)
      bytes += callWeight * calls.length + fiberWeight * fibers.length;
    return bytes;
  }

  #start(fiber: Fiber): void {
    this.#alive.add(fiber);
    this.#ready.push(fiber);
  }

  #runFiber(fiber: Fiber): void {
    const thread = this.#thread;
    this.#running = fiber;
    thread.frame = fiber.frame;
    thread.depth = fiber.depth;
    thread.output = fiber.output;
    thread.takesTurns = this.#alive.size > 1;
    thread.turnEnded = false;
    thread.yieldDue = thread.sliceEnded;
    const delivery = fiber.delivery;
    fiber.delivery = undefined;
    try {
      const stop = run(thread, delivery);
      fiber.frame = thread.frame;
      fiber.depth = thread.depth;
      if (stop === "done") this.#finish(fiber, { kind: "value", value: thread.result });
      // A slice ends by time. The fiber then keeps its turn, so that the order in which fibers run does
      // not depend on the speed of the machine.
      else if (stop === "yields") thread.turnEnded ? this.#ready.push(fiber) : this.#ready.unshift(fiber);
      else this.#wait(fiber);
    } catch (thrown) {
      const error = toStarlarkError(thrown);
      // A limit ends the whole execution, in whichever fiber it is reached.
      if (!error.catchable) throw error;
      this.#finish(fiber, { kind: "error", error });
    } finally {
      this.#running = undefined;
      thread.frame = undefined;
    }
  }

  #finish(fiber: Fiber, outcome: Outcome): void {
    fiber.outcome = outcome;
    this.#alive.delete(fiber);
    fiber.onEnd?.(fiber);
  }

  /** Suspends a fiber until its deferred result is available. */
  #wait(fiber: Fiber): void {
    const thread = this.#thread;
    const deferred = thread.waitFor!;
    thread.waitFor = undefined;
    if (deferred instanceof Pending) {
      deferred.result.then(
        (value) => this.#deliver(fiber, { kind: "value", value }),
        (error: unknown) => this.#deliver(fiber, { kind: "error", error: toStarlarkError(error) }),
      );
    } else {
      this.#runParallel(fiber, deferred);
    }
  }

  #deliver(fiber: Fiber, outcome: Outcome): void {
    if (!this.#alive.has(fiber)) return;
    fiber.delivery = outcome;
    this.#ready.push(fiber);
    this.#wake?.();
  }

  /**
   * Runs each call in its own fiber, `width` at a time. Results, errors and output are
   * in the order of the calls, regardless of the order in which they end.
   */
  #runParallel(parent: Fiber, { calls, width }: ParallelCalls): void {
    const thread = this.#thread;
    thread.charge((callWeight + fiberWeight) * calls.length);
    const held: Value[] = calls.flatMap(({ callee, args }) => [callee, ...args]);
    const thaw = freezeForNow(held);
    const fibers: Fiber[] = [];
    const group = { calls, fibers };
    this.#groups.add(group);
    let ended = 0;
    const startNext = (): void => {
      const { callee, args, named = noneNamed } = calls[fibers.length]!;
      const fiber = new Fiber(openingFrame(callee, args, named), parent.depth + 1, [], () => {
        ended += 1;
        if (fibers.length < calls.length) startNext();
        else if (ended === calls.length) join();
      });
      fibers.push(fiber);
      this.#start(fiber);
    };
    const join = (): void => {
      thaw();
      this.#groups.delete(group);
      thread.output = parent.output;
      for (const fiber of fibers) {
        for (const line of fiber.output!) thread.passOn(line);
      }
      this.#deliver(parent, joined(fibers, thread));
    };
    while (fibers.length < Math.min(width, calls.length)) startNext();
    if (calls.length === 0) join();
  }

  /** Waits until a result is delivered, the deadline passes, or the host cancels the execution. */
  async #sleep(): Promise<void> {
    const thread = this.#thread;
    thread.checkInterrupts();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#watchDeadline();
    });
    this.#wake = undefined;
    thread.startSlice();
    thread.checkInterrupts();
  }

  /** Creates the timer and the listener of the execution, at its first wait. */
  #watchDeadline(): void {
    if (this.#stopWaiting !== undefined) return;
    const { host, options, remainingMs } = this.#thread;
    const wake = (): void => this.#wake?.();
    // A timer may fire slightly early, and the check after it would then let the program continue.
    const stopTimer = host.startTimer?.(Math.ceil(remainingMs) + 1, wake);
    options.signal?.addEventListener("abort", wake);
    this.#stopWaiting = () => {
      stopTimer?.();
      options.signal?.removeEventListener("abort", wake);
    };
  }
}

/** The result of `parallel`: the list of results, or the error of the first call that failed. */
function joined(fibers: readonly Fiber[], thread: Thread): Outcome {
  const values: Value[] = [];
  for (const { outcome } of fibers) {
    if (outcome?.kind === "error") return outcome;
    values.push(outcome!.value);
  }
  try {
    thread.charge(listWeight(values.length));
  } catch (error) {
    return { kind: "error", error: error as StarlarkError };
  }
  return { kind: "value", value: new StarlarkList(values) };
}
