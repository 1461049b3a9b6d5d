/**
 * Places for parked calls, of several servers together and shared fairly among clients. Over HTTP nothing shows that the
 * client of a parked call is gone, so a call that waited for a minute gives its place to a newer one of the same client
 * when that client's share is full. One that came back is not disturbed: it has a minute to answer.
 */

import { FairShare, type ShareRefusal } from "@toolcrib/lifecycle";
import { UpstreamError } from "./upstream-error.ts";

/** Milliseconds for which a parked call keeps its place in any case. */
const keptMs = 60_000;

/** A call that has a place. */
export interface PlacedCall {
  /** Ends it and gives its place back. */
  end(reason: UpstreamError): void;
}

/** The places. */
export class ParkedPlaces {
  readonly #shares: FairShare;
  readonly #now: () => number;
  /** Calls by client, with the time since when they wait; those that run have none. */
  readonly #calls = new Map<string, Map<PlacedCall, number | undefined>>();

  constructor(max: number, now: () => number) {
    this.#now = now;
    this.#shares = new FairShare(max);
  }

  /** Takes a place for `call`. @returns why there is none */
  take(holder: string, call: PlacedCall): ShareRefusal | undefined {
    if (this.#shares.refusalFor(holder) !== undefined) this.#makeRoom(holder);
    const refusal = this.#shares.refusalFor(holder);
    if (refusal !== undefined) return refusal;
    this.#shares.take(holder);
    const calls = this.#calls.get(holder) ?? new Map<PlacedCall, number | undefined>();
    calls.set(call, undefined);
    this.#calls.set(holder, calls);
    return undefined;
  }

  /** Notes that `call` waits for its client from now on. */
  parked(holder: string, call: PlacedCall): void {
    const calls = this.#calls.get(holder);
    // Those that wait for longest come first.
    calls?.delete(call);
    calls?.set(call, this.#now());
  }

  /** Notes that `call` runs again. */
  continued(holder: string, call: PlacedCall): void {
    this.#calls.get(holder)?.set(call, undefined);
  }

  giveBack(holder: string, call: PlacedCall): void {
    const calls = this.#calls.get(holder);
    if (calls?.delete(call) !== true) return;
    if (calls.size === 0) this.#calls.delete(holder);
    this.#shares.giveBack(holder);
  }

  #makeRoom(holder: string): void {
    for (const [call, since] of this.#calls.get(holder) ?? []) {
      if (since === undefined || this.#now() - since < keptMs) continue;
      const text =
        "The question was not answered, and its call gave its place to a newer call of the same client";
      call.end(new UpstreamError("UPSTREAM_PARKED_LIMIT", text));
      return;
    }
  }
}
