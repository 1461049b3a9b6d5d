/**
 * Reads the process table of this machine: the parent, group, session and start
 * time of each process, and the markers in its environment.
 *
 * The source is `/proc` on Linux, and `ps` elsewhere. `ps` shows the environment
 * of most processes of the user, but not of protected system programs.
 * Never sends a signal, and never fails because a process ends meanwhile.
 */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { instanceMarker, serverMarker } from "./child-env.ts";
import { realtimeLimitIn } from "./limit-marker.ts";

/** One running process. Ended processes that wait for their parent (zombies) are left out. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** The session; with `ps`, which does not show it on every system, the group, which is a part of a session. */
  readonly sessionId: number;
  /** Start time, which can only be compared for equality. Together with the pid it identifies a process for good. */
  readonly startedAt: string;
  /** Values of `TOOLCRIB_INSTANCE` and `TOOLCRIB_SERVER` in the initial environment. */
  readonly instance: string | undefined;
  readonly server: string | undefined;
  /** The limit of `limit-marker.ts`, for a process without these variables. Linux only. */
  readonly realtimeLimit: string | undefined;
  /** Whether the environment reads as empty: the process has none, or is executing a new program right now. */
  readonly isBare: boolean;
}

/** `proc`: the files below `/proc`. `ps`: the output of that program, on systems without `/proc`. */
export type ProcessTableSource = "proc" | "ps";

/** Returns the source for this machine. */
export function processTableSource(): ProcessTableSource {
  return existsSync("/proc/self/stat") ? "proc" : "ps";
}

/**
 * Returns all running processes.
 *
 * @param since leaves out processes that started before this value of `startTicksOf`, which avoids
 *   reading their environments. `/proc` only.
 */
export async function readProcessTable(
  source: ProcessTableSource = processTableSource(),
  since = 0,
): Promise<ProcessEntry[]> {
  return source === "proc" ? readProc(since) : readPs();
}

/** Returns the start time of process `pid` in clock ticks since boot; undefined without `/proc` and after its end. */
export function startTicksOf(pid: number): number | undefined {
  try {
    return Number(statFields(readFileSync(`/proc/${pid}/stat`, "latin1"))[startField]);
  } catch {
    return undefined;
  }
}

// Indexes of the fields of /proc/<pid>/stat (proc_pid_stat(5)) that follow the name.
const stateField = 0;
const parentField = 1;
const groupField = 2;
const sessionField = 3;
const startField = 19;
const sizeField = 20;

/** Returns the fields after the name. The name is in parentheses and can contain any character, so the last parenthesis ends it. */
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
  // The process can have ended meanwhile.
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = statFields(stat);
  if (/[ZXx]/.test(fields[stateField] ?? "X") || Number(fields[startField]) < since) return undefined;
  // The environment of another user's process is not readable. Its session or parent can still show that it is ours.
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => undefined);
  const variables = environment?.split("\0") ?? [];
  const instance = variableOf(variables, instanceMarker);
  return {
    pid,
    parentPid: Number(fields[parentField]),
    groupId: Number(fields[groupField]),
    sessionId: Number(fields[sessionField]),
    startedAt: fields[startField]!,
    instance,
    server: variableOf(variables, serverMarker),
    realtimeLimit: instance === undefined ? await readRealtimeLimit(pid) : undefined,
    // A kernel thread has no memory, and never gets an environment.
    isBare: environment === "" && fields[sizeField] !== "0",
  };
}

async function readRealtimeLimit(pid: number): Promise<string | undefined> {
  const limits = await readFile(`/proc/${pid}/limits`, "latin1").catch(() => "");
  return realtimeLimitIn(limits);
}

function variableOf(variables: readonly string[], name: string): string | undefined {
  return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** A line of `ps`. The environment follows the command line, separated by spaces; markers contain no space. */
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
        realtimeLimit: undefined,
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

/**
 * Shares the result of `read` among concurrent callers. A call during a read gets the result of the next read, so that
 * no result is older than its call.
 */
export class SharedRead<Value> {
  readonly #read: () => Promise<Value>;
  #current: Promise<Value> | undefined;
  #next: Promise<Value> | undefined;

  constructor(read: () => Promise<Value>) {
    this.#read = read;
  }

  get(): Promise<Value> {
    if (this.#current === undefined) return this.#begin();
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  #begin(): Promise<Value> {
    const reading = this.#read().finally(() => {
      if (this.#current === reading) this.#current = undefined;
    });
    this.#current = reading;
    return reading;
  }
}
