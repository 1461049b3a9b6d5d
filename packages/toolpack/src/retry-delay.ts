/** How long to wait before a call is sent again. Knows no clock and no timer: it only says how long. */

import type { RateLimit } from "@toolcrib/toolspec";

/** Most times that a call is sent again. */
export const retriesMaxCount = 3;

const firstPauseMs = 500;
const pauseMaxMs = 8000;
const spreadMs = 250;

/**
 * Milliseconds before a call is sent again for the `attempt`th time, counted
 * from 0: what the service asks for, never less, else pauses that double.
 *
 * @param now milliseconds since the epoch
 * @param random in [0, 1), so that many callers do not come back in step
 */
export function retryDelayMs(
  attempt: number,
  rateLimit: RateLimit | undefined,
  now: number,
  random: number,
): number {
  const { retryAfterMs, retryAtMs } = rateLimit ?? {};
  const asked = retryAfterMs ?? (retryAtMs === undefined ? undefined : Math.max(0, retryAtMs - now));
  if (asked !== undefined) return asked + Math.round(random * spreadMs);
  return Math.round(Math.min(pauseMaxMs, firstPauseMs * 2 ** attempt) * (0.5 + random / 2));
}
