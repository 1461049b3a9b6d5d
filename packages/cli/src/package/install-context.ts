/** The context of the commands for installed packages: places, dependencies, and archives from URLs. */

import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { type Diagnostic, formatDiagnostic } from "@toolcrib/diagnostics";
import { reasonOf } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import type { Allowances, FetchBytes, PackageResolver } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { projectFolderOf } from "../config/project-folder.ts";
import type { RegistryFlags } from "../registry/open-package-registries.ts";
import { openPackageResolver } from "../registry/package-resolver.ts";
import { openArchiveFetcher } from "./fetch-archive.ts";
import { inspectPrograms } from "./inspect-programs.ts";

/** Flags of `allowOptions`. */
export interface AllowFlags extends RegistryFlags {
  readonly allowUnsigned?: boolean;
  readonly allowStrippedSignature?: boolean;
  readonly allowKey?: readonly string[];
  readonly allowDowngrade?: boolean;
  readonly allowChangedRelease?: boolean;
  readonly allowReplacingFolder?: boolean;
  readonly allowTool?: readonly string[];
  readonly allowLoopback?: boolean;
}

/** Returns what the flags allow. */
export function toAllowances(flags: AllowFlags): Allowances {
  return {
    unsigned: flags.allowUnsigned === true,
    strippedSignature: flags.allowStrippedSignature === true,
    keys: flags.allowKey ?? [],
    downgrade: flags.allowDowngrade === true,
    changedRelease: flags.allowChangedRelease === true,
    replacingFolder: flags.allowReplacingFolder === true,
  };
}

/** The place of packages: this project, or the home of the user. */
export interface CliPlace {
  readonly home: string;
  readonly project: string | undefined;
}

/** Returns the place that the flags name. @throws {CliError} `CLI_FILE_UNUSABLE` without the folder of the project */
export async function toPlace(
  context: CliContext,
  { user = false }: { readonly user?: boolean },
): Promise<CliPlace> {
  const { home } = context.options;
  if (user) return { home, project: undefined };
  const folder = projectFolderOf(context);
  try {
    return { home, project: await realpath(folder) };
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot open the folder "${folder}": ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** Dependencies of changes of installed packages. */
export function changeDeps({ now, output }: CliContext) {
  return {
    randomBytes,
    now,
    validator: new SchemaValidator(),
    onFinding: (finding: Diagnostic) => output.note(formatDiagnostic(finding)),
  };
}

/** Where packages come from. */
export interface PackageSources extends AsyncDisposable {
  readonly validator: SchemaValidator;
  readonly inspect: typeof inspectPrograms;
  readonly fetchBytes: FetchBytes;
  readonly resolver: PackageResolver | undefined;
}

/**
 * Opens the sources of packages. Nothing is connected to before it is needed.
 *
 * @throws {CliError} as `openPackageResolver`
 */
export async function openPackageSources(context: CliContext, flags: AllowFlags): Promise<PackageSources> {
  const opened = await openPackageResolver(context, flags);
  const fetcher = openArchiveFetcher(context, { allowsLoopback: flags.allowLoopback === true });
  return {
    validator: new SchemaValidator(),
    inspect: inspectPrograms,
    fetchBytes: fetcher.fetchBytes,
    resolver: opened.resolver,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await fetcher[Symbol.asyncDispose]();
    },
  };
}
