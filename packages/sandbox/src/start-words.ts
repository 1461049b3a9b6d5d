/** The words that start a program: its limits, its variables, its network. Pure. */

import type { SpawnRequest } from "@toolcrib/process";
import { exitWords } from "./network-exit.ts";
import type { SandboxLimits, SandboxPolicy } from "./sandbox-policy.ts";

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
  /** Variables that may reach what starts the program. */
  readonly env: SpawnRequest["env"];
  /** `NAME=value` of those that only the program itself may get: they change what other programs do when they start. */
  readonly held: readonly string[];
}

/** Separates the variables with which a program could run its own code in what starts it. */
export function splitEnvironment(env: SpawnRequest["env"]): SplitEnvironment {
  const variables = Object.entries(env);
  return {
    env: Object.fromEntries(variables.filter(([name]) => !isHeld(name))),
    held: variables.flatMap(([name, value]) =>
      isHeld(name) && value !== undefined ? [`${name}=${value}`] : [],
    ),
  };
}

/** Variables of the loader, and those with which Node loads or writes something when it starts. */
function isHeld(name: string): boolean {
  return (
    /^(?:LD_|GLIBC_|GCONV_PATH$|LOCPATH$|MALLOC_)/.test(name) ||
    /^(?:NODE_OPTIONS|NODE_EXTRA_CA_CERTS|NODE_USE_ENV_PROXY|NODE_V8_COVERAGE|NODE_COMPILE_CACHE)$/.test(name)
  );
}

/** Whether `env` has to give a program its variables: the Node that opens the exit of a scoped network does so itself. */
export function needsEnv(held: readonly string[], { network }: Pick<SandboxPolicy, "network">): boolean {
  return held.length > 0 && network !== "scoped";
}

/**
 * Returns the program with its arguments, and before it the words that give it its variables and, in a scoped
 * network, open its exit.
 *
 * @param env the words that run `env`; empty where `needsEnv` says so @param held variables for the program only
 */
export function programWords(
  env: readonly string[],
  held: readonly string[],
  { program, args }: Pick<SpawnRequest, "program" | "args">,
  { network, listeners = [] }: Pick<SandboxPolicy, "network" | "listeners">,
): readonly string[] {
  // `env` would take such a path for a variable.
  const detour = program.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh"] : [];
  const exit = network === "scoped" ? exitWords(held, listeners) : held;
  return [...env, ...exit, ...detour, program, ...args];
}
