/**
 * The host of the measured threads: clock, event loop and timers, as in a gateway.
 */

import { setImmediate } from "node:timers/promises";
import type { ThreadHost } from "@toolcrib/starlark";

export const host: ThreadHost = {
  monotonicMs: () => performance.now(),
  nextTurn: () => setImmediate(),
  startTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
