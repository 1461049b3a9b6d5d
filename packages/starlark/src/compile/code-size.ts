/** The size of the code of a program, and its limit. */

/** Most instructions, closures and captured variables that a program is compiled to. */
export const maxCodeSize = 1_000_000;

/** Thrown when a program is compiled to more than `maxCodeSize`; never leaves `compileFile`. */
export class CodeTooLargeError extends Error {}

/** Counts what the functions of one program are compiled to, while they are compiled. */
export class CodeSize {
  #units = 0;

  get units(): number {
    return this.#units;
  }

  /** @throws {CodeTooLargeError} above `maxCodeSize`. */
  add(units: number): void {
    this.#units += units;
    if (this.#units > maxCodeSize) throw new CodeTooLargeError("The code is too large");
  }
}
