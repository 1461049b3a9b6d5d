// For other packages here.
export { forkRequest, moduleRequest } from "./fork-module.ts";
export type { LaunchedProcess } from "./launched-process.ts";
export { LimitedOutput } from "./limited-output.ts";
export { LogFile } from "./log-file.ts";
export { ProcessError } from "./process-error.ts";
export {
  type ContainedRequest,
  createProcessLauncher,
  type LaunchSpec,
  type ProcessLauncher,
} from "./process-launcher.ts";
export { readProcessTable } from "./process-table.ts";
export { runCommand } from "./run-command.ts";
export type { SpawnRequest, SpawnWrap } from "./spawn-child.ts";
export { startDetached } from "./start-detached.ts";
export { startForeground } from "./start-foreground.ts";
