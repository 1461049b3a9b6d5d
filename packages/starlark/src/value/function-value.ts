/** Functions of a program: `def` and `lambda`. */

import type { Code } from "../compile/code.ts";
import { SharedObject, type Value } from "./value.ts";

/** A variable that an inner function shares with the one it stands in. */
export class Cell {
  /** `undefined` until it is assigned. */
  value: Value | undefined = undefined;
}

/** A file that was executed, or is being executed: its globals and what it was given. */
export interface ModuleState {
  /** By the index of the file's globals; `undefined` until assigned. */
  readonly globals: (Value | undefined)[];
  /** By the index of the program's predeclared names. */
  readonly predeclared: readonly Value[];
  /** The last walk of the heap that met it. */
  epoch: number;
}

/** A function with what it captured. */
export class FunctionValue extends SharedObject {
  get type(): "function" {
    return "function";
  }
  readonly code: Code;
  readonly module: ModuleState;
  /** One for each optional parameter, in order; keyword-only ones without a default are `undefined`. */
  readonly defaults: readonly (Value | undefined)[];
  /** By the index of its free variables. */
  readonly free: readonly Cell[];

  constructor(
    code: Code,
    module: ModuleState,
    defaults: readonly (Value | undefined)[],
    free: readonly Cell[],
  ) {
    super();
    this.code = code;
    this.module = module;
    this.defaults = defaults;
    this.free = free;
  }

  override freeze(rest: Value[]): void {
    this.#pushHeld(rest);
  }

  override weight(): number {
    return 120 + 8 * (this.defaults.length + 3 * this.free.length);
  }

  /** What it captured; its module's globals are walked once for all functions. */
  override references(rest: Value[]): void {
    this.#pushHeld(rest);
  }

  #pushHeld(rest: Value[]): void {
    for (const value of this.defaults) {
      if (value !== undefined) rest.push(value);
    }
    for (const cell of this.free) {
      if (cell.value !== undefined) rest.push(cell.value);
    }
  }
}
