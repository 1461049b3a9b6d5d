/** The host of the threads that are measured: clock, event loop and timers as a gateway would give them. */

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
