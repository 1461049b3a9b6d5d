/**
 * Compiled code. A function is an array of instructions; an instruction is a
 * closure that does one statement, or one step of it, and returns which comes
 * next. What lies between two calls of functions, the evaluation of an operator
 * tree, is closures within closures and never leaves the JavaScript stack half
 * done; every call, loop and jump is an instruction, and all that outlives one is
 * in registers. So the machine can stop after any instruction, and go on later.
 */

import type { Source } from "@toolcrib/diagnostics";
import type { Thread } from "../run/thread.ts";
import type { Cell } from "../value/function-value.ts";
import type { Value, ValueIterator } from "../value/value.ts";

/** What a register holds; `undefined` while a variable is not assigned. */
export type Register = Value | Cell | ValueIterator | undefined;

/** The registers of a call: the function itself, its locals and cells, and what is in between. */
export type Registers = Register[];

/** Gives the value of an expression that calls no function of the program. */
export type Evaluator = (registers: Registers, thread: Thread) => Value;

/** As an evaluator, where only the truth is wanted. */
export type Test = (registers: Registers, thread: Thread) => boolean;

/** Does one thing and returns the index of the next instruction, or one of the signals below. */
export type Instruction = (registers: Registers, thread: Thread) => number;

/** The thread has another innermost frame now. */
export const switchFrame = -1;
/** The machine has to let go: the fiber waits, is done, or gives way. Its frame says where it goes on. */
export const leaveMachine = -2;

/** A place from which functions are called. */
export interface CallSite {
  /** The calling instruction. */
  readonly pc: number;
  /** Where its frame goes on. */
  readonly next: number;
  /** The register that takes the result. */
  readonly destination: number;
  /** Offset of the call in the source. */
  readonly at: number;
}

/** What catches errors between two instructions, innermost first. */
export interface Handler {
  /** First instruction that is covered. */
  readonly start: number;
  /** First one that is not. */
  readonly end: number;
  readonly target: number;
  /** Where the error goes. */
  readonly register: number;
  /** Registers of the iterators that are open outside; all others are closed. */
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
  /** All registers in which loops keep their iterators. */
  readonly iteratorRegisters: readonly number[];
  /** Steps that a call takes, loops not counted. */
  readonly weight: number;

  /** Names of the parameters: positional, keyword-only; then, when there are, `*args` and `**kwargs`. */
  readonly parameters: readonly string[];
  /** How many parameters may be given by position. */
  readonly positionalCount: number;
  readonly keywordOnlyCount: number;
  readonly hasVarargs: boolean;
  readonly hasKwargs: boolean;
  /** The number of parameters when all are plain, required and not captured; else -1. */
  readonly plainArity: number;
  /** Registers of parameters that inner functions capture. */
  readonly capturedParameters: readonly number[];
  /** Registers of other captured variables: each call begins with new cells there. */
  readonly cellRegisters: readonly number[];
  /**
   * The value of the whole function, when it is one expression that calls no
   * function of the program: it can be called without a frame.
   */
  readonly body: Evaluator | undefined;
  /** Whether a function may be called while it runs. */
  readonly mayRecurse: boolean;
}
