/** Finds the leads of one input, in ascending order: the units that begin an escape. */

import { leadFlags, leads } from "./escape-reader.ts";
import type { Units } from "./form-matcher.ts";
import { WorkBudget } from "./work-budget.ts";

/** A loop finds leads that are near faster than a search for each does. */
const nearLength = 32;
const backslash = 0x5c;

/** Keeps the next position of each lead, and the work that is left. For one input, and for positions that do not decrease. */
export class LeadCursor {
  /** The units of a text, if it was converted. */
  units: Uint16Array | undefined;
  #budget: WorkBudget | undefined;
  readonly #text: string | undefined;
  #first = -1;
  #runEnd = -1;
  /** Created for long inputs. */
  #positions: number[] | undefined;

  /**
   * @param text the input, if it is a text
   * @param budget the work that is left for the input; by default it has a budget of its own
   */
  constructor(text?: string, budget?: WorkBudget) {
    this.#text = text;
    this.#budget = budget;
  }

  /** The work that is left for the input, whose number of units is `length`. */
  budgetFor(length: number): WorkBudget {
    if (this.#budget === undefined) {
      this.#budget = new WorkBudget();
      this.#budget.extend(length);
    }
    return this.#budget;
  }

  /** Returns the position of the first lead at or after `at`; the length of `input` if there is none. */
  next(input: Units, at: number): number {
    if (this.#first >= at) return this.#first;
    const flags = leadFlags;
    const near = Math.min(input.length, at + nearLength);
    let first = at;
    while (first < near && flags[input[first] as number] !== 1) first += 1;
    this.#first = first < near || near === input.length ? first : this.#search(input, near);
    return this.#first;
  }

  /** Returns the end of the run of backslashes that contains `at`. Reads each run once. */
  runEnd(input: Units, at: number): number {
    if (at < this.#runEnd) return this.#runEnd;
    let end = at + 1;
    while (end < input.length && input[end] === backslash) end += 1;
    this.#runEnd = end;
    return end;
  }

  #search(input: Units, at: number): number {
    this.#positions ??= [-1, -1, -1];
    const positions = this.#positions;
    let first = input.length;
    for (let index = 0; index < leads.length; index += 1) {
      let position = positions[index] as number;
      if (position < at) {
        position = this.#text?.indexOf(leads.charAt(index), at) ?? input.indexOf(leads.charCodeAt(index), at);
        if (position === -1) position = input.length;
        positions[index] = position;
      }
      if (position < first) first = position;
    }
    return first;
  }
}
