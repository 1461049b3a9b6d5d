/** Options of the process launcher and their defaults. */

import type { SpawnWrap } from "./spawn-child.ts";

/** Options of `createProcessLauncher`. */
export interface LauncherOptions {
  /** Working directory of launches that name none. @default that of this process */
  readonly directory?: string;
  /** Folder for the `<label>.log` files, which hold standard error. @default none is written */
  readonly logsDirectory?: string;
  /** Bytes after which a log file is rotated to `<label>.log.1`. @default 5 MiB */
  readonly logFileMaxBytes?: number;
  /** Processes that can run at a time. @default 256 */
  readonly processesMaxCount?: number;
  /** Milliseconds between the end of standard input and SIGTERM. @default 2000 */
  readonly graceMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. @default 1000 */
  readonly terminateGraceMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL for processes that a launch leaves behind. @default 500 */
  readonly orphanGraceMs?: number;
  /** Lines of standard error kept in memory for each process. @default 2000 */
  readonly stderrLinesMaxCount?: number;
  /** Bytes of standard error kept in memory for each process. @default 256 KiB */
  readonly stderrLinesMaxBytes?: number;
  /** UTF-16 units kept of each line of standard error. @default 8192 */
  readonly stderrLineMaxLength?: number;
  /** Wraps each launched program in a sandbox. @default programs are started as they are */
  readonly wrap?: SpawnWrap;
}

export type ResolvedLauncherOptions = Required<Omit<LauncherOptions, "logsDirectory" | "wrap">> &
  Pick<LauncherOptions, "logsDirectory" | "wrap">;

/** Completes `options` with the defaults. */
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
