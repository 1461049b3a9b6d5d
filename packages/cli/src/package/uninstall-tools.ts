/** `toolcrib uninstall`: removes installed packages, all that are named or none. */

import { uninstallPackages } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { changeDeps, toPlace } from "./install-context.ts";

/** Options of `uninstall`. */
export interface UninstallFlags {
  readonly user?: boolean;
  readonly allowBrokenChains?: boolean;
  readonly forgetKey?: boolean;
}

/** Runs `uninstall`. */
export async function uninstallTools(
  context: CliContext,
  toolIds: readonly string[],
  flags: UninstallFlags,
): Promise<ExitCode> {
  const removed = await uninstallPackages(changeDeps(context), {
    ...(await toPlace(context, flags)),
    toolIds,
    allowsBrokenChains: flags.allowBrokenChains === true,
    forgetsKeys: flags.forgetKey === true,
  });
  context.output.json({ removed });
  context.output.print(...removed.map(({ toolId, version }) => `Removed ${toolId} ${version}`));
  if (flags.forgetKey !== true && removed.some(({ publisherKey }) => publisherKey !== undefined)) {
    context.output.print("The keys of their publishers stay pinned; --forget-key forgets them");
  }
  return exitCodes.done;
}
