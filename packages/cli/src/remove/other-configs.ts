/**
 * The other configurations of a home, as far as they are known: those of its running gateways, the one in the home, and the
 * one in the folder. They share its secrets, pins and packages with the configuration that a command changes.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import { messageOf } from "@toolcrib/diagnostics";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { configFileIn } from "../config/find-config-files.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";

/**
 * Loads the other configurations.
 *
 * @param files those of the configuration that the command changes
 * @param textOf returns the text of a file that is not written yet
 * @throws {CliError} `CLI_CONFIG_INVALID` where it is not known what one of them uses
 */
export async function loadOtherConfigs(
  context: CliContext,
  files: readonly string[],
  textOf: (path: string) => string | undefined,
): Promise<readonly GatewayConfig[]> {
  const { directory, options } = context;
  const complete = (paths: readonly string[]) => paths.map((path) => resolve(directory, path));
  const own = complete(files).join("\n");
  const found = [
    ...findRunningGateways(options.home).map(({ configFiles }) => configFiles),
    ...[directory, options.home].map((folder) => [configFileIn(folder) ?? ""]),
  ].map((paths) => complete(paths.filter((path) => path !== "" && existsSync(resolve(directory, path)))));
  const others = new Map(found.map((paths) => [paths.join("\n"), paths]));
  others.delete(own);
  others.delete("");
  const configs: GatewayConfig[] = [];
  for (const configFiles of others.values()) {
    const other = { ...context, options: { ...options, configFiles } };
    try {
      configs.push((await loadCliConfig(other, {}, { textOf })).config);
    } catch (error) {
      throw new CliError(
        "CLI_CONFIG_INVALID",
        `It is not known what ${configFiles.join(", ")} still uses: ${messageOf(error)}`,
        { hint: "correct that configuration, or remove the entry without --purge", cause: error },
      );
    }
  }
  return configs;
}
