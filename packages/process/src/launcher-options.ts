/** Options of the process launcher and their defaults. */

import type { SpawnWrap } from "./spawn-child.ts";

/** Options of `createProcessLauncher`. */
export interface LauncherOptions {
  /** Working directory of servers that name none. @default the gateway's */
  readonly directory?: string;
  /** Folder for `<label>.log` files of what servers write to standard error. @default none is written */
  readonly logsDirectory?: string;
  /** Bytes of a log file before it becomes `<label>.log.1`. @default 5 MiB */
  readonly logFileMaxBytes?: number;
  /** Servers that may run at a time. @default 256 */
  readonly processesMaxCount?: number;
  /** Time a server has to end by itself after its standard input was closed. @default 2000 */
  readonly graceMs?: number;
  /** Time it then has after SIGTERM. @default 1000 */
  readonly terminateGraceMs?: number;
  /** Time that what a server left behind has after SIGTERM. @default 500 */
  readonly orphanGraceMs?: number;
  /** Lines of standard error kept in memory for each server. @default 2000 */
  readonly stderrLinesMaxCount?: number;
  /** Bytes of standard error kept in memory for each server. @default 256 KiB */
  readonly stderrLinesMaxBytes?: number;
  /** UTF-16 units kept of one line of standard error. @default 8192 */
  readonly stderrLineMaxLength?: number;
  /** Wraps each launched program in a sandbox. @default programs are started as they are */
  readonly wrap?: SpawnWrap;
}

export type ResolvedLauncherOptions = Required<Omit<LauncherOptions, "logsDirectory" | "wrap">> &
  Pick<LauncherOptions, "logsDirectory" | "wrap">;

export function resolveLauncherOptions(options: LauncherOptions): ResolvedLauncherOptions {
  return {
    directory: options.directory ?? process.cwd(),
    logsDirectory: options.logsDirectory,
    logFileMaxBytes: options.logFileMaxBytes ?? 5 << 20,
    processesMaxCount: options.processesMaxCount ?? 256,
    graceMs: options.graceMs ?? 2_000,
    terminateGraceMs: options.terminateGraceMs ?? 1_000,
    orphanGraceMs: options.orphanGraceMs ?? 500,
    stderrLinesMaxCount: options.stderrLinesMaxCount ?? 2_000,
    stderrLinesMaxBytes: options.stderrLinesMaxBytes ?? 256 << 10,
    stderrLineMaxLength: options.stderrLineMaxLength ?? 8_192,
    wrap: options.wrap,
  };
}
