/**
 * Decides what an installation does, and writes nothing: opens and checks every package, adds the
 * tools that chains need, and refuses what the operator did not allow.
 */

import { lstat } from "node:fs/promises";
import { errnoOf, reasonOf } from "@toolcrib/files";
import { type OpenedPackage, type PackageReach, packageReach, reachOf } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import { folderOf } from "../install-places.ts";
import { type LockedPackage, lockFileName } from "../lock/lock-file.ts";
import { compareFiles } from "../record/compare-files.ts";
import { toRecordedFiles } from "../record/recorded-files.ts";
import { type OpenedSource, openSource, type SourceDeps } from "../source/open-source.ts";
import { type GivenSource, parseSource } from "../source/parse-source.ts";
import { type Allowances, checkTrust, type Predecessor } from "./check-trust.ts";
import { entryOf, type InstallPlace, type InstallState, isIntact, readState } from "./install-state.ts";
import { type Candidate, type Candidates, resolveChains } from "./resolve-chains.ts";

/** Greatest number of packages in one installation. */
const packagesMaxCount = 64;
/** Greatest number of bytes of their files together: 256 MiB. */
const totalMaxBytes = 256 * 1024 * 1024;

/** The packages to be installed, and what is allowed. */
export interface InstallRequest extends InstallPlace {
  readonly sources: readonly GivenSource[];
  /** Installs the packages of the lock file of the project instead of `sources`. @default false */
  readonly isLocked?: boolean;
  readonly allowed: Allowances;
  /** Id of the key that must have signed the packages of `sources`. @default any */
  readonly requiredKey?: string | undefined;
  readonly signal: AbortSignal;
}

/** One package of a plan. */
export interface PlannedPackage {
  readonly toolId: string;
  readonly version: string;
  readonly digest: string;
  /** Id of the key that signed it; undefined: unsigned. */
  readonly publisherKey: string | undefined;
  readonly source: string;
  /** The registry that `source` was found in. */
  readonly registry: string | undefined;
  /** The version that it replaces. */
  readonly replaces: string | undefined;
  /** The tools whose chains need it; empty: it was named. */
  readonly neededBy: readonly string[];
  /** Whether exactly this archive is installed there already. */
  readonly isInstalled: boolean;
  /** Ids of the tools that its Starlark programs can call. */
  readonly reach: readonly string[];
  /** Those of `reach` that the operator has not approved for it: `applyInstall` refuses it without their approval. */
  readonly reachGrowth: readonly string[];
  /** Its reach by its manifest, the tools included. */
  readonly access: PackageReach;
  /** Whether the key of its publisher is pinned by this installation. */
  readonly isKeyNew: boolean;
}

/** A decided installation. It can be applied once. */
export interface InstallPlan {
  readonly request: InstallRequest;
  readonly packages: readonly PlannedPackage[];
  /** For this package alone. */
  readonly candidates: Candidates;
}

/**
 * Plans an installation.
 *
 * @throws {InstallError} for everything that is refused; `McpkgError` for archives that are refused.
 */
export async function planInstall(deps: SourceDeps, request: InstallRequest): Promise<InstallPlan> {
  const state = await readState(request);
  const candidates: Candidates = new Map();
  const add = (candidate: Candidate) => addCandidate(candidates, candidate);
  const openLocked = (toolId: string, locked: LockedPackage) =>
    openLockedPackage(deps, request, toolId, locked);
  if (request.isLocked === true) {
    for (const [toolId, locked] of requireLock(state)) {
      const entry = entryOf(state, toolId);
      if (entry?.digest === locked.digest && isIntact(state.home, entry)) continue;
      add({ ...(await openLocked(toolId, locked)), neededBy: [] });
    }
  }
  for (const given of request.sources) {
    add({ ...(await openSource(deps, given, request.signal)), neededBy: [] });
  }
  const openTool = async (toolId: string): Promise<OpenedSource | undefined> => {
    const locked = state.lock?.get(toolId);
    if (locked !== undefined) return openLocked(toolId, locked);
    if ((await deps.resolver?.resolve(toolId, "*", request.signal)) === undefined) return undefined;
    return openSource(deps, { kind: "registry", toolId, range: "*", shown: toolId }, request.signal);
  };
  await resolveChains(state, candidates, deps.validator, { openTool, add });
  await checkCandidates(state, candidates, request);
  return { request, packages: [...candidates.values()].map((one) => toPlanned(state, one)), candidates };
}

/**
 * Checks all candidates against the state, which can be a later one.
 *
 * @throws {InstallError}
 */
export async function checkCandidates(
  state: InstallState,
  candidates: Candidates,
  { allowed, requiredKey }: InstallRequest,
): Promise<void> {
  for (const [toolId, candidate] of candidates) {
    const entry = entryOf(state, toolId);
    const locked = state.lock?.get(toolId);
    const predecessors: Predecessor[] = [
      ...(entry === undefined ? [] : [{ ...entry, state: "installed" as const }]),
      ...(locked === undefined ? [] : [{ ...locked, state: "locked" as const }]),
    ];
    const isNamed = candidate.neededBy.length === 0;
    const known = {
      pinnedKey: state.record.publisherKeys.get(toolId),
      predecessors,
      requiredKey: isNamed ? requiredKey : undefined,
    };
    checkTrust(candidate, known, allowed);
    if (entry === undefined) await checkFolder(state, candidate, allowed);
  }
}

/** Refuses to remove what lies in the place of a package, and was not installed. */
async function checkFolder(
  { home, project }: InstallPlace,
  { opened }: Candidate,
  allowed: Allowances,
): Promise<void> {
  const { toolId, version } = opened.manifest;
  const folder = folderOf(home, project, toolId);
  try {
    await lstat(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return;
    throw new InstallError("INSTALL_FOLDER_UNUSABLE", `Cannot use "${folder}": ${reasonOf(error)}`, {
      cause: error,
    });
  }
  if (allowed.replacingFolder === true) return;
  if (compareFiles(folder, toRecordedFiles(opened.files)).differences.length === 0) return;
  throw new InstallError(
    "INSTALL_FOLDER_TAKEN",
    `Cannot install ${toolId} ${version}: "${folder}" has other content, and Toolcrib did not install it`,
    { hint: "move it away; to remove it and install the package in its place, add --allow-replacing-folder" },
  );
}

function addCandidate(candidates: Candidates, candidate: Candidate): void {
  const { toolId } = candidate.opened.manifest;
  const other = candidates.get(toolId);
  if (other !== undefined) {
    const message = `Cannot install ${toolId} twice: it is in "${other.source}" and in "${candidate.source}"`;
    throw new InstallError("INSTALL_TOOL_TWICE", message);
  }
  candidates.set(toolId, candidate);
  if (candidates.size > packagesMaxCount) {
    throw tooLarge(`more than ${packagesMaxCount} packages`);
  }
  let bytes = 0;
  for (const { opened } of candidates.values())
    for (const file of opened.files.values()) bytes += file.bytes.length;
  if (bytes > totalMaxBytes) throw tooLarge(`packages with more than ${totalMaxBytes} bytes together`);
}

function tooLarge(what: string): InstallError {
  return new InstallError("INSTALL_TOO_LARGE", `Cannot install ${what} at once`, {
    hint: "install some of the tools first, in a command of their own",
  });
}

function requireLock({ lock, project }: InstallState): ReadonlyMap<string, LockedPackage> {
  if (lock !== undefined) return lock;
  const where = project === undefined ? "for the user" : `in ${project}`;
  throw new InstallError("INSTALL_LOCK_INVALID", `There is no ${lockFileName} ${where}`, {
    hint: "it belongs to a project, and is written when a package is installed there",
  });
}

/** Opens the package that a lock file names, and no other. */
async function openLockedPackage(
  deps: SourceDeps,
  { project = "", signal }: InstallRequest,
  toolId: string,
  locked: LockedPackage,
): Promise<OpenedSource> {
  const given = parseSource(locked.source, project);
  const exact: GivenSource = given.kind === "registry" ? { ...given, toolId, range: locked.version } : given;
  const found = await openSource(deps, exact, signal);
  const { digest, manifest } = found.opened;
  if (digest !== locked.digest || manifest.toolId !== toolId || manifest.version !== locked.version) {
    throw new InstallError(
      "INSTALL_DIGEST_MISMATCH",
      `Cannot install ${toolId} ${locked.version}: ${lockFileName} has the digest ${locked.digest}, and "${locked.source}" is ${manifest.toolId} ${manifest.version} with ${digest}`,
      {
        hint: `get the locked archive; or, to use this one, install it by its name: toolcrib install ${locked.source}`,
      },
    );
  }
  // The range that was asked for stays, so that an update follows it.
  return given.kind === "registry" ? { ...found, source: locked.source } : found;
}

/**
 * Returns the tools that the programs of a package can call, and that were not approved for it. An approval is for the
 * package of one publisher in one place: it counts for a later version that the same key signed, or for exactly the
 * same archive.
 */
export function reachGrowthOf(
  state: InstallState,
  { manifest, digest, signature }: OpenedPackage,
): readonly string[] {
  const reach = reachOf(manifest);
  const entry = reach.length === 0 ? undefined : entryOf(state, manifest.toolId);
  if (entry === undefined) return reach;
  const key = signature.kind === "signed" ? signature.keyId : undefined;
  const isSamePublisher = key !== undefined && key === entry.publisherKey;
  if (!isSamePublisher && digest !== entry.digest) return reach;
  const approved = new Set(entry.approvedTools);
  return reach.filter((id) => !approved.has(id));
}

function toPlanned(state: InstallState, candidate: Candidate): PlannedPackage {
  const { opened, source, registry, neededBy } = candidate;
  const { manifest, digest, signature } = opened;
  const entry = entryOf(state, manifest.toolId);
  const publisherKey = signature.kind === "signed" ? signature.keyId : undefined;
  const pinned = state.record.publisherKeys.get(manifest.toolId);
  return {
    toolId: manifest.toolId,
    version: manifest.version,
    digest,
    publisherKey,
    source,
    registry,
    replaces: entry?.version,
    neededBy,
    isInstalled: entry !== undefined && entry.digest === digest && isIntact(state.home, entry),
    reach: reachOf(manifest),
    reachGrowth: reachGrowthOf(state, opened),
    access: packageReach(manifest),
    isKeyNew: publisherKey !== undefined && pinned !== publisherKey,
  };
}
