/**
 * Counts requests or streams that are open, of all clients together and of each
 * one, so that one client gets at most half of a limit and the next always finds
 * room. See `FairShare` of the `lifecycle` package.
 */

import { FairShare, InFlight, type ShareRefusal } from "@toolcrib/lifecycle";

/** Open requests or streams. */
export class ClientCounts {
  readonly #open = new InFlight();
  readonly #shares: FairShare;

  /** @param max open at a time, of all clients. */
  constructor(max: number) {
    this.#shares = new FairShare(max);
  }

  get count(): number {
    return this.#open.count;
  }

  /** Returns why `client`, an `identityKey`, cannot open another one; undefined if it can. */
  refusalFor(client: string): ShareRefusal | undefined {
    return this.#shares.refusalFor(client);
  }

  enter(client: string, count = 1): void {
    this.#open.enter(count);
    this.#shares.take(client, count);
  }

  leave(client: string, count = 1): void {
    this.#shares.giveBack(client, count);
    this.#open.leave(count);
  }

  /** Resolves when none is open. */
  idle(): Promise<void> {
    return this.#open.idle();
  }
}
