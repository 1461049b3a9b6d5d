/** Counts work in flight, so that a limit can be checked and disposal can wait for the end of it. */

/** A number of operations that have started and not ended. */
export class InFlight {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;

  /** Operations that have started and not ended. */
  get count(): number {
    return this.#count;
  }

  /** Counts `operations` more. Each is followed by one `leave`. @param operations @default 1 */
  enter(operations = 1): void {
    this.#count += operations;
    this.#next?.resolve();
    this.#next = undefined;
  }

  /** Resolves when the next operation starts. */
  next(): Promise<void> {
    this.#next ??= Promise.withResolvers();
    return this.#next.promise;
  }

  /** Counts `operations` less. @param operations @default 1 */
  leave(operations = 1): void {
    this.#count -= operations;
    if (this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Resolves when nothing is in flight, at once if nothing is. Operations that start meanwhile are waited for too. */
  async idle(): Promise<void> {
    while (this.#count > 0) {
      this.#idle ??= Promise.withResolvers();
      await this.#idle.promise;
    }
  }
}
