/**
 * The size of the code of a program.
 */

/** Thrown when the code of a program exceeds `programLimits.codeSize`; never leaves `compileFile`. */
import { programLimits } from "../program-limits.ts";
export class CodeTooLargeError extends Error {}

/** Counts the instructions, closures and captured variables of a program while it is compiled. */
export class CodeSize {
  #units = 0;

  get units(): number {
    return this.#units;
  }

  /** @throws {CodeTooLargeError} if the total exceeds `programLimits.codeSize`. */
  add(units: number): void {
    this.#units += units;
    if (this.#units > programLimits.codeSize) throw new CodeTooLargeError("The code is too large");
  }
}
