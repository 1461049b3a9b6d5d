/** `toolcrib info` without a path: lists the installed packages, or shows one of them. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { SchemaValidator } from "@toolcrib/json";
import { checkSignature } from "@toolcrib/mcpkg";
import {
  completeInterrupted,
  InstallError,
  openInstalledPackage,
  parseSource,
  readInstalledPackages,
} from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { changeDeps, toPlace } from "./install-context.ts";
import { printPackage, showPackage } from "./show-package.ts";

/** Lists what is installed in this project and for the user, and what cannot be used (exit code 1). */
export async function listInstalled(context: CliContext): Promise<ExitCode> {
  const { output, directory } = context;
  const { packages, diagnostics } = await readInstalled(context);
  output.json({
    packages: packages.map(({ files, publisherKey, registry, ...one }) => ({
      ...one,
      publisherKey: publisherKey ?? null,
      registry: registry ?? null,
      files: files.length,
    })),
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  if (!output.isJson && diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
  if (packages.length === 0 && diagnostics.length > 0)
    output.print("None of the installed packages can be used.");
  else if (packages.length === 0) output.print("No packages are installed here.");
  else {
    output.table(
      [
        { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
        { title: "VERSION" },
        { title: "FOR" },
        { title: "SIGNED BY", canShrink: true },
        { title: "FOLDER", canShrink: true },
      ],
      packages.map(({ toolId, version, scope, publisherKey, folder }) => [
        toolId,
        version,
        scope,
        publisherKey?.slice(0, 19) ?? "not signed",
        safeLine(shortPath(folder, directory)),
      ]),
    );
  }
  return diagnostics.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** Shows the installed package of this toolId, or the package at this path. */
export async function showPackageOrInstalled(context: CliContext, text: string): Promise<ExitCode> {
  const isToolId = !existsSync(resolve(context.directory, text)) && isToolIdText(text, context.directory);
  const { packages, diagnostics } = await readInstalled(context);
  const found = packages.find(({ toolId }) => toolId === text);
  if (found === undefined) {
    if (!isToolId) return showPackage(context, text);
    if (!context.output.isJson && diagnostics.length > 0)
      context.output.note(formatDiagnostics(diagnostics), "");
    throw new InstallError("INSTALL_NOT_FOUND", `The package ${text} is not installed here`, {
      hint: `install it with: toolcrib install ${text}; toolcrib info lists what is installed`,
    });
  }
  const opened = openInstalledPackage(found, new SchemaValidator());
  const { folder, scope, source, registry, installedAt, digest } = found;
  return printPackage(
    context,
    { ...opened, digest, signature: checkSignature(opened) },
    {
      json: { installed: { folder, scope, source, registry: registry ?? null, installedAt } },
      rows: [
        ["Installed", `${installedAt} for ${scope === "user" ? "the user" : "this project"}`],
        ["Folder", folder],
        ["Source", registry === undefined ? source : `${source} of ${registry}`],
      ],
    },
  );
}

function isToolIdText(text: string, directory: string): boolean {
  try {
    const given = parseSource(text, directory);
    return given.kind === "registry" && given.toolId === text;
  } catch {
    return false;
  }
}

async function readInstalled(context: CliContext) {
  const { home, project } = await toPlace(context, {});
  // A record that cannot be read is a finding.
  await completeInterrupted(changeDeps(context), { home }).catch(() => undefined);
  return readInstalledPackages({ home, projectFolder: project });
}
