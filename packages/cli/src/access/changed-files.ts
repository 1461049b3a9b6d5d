/** Finds configuration files that changed while a gateway runs. A gateway reads its configuration once, when it starts. Only reads file times. */

import { statSync } from "node:fs";
import type { RunningGateway } from "./run-file.ts";

/** Returns the configuration files of `running` that were written or removed after it started. */
export function changedConfigFiles({
  configFiles,
  startedAt,
}: Pick<RunningGateway, "configFiles" | "startedAt">): readonly string[] {
  const startedMs = Date.parse(startedAt);
  return configFiles.filter((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    return status === undefined || status.mtimeMs > startedMs;
  });
}
