/** Installs what was planned: all packages of the plan, or none. Runs nothing of a package. */

import { InstallError } from "../install-error.ts";
import type { RecordEntry } from "../record/install-record.ts";
import { toRecordedFiles } from "../record/recorded-files.ts";
import { type ChangeDeps, changeInstalled } from "./commit-change.ts";
import { entryOf, type InstallState, isIntact, readState, visibleEntryOf } from "./install-state.ts";
import { checkCandidates, type InstallPlan } from "./plan-install.ts";
import { type Candidate, knownToolIds, toolsOfChain } from "./resolve-chains.ts";

/**
 * Applies a plan. Packages that are installed already, and were not changed, stay as they are.
 *
 * The plan is checked again while no other command changes anything, so that what was decided is still allowed.
 *
 * @throws {InstallError}, {FilesError}: nothing is installed, or the next command completes all of it.
 */
export async function applyInstall(deps: ChangeDeps, { request, candidates }: InstallPlan): Promise<void> {
  await changeInstalled(deps, request, async () => {
    const state = await readState(request);
    await checkCandidates(state, candidates, request);
    requireTools(state, candidates);
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
  const isLocked =
    state.project === undefined || state.lock?.get(opened.manifest.toolId)?.digest === opened.digest;
  return isSame && isLocked && isIntact(state.home, entry);
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
    files: toRecordedFiles(files),
  };
}
