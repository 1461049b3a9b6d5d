/** Dialects, predeclared modules, limits and the thread host of programs on the command line. */

import { setImmediate as nextImmediate } from "node:timers/promises";
import {
  coreDialect,
  type Dialect,
  jsonModule,
  type Limits,
  limitCeilings,
  mathModule,
  type ThreadHost,
  timeModule,
  toolDialect,
  type Value,
} from "@toolcrib/starlark";
import { CliError } from "../cli-error.ts";

/** The names of the dialects. */
export type DialectName = "tool" | "core";

/** The limits that can be set. */
export interface LimitFlags {
  readonly steps?: number;
  readonly memoryMb?: number;
  readonly wallMs?: number;
}

/** Returns the dialect with this name. */
export function dialectOf(name: DialectName): Dialect {
  return name === "tool" ? toolDialect : coreDialect;
}

const modules: readonly (readonly [string, Value])[] = [
  ["json", jsonModule],
  ["math", mathModule],
  ["time", timeModule],
];

/** Returns the predeclared modules of a dialect; the core dialect has none. */
export function modulesOf(name: DialectName): ReadonlyMap<string, Value> {
  return new Map(name === "tool" ? modules : []);
}

/** The host of threads in this process. */
export const programHost: ThreadHost = {
  monotonicMs: () => performance.now(),
  nextTurn: () => nextImmediate(),
  startTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

const bytesOfMb = 1024 * 1024;

/**
 * Converts the limit options. Other limits have their defaults.
 *
 * @throws {CliError} `CLI_USAGE` for a limit above its maximum.
 */
export function limitsOf({ steps, memoryMb, wallMs }: LimitFlags): Partial<Limits> {
  checkLimit("--steps", steps, limitCeilings.steps);
  checkLimit("--memory-mb", memoryMb, limitCeilings.memoryBytes / bytesOfMb);
  checkLimit("--wall-ms", wallMs, limitCeilings.wallMs);
  return {
    ...(steps === undefined ? undefined : { steps }),
    ...(memoryMb === undefined ? undefined : { memoryBytes: memoryMb * bytesOfMb }),
    ...(wallMs === undefined ? undefined : { wallMs }),
  };
}

function checkLimit(flag: string, value: number | undefined, ceiling: number): void {
  if (value === undefined || value <= ceiling) return;
  throw new CliError("CLI_USAGE", `${flag} cannot be ${value}`, { hint: `the maximum is ${ceiling}` });
}
