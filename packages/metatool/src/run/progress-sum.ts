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

/** Sums progress. The sent `progress` counts inner calls. It is sent whenever it increases. */
export class ProgressSum {
  readonly #send: (params: JsonObject) => void;
  #ended = 0;
  #parts = 0;
  #last = 0;

  constructor(send: (params: JsonObject) => void) {
    this.#send = send;
  }

  /** Adds an inner call. */
  begin(name: string): ProgressPart {
    let part = 0;
    return {
      report: ({ progress, total, message }) => {
        const next = Math.max(part, fractionOf(progress, total));
        this.#parts += next - part;
        part = next;
        this.#emit(typeof message === "string" ? `${name}: ${message}` : name);
      },
      end: () => {
        this.#parts -= part;
        part = 0;
        this.#ended += 1;
        this.#emit(name);
      },
    };
  }

  #emit(message: string): void {
    const progress = Math.round((this.#ended + this.#parts) * 1000) / 1000;
    if (progress <= this.#last) return;
    this.#last = progress;
    this.#send({ progress, message });
  }
}

/** Returns the completed fraction of a call: less than 1 until it ends. */
function fractionOf(progress: unknown, total: unknown): number {
  if (typeof progress !== "number" || !(progress > 0)) return 0;
  // Without a total, the fraction approaches 1 and never reaches it.
  const fraction = typeof total === "number" && total > 0 ? progress / total : progress / (progress + 1);
  return Math.min(fraction, 0.99);
}
