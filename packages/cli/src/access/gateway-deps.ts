/** The dependencies of a gateway that a command starts in its own process. */

import type { Logger } from "@toolcrib/diagnostics";
import type { startGateway } from "@toolcrib/gateway";
import type { CliContext } from "../cli-context.ts";
import { projectFolderOf } from "../config/project-folder.ts";
import { version } from "../version.ts";

/** Returns the dependencies that the context of a command gives. @param configFiles the files of the configuration */
export function gatewayDepsOf(
  context: CliContext,
  { logger, configFiles }: { readonly logger: Logger; readonly configFiles: readonly string[] },
): Parameters<typeof startGateway>[1] {
  const { options, env, directory, wrap } = context;
  const projectFolder = projectFolderOf(context);
  return { home: options.home, env, directory, projectFolder, wrap, logger, version, configFiles };
}
