/**
 * Sums the progress of inner calls to that of the enclosing call: ended calls, and
 * fractions of those in flight. The sum never decreases. Pure except for `send`.
 */

import type { JsonObject } from "@toolcrib/json";

/** The progress of one inner call. */
export interface ProgressPart {
  /** Reports `progress`, `total` and `message` of the tool. */
  report(params: JsonObject): void;
  end(): void;
}

/** Sums progress. The sent `progress` counts inner calls. */
export interface ProgressSum {
  begin(name: string): ProgressPart;
}

/** Creates the sum. It is sent whenever it increases. */
export function createProgressSum(send: (params: JsonObject) => void): ProgressSum {
  let ended = 0;
  let parts = 0;
  let last = 0;

  function emit(message: string): void {
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
          emit(typeof message === "string" ? `${name}: ${message}` : name);
        },
        end() {
          parts -= part;
          part = 0;
          ended += 1;
          emit(name);
        },
      };
    },
  };
}

/** Returns the completed fraction of a call: less than 1 until it ends. */
function fractionOf(progress: unknown, total: unknown): number {
  if (typeof progress !== "number" || !(progress > 0)) return 0;
  // Without a total, the fraction approaches 1 and never reaches it.
  const fraction = typeof total === "number" && total > 0 ? progress / total : progress / (progress + 1);
  return Math.min(fraction, 0.99);
}
