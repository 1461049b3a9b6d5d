/**
 * A thread: one execution of a program with its budgets, its frames and its way
 * to the host. Threads share nothing but frozen values, so any number of them may
 * interleave.
 *
 * The two counters that every operation touches, `fuel` and `headroom`, are small
 * integers that count down; only when one runs out is the full account made. Both
 * depend on the program alone, so a program ends at the same step, and runs out of
 * memory at the same value, on every machine and every run.
 */

import type { Registers } from "../compile/code.ts";
import type { MethodTables } from "../value/attributes.ts";
import { elementWeight } from "../value/heap-weight.ts";
import type { NamedArgument, StarlarkModule, Value } from "../value/value.ts";
import type { ParallelCalls, Pending } from "./deferred.ts";
import type { Frame } from "./frame.ts";
import { defaultLimits, type Limits, limitCeilings } from "./limits.ts";
import { measureHeap } from "./measure-heap.ts";
import { StarlarkError } from "./starlark-error.ts";

/** What a thread needs of the world; a host without an event loop may leave the last three out. */
export interface ThreadHost {
  /** A clock for deadlines and slices, in milliseconds; it never goes back. */
  readonly monotonicMs: () => number;
  /** Resolves after other work of the event loop had its turn. @default never lets go */
  readonly nextTurn?: () => Promise<void>;
  /** Calls `callback` after `delayMs`; the function returned takes it back. Ends waits at the deadline. */
  readonly startTimer?: (delayMs: number, callback: () => void) => () => void;
}

/** How a thread behaves; behaviour last, everything optional. */
export interface ThreadOptions {
  /** What it calls itself in tracebacks and to `print`. @default "starlark" */
  readonly name?: string;
  readonly limits?: Partial<Limits>;
  /** Where `print` writes, a line without its line feed. @default nowhere */
  readonly print?: (line: string) => void;
  /** The time of day in nanoseconds since 1970, for `time.now`; injected so that runs repeat. @default `time.now` fails */
  readonly nowNs?: () => bigint;
  /** The module that `load("name", …)` names; throw to say why there is none. @default `load` fails */
  readonly load?: (name: string, thread: Thread) => Promise<StarlarkModule> | StarlarkModule;
  /** Ends the execution with a `cancelled` error. */
  readonly signal?: AbortSignal;
}

const sliceSteps = 65_536;
/** From this many elements on a list that grows needs room for its copy. */
const largeList = 65_536;

const noMethodTables: MethodTables = {
  string: new Map(),
  bytes: new Map(),
  list: new Map(),
  dict: new Map(),
  set: new Map(),
};

/** One execution: its limits, what it has used of them, and its way to the host. Runs one call at a time. */
export class Thread {
  readonly name: string;
  readonly host: ThreadHost;
  readonly options: ThreadOptions;
  readonly limits: Limits;

  /** Steps left before the account is made. */
  fuel: number;
  /** Bytes left before the heap is walked. */
  headroom: number;
  /** The innermost frame; `undefined` when nothing runs. */
  frame: Frame | undefined = undefined;
  depth = 0;
  /** The offset of the operation under way, for the place of an error. */
  at = 0;
  /** Whether the thread should let the event loop go on at the next opportunity. */
  yieldDue = false;
  /** What the outermost frame returned, once the machine let go. */
  result: Value = null;
  /** What the fiber waits for, once the machine let go. */
  waitFor: Pending | ParallelCalls | undefined = undefined;
  /** The methods that values have; the program's dialect says which. */
  methods: MethodTables = noMethodTables;
  /** The registers of a function that is evaluated without a frame. */
  heldRegisters: Registers | undefined = undefined;
  /** Values that builtins under way hold, for the walk of the heap. */
  readonly extraRoots: Value[] = [];
  /** The innermost frames of the fibers that do not run now; set by the scheduler. */
  otherFrames: () => Iterable<Frame> = () => [];
  /** Values that are held for fibers, in no frame; set by the scheduler. */
  otherValues: () => Iterable<Value> = () => [];
  /** What fibers weigh beside their frames and values; set by the scheduler. */
  otherBytes: () => number = () => 0;
  /** The long string that was last read by index or slice: it lies in one piece. */
  lastRead = "";
  /** Where `print` writes while fibers run: in the order of the fibers, not of their steps. */
  output: string[] | undefined = undefined;

  readonly #ending = new AbortController();
  #stepsBefore = 0;
  #sliceFuel: number;
  #window: number;
  #live = 0;
  #walkFrame: Frame | undefined = undefined;
  /** Steps that the program had taken at the last walk, without those within builtins. */
  #walkSteps = -1;
  #stepsInBuiltins = 0;
  #chargedInSegment = 0;
  /** All that was charged up to the last walk. */
  #chargedBefore = 0;
  #outputLeft: number;
  #sliceStartMs = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;

  /** @throws {RangeError} for a limit that is no positive integer or above its ceiling. */
  constructor(host: ThreadHost, options: ThreadOptions = {}) {
    this.name = options.name ?? "starlark";
    this.host = host;
    this.options = options;
    this.limits = resolveLimits(options.limits);
    this.fuel = this.#sliceFuel = Math.min(sliceSteps, this.limits.steps);
    this.headroom = this.#window = Math.floor(this.limits.memoryBytes / 2);
    this.#outputLeft = this.limits.outputBytes;
  }

  /** Aborts when the execution is over, however it ended: for what host functions have under way. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The execution is over: whoever works for it may stop. */
  end(reason: unknown): void {
    this.#ending.abort(reason);
  }

  /** Steps taken so far. */
  get steps(): number {
    return this.#stepsBefore + (this.#sliceFuel - this.fuel);
  }

  /** Live bytes at the last walk and all that was charged since. */
  get memoryBytes(): number {
    return this.#live + (this.#window - this.headroom);
  }

  /** Milliseconds to the deadline. */
  get remainingMs(): number {
    return this.#deadlineMs - this.host.monotonicMs();
  }

  /** Start the clock of the wall limit, unless it runs already. */
  startClock(): void {
    const now = this.host.monotonicMs();
    this.#sliceStartMs = now;
    if (this.#deadlineMs === Number.POSITIVE_INFINITY) this.#deadlineMs = now + this.limits.wallMs;
  }

  /** The event loop had its turn: a new slice begins. */
  startSlice(): void {
    this.yieldDue = false;
    this.#sliceStartMs = this.host.monotonicMs();
  }

  /**
   * Account for `bytes` on the simulated heap, before they are allocated.
   *
   * @throws {StarlarkError} `resource` when more would be live than the limit allows.
   */
  charge(bytes: number): void {
    this.headroom -= bytes;
    if (this.headroom < 0) this.#outOfHeadroom(bytes);
  }

  /** Account for one more element of a list of `length` elements that grows by one at a time. */
  chargeElement(length: number): void {
    this.charge(elementWeight);
    this.reserveGrowth(length);
  }

  /**
   * See that there is room for a list of `length` elements to go on growing by one
   * at a time. An array that is full is copied into one half as large again, and
   * what it was remains until it is collected: no value of the program, and so
   * nothing to charge for good, but from some size on the room has to be there.
   * Asked each time the length has doubled.
   *
   * @throws {StarlarkError} `resource` when there is none.
   */
  reserveGrowth(length: number): void {
    if (length < largeList || (length & (length - 1)) !== 0) return;
    const bytes = 12 * length;
    if (this.memoryBytes + bytes <= this.limits.memoryBytes) return;
    this.headroom -= bytes;
    this.#outOfHeadroom(bytes);
  }

  /**
   * Account for `count` steps: work in proportion to the size of a value.
   *
   * @throws {StarlarkError} `resource`, `timeout` or `cancelled` when the thread may not go on.
   */
  step(count: number): void {
    this.fuel -= count;
    this.#stepsInBuiltins += count;
    if (this.fuel < 0) this.refuel();
  }

  /** Write a line of `print`. */
  print(line: string): void {
    this.#outputLeft -= line.length + 1;
    if (this.#outputLeft < 0) {
      throw new StarlarkError(`print wrote more than ${this.limits.outputBytes} characters`, {
        kind: "resource",
      });
    }
    this.passOn(line);
  }

  /** Write a line that is accounted for already. */
  passOn(line: string): void {
    if (this.output === undefined) this.options.print?.(line.toWellFormed());
    else this.output.push(line);
  }

  /** The fuel of this slice is used up: make the account, and begin the next slice. */
  refuel(): void {
    this.#stepsBefore += this.#sliceFuel - this.fuel;
    const left = this.limits.steps - this.#stepsBefore;
    this.fuel = this.#sliceFuel = Math.max(0, Math.min(sliceSteps, left));
    if (left < 0) {
      throw new StarlarkError(`out of steps: the limit is ${this.limits.steps}`, {
        kind: "resource",
        hint: "do less work in one run: narrow what is fetched, leave loops early, or avoid loops within loops",
      });
    }
    this.checkInterrupts();
  }

  /** @throws {StarlarkError} `cancelled` or `timeout` when the thread may not go on. */
  checkInterrupts(): void {
    if (this.options.signal?.aborted === true) throw cancelled(this.options.signal);
    const now = this.host.monotonicMs();
    if (now >= this.#deadlineMs) throw this.timeout();
    if (now - this.#sliceStartMs >= this.limits.sliceMs) this.yieldDue = true;
  }

  /** The error of a thread whose time is over. */
  timeout(): StarlarkError {
    return new StarlarkError(`out of time: the limit is ${this.limits.wallMs} ms`, { kind: "timeout" });
  }

  /**
   * The window since the last walk is used up. Values that are held on the
   * JavaScript stack alone are not seen by a walk; so a second walk in the same
   * stretch of straight code takes all that was charged since the first as live.
   */
  #outOfHeadroom(bytes: number): void {
    const limit = this.limits.memoryBytes;
    const charged = this.#window - this.headroom;
    if (bytes > limit) throw this.#outOfMemory();
    const programSteps = this.steps - this.#stepsInBuiltins;
    const sameSegment = this.#walkFrame === this.frame && this.#walkSteps === programSteps;
    this.#walkFrame = this.frame;
    this.#walkSteps = programSteps;
    this.#chargedInSegment = sameSegment ? this.#chargedInSegment + charged : bytes;
    const { liveBytes, visited } = measureHeap(this);
    this.#chargedBefore += charged;
    // A string is weighed wherever it is met; but no more can live than was ever charged.
    this.#live = Math.min(liveBytes + this.#chargedInSegment, this.#chargedBefore);
    if (this.#live > limit) throw this.#outOfMemory();
    this.headroom = this.#window = Math.floor(limit / 2);
    // The walk is work too, and in proportion to what lives.
    this.step(visited >> 2);
  }

  #outOfMemory(): StarlarkError {
    this.headroom = this.#window;
    return new StarlarkError(`out of memory: the limit is ${this.limits.memoryBytes} bytes`, {
      kind: "resource",
      hint: "keep less at a time: fetch pages, and keep of each item only the fields that are needed",
    });
  }
}

/** The error of a thread whose host called it off. */
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
        `Cannot use limits.${name} ${value}: it has to be an integer from 1 to ${limitCeilings[name]}`,
      );
    }
  }
  return limits;
}

/** Arguments of a call as the host gives them. */
export interface CallArguments {
  readonly args?: readonly Value[];
  readonly named?: readonly NamedArgument[];
}
