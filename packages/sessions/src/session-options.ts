/** Dependencies and limits of the sessions of a home, and the defaults of the limits. */

import type { Logger } from "@toolcrib/diagnostics";

/** Dependencies of the sessions. */
export interface SessionStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Gets the failures that no caller waits for, and the files that cannot be used. */
  readonly logger: Pick<Logger, "warn">;
}

/** Limits of the sessions of a home. */
export interface SessionStoreLimits {
  /** Sessions of all gateways of the home; one client gets at most half of them. @default 10,000 */
  readonly maxSessions?: number;
  /** Events that are kept of one session. @default 256 */
  readonly maxEvents?: number;
  /** Events that are kept of one stream. @default 128 */
  readonly maxStreamEvents?: number;
  /** Bytes of the events that are kept of one session; its file can have twice as many before it is rewritten. @default 1,048,576 */
  readonly maxEventBytes?: number;
  /** Bytes of the events that are kept of one stream. @default 524,288 */
  readonly maxStreamBytes?: number;
  /** Bytes of the events of all sessions; one client gets at most half of them. @default 67,108,864 */
  readonly maxAllEventBytes?: number;
  /** Bytes of events that wait to be written; more are not kept. @default 8,388,608 */
  readonly maxPendingBytes?: number;
  /** Milliseconds that events wait to be written, so that those of a call that ends meanwhile need not be. @default 25 */
  readonly writeDelayMs?: number;
  /** Milliseconds between two records of the use of a session; it lives as much longer after a restart. @default 300,000 */
  readonly touchEveryMs?: number;
}

/** Completes `limits` with the defaults. */
export function resolveLimits(limits: SessionStoreLimits = {}): Required<SessionStoreLimits> {
  return {
    maxSessions: limits.maxSessions ?? 10_000,
    maxEvents: limits.maxEvents ?? 256,
    maxStreamEvents: limits.maxStreamEvents ?? 128,
    maxEventBytes: limits.maxEventBytes ?? 1024 * 1024,
    maxStreamBytes: limits.maxStreamBytes ?? 512 * 1024,
    maxAllEventBytes: limits.maxAllEventBytes ?? 64 * 1024 * 1024,
    maxPendingBytes: limits.maxPendingBytes ?? 8 * 1024 * 1024,
    writeDelayMs: limits.writeDelayMs ?? 25,
    touchEveryMs: limits.touchEveryMs ?? 300_000,
  };
}
