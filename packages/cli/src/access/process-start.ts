/**
 * Finds the time at which a process started, as Linux reports it: the id of a process is used again, for process 1 of a container at each
 * start, and a file that names one can be left by another.
 */

import { readFileSync } from "node:fs";

/** Index of the start time among the fields of `/proc/PID/stat` after the name (proc_pid_stat(5)). */
const startField = 19;

/** Returns what no other process with the same id has on this machine; undefined without `/proc` and after its end. */
export function processStartOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and can contain any character, so the last parenthesis ends it.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[startField];
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return ticks === undefined ? undefined : `${boot} ${ticks}`;
  } catch {
    return undefined;
  }
}
