// For other packages here.

export { type ProcessCode, processCodes } from "./codes.ts";
export { type ForkRequest, forkModule } from "./fork-module.ts";
export type { LaunchedProcess } from "./launched-process.ts";
export type { LauncherOptions } from "./launcher-options.ts";
export { ProcessError } from "./process-error.ts";
export type { ProcessExit } from "./process-exit.ts";
export {
  createProcessLauncher,
  type LaunchSpec,
  type ProcessLauncher,
  type ProcessLauncherDeps,
} from "./process-launcher.ts";
export { readProcessTable } from "./process-table.ts";
export { type CommandLimits, type CommandResult, runCommand } from "./run-command.ts";
export type { SpawnRequest, SpawnSettings, SpawnWrap } from "./spawn-child.ts";
export { startForeground } from "./start-foreground.ts";
export type { StderrLog } from "./stderr-log.ts";
