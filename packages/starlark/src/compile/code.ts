/**
 * Compiled code. A function is an array of instructions. An instruction is a closure
 * that executes a statement, or a part of one, and returns the index of the next
 * instruction. Operators between two calls are nested closures, which always run to
 * completion on the JavaScript stack. Each call, loop and jump is an instruction, and
 * every value that outlives an instruction is in a register. The machine can
 * therefore stop after any instruction and resume later.
 */

import type { Source } from "@toolcrib/diagnostics";
import type { Thread } from "../run/thread.ts";
import type { Cell } from "../value/function-value.ts";
import type { Value, ValueIterator } from "../value/value.ts";

/** The content of a register; `undefined` for a variable that is not assigned. */
export type Register = Value | Cell | ValueIterator | undefined;

/** The registers of a call: the function itself, its locals and cells, and intermediate values. */
export type Registers = Register[];

/** Returns the value of an expression that calls no function of the program. */
export type Evaluator = (registers: Registers, thread: Thread) => Value;

/** Returns the truth value of such an expression. */
export type Test = (registers: Registers, thread: Thread) => boolean;

/** Executes one operation and returns the index of the next instruction, or one of the signals below. */
export type Instruction = (registers: Registers, thread: Thread) => number;

/** Signals that the thread has a new innermost frame. */
export const switchFrame = -1;
/** Signals that the machine must return: the fiber waits, is done, or yields. Its frame records where it resumes. */
export const leaveMachine = -2;

/** The position of a call. */
export interface CallSite {
  /** The index of the calling instruction. */
  readonly pc: number;
  /** The index of the instruction at which the frame resumes. */
  readonly next: number;
  /** The register that receives the result. */
  readonly destination: number;
  /** Offset of the call in the source. */
  readonly at: number;
}

/** A handler for the errors in a range of instructions. Handlers are ordered from the innermost out. */
export interface Handler {
  /** First instruction of the range. */
  readonly start: number;
  /** First instruction after the range. */
  readonly end: number;
  readonly target: number;
  /** The register that receives the error. */
  readonly register: number;
  /** Registers of iterators that stay open because their loops enclose the range; all others are closed. */
  readonly openIterators: readonly number[];
}

/** A compiled function, lambda or file body. */
export interface Code {
  readonly name: string;
  readonly source: Source;
  /** Offset of its `def`, `lambda` or file. */
  readonly start: number;
  readonly instructions: readonly Instruction[];
  readonly handlers: readonly Handler[];
  readonly registerCount: number;
  /** Every register that holds the iterator of a loop. */
  readonly iteratorRegisters: readonly number[];
  /** Steps of one call, not counting loops. */
  readonly weight: number;

  /** Names of the parameters: positional, keyword-only, and then `*args` and `**kwargs` if they exist. */
  readonly parameters: readonly string[];
  /** Number of parameters that accept positional arguments. */
  readonly positionalCount: number;
  readonly keywordOnlyCount: number;
  readonly hasVarargs: boolean;
  readonly hasKwargs: boolean;
  /** The number of parameters if all are positional, required and not captured; otherwise -1. */
  readonly plainArity: number;
  /** Registers of parameters that inner functions capture. */
  readonly capturedParameters: readonly number[];
  /** Registers of other captured variables. Each call starts with new cells in them. */
  readonly cellRegisters: readonly number[];
  /**
   * Evaluates the whole function, if it is a single expression that calls no function
   * of the program. Such a function needs no frame.
   */
  readonly body: Evaluator | undefined;
  /** Whether a function may be called recursively. */
  readonly mayRecurse: boolean;
}
