/** Finds configuration files that changed while a gateway runs, and that are not in force. Only reads file times. */

import { statSync } from "node:fs";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { RunningGateway } from "./run-file.ts";

/**
 * Returns the configuration files of `running` that were written or removed after it read them.
 *
 * @param configuration what it says about its configuration; a gateway of an earlier version says nothing
 */
export function changedConfigFiles(
  { configFiles, startedAt }: Pick<RunningGateway, "configFiles" | "startedAt">,
  configuration?: GatewayStatus["configuration"],
): readonly string[] {
  if (configuration !== undefined && configuration.lastError === undefined) return [];
  const startedMs = Date.parse(configuration?.loadedAt ?? startedAt);
  return configFiles.filter((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    return status === undefined || status.mtimeMs > startedMs;
  });
}
