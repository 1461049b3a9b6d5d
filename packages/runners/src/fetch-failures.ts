/**
 * Fetches that failed. A server is started again and again, and each start would
 * fetch again: what cannot be fetched would be downloaded for ever. The next
 * attempt follows after a pause that doubles; until then the last error is thrown.
 */

import { isCodedError } from "@toolcrib/diagnostics";

/** Milliseconds of the first pause and of the longest one. */
const pause = { minMs: 10_000, maxMs: 600_000 } as const;

/** Errors about the contents of a package. */
const lastingCodes = ["PACKAGE_CHANGED", "PACKAGE_UNLOCKED", "RUNNER_COMMAND_INVALID"];

interface Failure {
  readonly error: unknown;
  readonly count: number;
  /** When another attempt may follow. */
  readonly until: number;
}

/** The last failure of each package. Keeps at most one for each package that the configuration names. */
export class FetchFailures {
  readonly #failures = new Map<string, Failure>();

  /** @throws the error of the last attempt, within its pause */
  check(key: string, now: number): void {
    const failure = this.#failures.get(key);
    if (failure !== undefined && now < failure.until) throw failure.error;
  }

  /** Remembers that an attempt failed. */
  add(key: string, error: unknown, now: number): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    // What a registry or a connection did can be different the next time; what the package contains cannot.
    const isLasting = isCodedError(error) && lastingCodes.includes(error.code);
    const ms = isLasting ? pause.maxMs : Math.min(pause.maxMs, pause.minMs * 2 ** Math.min(count - 1, 10));
    this.#failures.set(key, { error, count, until: now + ms });
  }

  /** Forgets the failures of a package that was fetched. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}
