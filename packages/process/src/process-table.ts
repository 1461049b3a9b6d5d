/**
 * What runs on this machine, as far as it matters here: who is whose parent,
 * in which group and session, since when, and with which marker in its environment.
 *
 * Linux reads `/proc`; elsewhere `ps` is asked, which shows the environment of
 * most of the user's own processes, though not of protected system binaries.
 * Never sends a signal, and never fails for a process that ends meanwhile.
 */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { instanceMarker, serverMarker } from "./child-env.ts";

/** One process that is alive; what ended and waits to be collected by its parent is left out. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** Its session; from `ps`, which does not show it everywhere, its group, which is part of one. */
  readonly sessionId: number;
  /** When it began, in a form that only equality means something for. With the pid, it names a process for good. */
  readonly startedAt: string;
  /** Values of `TOOLCRIB_INSTANCE` and `TOOLCRIB_SERVER` in the environment that it was started with. */
  readonly instance: string | undefined;
  readonly server: string | undefined;
  /** Its environment reads as empty: it has none, or it is in the middle of starting a program. */
  readonly isBare: boolean;
}

/** `proc`: the files below `/proc`. `ps`: the output of that program, where there is no `/proc`. */
export type ProcessTableSource = "proc" | "ps";

/** Where this machine's process table is read from. */
export function processTableSource(): ProcessTableSource {
  return existsSync("/proc/self/stat") ? "proc" : "ps";
}

/**
 * All processes that run now.
 *
 * @param since leaves out those that began earlier than this value of
 *   `startTicksOf`, which saves reading their environments. `/proc` only.
 */
export async function readProcessTable(
  source: ProcessTableSource = processTableSource(),
  since = 0,
): Promise<ProcessEntry[]> {
  return source === "proc" ? readProc(since) : readPs();
}

/** When process `pid` began, in clock ticks since the machine did; `undefined` without `/proc` or when it is gone. */
export function startTicksOf(pid: number): number | undefined {
  try {
    return Number(statFields(readFileSync(`/proc/${pid}/stat`, "latin1"))[startField]);
  } catch {
    return undefined;
  }
}

// Fields of /proc/<pid>/stat (proc_pid_stat(5)) behind the name: state is the third of all and the first here.
const stateField = 0;
const parentField = 1;
const groupField = 2;
const sessionField = 3;
const startField = 19;
const sizeField = 20;

/** The fields behind the name. The name is in parentheses and may itself contain any character, so the last one counts. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const readsMaxCount = 32;

async function readProc(since: number): Promise<ProcessEntry[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries: ProcessEntry[] = [];
  for (let start = 0; start < pids.length; start += readsMaxCount) {
    const batch = pids.slice(start, start + readsMaxCount).map((pid) => readProcEntry(pid, since));
    for (const entry of await Promise.all(batch)) if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

async function readProcEntry(pid: number, since: number): Promise<ProcessEntry | undefined> {
  // Ended meanwhile: nothing to report.
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = statFields(stat);
  if (/[ZXx]/.test(fields[stateField] ?? "X") || Number(fields[startField]) < since) return undefined;
  // Another user's process does not show its environment. It is none of ours unless its group or parent says so.
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => undefined);
  const variables = environment?.split("\0") ?? [];
  return {
    pid,
    parentPid: Number(fields[parentField]),
    groupId: Number(fields[groupField]),
    sessionId: Number(fields[sessionField]),
    startedAt: fields[startField]!,
    instance: variableOf(variables, instanceMarker),
    server: variableOf(variables, serverMarker),
    // A kernel thread has no memory and never will have an environment.
    isBare: environment === "" && fields[sizeField] !== "0",
  };
}

function variableOf(variables: readonly string[], name: string): string | undefined {
  return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** `ps` prints the environment behind the command line, separated by spaces, as do markers, which contain none. */
const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s(.*)$/;

async function readPs(): Promise<ProcessEntry[]> {
  const showsEnvironment = process.platform === "darwin" ? "-axEww" : "axeww";
  const columns = ["pid=", "ppid=", "pgid=", "stat=", "lstart=", "command="].flatMap((name) => ["-o", name]);
  const { stdout } = await promisify(execFile)("ps", [showsEnvironment, ...columns], {
    maxBuffer: 64 << 20,
    timeout: 10_000,
    env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
  });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parentPid, groupId, state, startedAt, command] = psLine.exec(line) ?? [];
    if (command === undefined || state!.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        groupId: Number(groupId),
        sessionId: Number(groupId),
        startedAt: startedAt!,
        instance: markerIn(command, instanceMarker),
        server: markerIn(command, serverMarker),
        isBare: false,
      },
    ];
  });
}

function markerIn(command: string, name: string): string | undefined {
  const start = command.lastIndexOf(` ${name}=`);
  if (start === -1) return undefined;
  return /^[0-9a-f/]+/.exec(command.slice(start + name.length + 2))?.[0];
}

/** `read`, where callers that come while a read is under way share the next one: a look never shows a time before it was asked for. */
export function shareReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;
  function begin(): Promise<Value> {
    const reading = read().finally(() => {
      if (current === reading) current = undefined;
    });
    current = reading;
    return reading;
  }
  return () => {
    if (current === undefined) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}
