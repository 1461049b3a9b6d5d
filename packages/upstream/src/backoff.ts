/** Growing pauses between attempts that fail. No clock and no timer: it only says how long. */

import type { UpstreamLimits } from "./upstream-options.ts";

/** Counts failures in a row. */
export interface Backoff {
  /** Failures since the last success. */
  readonly failures: number;
  /** Count a failure. @returns milliseconds to wait before the next attempt */
  failed(): number;
  succeeded(): void;
}

/** Pauses from `reconnectMinMs` to `reconnectMaxMs`, doubled each time. @param random in [0, 1) */
export function createBackoff(
  limits: Pick<Required<UpstreamLimits>, "reconnectMinMs" | "reconnectMaxMs">,
  random: () => number,
): Backoff {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    failed() {
      const pauseMs = Math.min(limits.reconnectMaxMs, limits.reconnectMinMs * 2 ** Math.min(failures, 30));
      failures += 1;
      // Half of the pause is spread, so that many servers of one host do not come back in step.
      return Math.round(pauseMs * (0.5 + random() / 2));
    },
    succeeded() {
      failures = 0;
    },
  };
}
