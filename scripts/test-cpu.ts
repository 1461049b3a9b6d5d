/** CPU time of this process and of the processes that it has started. */

import { readFileSync } from "node:fs";

/** Duration of a clock tick of `/proc`, in milliseconds: `USER_HZ` is 100 on every platform that Node runs on. */
const tickMs = 10;

/**
 * Returns the CPU time in milliseconds, user and system, that this process has
 * used, and the processes below it that have ended and that their parents have
 * waited for. Elsewhere than on Linux it returns the time of this process alone.
 */
export function cpuWithChildrenMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs();
}

/** Reads `cutime` and `cstime` of proc_pid_stat(5). */
function childrenMs(): number {
  if (process.platform !== "linux") return 0;
  const text = readFileSync("/proc/self/stat", "utf8");
  // The second field is the name in parentheses, which can contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Fields 16 and 17 of the page; the third is the first after the name.
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}
