/** The words before a program that set its limits, and the variables that must not reach what starts it. Pure. */

import type { SandboxLimits } from "./sandbox-policy.ts";

/** Returns the options of `prlimit`. */
export function limitWords(limits: SandboxLimits): readonly string[] {
  return [
    `--data=${limits.memoryBytes}`,
    `--nproc=${limits.processes}`,
    `--nofile=${limits.openFiles}`,
    `--fsize=${limits.fileBytes}`,
    "--core=0",
  ];
}
