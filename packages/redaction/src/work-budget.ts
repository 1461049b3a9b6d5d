/**
 * Limits the work for one input, or for the texts of one value or the pieces of
 * one stream together. Most inputs need a small part of a step for
 * each unit. A text that is made of partial matches of a secret, plain or
 * encoded, would need as many steps as the product of both lengths: a secret
 * can come from the program that also writes the text. When the budget is used
 * up, a matcher takes the rest of the input for a secret.
 */

/** Steps of the search for secrets in any text, however short; the rest of one that uses up its steps is replaced. @limit server */
const stepsAtLeast = 65_536;
/** Further steps for each of the first units of a text. @limit server */
const stepsPerUnit = 32;
/** Number of these first units. @limit server */
const firstUnits = 131_072;
/** Units after them for each further step: an honest text has few places that resemble a secret. @limit server */
const furtherUnitsPerStep = 2;
/** Steps that a secret that was found gives back for each of its units, since the search continues after it. @limit server */
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
    this.#left += stepsPerUnit * first + (length - first) / furtherUnitsPerStep;
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
