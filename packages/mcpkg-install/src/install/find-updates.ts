/** Compares installed packages with their registry. Changes nothing. */

import { didYouMean } from "@toolcrib/diagnostics";
import { InstallError } from "../install-error.ts";
import type { PackageResolver } from "../package-resolver.ts";
import { readRecordFile } from "../record/record-file.ts";
import { type GivenSource, parseSource } from "../source/parse-source.ts";
import { isOlder } from "../version-order.ts";
import type { InstallPlace } from "./install-state.ts";

/** An installed package, and what its registry has. */
export interface PackageUpdate {
  readonly toolId: string;
  readonly version: string;
  /** Where it came from. */
  readonly source: string;
  /** The newest version in the range that was asked for; undefined: it came from no registry, or the registry has none. */
  readonly wanted: string | undefined;
  /** The newest version at all, as `wanted`. */
  readonly latest: string | undefined;
}

/**
 * Looks up all packages of a place.
 *
 * @param toolIds only these. @default all
 * @throws {InstallError} `INSTALL_NOT_FOUND`; as the resolver
 */
export async function findUpdates(
  resolver: PackageResolver | undefined,
  { home, project }: InstallPlace,
  { toolIds, signal }: { readonly toolIds?: readonly string[] | undefined; readonly signal: AbortSignal },
): Promise<readonly PackageUpdate[]> {
  const { record } = await readRecordFile(home);
  const own = record.packages.filter((entry) => entry.project === project);
  for (const toolId of toolIds ?? []) {
    if (own.some((entry) => entry.toolId === toolId)) continue;
    const where = project === undefined ? "for the user" : `in ${project}`;
    throw new InstallError("INSTALL_NOT_FOUND", `The package ${toolId} is not installed ${where}`, {
      hint:
        didYouMean(
          toolId,
          own.map((entry) => entry.toolId),
        ) ?? "toolcrib info lists what is installed",
    });
  }
  const updates: PackageUpdate[] = [];
  for (const { toolId, version, source } of own) {
    if (toolIds !== undefined && !toolIds.includes(toolId)) continue;
    const given = parseSource(source, "/");
    const look = async (range: string) =>
      given.kind === "registry" ? (await resolver?.resolve(toolId, range, signal))?.version : undefined;
    const latest = await look("*");
    const wanted = given.kind === "registry" && given.range !== "*" ? await look(given.range) : latest;
    updates.push({ toolId, version, source, wanted, latest });
  }
  return updates.toSorted((one, other) => (one.toolId < other.toolId ? -1 : 1));
}

/** Whether the registry has a newer version in the range. */
export function isOutdated({ version, wanted }: PackageUpdate): boolean {
  return wanted !== undefined && isOlder(version, wanted);
}

/**
 * Returns what an update installs again: what is outdated, and what came from a URL; files and folders only where
 * they are named.
 */
export function sourcesOfUpdates(
  updates: readonly PackageUpdate[],
  isNamed: boolean,
): readonly GivenSource[] {
  return updates.flatMap((update): readonly GivenSource[] => {
    const given = parseSource(update.source, "/");
    if (given.kind === "registry") return isOutdated(update) ? [given] : [];
    return given.kind === "url" || isNamed ? [given] : [];
  });
}
