/**
 * Lets running programs take turns: in one turn of the event loop, one program is
 * compiled or runs for a slice (5 ms). Without turns, each of 256 programs would run
 * for a slice before anything else does, and calls of other clients would wait for
 * more than a second. Clients come in turn too, however many programs each runs.
 *
 * A program that runs alone does not wait.
 */

/** The turns of the programs of one host. */
export class ProgramTurns {
  readonly #nextTurn: () => Promise<void>;
  /** The waiting programs of each client; the client whose turn is next is the first one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Whether a program has had this turn of the event loop. */
  #isTaken = false;

  /** @param nextTurn resolves in the next turn of the event loop. */
  constructor(nextTurn: () => Promise<void>) {
    this.#nextTurn = nextTurn;
  }

  /** Asks to start or continue a program of `client`, an `identityKey`, in this turn. @returns a promise for its turn; undefined if it has it */
  start(client: string): Promise<void> | undefined {
    if (this.#isTaken) return this.#wait(client);
    this.#take();
    return undefined;
  }

  /** Waits for a later turn of the event loop that is the program's. */
  next(client: string): Promise<void> {
    if (!this.#isTaken) this.#take();
    return this.#wait(client);
  }

  #wait(client: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(client);
      if (own === undefined) this.#waiting.set(client, [resolve]);
      else own.push(resolve);
    });
  }

  #take(): void {
    this.#isTaken = true;
    this.#nextTurn().then(() => {
      this.#isTaken = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    for (const [client, own] of this.#waiting) {
      const start = own.shift();
      this.#waiting.delete(client);
      // The client has had its turn, so it moves to the end.
      if (own.length > 0) this.#waiting.set(client, own);
      this.#take();
      start?.();
      return;
    }
  }
}
