/**
 * Lets clients take turns while a process is busy. Requests that arrive together
 * are processed in the order in which the system reports them, so that one client
 * with many connections delays every request of the others by all of its own.
 * While several clients send requests, each starts a few in one turn of the event
 * loop, and its others wait for the next turns.
 *
 * Nothing waits while the process is not busy: a turn ends at once then. A single
 * client is never held back.
 */

/** Requests that a client starts in one turn of the event loop. */
const startsPerTurn = 4;
/** Milliseconds after a request of another client in which clients take turns. */
const mixedMs = 1000;

/** The turns of all clients. */
export class FairTurns {
  readonly #now: () => number;
  /** Requests that each client started in this turn. */
  readonly #started = new Map<string, number>();
  /** The waiting requests of each client; the client whose turn is next is the first one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #lastClient: string | undefined;
  #mixedUntil = 0;
  #isScheduled = false;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Asks to start a request of `client`. @returns a promise for its turn; undefined where it starts now */
  enter(client: string): Promise<void> | undefined {
    if (client !== this.#lastClient) {
      if (this.#lastClient !== undefined) this.#mixedUntil = this.#now() + mixedMs;
      this.#lastClient = client;
    }
    if (this.#waiting.size === 0 && (this.#mixedUntil === 0 || this.#now() >= this.#mixedUntil)) {
      this.#mixedUntil = 0;
      return undefined;
    }
    this.#schedule();
    const count = this.#started.get(client) ?? 0;
    const own = this.#waiting.get(client);
    if (own === undefined && count < startsPerTurn) {
      this.#started.set(client, count + 1);
      return undefined;
    }
    return new Promise((resolve) => {
      if (own === undefined) this.#waiting.set(client, [resolve]);
      else own.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#nextTurn();
    });
  }

  #nextTurn(): void {
    this.#started.clear();
    for (const [client, own] of this.#waiting) {
      const starting = own.splice(0, startsPerTurn);
      this.#started.set(client, starting.length);
      if (own.length === 0) this.#waiting.delete(client);
      for (const start of starting) start();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
