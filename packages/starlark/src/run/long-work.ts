/**
 * Long work of builtins and operators, such as the lower case of a text of ten million
 * characters. Builtins and operators run on the JavaScript stack, which cannot be
 * suspended. An operation on a large value therefore interrupts its instruction: the
 * machine does the work piece by piece, yields to the event loop between pieces, and
 * then executes the instruction again, where the operation returns the finished
 * result.
 *
 * An instruction has no effect before its operators and its call are done, so it can
 * be executed again. Whether an operation interrupts depends on the sizes of its
 * operands only, never on time, so a program takes the same steps in every run.
 *
 * While work is suspended, only its generator refers to its operands and to the part
 * of its result that exists. The operands are listed for the heap walk, and every byte
 * that the work charges counts as live until it ends.
 */

import type { Value } from "../value/value.ts";
import type { Frame } from "./frame.ts";
import { StarlarkError } from "./starlark-error.ts";
import type { Thread } from "./thread.ts";

/**
 * Work in pieces: yields after each one, and returns the result. The generator function
 * must be a declaration: V8 keeps each function expression with `function*`, and all
 * values that it captures, until the next full garbage collection.
 */
export type Pieces<Result> = Generator<undefined, Result, undefined>;

/** Number of elements or code units from which an operation is worth an interruption. */
export const longLength = 32_768;

/** Number of elements that long work reads in one piece. */
export const pieceLength = 4096;

/** Maximum number of steps in one piece of work whose elements differ in size. */
const pieceSteps = 8192;

/** Divides work whose elements differ in size: a piece is complete after a number of steps. */
export class PieceMeter {
  readonly #thread: Thread;
  #end: number;

  constructor(thread: Thread) {
    this.#thread = thread;
    this.#end = thread.steps + pieceSteps;
  }

  /** Whether the piece is complete. If so, the next one starts. */
  isFull(): boolean {
    const { steps } = this.#thread;
    if (steps < this.#end) return false;
    this.#end = steps + pieceSteps;
    return true;
  }
}

/** Long work that has not ended. */
interface Work {
  readonly pieces: Pieces<unknown>;
  /** The values that the work reads. */
  readonly operands: readonly Value[];
  /** Bytes that the work has charged. */
  bytes: number;
}

/** Interrupts the instruction that needs the result of `work`. It is no error, and no program can catch it. */
export class Interruption {
  readonly work: Work;

  constructor(work: Work) {
    this.work = work;
  }
}

/** The outcome of long work. An error is thrown where the operation would have thrown it. */
type WorkOutcome =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown };

/** Outcomes for the interrupted instruction, in the order in which it asks for them. */
export interface Replay {
  readonly outcomes: readonly WorkOutcome[];
  next: number;
}

/**
 * Returns the result of work that may take long. The call does not return if the
 * machine has to do the work first.
 *
 * @param operands the values that the work reads.
 * @param bytes bytes that were charged for the result already.
 */
export function inPieces<Result>(
  t: Thread,
  operands: readonly Value[],
  start: () => Pieces<Result>,
  bytes = 0,
): Result {
  const { frame, replay } = t;
  const outcome = replay?.outcomes[replay.next];
  if (replay !== undefined && outcome !== undefined) {
    replay.next += 1;
    if (outcome.kind === "error") throw outcome.error;
    return outcome.result as Result;
  }
  // A continuation and a piece are generators themselves, and would end with an interruption.
  if (frame === undefined || frame.continuation !== undefined || t.isInPiece) return finish(start());
  throw new Interruption({ pieces: start(), operands, bytes });
}

/** Like `inPieces` if `length`, the number of elements to work on, is large; otherwise does the work immediately. */
export function inPiecesIfLong<Result>(
  t: Thread,
  length: number,
  operands: readonly Value[],
  start: () => Pieces<Result>,
): Result {
  return length < longLength ? finish(start()) : inPieces(t, operands, start);
}

/** Does all pieces without a pause. */
export function finish<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
}

/** The state of a frame whose instruction is interrupted. */
export class InterruptedInstruction {
  readonly outcomes: WorkOutcome[] = [];
  readonly #at: number;
  #work: Work | undefined;
  /** The bytes charged by the thread before the piece that runs. */
  #chargedBefore: number | undefined = undefined;

  constructor(work: Work, at: number) {
    this.#work = work;
    this.#at = at;
  }

  /** Sets the next work of the same instruction. */
  interruptAgain(work: Work): void {
    this.#work = work;
  }

  /** The operands of the current work, and the results of the work before it. */
  *values(): Iterable<Value> {
    yield* this.#work?.operands ?? [];
    for (const outcome of this.outcomes) {
      if (outcome.kind === "error") continue;
      // The result of an operation is a value, or an array of values that becomes a list.
      if (Array.isArray(outcome.result)) yield* outcome.result as Value[];
      else yield outcome.result as Value;
    }
  }

  /** Bytes that the current work has charged. */
  bytes(t: Thread): number {
    const ofPiece = this.#chargedBefore === undefined ? 0 : t.chargedBytes - this.#chargedBefore;
    return (this.#work?.bytes ?? 0) + ofPiece;
  }

  /**
   * Works until the result is available (true) or the slice ends (false).
   *
   * @throws {StarlarkError} an error that no program can catch.
   */
  work(t: Thread): boolean {
    const work = this.#work;
    if (work === undefined) return true;
    t.at = this.#at;
    // At least one piece in each slice, however slow the machine is.
    do {
      const outcome = this.#nextPiece(work, t);
      if (outcome !== undefined) {
        this.outcomes.push(outcome);
        this.#work = undefined;
        return true;
      }
      t.checkInterrupts();
    } while (!t.yieldDue);
    return false;
  }

  #nextPiece(work: Work, t: Thread): WorkOutcome | undefined {
    const chargedBefore = t.chargedBytes;
    this.#chargedBefore = chargedBefore;
    t.isInPiece = true;
    try {
      const piece = work.pieces.next();
      return piece.done === true ? { kind: "result", result: piece.value } : undefined;
    } catch (error) {
      if (error instanceof StarlarkError && !error.catchable) throw error;
      return { kind: "error", error };
    } finally {
      t.isInPiece = false;
      this.#chargedBefore = undefined;
      work.bytes += t.chargedBytes - chargedBefore;
    }
  }
}

/**
 * Continues the interrupted instruction of `frame`.
 *
 * @returns the signal of the instruction; `undefined` if its slice ended before.
 */
export function resumeInstruction(
  t: Thread,
  frame: Frame,
  interrupted: InterruptedInstruction,
): number | undefined {
  if (!interrupted.work(t)) return undefined;
  t.replay = { outcomes: interrupted.outcomes, next: 0 };
  t.startSegment();
  try {
    const next = frame.code.instructions[frame.pc]!(frame.registers, t);
    frame.interrupted = undefined;
    return next;
  } finally {
    t.replay = undefined;
  }
}
