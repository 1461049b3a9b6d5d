/**
 * `toolcrib metatool` and `mcp-metatool`: the standalone server of the Metatool
 * document. It is `serve --stdio` with the home and the configuration file of that
 * document.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { shortPath } from "../config/find-config-files.ts";
import type { ExitCode } from "../exit-codes.ts";
import { serve } from "./serve.ts";
import { shellQuote } from "./shell-quote.ts";

/** Name of the configuration in the metatool's home. */
const configFileName = "config.json";

/** Runs the command. */
export function serveMetatool(context: CliContext): Promise<ExitCode> {
  const { options } = context;
  const configFiles = options.configFiles.length > 0 ? options.configFiles : [configInHome(context)];
  // Its default home is not that of the other commands.
  const homeFlag = ` --home ${shellQuote(options.home)}`;
  return serve(
    { ...context, options: { ...options, configFiles, homeFlag } },
    { stdio: true, needsApprovals: false },
  );
}

/** @throws {CliError} `CLI_CONFIG_NOT_FOUND` */
function configInHome(context: CliContext): string {
  const { options } = context;
  const path = join(options.home, configFileName);
  if (existsSync(path)) return shortPath(path, context.directory);
  throw new CliError(
    "CLI_CONFIG_NOT_FOUND",
    `No configuration: there is no ${configFileName} in ${options.home}`,
    {
      hint: 'use --config FILE; a minimal file contains {"upstreamServers": []}',
    },
  );
}
