/**
 * Lets running programs take turns: in one turn of the event loop, one program is
 * compiled or runs for a slice (5 ms). Without turns, each of 256 programs would run
 * for a slice before anything else does: replies to inner calls, and in the event loop
 * of a gateway, which compiles programs, calls of other clients. Clients come in turn
 * too, however many programs each runs.
 *
 * A call passes through several turns of the event loop. While clients that run no
 * program have calls in flight, each slice is therefore followed by a rest, until
 * the event loop has time to spare. A program that runs alone does not wait.
 */

/** Dependencies of `ProgramTurns`. */
export interface ProgramTurnsDeps {
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Whether clients other than `clients` have calls in flight. @default there are no other calls */
  readonly hasOtherCalls?: ((clients: Iterable<string>) => boolean) | undefined;
  /** Resolves when the event loop has time to spare, after `maxMs` at the latest. @default there is no rest */
  readonly untilIdle?: ((maxMs: number) => Promise<void>) | undefined;
}

/** The longest rest, as a multiple of the time of the slice before it. */
const restFactor = 2;
/** The longest rest in milliseconds. */
const restMaxMs = 50;

/** The turns of the programs of one host. */
export class ProgramTurns {
  readonly #deps: ProgramTurnsDeps;
  /** The waiting programs of each client; the client whose turn is next is the first one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Whether a program has had this turn of the event loop. */
  #isTaken = false;

  constructor(deps: ProgramTurnsDeps) {
    this.#deps = deps;
  }

  /** Asks to start or continue a program of `client`, an `identityKey`, in this turn. @returns a promise for its turn; undefined if it has it */
  start(client: string): Promise<void> | undefined {
    if (this.#isTaken) return this.#wait(client);
    void this.#take();
    return undefined;
  }

  /** Waits for a later turn of the event loop that is the program's. */
  next(client: string): Promise<void> {
    if (!this.#isTaken) void this.#take();
    return this.#wait(client);
  }

  #wait(client: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(client);
      if (own === undefined) this.#waiting.set(client, [resolve]);
      else own.push(resolve);
    });
  }

  async #take(): Promise<void> {
    const { nextTurn, monotonicMs, hasOtherCalls, untilIdle } = this.#deps;
    this.#isTaken = true;
    const startedAt = monotonicMs();
    await nextTurn();
    const isWanted = this.#waiting.size > 0 && hasOtherCalls?.(this.#waiting.keys()) === true;
    if (isWanted) await untilIdle?.(Math.min(restFactor * (monotonicMs() - startedAt), restMaxMs));
    this.#isTaken = false;
    this.#startNext();
  }

  #startNext(): void {
    for (const [client, own] of this.#waiting) {
      const start = own.shift();
      this.#waiting.delete(client);
      // The client has had its turn, so it moves to the end.
      if (own.length > 0) this.#waiting.set(client, own);
      void this.#take();
      start?.();
      return;
    }
  }
}
