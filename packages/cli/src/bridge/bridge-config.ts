/**
 * Finds the configuration of a gateway that a bridge starts: the files that the entry of the client names, or that of
 * the home. Never that of the current folder: clients start bridges in the folder of a project, and a repository
 * must not start programs with the home of the user.
 */

import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { configFileIn } from "../config/find-config-files.ts";

/** Returns the files, at least one. @throws {CliError} `CLI_CONFIG_NOT_FOUND` */
export function findBridgeConfig(context: CliContext): readonly string[] {
  const { options, directory } = context;
  if (options.configFiles.length > 0) return options.configFiles;
  const inHome = configFileIn(options.home);
  if (inHome !== undefined) return [inHome];
  const other = configFileIn(directory);
  throw new CliError(
    "CLI_CONFIG_NOT_FOUND",
    `No gateway runs, and none is started: there is no toolcrib.yaml in ${options.home}`,
    {
      hint:
        other === undefined
          ? "name a configuration in the entry of the client with --config FILE"
          : `a bridge does not use the configuration of the folder in which a client starts it; name it in the entry of the client: --config ${other}`,
    },
  );
}
