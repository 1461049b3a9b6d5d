/** The last lines of a server's standard error, over its last two processes: why the last one ended is in the older. */

import type { LaunchedProcess } from "@toolcrib/process";

/** What a server said last. */
export interface StderrTail {
  /** A new process was launched. */
  follow(process: LaunchedProcess): void;
  /** The last lines, oldest first. */
  tail(lineCount: number): readonly string[];
}

/** Create an empty tail. */
export function createStderrTail(): StderrTail {
  let current: LaunchedProcess | undefined;
  let previous: LaunchedProcess | undefined;
  return {
    follow(process) {
      previous = current;
      current = process;
    },
    tail(lineCount) {
      const lines = current?.stderr.tail(lineCount) ?? [];
      const missing = lineCount - lines.length;
      return missing <= 0 ? lines : [...(previous?.stderr.tail(missing) ?? []), ...lines];
    },
  };
}
