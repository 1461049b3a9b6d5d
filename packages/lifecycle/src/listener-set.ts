/** Listeners of one event. No queue and no replay: a listener hears what is emitted while it is in the set. */

/**
 * The listeners of one event with the arguments `Arguments`.
 *
 * ```ts
 * const changes = new ListenerSet<[change: Change]>();
 * const unsubscribe = changes.add((change) => render(change));
 * changes.emit({ kind: "added" });
 * ```
 */
export class ListenerSet<Arguments extends readonly unknown[] = []> {
  readonly #listeners = new Set<{ readonly notify: (...values: Arguments) => void }>();

  /** Number of listeners. */
  get size(): number {
    return this.#listeners.size;
  }

  /**
   * Adds `listener`. A function that is added twice is called twice.
   *
   * @returns a function that removes it; safe to repeat.
   */
  add(listener: (...values: Arguments) => void): () => void {
    const entry = { notify: listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /**
   * Calls every listener, in the order in which they were added.
   *
   * A listener that is removed by an earlier one is not called; one that is added meanwhile is not called either.
   *
   * @throws the first error that a listener threw, after all listeners were called.
   */
  emit(...values: Arguments): void {
    const errors: unknown[] = [];
    for (const entry of [...this.#listeners]) {
      if (!this.#listeners.has(entry)) continue;
      try {
        entry.notify(...values);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Removes all listeners. */
  clear(): void {
    this.#listeners.clear();
  }
}
