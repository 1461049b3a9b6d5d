/**
 * Looking at processes: whether one lives, and which ones a test left behind.
 * Reads /proc where there is one; never signals anything.
 */

import { readdirSync, readFileSync } from "node:fs";

/** Whether `findProcessesByEnvironment` works on this system. */
export const canFindProcesses = process.platform === "linux";

/** A process that still runs. */
export interface FoundProcess {
  readonly pid: number;
  /** Its command line, arguments separated by spaces. */
  readonly command: string;
}

/** Whether process `pid` runs. One that ended and was not waited for yet does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It exists but belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return process.platform !== "linux" || stateOf(pid) !== "Z";
}

/**
 * The processes that were started with `marker` in their environment, such as
 * `TOOLCRIB_TEST_MARKER=4f1c`, except this one: children and whatever they
 * started, also after their parents ended.
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

/** The state letter of a process (`Z` for one that ended and was not waited for). */
function stateOf(pid: number): string {
  // The name before it is in parentheses and may itself hold some.
  const stat = readProc(pid, "stat");
  return stat === "" ? "Z" : stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

/** A file of a process; empty when it has ended meanwhile or is not ours to read. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
