/**
 * A thread: one execution of a program, with its limits, its frames and its host.
 * Threads share only frozen values, so any number of them can interleave.
 *
 * Two counters are updated by every operation: `fuel` (steps) and `headroom` (bytes).
 * They are small integers that count down, and the totals are computed only when one
 * of them runs out. Both depend on the program alone: a program reaches its step
 * limit at the same step, and its memory limit at the same value, on every machine
 * and in every run.
 */

import type { Registers } from "../compile/code.ts";
import type { MethodTables } from "../value/attributes.ts";
import { elementWeight } from "../value/heap-weight.ts";
import type { NamedArgument, StarlarkModule, Value } from "../value/value.ts";
import type { ParallelCalls, Pending } from "./deferred.ts";
import type { Frame } from "./frame.ts";
import { defaultLimits, type Limits, limitCeilings } from "./limits.ts";
import type { Replay } from "./long-work.ts";
import { measureHeap } from "./measure-heap.ts";
import { StarlarkError } from "./starlark-error.ts";

/** The functions of the host that a thread uses. Hosts without an event loop can omit the last two. */
export interface ThreadHost {
  /** A monotonic clock for deadlines and slices, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Resolves after the event loop has run other work. @default never yields */
  readonly nextTurn?: () => Promise<void>;
  /** Calls `callback` after `delayMs`; the returned function cancels it. Ends waits at the deadline. */
  readonly startTimer?: (delayMs: number, callback: () => void) => () => void;
}

/** Options of a thread. */
export interface ThreadOptions {
  /** The name of the thread in tracebacks and for `print`. @default "starlark" */
  readonly name?: string;
  readonly limits?: Partial<Limits>;
  /** Receives each line of `print`, without its line feed. @default discards them */
  readonly print?: (line: string) => void;
  /**
   * The time of day in nanoseconds since 1970, for `time.now`. It is injected so that
   * runs are reproducible. @default `time.now` fails
   */
  readonly nowNs?: () => bigint;
  /**
   * Returns the module for `load("name", …)`, or throws an error that explains why it
   * is missing. @default `load` fails
   */
  readonly load?: (name: string, thread: Thread) => Promise<StarlarkModule> | StarlarkModule;
  /**
   * Reserves memory that the thread shares with others: `bytes` in total, in place of
   * the last reservation. The thread asks before it grows, and ends with `resource` if
   * the result is false. @default its limit is its own
   */
  readonly reserveMemory?: (bytes: number) => boolean;
  /** Cancels the execution with a `cancelled` error. */
  readonly signal?: AbortSignal;
}

const sliceSteps = 65_536;
/** From this length on, a growing list needs room for its copy. */
const largeList = 65_536;

/** Bytes that a thread reserves at a time, at first; each further reservation is twice as large. */
const firstReservation = 1024 * 1024;

const noMethodTables: MethodTables = {
  string: new Map(),
  bytes: new Map(),
  list: new Map(),
  dict: new Map(),
  set: new Map(),
};

/** One execution: its limits, its consumption and its host. Runs one call at a time. */
export class Thread {
  readonly name: string;
  readonly host: ThreadHost;
  readonly options: ThreadOptions;
  readonly limits: Limits;

  /** Steps left before the totals are computed. */
  fuel: number;
  /** Bytes left before the heap is walked. */
  headroom: number;
  /** The innermost frame; `undefined` while nothing runs. */
  frame: Frame | undefined = undefined;
  depth = 0;
  /** The source offset of the current operation, for the position of errors. */
  at = 0;
  /** Whether the machine should stop at the next opportunity: the slice or the turn has ended. */
  yieldDue = false;
  /** Whether the time of the slice is used up, so that the event loop should run. */
  sliceEnded = false;
  /** Whether there are other fibers, which take turns; set by the scheduler. */
  takesTurns = false;
  /** Whether the turn of the fiber has ended. Turns end by steps and never by time. */
  turnEnded = false;
  /** The result of the outermost frame, after the machine has stopped. */
  result: Value = null;
  /** The result that the fiber waits for, after the machine has stopped. */
  waitFor: Pending | ParallelCalls | undefined = undefined;
  /** The methods of values in the dialect of the program. */
  methods: MethodTables = noMethodTables;
  /** The registers of a function that is evaluated without a frame. */
  heldRegisters: Registers | undefined = undefined;
  /** The results of long work for the instruction that is executed again. */
  replay: Replay | undefined = undefined;
  /** Whether a piece of long work runs. */
  isInPiece = false;
  /** Values that running builtins hold, for the heap walk. */
  readonly extraRoots: Value[] = [];
  /** The innermost frames of the other fibers; set by the scheduler. */
  otherFrames: () => Iterable<Frame> = () => [];
  /** Values that are held for fibers but are in no frame; set by the scheduler. */
  otherValues: () => Iterable<Value> = () => [];
  /** Bytes of fibers in addition to their frames and values; set by the scheduler. */
  otherBytes: () => number = () => 0;
  /** The long string that was last read by index or slice, which is stored contiguously. */
  lastRead = "";
  /** Collects the lines of `print` while fibers run, so that they appear in the order of the fibers. */
  output: string[] | undefined = undefined;

  readonly #ending = new AbortController();
  #stepsBefore = 0;
  #sliceFuel: number;
  #window: number;
  #live = 0;
  #walkFrame: Frame | undefined = undefined;
  /** Steps of the program at the last walk, not counting steps within builtins. */
  #walkSteps = -1;
  #stepsInBuiltins = 0;
  #chargedInSegment = 0;
  /** All bytes charged up to the last walk. */
  #chargedBefore = 0;
  #outputLeft: number;
  #sliceStartMs = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;

  /** @throws {RangeError} for a limit that is not a positive integer or exceeds its ceiling. */
  constructor(host: ThreadHost, options: ThreadOptions = {}) {
    this.name = options.name ?? "starlark";
    this.host = host;
    this.options = options;
    this.limits = resolveLimits(options.limits);
    this.fuel = this.#sliceFuel = Math.min(sliceSteps, this.limits.steps);
    this.headroom = this.#window = this.#firstWindow;
    this.#outputLeft = this.limits.outputBytes;
  }

  /** Aborts when the execution ends for any reason, to cancel the work of host functions. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** End the execution: aborts `signal`. */
  end(reason: unknown): void {
    this.#ending.abort(reason);
  }

  /** Steps taken so far. */
  get steps(): number {
    return this.#stepsBefore + (this.#sliceFuel - this.fuel);
  }

  /** Live bytes at the last walk, and all bytes charged since. */
  get memoryBytes(): number {
    return this.#live + (this.#window - this.headroom);
  }

  /** All bytes charged so far. */
  get chargedBytes(): number {
    return this.#chargedBefore + (this.#window - this.headroom);
  }

  /** Milliseconds until the deadline. */
  get remainingMs(): number {
    return this.#deadlineMs - this.host.monotonicMs();
  }

  /** Starts the wall clock, unless it is already running. */
  startClock(): void {
    const now = this.host.monotonicMs();
    this.#sliceStartMs = now;
    if (this.#deadlineMs === Number.POSITIVE_INFINITY) this.#deadlineMs = now + this.limits.wallMs;
  }

  /** Starts a new slice, after the event loop has run. */
  startSlice(): void {
    this.yieldDue = false;
    this.sliceEnded = false;
    this.#sliceStartMs = this.host.monotonicMs();
  }

  /**
   * Accounts for `bytes` on the simulated heap, before they are allocated.
   *
   * @throws {StarlarkError} `resource` if the live bytes exceed the limit.
   */
  charge(bytes: number): void {
    this.headroom -= bytes;
    if (this.headroom < 0) this.#outOfHeadroom(bytes);
  }

  /** Accounts for one more element of a list of `length` elements that grows by one at a time. */
  chargeElement(length: number): void {
    this.charge(elementWeight);
    this.reserveGrowth(length);
  }

  /**
   * Checks that a list of `length` elements has room to keep growing by one element at
   * a time. The engine copies a full array into one that is half as large again, and
   * the old array remains until it is collected. The old array is no value of the
   * program, so it is not charged permanently, but from some size on there must be
   * room for it. The check runs each time the length has doubled.
   *
   * @throws {StarlarkError} `resource` if there is no room.
   */
  reserveGrowth(length: number): void {
    if (length < largeList || (length & (length - 1)) !== 0) return;
    const bytes = 12 * length;
    if (this.memoryBytes + bytes <= this.limits.memoryBytes) return;
    this.headroom -= bytes;
    this.#outOfHeadroom(bytes);
  }

  /**
   * Accounts for `count` steps: work in proportion to the size of a value.
   *
   * @throws {StarlarkError} `resource`, `timeout` or `cancelled` if the thread must
   *   stop.
   */
  step(count: number): void {
    this.fuel -= count;
    this.#stepsInBuiltins += count;
    if (this.fuel < 0) this.refuel();
  }

  /** Writes a line of `print`. */
  print(line: string): void {
    this.#outputLeft -= line.length + 1;
    if (this.#outputLeft < 0) {
      throw new StarlarkError(`print wrote more than ${this.limits.outputBytes} characters`, {
        kind: "resource",
      });
    }
    this.passOn(line);
  }

  /** Writes a line that is already accounted for. */
  passOn(line: string): void {
    if (this.output === undefined) this.options.print?.(line.toWellFormed());
    else this.output.push(line);
  }

  /** Computes the total of steps when the fuel of a slice is used up, and starts the next slice. */
  refuel(): void {
    this.#stepsBefore += this.#sliceFuel - this.fuel;
    const left = this.limits.steps - this.#stepsBefore;
    this.fuel = this.#sliceFuel = Math.max(0, Math.min(sliceSteps, left));
    if (left < 0) {
      throw new StarlarkError(`out of steps: the limit is ${this.limits.steps}`, {
        kind: "resource",
        hint: "do less work in one run: fetch less, leave loops early, or avoid nested loops",
      });
    }
    if (this.takesTurns) this.turnEnded = this.yieldDue = true;
    this.checkInterrupts();
  }

  /** @throws {StarlarkError} `cancelled` or `timeout` if the thread must stop. */
  checkInterrupts(): void {
    if (this.options.signal?.aborted === true) throw cancelled(this.options.signal);
    const now = this.host.monotonicMs();
    if (now >= this.#deadlineMs) throw this.timeout();
    if (now - this.#sliceStartMs >= this.limits.sliceMs) this.sliceEnded = this.yieldDue = true;
  }

  /** The error of a thread whose wall time is used up. */
  timeout(): StarlarkError {
    return new StarlarkError(`out of time: the limit is ${this.limits.wallMs} ms`, { kind: "timeout" });
  }

  /** Starts a stretch of straight-line code: the walks in it count everything charged from now on as live. */
  startSegment(): void {
    this.#walkFrame = this.frame;
    this.#walkSteps = this.steps - this.#stepsInBuiltins;
    this.#chargedInSegment = this.headroom - this.#window;
  }

  /**
   * Walks the heap when the window since the last walk is used up. A walk does not see
   * values that only the JavaScript stack refers to. A second walk in the same
   * stretch of straight-line code therefore counts everything charged since the first
   * one as live.
   */
  #outOfHeadroom(bytes: number): void {
    const limit = this.limits.memoryBytes;
    const charged = this.#window - this.headroom;
    if (bytes > limit) throw this.#outOfMemory();
    if (this.#extendWindow(charged)) return;
    const programSteps = this.steps - this.#stepsInBuiltins;
    const sameSegment = this.#walkFrame === this.frame && this.#walkSteps === programSteps;
    this.#walkFrame = this.frame;
    this.#walkSteps = programSteps;
    // The bytes of long work are counted with its frame.
    if (this.isInPiece) this.#chargedInSegment = 0;
    else this.#chargedInSegment = sameSegment ? this.#chargedInSegment + charged : bytes;
    const { liveBytes, visited } = measureHeap(this);
    this.#chargedBefore += charged;
    // The walk counts a string each time it is reached, but no more can be live than was ever
    // charged.
    this.#live = Math.min(liveBytes + this.#chargedInSegment, this.#chargedBefore);
    if (this.#live > limit) throw this.#outOfMemory();
    this.headroom = this.#window = this.#firstWindow;
    if (this.options.reserveMemory?.(this.#live + this.#window) === false) throw sharedMemoryError();
    // The walk takes steps in proportion to the number of live values.
    this.step(visited >> 2);
  }

  /** Bytes that can be charged before the first reservation, or the first walk, is due. */
  get #firstWindow(): number {
    const window = Math.floor(this.limits.memoryBytes / 2);
    return this.options.reserveMemory === undefined ? window : Math.min(window, firstReservation);
  }

  /** Reserves memory instead of a walk, until the window is as large as without reservations. */
  #extendWindow(charged: number): boolean {
    const { reserveMemory } = this.options;
    const largest = Math.floor(this.limits.memoryBytes / 2);
    if (reserveMemory === undefined || charged > largest) return false;
    const window = Math.min(largest, 2 * Math.max(charged, this.#window));
    if (!reserveMemory(this.#live + window)) return false;
    this.headroom += window - this.#window;
    this.#window = window;
    return true;
  }

  #outOfMemory(): StarlarkError {
    this.headroom = this.#window;
    return new StarlarkError(`out of memory: the limit is ${this.limits.memoryBytes} bytes`, {
      kind: "resource",
      hint: "keep less at a time: fetch pages, and keep only the fields that you need",
    });
  }
}

function sharedMemoryError(): StarlarkError {
  return new StarlarkError("out of memory: all running programs together have reached their limit", {
    kind: "resource",
    hint: "try again later, or keep less at a time",
  });
}

/** The error of a thread that the host cancelled. */
export function cancelled(signal: AbortSignal): StarlarkError {
  const reason: unknown = signal.reason;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new StarlarkError(`cancelled: ${why}`, { kind: "cancelled", cause: reason });
}

function resolveLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...defaultLimits, ...given };
  for (const name of Object.keys(defaultLimits) as (keyof Limits)[]) {
    const value = limits[name];
    if (!Number.isSafeInteger(value) || value < 1 || value > limitCeilings[name]) {
      throw new RangeError(
        `Cannot use limits.${name} ${value}: it must be an integer from 1 to ${limitCeilings[name]}`,
      );
    }
  }
  return limits;
}

/** Arguments of a call from the host. */
export interface CallArguments {
  readonly args?: readonly Value[];
  readonly named?: readonly NamedArgument[];
}
