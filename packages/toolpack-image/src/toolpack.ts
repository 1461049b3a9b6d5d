/** The subject of a build: services, and the engine that serves them. Types, and the texts that go into every form of them. */

import type { Manifest, Toolspec } from "@toolcrib/toolspec";

/** A service: its two files, checked. */
export interface Toolpack {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  /** The manifest as it is written. */
  readonly manifestText: string;
  /** The toolspec as it is written. */
  readonly toolspecText: string;
}

/** A package of npm that the engine contains. */
export interface EnginePackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; undefined where the package does not say it. */
  readonly license?: string | undefined;
  /** Text of the license that copies must contain. */
  readonly licenseText?: string | undefined;
}

/** The engine: the command `toolcrib toolpack` in one JavaScript module. */
export interface ToolpackEngine {
  readonly bytes: Uint8Array;
  /** Version of Toolcrib. */
  readonly version: string;
  readonly packages: readonly EnginePackage[];
}

/** A digest that says that there is no image yet. */
export const placeholderDigest = `sha256:${"0".repeat(64)}`;

/**
 * Returns the text of the manifest as images contain it: without the digest of the image, which no image can contain.
 * So building again after the digest was written into the manifest gives the same image.
 */
export function manifestInImage({
  manifest,
  manifestText,
}: Pick<Toolpack, "manifest" | "manifestText">): string {
  return manifestText.replaceAll(manifest.image.digest, placeholderDigest);
}

/** Returns `name` for one service, and all names for several. */
export function nameOf(toolpacks: readonly Toolpack[]): string {
  return toolpacks.map(({ manifest }) => manifest.name).join("-");
}

/** Returns the version of the only service, or that of the engine, as several services have none in common. */
export function versionOf(toolpacks: readonly Toolpack[], engine: ToolpackEngine): string {
  const [first] = toolpacks;
  return toolpacks.length === 1 && first !== undefined ? first.manifest.version : engine.version;
}

/** Returns the licenses of the packages in the engine as one text, which its copies contain. */
export function licensesOf({ packages, version }: ToolpackEngine): string {
  const own = `Toolcrib ${version}\n\nLicensed under the Apache License, Version 2.0.\n`;
  const others = packages.map(
    ({ name, version: one, license = "see its package", licenseText = "" }) =>
      `${name} ${one} (${license})\n\n${licenseText.trim()}\n`,
  );
  return [own, ...others].join(`\n${"-".repeat(80)}\n\n`);
}
