/**
 * Finds out whether this process may read from its terminal: the system stops a job of the background that does (SIGTTIN).
 * Starts `ps` where there is no `/proc`. Never reads from the terminal.
 */

import { readFile } from "node:fs/promises";
import { runCommand } from "@toolcrib/process";
import type { ProcessContext } from "../process-context.ts";

const limits = { timeoutMs: 5_000, outputMaxBytes: 4_096 };

/** Whether the process is in the foreground of its terminal, or has none. False where that cannot be found out. */
export async function isInForeground({
  env,
  platform,
}: Pick<ProcessContext, "env" | "platform">): Promise<boolean> {
  if (platform === "win32") return true;
  const [group, foreground] = (await groupsOfProc()) ?? (await groupsOfPs(env)) ?? [];
  if (group === undefined || foreground === undefined) return false;
  // Without a controlling terminal there are no jobs: Linux has -1 then, and others 0.
  return foreground <= 0 || group === foreground;
}

/** The process group, and the one in the foreground of the terminal. */
type Groups = readonly [group: number, foreground: number];

/** Reads proc(5): state, ppid, pgrp, session, tty_nr and tpgid follow the name, which can contain anything. */
async function groupsOfProc(): Promise<Groups | undefined> {
  try {
    const text = await readFile("/proc/self/stat", "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return toGroups([fields[2], fields[5]]);
  } catch {
    // There is no /proc.
    return undefined;
  }
}

async function groupsOfPs(env: ProcessContext["env"]): Promise<Groups | undefined> {
  const args = ["-o", "pgid=,tpgid=", "-p", String(process.pid)];
  const { code, stdout } = await runCommand({ program: "ps", args, env }, limits);
  return code === 0 ? toGroups(stdout.toString().trim().split(/\s+/)) : undefined;
}

function toGroups(fields: readonly (string | undefined)[]): Groups | undefined {
  const [group = Number.NaN, foreground = Number.NaN] = fields.map(Number);
  return Number.isInteger(group) && Number.isInteger(foreground) ? [group, foreground] : undefined;
}
