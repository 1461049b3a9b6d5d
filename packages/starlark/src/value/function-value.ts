/** Functions of a program: `def` and `lambda`. */

import type { Code } from "../compile/code.ts";
import { SharedObject, type Value } from "./value.ts";

/** A variable that a function shares with inner functions. */
export class Cell {
  /** `undefined` until it is assigned. */
  value: Value | undefined = undefined;
}

/** The state of a file that was or is being executed: its globals and predeclared values. */
export interface ModuleState {
  /** By the index of the file's globals; `undefined` until assigned. */
  readonly globals: (Value | undefined)[];
  /** By the index of the program's predeclared names. */
  readonly predeclared: readonly Value[];
  /** The last heap walk that visited the module. */
  epoch: number;
}

/** A function and its captured variables. */
export class FunctionValue extends SharedObject {
  get type(): "function" {
    return "function";
  }
  readonly code: Code;
  readonly module: ModuleState;
  /** One value for each optional parameter, in order. Keyword-only parameters without a default have `undefined`. */
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

  /** Defaults and captured values. A heap walk visits the globals of a module once for all of its functions. */
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
