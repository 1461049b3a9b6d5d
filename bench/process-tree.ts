/**
 * Reads the CPU time and resident memory of a process and its descendants from
 * Linux's /proc. On other systems the results are `undefined`.
 *
 * It never signals a process; children.ts does.
 */

import { readdirSync, readFileSync } from "node:fs";

/** Linux counts process times in USER_HZ, which is 100 a second on every supported architecture. */
const ticksPerSecond = 100;

/** One process, from /proc. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  /** User and system time of the process itself, in ms. */
  readonly cpuMs: number;
  /** Start time in ticks after boot: with the pid it names one process for good. */
  readonly startTicks: number;
  readonly commandLine: string;
  /** Ended, but its parent has not asked for its exit code yet. */
  readonly zombie: boolean;
}

/** The total of a process tree. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The part of the resident memory that no file is mapped to. */
  readonly ownBytes: number;
}

function readEntry(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    const fields = fieldsOf(stat);
    const field = (numberInManual: number): number => Number(fields[numberInManual - 3]);
    return {
      pid,
      parentPid: field(4),
      cpuMs: cpuMsOf(fields),
      startTicks: field(22),
      commandLine,
      zombie: fields[0] === "Z",
    };
  } catch {
    // The process ended between the listing and the read, or there is no /proc.
    return undefined;
  }
}

/** The process and its descendants, parents first; empty where there is no /proc. */
export function readTree(rootPid: number): readonly ProcessEntry[] {
  let pids: number[];
  try {
    pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
  const children = new Map<number, ProcessEntry[]>();
  const tree: ProcessEntry[] = [];
  for (const pid of pids) {
    const entry = readEntry(pid);
    if (entry === undefined) continue;
    if (pid === rootPid) tree.push(entry);
    children.set(entry.parentPid, [...(children.get(entry.parentPid) ?? []), entry]);
  }
  for (const entry of tree) tree.push(...(children.get(entry.pid) ?? []));
  return tree;
}

/** CPU time in ms of each thread of a process whose name begins with `prefix`, by its id; none where there is no /proc. */
export function readThreads(pid: number, prefix: string): ReadonlyMap<string, number> {
  const threads = new Map<string, number>();
  try {
    for (const id of readdirSync(`/proc/${pid}/task`)) {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, "latin1");
      if (stat.slice(stat.indexOf("(") + 1).startsWith(prefix)) threads.set(id, cpuMsOf(fieldsOf(stat)));
    }
  } catch {
    // A thread ended meanwhile, or there is no /proc.
  }
  return threads;
}

/** Returns the fields of a stat file from the third one on: the name of a command may hold spaces and parentheses. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Returns user and system time, the fields 14 and 15. */
function cpuMsOf(fields: readonly string[]): number {
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Whether the process that was read still exists, and is not a later one with the same id. */
export function isAlive(entry: ProcessEntry): boolean {
  const now = readEntry(entry.pid);
  return now !== undefined && !now.zombie && now.startTicks === entry.startTicks;
}

/** The greatest resident memory that the process had; 0 where there is no /proc. */
export function memoryPeakBytesOf(pid: number): number {
  return sizeOf(pid, "VmHWM");
}

/** One of the sizes that the status of a process has; 0 where there is no /proc. */
function sizeOf(pid: number, field: "VmHWM" | "VmRSS" | "RssAnon"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Measures a contender without its upstream: descendants whose command line
 * names `upstreamFile` do not count (the contender's own command line may name
 * it too, and counts).
 */
export function readUsage(rootPid: number, upstreamFile: string): Usage | undefined {
  const counted = readTree(rootPid).filter(
    (entry) => entry.pid === rootPid || !entry.commandLine.includes(upstreamFile),
  );
  if (counted.length === 0) return undefined;
  return {
    cpuMs: counted.reduce((sum, entry) => sum + entry.cpuMs, 0),
    rssBytes: counted.reduce((sum, entry) => sum + sizeOf(entry.pid, "VmRSS"), 0),
    ownBytes: counted.reduce((sum, entry) => sum + sizeOf(entry.pid, "RssAnon"), 0),
  };
}
