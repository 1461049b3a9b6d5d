/** `toolcrib lock`: writes the lock file of the project anew, or compares it with what is installed. */

import { compareLock, lockFileName, rewriteLock } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { changeDeps, toPlace } from "./install-context.ts";

/** Runs `lock`. */
export async function lockTools(
  context: CliContext,
  { check = false }: { readonly check?: boolean },
): Promise<ExitCode> {
  const { output } = context;
  const { home, project = "" } = await toPlace(context, {});
  if (!check) {
    const packages = await rewriteLock(changeDeps(context), { home, project });
    output.json({ file: lockFileName, packages });
    output.print(
      packages === 0
        ? `No packages are installed here, so there is no ${lockFileName}`
        : `Wrote ${lockFileName}: ${counted(packages, "package")}`,
    );
    return exitCodes.done;
  }
  const { changed, missing } = await compareLock({ home, project });
  const isSame = changed.length + missing.length === 0;
  output.json({ ok: isSame, changed, missing });
  output.print(
    ...changed.map(
      (toolId) =>
        `${toolId} is installed otherwise than ${lockFileName} says: run toolcrib${context.options.homeFlag} lock`,
    ),
    ...missing.map(
      (toolId) =>
        `${toolId} is locked and not installed: run toolcrib${context.options.homeFlag} install --locked`,
    ),
    ...(isSame ? [`${lockFileName} names exactly what is installed`] : []),
  );
  return isSame ? exitCodes.done : exitCodes.failed;
}
