/**
 * The progress of several inner calls as that of the one call around them: calls
 * that ended, and the parts of those under way. It never goes back, whatever the
 * tools report. Pure but for the function that it is given.
 */

import type { JsonObject } from "@toolcrib/json";

/** The progress of one inner call. */
export interface ProgressPart {
  /** Take `progress`, `total` and `message` as the tool reported them. */
  report(params: JsonObject): void;
  end(): void;
}

/** Adds up; `progress` of what it sends counts inner calls. */
export interface ProgressSum {
  begin(name: string): ProgressPart;
}

/** Add up the progress of inner calls, and send the sum whenever it grows. */
export function createProgressSum(send: (params: JsonObject) => void): ProgressSum {
  let ended = 0;
  let parts = 0;
  let last = 0;

  function tell(message: string): void {
    const progress = Math.round((ended + parts) * 1000) / 1000;
    if (progress <= last) return;
    last = progress;
    send({ progress, message });
  }

  return {
    begin(name) {
      let part = 0;
      return {
        report({ progress, total, message }) {
          const next = Math.max(part, fractionOf(progress, total));
          parts += next - part;
          part = next;
          tell(typeof message === "string" ? `${name}: ${message}` : name);
        },
        end() {
          parts -= part;
          part = 0;
          ended += 1;
          tell(name);
        },
      };
    },
  };
}

/** How much of a call is done: less than 1 until it ended. */
function fractionOf(progress: unknown, total: unknown): number {
  if (typeof progress !== "number" || !(progress > 0)) return 0;
  // Without a total, nobody knows how much is left: it draws near to the end and never gets there.
  const fraction = typeof total === "number" && total > 0 ? progress / total : progress / (progress + 1);
  return Math.min(fraction, 0.99);
}
