/** The last lines of a server's standard error, across its last two processes: the older one holds the reason of the last end. */

import type { LaunchedProcess } from "@toolcrib/process";

/** Standard error of the current and the previous process of one server. */
export class StderrTail {
  #current: LaunchedProcess | undefined;
  #previous: LaunchedProcess | undefined;

  /** Continues with a new process. */
  follow(process: LaunchedProcess): void {
    this.#previous = this.#current;
    this.#current = process;
  }

  /** Returns the last lines, oldest first. */
  tail(lineCount: number): readonly string[] {
    const lines = this.#current?.stderr.tail(lineCount) ?? [];
    const missing = lineCount - lines.length;
    return missing <= 0 ? lines : [...(this.#previous?.stderr.tail(missing) ?? []), ...lines];
  }
}
