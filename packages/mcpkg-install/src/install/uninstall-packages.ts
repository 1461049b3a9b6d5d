/** Removes installed packages: all that are named, or none. */

import { didYouMean } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import { InstallError } from "../install-error.ts";
import { type ChangeDeps, changeInstalled } from "./commit-change.ts";
import { entryOf, type InstallPlace, type InstallState, openIntact, readState } from "./install-state.ts";
import { toolsOfChain } from "./resolve-chains.ts";

/** The packages to be removed. */
export interface UninstallRequest extends InstallPlace {
  readonly toolIds: readonly string[];
  /** `--allow-broken-chains`: also tools that chains of installed packages call. @default false */
  readonly allowsBrokenChains?: boolean;
  /** `--forget-key`: forgets the keys of their publishers, so that the next installation pins any key. @default false */
  readonly forgetsKeys?: boolean;
}

/** A package that was removed. */
export interface RemovedPackage {
  readonly toolId: string;
  readonly version: string;
  /** The key that signed it; undefined: unsigned. */
  readonly publisherKey: string | undefined;
}

/**
 * Removes packages.
 *
 * @throws {InstallError} `INSTALL_NOT_FOUND`, `INSTALL_TOOL_NEEDED`; as `changeInstalled`
 */
export async function uninstallPackages(
  deps: ChangeDeps & { readonly validator: SchemaValidator },
  request: UninstallRequest,
): Promise<readonly RemovedPackage[]> {
  const removed: RemovedPackage[] = [];
  const toolIds = [...new Set(request.toolIds)];
  await changeInstalled(deps, request, async () => {
    const state = await readState(request);
    for (const toolId of toolIds) {
      const entry = entryOf(state, toolId);
      if (entry === undefined) throw notFound(state, toolId);
      removed.push({ toolId, version: entry.version, publisherKey: entry.publisherKey });
    }
    if (request.allowsBrokenChains !== true) refuseNeeded(state, toolIds, deps.validator);
    const keys = request.forgetsKeys === true ? toolIds.map((toolId) => [toolId, undefined] as const) : [];
    return { place: [], remove: toolIds, keys: new Map(keys) };
  });
  return removed;
}

function notFound(state: InstallState, toolId: string): InstallError {
  const { record, project } = state;
  const other = record.packages.find((entry) => entry.toolId === toolId);
  const where = project === undefined ? "for the user" : `in ${project}`;
  const own = record.packages.filter((entry) => entry.project === project).map((entry) => entry.toolId);
  let hint = didYouMean(toolId, own) ?? "toolcrib info lists what is installed";
  if (other !== undefined) {
    hint =
      other.project === undefined
        ? `it is installed for the user: toolcrib uninstall ${toolId} --user`
        : `it is installed in ${other.project}: run the command there`;
  }
  return new InstallError("INSTALL_NOT_FOUND", `The package ${toolId} is not installed ${where}`, { hint });
}

/** Refuses to remove a tool that a remaining chain calls. */
function refuseNeeded(state: InstallState, toolIds: readonly string[], validator: SchemaValidator): void {
  const { record, project, home } = state;
  for (const entry of record.packages) {
    // A tool of the user is called by chains of every project; one of a project by those of this project.
    if (project !== undefined && entry.project !== project) continue;
    if (toolIds.includes(entry.toolId) && entry.project === project) continue;
    const opened = openIntact(home, entry, validator);
    if (opened === undefined) continue;
    const needed = toolsOfChain(opened.manifest, toolIds).find((tool) => toolIds.includes(tool));
    if (needed === undefined) continue;
    throw new InstallError(
      "INSTALL_TOOL_NEEDED",
      `Nothing is removed: the chain of ${entry.toolId} calls ${needed}`,
      { hint: "remove both in one command; to remove it nevertheless, add --allow-broken-chains" },
    );
  }
}
