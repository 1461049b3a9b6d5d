/** The size of the code of a program, and its limit. */

/** Thrown when a program is compiled to more than `programLimits.codeSize`; never leaves `compileFile`. */
import { programLimits } from "../program-limits.ts";
export class CodeTooLargeError extends Error {}

/** Counts what the functions of one program are compiled to, while they are compiled. */
export class CodeSize {
  #units = 0;

  get units(): number {
    return this.#units;
  }

  /** @throws {CodeTooLargeError} above `programLimits.codeSize`. */
  add(units: number): void {
    this.#units += units;
    if (this.#units > programLimits.codeSize) throw new CodeTooLargeError("The code is too large");
  }
}
