/**
 * Limits the messages that each client gets from servers, which can send them
 * without end: progress, log messages and updates of resources. Progress and logs
 * over the limit are dropped, because they carry no result; updates wait. No timer.
 */

/** Messages that a client gets per second. */
const perSecond = 1000;
/** Messages that a client gets at once after a pause. */
const burst = 2000;
/** Clients that are remembered; those that got no message for a while are forgotten first. */
const maxClients = 1000;

/** The recent messages of each client. */
export class RelayLimit {
  readonly #now: () => number;
  readonly #clients = new Map<string, { left: number; at: number }>();

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a message to `client`. @returns whether it may be sent */
  allows(client: string): boolean {
    const now = this.#now();
    const known = this.#clients.get(client) ?? { left: burst, at: now };
    const elapsedMs = Math.max(0, now - known.at);
    known.left = Math.min(burst, known.left + (elapsedMs * perSecond) / 1000);
    known.at = now;
    // The clients are in the order of their last message.
    this.#clients.delete(client);
    this.#clients.set(client, known);
    if (this.#clients.size > maxClients) this.#clients.delete(this.#clients.keys().next().value ?? "");
    if (known.left < 1) return false;
    known.left -= 1;
    return true;
  }
}
