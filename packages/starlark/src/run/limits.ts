/**
 * The limits of an execution. Every one is finite, and every one but the wall
 * time ends the same program at the same place on every machine.
 */

/** What an execution may use. */
export interface Limits {
  /** Most steps: one for each part of an expression or statement evaluated, and for work in proportion to sizes. @default 10,000,000 */
  readonly steps: number;
  /** Most live bytes on the simulated heap. @default 134,217,728 (128 MiB) */
  readonly memoryBytes: number;
  /** Most calls within calls. @default 200 */
  readonly depth: number;
  /** Most bytes (UTF-16 units) that `print` may write. @default 1,048,576 */
  readonly outputBytes: number;
  /** Most milliseconds from start to end, waiting included. @default 30,000 */
  readonly wallMs: number;
  /** Most milliseconds that the host's event loop is held before the thread lets go. @default 5 */
  readonly sliceMs: number;
}

/** The limits where the host says nothing. */
export const defaultLimits: Limits = {
  steps: 10_000_000,
  memoryBytes: 128 * 1024 * 1024,
  depth: 200,
  outputBytes: 1024 * 1024,
  wallMs: 30_000,
  sliceMs: 5,
};

/** The ceilings: a larger limit is refused, since the counters would leave the range in which they are exact and quick. */
export const limitCeilings: Limits = {
  steps: 1_000_000_000_000,
  memoryBytes: 1024 * 1024 * 1024,
  depth: 200_000,
  outputBytes: 1024 * 1024 * 1024,
  wallMs: 24 * 60 * 60 * 1000,
  sliceMs: 10_000,
};
