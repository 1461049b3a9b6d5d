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
 */

import type { Frame } from "./frame.ts";
import type { Thread } from "./thread.ts";

/** Work in pieces: yields after each one, and returns the result. */
export type Pieces<Result> = Generator<undefined, Result, undefined>;

/** Number of elements or code units from which an operation is worth an interruption. */
export const longLength = 32_768;

/** Number of elements that long work reads in one piece. */
export const pieceLength = 4096;

/** Interrupts the instruction that needs the result of `pieces`. It is no error, and no program can catch it. */
export class Interruption {
  readonly pieces: Pieces<unknown>;

  constructor(pieces: Pieces<unknown>) {
    this.pieces = pieces;
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
 */
export function inPieces<Result>(t: Thread, start: () => Pieces<Result>): Result {
  const { frame, replay } = t;
  const outcome = replay?.outcomes[replay.next];
  if (replay !== undefined && outcome !== undefined) {
    replay.next += 1;
    if (outcome.kind === "error") throw outcome.error;
    return outcome.result as Result;
  }
  // A continuation is a generator itself, and would end with an interruption.
  if (frame === undefined || frame.continuation !== undefined) return finish(start());
  throw new Interruption(start());
}

/** Like `inPieces` if `length`, the number of elements to work on, is large; otherwise does the work immediately. */
export function inPiecesIfLong<Result>(t: Thread, length: number, start: () => Pieces<Result>): Result {
  return length < longLength ? finish(start()) : inPieces(t, start);
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
  /** Bytes that the current work has charged: only its generator refers to them. */
  bytes = 0;
  #pieces: Pieces<unknown> | undefined;
  readonly #at: number;

  constructor(pieces: Pieces<unknown>, at: number) {
    this.#pieces = pieces;
    this.#at = at;
  }

  /** Sets the next work of the same instruction. */
  interruptAgain(pieces: Pieces<unknown>): void {
    this.#pieces = pieces;
  }

  /** Works until the result is available (true) or the slice ends (false). */
  work(t: Thread): boolean {
    const pieces = this.#pieces;
    if (pieces === undefined) return true;
    t.at = this.#at;
    // At least one piece in each slice, however slow the machine is.
    do {
      const outcome = this.#nextPiece(pieces, t);
      if (outcome !== undefined) {
        this.outcomes.push(outcome);
        this.#pieces = undefined;
        this.bytes = 0;
        return true;
      }
      t.checkInterrupts();
    } while (!t.yieldDue);
    return false;
  }

  #nextPiece(pieces: Pieces<unknown>, t: Thread): WorkOutcome | undefined {
    const chargedBytes = t.chargedBytes;
    try {
      const piece = pieces.next();
      return piece.done === true ? { kind: "result", result: piece.value } : undefined;
    } catch (error) {
      return { kind: "error", error };
    } finally {
      this.bytes += t.chargedBytes - chargedBytes;
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
  try {
    const next = frame.code.instructions[frame.pc]!(frame.registers, t);
    frame.interrupted = undefined;
    return next;
  } finally {
    t.replay = undefined;
  }
}
