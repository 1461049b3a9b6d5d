/** The packages that are installed for the user and in this project, as commands see them. */

import { didYouMean, formatDiagnostics } from "@toolcrib/diagnostics";
import {
  completeInterrupted,
  InstallError,
  type InstalledPackage,
  readInstalledPackages,
} from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { changeDeps, toPlace } from "./install-context.ts";

/** Returns the installed packages, and findings about those that cannot be used. Completes a change that was interrupted. */
export async function readInstalled(context: CliContext): ReturnType<typeof readInstalledPackages> {
  const { home, project } = await toPlace(context, {});
  // A record that cannot be read is a finding.
  await completeInterrupted(changeDeps(context), { home }).catch(() => undefined);
  return readInstalledPackages({ home, projectFolder: project });
}

/** Returns the packages that can be used, and prints the findings about the others. */
export async function usableInstalled(context: CliContext): Promise<readonly InstalledPackage[]> {
  const { output } = context;
  const { packages, diagnostics } = await readInstalled(context);
  if (!output.isJson && diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
  return packages;
}

/**
 * Returns the package `toolId`, and prints the findings about packages that cannot be used.
 *
 * @param hint what to do where it is not installed
 * @throws {InstallError} `INSTALL_NOT_FOUND`
 */
export async function installedPackage(
  context: CliContext,
  toolId: string,
  hint: string,
): Promise<InstalledPackage> {
  const packages = await usableInstalled(context);
  const found = packages.find((one) => one.toolId === toolId);
  if (found !== undefined) return found;
  const names = packages.map((one) => one.toolId);
  throw new InstallError("INSTALL_NOT_FOUND", `The package ${toolId} is not installed here`, {
    hint: didYouMean(toolId, names) ?? hint,
  });
}
