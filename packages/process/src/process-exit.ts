/** The end of a launched process, for programs and for people. */

/** The end of a launched process, reported after all of its descendants have ended. */
export interface ProcessExit {
  /** Exit code; absent when a signal ended the process. */
  readonly code: number | undefined;
  /** Signal that ended the process; absent when it exited. */
  readonly signal: NodeJS.Signals | undefined;
  /** Milliseconds from launch to end. */
  readonly ranMs: number;
  /** Whether `stop()` had been called. */
  readonly wasStopped: boolean;
  /** Number of processes that it left behind, which were then ended. */
  readonly orphanCount: number;
  /** Pids that SIGKILL did not end within 5 s: processes that the kernel blocks, or that run as another user. */
  readonly leftover: readonly number[];
  /**
   * The most informative of the last lines of standard error, at most 500
   * characters. It can contain secrets unless the launch has a `scrub` function.
   */
  readonly lastStderr: string | undefined;
  /** A description for people: `exited with code 1 after 120 ms; last stderr: Error: no token`. */
  readonly description: string;
}

/** Describes an end for people. */
export function describeExit(exit: Omit<ProcessExit, "description">): string {
  const how = exit.signal === undefined ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  const last = exit.lastStderr === undefined ? "" : `; last stderr: ${exit.lastStderr}`;
  return `${how} after ${toDuration(exit.ranMs)}${last}`;
}

function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

/** Lines at the end that are considered. */
const candidatesMaxCount = 40;
const shownMaxLength = 500;

/** Lines that point to more output, and say nothing themselves. */
const pointerPattern = /\bcomplete log of this run\b|\bfor more information\b/i;
const errorPattern = /(error|exception|fatal|panic)\b/i;
/** The cause of an error, as Rust programs print it below the error. */
const causePattern = /^\s*(?:cause|caused by|\d+):\s*\S/i;

/**
 * Returns the last line that looks like an error, because the last lines of a
 * stack trace say little; else the last line with text. Causes that follow the
 * line are appended.
 */
export function mostInformativeLine(lines: readonly string[]): string | undefined {
  const candidates = lines
    .slice(-candidatesMaxCount)
    .filter((line) => line.trim() !== "" && !pointerPattern.test(line));
  const errorAt = candidates.findLastIndex((one) => errorPattern.test(one) && !causePattern.test(one));
  const at = errorAt === -1 ? candidates.length - 1 : errorAt;
  const found = candidates[at];
  if (found === undefined) return undefined;
  const causes = candidates.slice(at + 1).filter((one) => causePattern.test(one));
  const line = [found, ...causes].map((one) => one.trim()).join("; ");
  const text = line.trim();
  return text.length > shownMaxLength ? `${text.slice(0, shownMaxLength)}…` : text;
}
