/**
 * Counts messages of a server that break a limit. A server that repeats that is
 * quarantined: it is stopped, and its calls are refused until an operator
 * releases it, because each such message costs time and memory that others need.
 */

import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamLimits } from "./upstream-options.ts";

/** Milliseconds for which a message over a limit counts. @limit server */
const windowMs = 600_000;

/** The violations of one server. */
export class Quarantine {
  readonly #serverId: string;
  readonly #now: () => number;
  readonly #limits: Required<UpstreamLimits>;
  /** Times of the violations within the window. */
  #times: number[] = [];
  #error: UpstreamError | undefined;

  constructor(serverId: string, now: () => number, limits: Required<UpstreamLimits>) {
    this.#serverId = serverId;
    this.#now = now;
    this.#limits = limits;
  }

  /** The error of calls to a quarantined server; undefined for others. */
  get error(): UpstreamError | undefined {
    return this.#error;
  }

  /** Counts a violation. @returns the reason of the quarantine if it starts now */
  add(violation: string): string | undefined {
    const { quarantineAfter } = this.#limits;
    const now = this.#now();
    this.#times = [...this.#times.filter((time) => now - time < windowMs), now];
    if (this.#error !== undefined || this.#times.length < quarantineAfter) return undefined;
    const server = this.#serverId;
    const reason = `${this.#times.length} messages broke a limit, the last one: ${violation}`;
    const text = `The server "${server}" is quarantined: ${reason}`;
    const hint = `the operator can release it: toolcrib release ${server}`;
    this.#error = new UpstreamError("UPSTREAM_QUARANTINED", text, { hint, data: { server } });
    return reason;
  }

  /** Ends the quarantine. @returns whether there was one */
  end(): boolean {
    const wasActive = this.#error !== undefined;
    this.#error = undefined;
    this.#times = [];
    return wasActive;
  }
}
