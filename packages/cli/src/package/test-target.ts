/**
 * The package that `toolcrib test` tests: an installed one in its folder, or one before it is installed,
 * whose files are written to a temporary folder. Nothing of it runs here.
 */

import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { SchemaValidator } from "@toolcrib/json";
import {
  digestArchive,
  isToolId,
  type PackageFiles,
  reachOf,
  type ToolPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { installedPackage, readInstalled } from "./installed-packages.ts";
import { readValidPackage } from "./read-package.ts";

/** A package to test. Disposing it removes what was written for it. */
export interface TestTarget extends AsyncDisposable {
  readonly found: ToolPackage;
  /** The package as a gateway opens it. */
  readonly trial: InstalledPackage;
  /** Whether its bytes are those of the installed package, whatever names it. */
  readonly isSameAsInstalled: boolean;
  /** Whether it was named by its toolId. */
  readonly isInstalled: boolean;
  /** The folder of its author that it was read from; undefined for an archive and an installed package. */
  readonly folder?: string | undefined;
}

/**
 * Opens the package that `text` names: a path where one exists, and a toolId otherwise.
 *
 * @throws {CliError} as `readValidPackage`; {InstallError} `INSTALL_NOT_FOUND`, `INSTALL_PACKAGE_CHANGED`
 */
export async function openTestTarget(context: CliContext, text: string): Promise<TestTarget> {
  const isNamed = isToolId(text) && !text.endsWith(".mcpkg");
  if (isNamed && !existsSync(resolve(context.directory, text))) return openInstalled(context, text);
  const { kind, found } = await readValidPackage(context, text);
  const staged = await stagePackage(context, found, text);
  return { ...staged, folder: kind === "folder" ? resolve(context.directory, text) : undefined };
}

async function openInstalled(context: CliContext, toolId: string): Promise<TestTarget> {
  const hint = "name a folder or an archive to test a package that is not installed";
  const trial = await installedPackage(context, toolId, hint);
  const found = openInstalledPackage(trial, new SchemaValidator());
  return { found, trial, isSameAsInstalled: true, isInstalled: true, async [Symbol.asyncDispose]() {} };
}

/** Writes a package to a temporary folder, from which a gateway can offer it. @param source where it comes from, for people */
export async function stagePackage(
  context: CliContext,
  found: ToolPackage,
  source: string,
): Promise<TestTarget> {
  const base = await mkdtemp(join(await realpath(tmpdir()), "toolcrib-test-"));
  try {
    const folder = join(base, found.manifest.toolId);
    const files = await writePackage(folder, found.files);
    const trial: InstalledPackage = {
      toolId: found.manifest.toolId,
      version: found.manifest.version,
      folder,
      digest: digestArchive(writeArchive(found.files)),
      publisherKey: undefined,
      registry: undefined,
      source,
      installedAt: new Date(context.now()).toISOString(),
      scope: "user",
      // Its tests run only where the operator allowed its calls.
      approvedTools: reachOf(found.manifest),
      files,
    };
    const { packages } = await readInstalled(context);
    const isSameAsInstalled = packages.some(
      ({ toolId, digest }) => toolId === trial.toolId && digest === trial.digest,
    );
    return { found, trial, isSameAsInstalled, isInstalled: false, [Symbol.asyncDispose]: () => remove(base) };
  } catch (error) {
    await remove(base);
    throw error;
  }
}

/** Writes the files of a package to a new folder. @returns what an install record has about them */
export async function writePackage(folder: string, files: PackageFiles): Promise<InstalledPackage["files"]> {
  const recorded: InstalledPackage["files"][number][] = [];
  for (const [path, { bytes, isExecutable }] of files) {
    const file = join(folder, ...path.split("/"));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes, { flag: "wx" });
    await chmod(file, isExecutable ? 0o755 : 0o644);
    recorded.push({ path, bytes: bytes.length, sha256: hash("sha256", bytes, "hex"), isExecutable });
  }
  return recorded;
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
