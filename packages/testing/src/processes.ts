/**
 * Checks processes: whether one runs, and which ones a test left behind. Reads
 * /proc on systems that have it; never sends a signal.
 */

import { readdirSync, readFileSync } from "node:fs";

/** Whether `findProcessesByEnvironment` works on this system. */
export const canFindProcesses = process.platform === "linux";

/** A running process. */
export interface FoundProcess {
  readonly pid: number;
  /** The command line, arguments separated by spaces. */
  readonly command: string;
}

/** Whether process `pid` runs. A process that has ended and was not collected yet (a zombie) does not run. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return process.platform !== "linux" || stateOf(pid) !== "Z";
}

/**
 * Returns the processes that were started with `marker` in their environment, such
 * as `TOOLCRIB_TEST_MARKER=4f1c`, except this one: children and their descendants,
 * also after their parents have ended.
 *
 * @throws on systems without /proc: a test must skip, not pass, there (`canFindProcesses`).
 */
export function findProcessesByEnvironment(marker: string): FoundProcess[] {
  if (!canFindProcesses) throw new Error("Cannot find processes by environment: /proc is needed");
  const found: FoundProcess[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    if (readProc(pid, "environ").split("\0").includes(marker) && stateOf(pid) !== "Z") {
      found.push({ pid, command: readProc(pid, "cmdline").split("\0").join(" ").trim() });
    }
  }
  return found;
}

/** Returns the state letter of a process (`Z` for a zombie). */
function stateOf(pid: number): string {
  // The name before it is in parentheses and can contain parentheses.
  const stat = readProc(pid, "stat");
  return stat === "" ? "Z" : stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

/** Reads a file of a process; returns an empty text if the process has ended or the file is not readable. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
