/** Installs what was planned: all packages of the plan, or none. Runs nothing of a package. */

import { type Manifest, reachOf } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import type { RecordEntry } from "../record/install-record.ts";
import { toRecordedFiles } from "../record/recorded-files.ts";
import { type ChangeDeps, changeInstalled } from "./commit-change.ts";
import { entryOf, type InstallState, isIntact, readState, visibleEntryOf } from "./install-state.ts";
import { checkCandidates, type InstallPlan, reachGrowthOf } from "./plan-install.ts";
import { type Candidate, knownToolIds, toolsOfChain } from "./resolve-chains.ts";

/** The approval of the operator after the plan was shown. */
export interface InstallApproval {
  /** Ids of tools that the Starlark programs of the plan may call, besides those that were approved before. @default none */
  readonly approvedTools?: readonly string[];
}

/**
 * Applies a plan. Packages that are installed already, and were not changed, stay as they are.
 * A package whose programs can call a tool that was not approved, for it and its publisher, is refused.
 *
 * The plan is checked again while no other command changes anything, so that what was decided is still allowed.
 *
 * @throws {InstallError}, {FilesError}: nothing is installed, or the next command completes all of it.
 */
export async function applyInstall(
  deps: ChangeDeps,
  { request, candidates }: InstallPlan,
  { approvedTools = [] }: InstallApproval = {},
): Promise<void> {
  await changeInstalled(deps, request, async () => {
    const state = await readState(request);
    await checkCandidates(state, candidates, request);
    requireTools(state, candidates);
    requireApproval(state, candidates, new Set(approvedTools));
    request.signal.throwIfAborted();
    const wanted = [...candidates.values()].filter((one) => !isUnchanged(state, one));
    if (wanted.length === 0) return undefined;
    const installedAt = new Date(deps.now()).toISOString();
    const keys = new Map<string, string>();
    const place = wanted.map((candidate) => {
      const { files, manifest } = candidate.opened;
      const entry = toEntry(candidate, request.project, installedAt);
      if (entry.publisherKey !== undefined) keys.set(manifest.toolId, entry.publisherKey);
      return { entry, files };
    });
    return { place, remove: [], keys };
  });
}

function isUnchanged(state: InstallState, { opened, source }: Candidate): boolean {
  const entry = entryOf(state, opened.manifest.toolId);
  const isSame = entry?.digest === opened.digest && entry.source === source;
  if (reachGrowthOf(state, opened).length > 0) return false;
  const isLocked =
    state.project === undefined || state.lock?.get(opened.manifest.toolId)?.digest === opened.digest;
  return isSame && isLocked && isIntact(state.home, entry);
}

/** @throws {InstallError} `INSTALL_REACH_NOT_APPROVED` */
function requireApproval(
  state: InstallState,
  candidates: InstallPlan["candidates"],
  approved: ReadonlySet<string>,
): void {
  for (const { opened } of candidates.values()) {
    const missing = reachGrowthOf(state, opened).filter((id) => !approved.has(id));
    if (missing.length > 0) throw notApproved(opened.manifest, missing);
  }
}

/** Most tools that an error names. */
const shownMax = 20;

function notApproved({ toolId, version }: Manifest, missing: readonly string[]): InstallError {
  const shown = missing.slice(0, shownMax).join(", ");
  const more = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : "";
  const flags = missing.map((id) => `--allow-tool ${id}`).join(" ");
  return new InstallError(
    "INSTALL_REACH_NOT_APPROVED",
    `Nothing is installed: the program of ${toolId} ${version} can call ${shown}${more}, which you have not approved for it`,
    {
      hint: `read the program, then approve these tools: ${missing.length > shownMax ? "--allow-tool ID for each" : flags}`,
      data: { toolId, tools: missing },
    },
  );
}

/** Another command can have removed a tool since the plan was made. */
function requireTools(state: InstallState, candidates: InstallPlan["candidates"]): void {
  const known = knownToolIds(state, candidates);
  for (const [toolId, { opened }] of candidates) {
    const missing = toolsOfChain(opened.manifest, known).find(
      (tool) => !candidates.has(tool) && visibleEntryOf(state, tool) === undefined,
    );
    if (missing === undefined) continue;
    const message = `Nothing is installed: ${missing}, which ${toolId} needs, was removed meanwhile`;
    throw new InstallError("INSTALL_TOOLS_MISSING", message, { hint: "run the command again" });
  }
}

function toEntry(
  { opened, source, registry }: Candidate,
  project: string | undefined,
  installedAt: string,
): RecordEntry {
  const { manifest, digest, signature, files } = opened;
  return {
    toolId: manifest.toolId,
    version: manifest.version,
    project,
    digest,
    publisherKey: signature.kind === "signed" ? signature.keyId : undefined,
    source,
    registry,
    installedAt,
    approvedTools: reachOf(manifest),
    files: toRecordedFiles(files),
  };
}
