// For users.
export { type UpstreamCode, upstreamCodes } from "./codes.ts";
export type { Environment } from "./process/child-environment.ts";
export type { LauncherOptions } from "./process/launcher-options.ts";
export {
  createProcessLauncher,
  type LaunchSpec,
  type ProcessLauncher,
  type ProcessLauncherDeps,
} from "./process/process-launcher.ts";
export type { ServerExit } from "./process/server-exit.ts";
export type { ServerProcess } from "./process/server-process.ts";
export type { StderrLog } from "./process/stderr-log.ts";
export { UpstreamError } from "./upstream-error.ts";
export type {
  ResolvedTransport,
  UpstreamDeps,
  UpstreamLimits,
  UpstreamSettings,
} from "./upstream-options.ts";
export { createUpstreamServer, type UpstreamServer } from "./upstream-server.ts";

// For other packages here.

export { type ProcessEntry, type ProcessTableSource, readProcessTable } from "./process/process-table.ts";
