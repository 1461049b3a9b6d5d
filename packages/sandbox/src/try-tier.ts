/** Tries whether a tier works here, with a real process that it contains. */

import { messageOf } from "@toolcrib/diagnostics";
import { runCommand } from "@toolcrib/process";
import { settingFix } from "./namespace-problems.ts";
import { emptyPolicy } from "./sandbox-policy.ts";
import type { SandboxFeature, SandboxProblem, SandboxTier } from "./tier.ts";

/** Limits of programs that try something. */
export const trialLimits = { timeoutMs: 10_000, outputMaxBytes: 65_536 };

/** A trial of a tier. */
export interface TierTrial {
  /** Milliseconds until it is ended without a result. */
  readonly timeoutMs: number;
  /** Script of /bin/sh. */
  readonly script: string;
  /** Its output where the tier works. */
  readonly expected: RegExp;
  /** The reason where it printed something else, and no error. @default its exit code */
  readonly reason?: string;
  /** Returns what helps against a reason. */
  readonly fixOf: (reason: string) => string;
}

/** Runs a script within a policy that allows nothing. @returns why the tier does not work; none where it does */
export async function tryTier(
  tier: Pick<SandboxTier, "prepare">,
  { timeoutMs, script, expected, reason: otherwise, fixOf }: TierTrial,
): Promise<readonly SandboxProblem[]> {
  let reason: string;
  try {
    const request = { program: "/bin/sh", args: ["-c", script], env: {} };
    await using prepared = await tier.prepare(request, emptyPolicy);
    const { code, stdout, stderr } = await runCommand(prepared.request, { ...trialLimits, timeoutMs });
    if (code === 0 && expected.test(stdout.toString())) return [];
    if (isInconclusive(code)) return [inconclusive(endOf(code, timeoutMs))];
    reason = stderr.trim().slice(0, 500) || (otherwise ?? `it ended with ${code}`);
  } catch (error) {
    reason = messageOf(error);
    if (isInconclusive((error as NodeJS.ErrnoException).code)) return [inconclusive(reason)];
  }
  return [isShortage(reason) ? shortage(reason) : { reason, fix: fixOf(reason) }];
}

/** Whether a trial with this end says nothing about the machine: it was ended, or there was no room to start it. */
export function isInconclusive(code: number | string | undefined): boolean {
  return /^(?:ETIMEDOUT|SIGTERM|SIGKILL|EAGAIN|EMFILE|ENFILE|ENOMEM|ENOSPC|EDQUOT)$/.test(String(code));
}

/** The texts of the system for such an end, which programs print that could not create a process, namespace or file. */
const shortageTexts =
  /\b(?:EAGAIN|EMFILE|ENFILE|ENOMEM|ENOSPC|EDQUOT)\b|Resource temporarily unavailable|Cannot allocate memory|No space left on device|Too many open files|Disk quota exceeded/i;

/** Whether a program ended because the machine had no process, namespace, memory or file left for it at that moment. */
export function isShortage(text: string): boolean {
  return shortageTexts.test(text);
}

function endOf(code: number | string, timeoutMs: number): string {
  return code === "ETIMEDOUT"
    ? `its trial did not end within ${timeoutMs} ms`
    : `its trial ended with ${code}`;
}

/** A limit of namespaces of 0 has the same text, and is made again, too: nothing distinguishes what will change. */
function shortage(reason: string): SandboxProblem {
  const fix =
    settingFix() ??
    "the machine has no process, namespace, memory or file left for it: stop other programs, or raise that limit; the next start of a server tries again";
  return { reason, fix, isTemporary: true };
}

function inconclusive(reason: string): SandboxProblem {
  const fix = "the machine is too busy: stop other programs, or wait; the next start of a server tries again";
  return { reason, fix, isTemporary: true };
}

/** The properties that namespaces and resource limits enforce, in every tier of Linux. */
export const namespaceFeatures: readonly SandboxFeature[] = [
  { name: "files", isEnforced: true, by: "mount namespace, read-only binds" },
  { name: "network", isEnforced: true, by: "network namespace" },
  { name: "processes of others", isEnforced: true, by: "process id namespace" },
  { name: "shared memory of others", isEnforced: true, by: "ipc namespace" },
  { name: "privileges", isEnforced: true, by: "no capability, no_new_privs, no further user namespace" },
  {
    name: "memory, processes, open files, file size",
    isEnforced: true,
    by: "resource limits for each process",
  },
];
