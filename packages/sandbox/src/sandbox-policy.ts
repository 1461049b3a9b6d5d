/** The rights of a process in a sandbox. Data only; all paths are absolute. */

import type { ListenPlace } from "./network-exit.ts";

/** The boundary of one process and everything that it starts. */
export interface SandboxPolicy {
  /**
   * `deny`: an empty network namespace. `allow`: the network of the host. `scoped`: a network namespace in which
   * 127.0.0.1 has a listener at `exitPort`; the sandbox hands it over to its caller, who serves it.
   */
  readonly network: "allow" | "deny" | "scoped";
  /**
   * Further listeners of a scoped network. Those at 0.0.0.0 get the connections to all `ownAddresses`. A listener that
   * this machine does not allow is not handed over. @default none
   */
  readonly listeners?: readonly ListenPlace[];
  /** Folders and files that the process may read, in addition to the system's programs and what its program needs. */
  readonly readPaths: readonly string[];
  /** Folders that the process may write, and nothing else. */
  readonly writePaths: readonly string[];
  /** Paths of those above that the caller made itself: they may lie below a hidden path. @default none */
  readonly ownPaths?: readonly string[];
  /**
   * Whether the process sees what its arguments name. Without it, the interpreter that a script names counts only in
   * folders of the system, of PATH and of `ownPaths`. @default true
   */
  readonly readsArguments?: boolean | undefined;
  /** HOME: `temporary` is an empty folder in memory; a path is bound writable, wherever it is. */
  readonly home: "temporary" | { readonly path: string };
  /** Folders and files that stay invisible, whatever is bound above them. Those that do not exist are ignored. */
  readonly hiddenPaths: readonly string[];
  /** Contents of files that the sandbox has in addition, by absolute paths below /etc. @default none */
  readonly files?: ReadonlyMap<string, string>;
  readonly limits: SandboxLimits;
}

/** Limits of one process and everything that it starts. */
export interface SandboxLimits {
  /** Bytes of memory of one process. */
  readonly memoryBytes: number;
  /** Processes and threads together. */
  readonly processes: number;
  /** Open files of one process. */
  readonly openFiles: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of each folder in memory: the home, /tmp and /dev/shm. */
  readonly temporaryBytes: number;
}

/** Limits of all sandboxes of one set together. */
export interface SandboxTotals {
  /** Bytes of memory of all their processes, where control groups can be created. @default 16 GiB */
  readonly memoryBytes: number;
  /** Processes and threads of all of them, where control groups can be created. @default 4096 */
  readonly processes: number;
  /** Sandboxes at a time; a start above it is refused. @default 128 */
  readonly sandboxes: number;
}

const mebibyte = 1024 * 1024;

/** The totals for which nothing else is configured. */
export const defaultSandboxTotals: SandboxTotals = {
  memoryBytes: 16_384 * mebibyte,
  processes: 4096,
  sandboxes: 128,
};

/**
 * The limits of processes for which nothing else is configured. The memory leaves room for programs of Node: V8
 * reserves about 500 MiB for the code of each worker thread, and what is reserved counts.
 */
export const defaultSandboxLimits: SandboxLimits = {
  memoryBytes: 4096 * mebibyte,
  processes: 512,
  openFiles: 4096,
  fileBytes: 1024 * mebibyte,
  temporaryBytes: 512 * mebibyte,
};

/** A policy that allows nothing: what a tier is tried with. */
export const emptyPolicy: SandboxPolicy = {
  network: "deny",
  readPaths: [],
  writePaths: [],
  home: "temporary",
  hiddenPaths: [],
  limits: defaultSandboxLimits,
};
