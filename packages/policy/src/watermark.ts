/**
 * The labels of the data that a run of calls has received. It only grows, and a run
 * has one for all of its calls: whatever a program does with a value (copies it,
 * counts it, decides by it), its later calls and its result carry the labels.
 */

/** Labels that only grow. */
export class Watermark {
  readonly #labels = new Set<string>();
  #sorted: readonly string[] = [];

  /** In alphabetical order; the same object while nothing is added. */
  get labels(): readonly string[] {
    return this.#sorted;
  }

  /** Adds labels. */
  add(labels: readonly string[]): void {
    const before = this.#labels.size;
    for (const label of labels) this.#labels.add(label);
    if (this.#labels.size > before) this.#sorted = [...this.#labels].sort();
  }
}
