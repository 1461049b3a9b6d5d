/** `toolcrib outdated` and `toolcrib update`. */

import { findUpdates, isOutdated, sourcesOfUpdates } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { type AllowFlags, openPackageSources, toAllowances, toPlace } from "./install-context.ts";
import { type ConfirmFlags, installSources } from "./install-tools.ts";

/** Runs `outdated`. */
export async function showOutdated(
  context: CliContext,
  flags: AllowFlags & { readonly user?: boolean },
): Promise<ExitCode> {
  const { output, signal } = context;
  await using sources = await openPackageSources(context, flags);
  const updates = await findUpdates(sources.resolver, await toPlace(context, flags), { signal });
  output.json(
    updates.map((one) => ({
      ...one,
      wanted: one.wanted ?? null,
      latest: one.latest ?? null,
      isOutdated: isOutdated(one),
    })),
  );
  if (updates.length === 0) output.print("No packages are installed here.");
  else {
    output.table(
      [
        { title: "TOOL" },
        { title: "INSTALLED" },
        { title: "WANTED" },
        { title: "LATEST" },
        { title: "SOURCE", canShrink: true },
      ],
      updates.map(({ toolId, version, wanted, latest, source }) => [
        toolId,
        version,
        wanted ?? "-",
        latest ?? "-",
        safeLine(source),
      ]),
    );
  }
  return updates.some(isOutdated) ? exitCodes.failed : exitCodes.done;
}

/** Runs `update`. */
export async function updateTools(
  context: CliContext,
  toolIds: readonly string[],
  flags: AllowFlags & ConfirmFlags & { readonly user?: boolean },
): Promise<ExitCode> {
  const { signal } = context;
  const place = await toPlace(context, flags);
  const isNamed = toolIds.length > 0;
  await using sources = await openPackageSources(context, flags);
  const updates = await findUpdates(sources.resolver, place, {
    toolIds: isNamed ? toolIds : undefined,
    signal,
  });
  return await installSources(context, sources, {
    ...place,
    sources: sourcesOfUpdates(updates, isNamed),
    allowed: toAllowances(flags),
    signal,
    flags,
  });
}
