/** A clock with the fractions of a millisecond that calls take, which does not jump back within a call. */

/** Milliseconds by which the clock of the machine can differ before this one follows it. */
const driftMaxMs = 500;

/** Milliseconds since the epoch. */
export class SteadyClock {
  readonly #now: () => number;
  readonly #monotonicMs: () => number;
  #offset: number;

  constructor(now: () => number, monotonicMs: () => number) {
    this.#now = now;
    this.#monotonicMs = monotonicMs;
    this.#offset = now() - monotonicMs();
  }

  now(): number {
    const elapsed = this.#monotonicMs();
    const machine = this.#now();
    // The machine was suspended, or its clock was set.
    if (Math.abs(machine - (elapsed + this.#offset)) > driftMaxMs) this.#offset = machine - elapsed;
    return elapsed + this.#offset;
  }
}
