/**
 * Limits the work for one input, or for the texts of one value or the pieces of
 * one stream together. Most inputs need a small part of a step for
 * each unit. A text that is made of partial matches of a secret, plain or
 * encoded, would need as many steps as the product of both lengths: a secret
 * can come from the program that also writes the text. When the budget is used
 * up, a matcher takes the rest of the input for a secret.
 */

/** For inputs of a few units. */
const stepsAtLeast = 1 << 16;
/** For each of the first units. */
const stepsPerUnit = 32;
const firstUnits = 1 << 17;
/** For each further unit, in which an honest text has few places that resemble a secret. */
const stepsPerFurtherUnit = 0.5;
/** A secret that was found gives back this for each of its units, since the search continues after it. */
const refundPerUnit = 2;

/** The steps that are left for an input. */
export class WorkBudget {
  #left = stepsAtLeast;
  /** Number of first units that can still come. */
  #firstUnits = firstUnits;

  /** Adds the steps for `length` more units. */
  extend(length: number): void {
    const first = Math.min(length, this.#firstUnits);
    this.#firstUnits -= first;
    this.#left += stepsPerUnit * first + stepsPerFurtherUnit * (length - first);
  }

  get isUsedUp(): boolean {
    return this.#left < 0;
  }

  /** Takes the steps of an attempt. */
  use(steps: number): void {
    this.#left -= steps;
  }

  /** Gives back steps that found `length` units of a secret. */
  refundFound(steps: number, length: number): void {
    this.refund(Math.min(steps, refundPerUnit * length));
  }

  /** Gives back steps that have to be repeated with more input. */
  refund(steps: number): void {
    this.#left += steps;
  }
}
