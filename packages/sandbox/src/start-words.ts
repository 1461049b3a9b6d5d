/** The words before a program that set its limits, and the variables that must not reach what starts it. Pure. */

import type { SpawnRequest } from "@toolcrib/process";
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

/** The environment of a program in two parts. */
export interface SplitEnvironment {
  /** Variables that may reach what starts the program, outside of the sandbox. */
  readonly env: SpawnRequest["env"];
  /** `NAME=value` of those that change how programs are loaded: arguments of `env`, which runs inside. */
  readonly loaderWords: readonly string[];
}

/** Separates the variables with which a program could run its own code in what starts it. */
export function splitEnvironment(env: SpawnRequest["env"]): SplitEnvironment {
  const variables = Object.entries(env);
  return {
    env: Object.fromEntries(variables.filter(([name]) => !isForLoader(name))),
    loaderWords: variables.flatMap(([name, value]) =>
      isForLoader(name) && value !== undefined ? [`${name}=${value}`] : [],
    ),
  };
}

function isForLoader(name: string): boolean {
  return /^(?:LD_|GLIBC_|GCONV_PATH$|LOCPATH$|MALLOC_)/.test(name);
}
