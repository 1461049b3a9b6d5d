/** Runs changes of one process one after another, so that they do not compete for the lock of the home. */

/** A queue of changes. */
export class ChangeQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `change` after the changes before it, whatever became of them. */
  run<R>(change: () => Promise<R>): Promise<R> {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when the changes that were queued are over. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
