/**
 * The limits of an execution. Every limit is finite. Except for the wall time, each
 * one ends a given program at the same operation on every machine.
 */

/** Resources that an execution may use. */
export interface Limits {
  /** Maximum steps: one for each evaluated expression or statement, and more for work on large values. @default 10,000,000 */
  readonly steps: number;
  /** Maximum live bytes on the simulated heap. @default 134,217,728 (128 MiB) */
  readonly memoryBytes: number;
  /** Maximum depth of nested calls. @default 200 */
  readonly depth: number;
  /** Maximum bytes (UTF-16 units) that `print` may write. @default 1,048,576 */
  readonly outputBytes: number;
  /** Maximum milliseconds from start to end, including waits. @default 30,000 */
  readonly wallMs: number;
  /**
   * Maximum milliseconds for which the thread blocks the event loop before it yields.
   * An operation on a large text or collection yields between its parts. A single sort,
   * comparison, copy or JSON conversion of a value does not; its duration is limited by
   * `steps` and `memoryBytes`. @default 5
   */
  readonly sliceMs: number;
}

/** The default limits. */
export const defaultLimits: Limits = {
  steps: 10_000_000,
  memoryBytes: 128 * 1024 * 1024,
  depth: 200,
  outputBytes: 1024 * 1024,
  wallMs: 30_000,
  sliceMs: 5,
};

/** The largest values that are accepted. Above them, the counters would no longer be exact and fast. */
export const limitCeilings: Limits = {
  steps: 1_000_000_000_000,
  memoryBytes: 1024 * 1024 * 1024,
  depth: 200_000,
  outputBytes: 1024 * 1024 * 1024,
  wallMs: 24 * 60 * 60 * 1000,
  sliceMs: 10_000,
};
