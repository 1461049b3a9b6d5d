/** How a server's process ended, for programs and for people. */

/** The end of a server, reported when nothing of it is left. */
export interface ProcessExit {
  /** Exit code; absent when a signal ended it. */
  readonly code: number | undefined;
  /** Signal that ended it; absent when it exited. */
  readonly signal: NodeJS.Signals | undefined;
  /** Milliseconds from launch to end. */
  readonly ranMs: number;
  /** Whether `stop()` had been called. */
  readonly wasStopped: boolean;
  /** Processes that it left behind and that were ended for it. */
  readonly orphanCount: number;
  /** Pids that even SIGKILL did not end within 5 s. Empty, unless the kernel holds one (a dead disk) or it runs as another user. */
  readonly leftover: readonly number[];
  /**
   * The line of standard error that says most about the end, at most 500
   * characters. The server's own words: scrub them before they leave the gateway.
   */
  readonly lastStderr: string | undefined;
  /** All that as people read it: `exited with code 1 after 120 ms; last stderr: Error: no token`. */
  readonly description: string;
}

/** What is known of an end, in words. */
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

const lookedAtMaxCount = 40;
const shownMaxLength = 500;

/** Of `lines`, the last that looks like an error (stack traces end in lines that say little), else the last with text. */
export function mostTellingLine(lines: readonly string[]): string | undefined {
  const candidates = lines.slice(-lookedAtMaxCount).filter((line) => line.trim() !== "");
  const line =
    candidates.findLast((candidate) => /(error|exception|fatal|panic)\b/i.test(candidate)) ??
    candidates.at(-1);
  if (line === undefined) return undefined;
  const text = line.trim();
  return text.length > shownMaxLength ? `${text.slice(0, shownMaxLength)}…` : text;
}
