/** Computes the delay before a retry. Pure: uses no clock and no timer. */

import type { RateLimit } from "@toolcrib/toolspec";

/** Maximum number of retries of a call. @limit server */
export const retriesMaxCount = 3;

const firstPauseMs = 500;
const pauseMaxMs = 8000;
const spreadMs = 250;

/**
 * Returns the delay in milliseconds before retry number `attempt`, counted from
 * 0: at least the delay that the service requests, or else exponential backoff.
 *
 * @param now milliseconds since the epoch
 * @param random in [0, 1); spreads the retries of many callers
 */
export function retryDelayMs(
  attempt: number,
  rateLimit: RateLimit | undefined,
  now: number,
  random: number,
): number {
  const { retryAfterMs, retryAtMs } = rateLimit ?? {};
  const requestedMs = retryAfterMs ?? (retryAtMs === undefined ? undefined : Math.max(0, retryAtMs - now));
  if (requestedMs !== undefined) return requestedMs + Math.round(random * spreadMs);
  return Math.round(Math.min(pauseMaxMs, firstPauseMs * 2 ** attempt) * (0.5 + random / 2));
}
