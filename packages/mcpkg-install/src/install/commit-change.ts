/**
 * Changes what is installed: all packages of a change, or none, also when the process is killed
 * or the machine loses power.
 *
 * New packages are written to `.staging/<digest>` beside their places first. Then one replacement of the
 * record decides: it lists the new state, and the folders that still have to be moved. The next command that changes
 * something completes what a killed command has left, and until then readers find the new
 * package where it was staged.
 */

import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Diagnostic, isCodedError } from "@toolcrib/diagnostics";
import {
  errnoOf,
  type FileSteps,
  FilesError,
  makePrivateDirectory,
  moveDirectory,
  nodeFileSteps,
  reasonOf,
  removeDirectory,
  removeDrafts,
  removeFile,
  replaceFile,
  waitForLock,
  writeDirectory,
} from "@toolcrib/files";
import type { PackageFiles } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import { folderOf, recordPathOf, rootOf, stagingOf } from "../install-places.ts";
import { formatLock, lockFileName, readLock, toLocked } from "../lock/lock-file.ts";
import {
  formatRecord,
  type InstallRecord,
  isSamePlace,
  type PendingChange,
  packagesMaxCount,
  type RecordEntry,
  recordMaxBytes,
} from "../record/install-record.ts";
import { readRecordFile } from "../record/record-file.ts";
import type { InstallPlace } from "./install-state.ts";

/** Milliseconds that a change waits for changes of other processes. */
const lockTimeoutMs = 60_000;
/** Age in milliseconds from which a draft beside a lock file was left by a killed process. */
const draftMaxAgeMs = 60_000;
/** Files are not writable: nothing but an installation changes them. The umask may clear more. */
const modes = { plain: 0o444, executable: 0o555 } as const;
/** Permission bits of the folders above them; those of the home are private. */
const directoryMode = 0o755;

/** Dependencies of a change. */
export interface ChangeDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** @default Node's file system */
  readonly steps?: FileSteps | undefined;
  /** Receives what could not be completed in other places, and does not concern this change. */
  readonly onFinding?: ((finding: Diagnostic) => void) | undefined;
}

/** The changes in one place. */
export interface Change {
  readonly place: readonly { readonly entry: RecordEntry; readonly files: PackageFiles }[];
  /** The toolIds of packages that are removed. */
  readonly remove: readonly string[];
  /** Keys that are pinned (a key id), or forgotten (undefined), by toolId. */
  readonly keys: ReadonlyMap<string, string | undefined>;
}

/**
 * Runs `decide` while no other process changes installed packages of this home, after everything that was
 * interrupted is complete, and makes the change that it returns.
 *
 * @throws {InstallError} `INSTALL_BUSY`, `INSTALL_FOLDER_UNUSABLE`, `INSTALL_RECORD_UNREADABLE`; as `decide`
 * @throws {FilesError} `FILE_UNWRITABLE`: nothing changed, or the next command completes the change.
 */
export async function changeInstalled(
  deps: ChangeDeps,
  { home, project }: InstallPlace,
  decide: () => Promise<Change | undefined>,
): Promise<void> {
  const { steps = nodeFileSteps } = deps;
  await makePrivateDirectory(home);
  await makePrivateDirectory(rootOf(home, undefined));
  using lock = await waitForLock(rootOf(home, undefined), ".record", lockTimeoutMs);
  if (lock === undefined) {
    throw new InstallError(
      "INSTALL_BUSY",
      "Another command installs or removes packages, and does not finish",
      {
        hint: "try again when it has ended",
      },
    );
  }
  await removeDrafts(rootOf(home, undefined), { steps });
  await completePending(deps, home, project);
  const change = await decide();
  if (change === undefined) return;
  const { record } = await readRecordFile(home);
  const next = toNext(record, change, project);
  const text = formatRecord(next);
  if (Buffer.byteLength(text) > recordMaxBytes || next.packages.length > packagesMaxCount) {
    throw new InstallError(
      "INSTALL_TOO_LARGE",
      "Cannot install more packages: the record of the home is full",
      {
        hint: "uninstall some that are not needed",
      },
    );
  }
  await prepareRoot(rootOf(home, project), project, steps);
  try {
    await stage(change, rootOf(home, project), steps);
  } catch (error) {
    // The disk can be full; what is left is removed by the next change.
    await removeDirectory(stagingOf(rootOf(home, project)), steps).catch(() => undefined);
    throw error;
  }
  await replaceFile({ ...deps, steps }, recordPathOf(home), text);
  await completePending(deps, home, project);
}

/** Completes changes that a killed process has decided and not completed. Cheap where there are none. */
export async function completeInterrupted(
  deps: ChangeDeps,
  { home }: Pick<InstallPlace, "home">,
): Promise<void> {
  const { record } = await readRecordFile(home);
  if (record.pending.length === 0) return;
  await changeInstalled(deps, { home, project: undefined }, async () => undefined);
}

function toNext(
  record: InstallRecord,
  { place, remove, keys }: Change,
  project: string | undefined,
): InstallRecord {
  const changed = [
    ...place.map(({ entry }) => ({ toolId: entry.toolId, project, staged: hexOf(entry.digest) })),
    ...remove.map((toolId) => ({ toolId, project, staged: undefined })),
  ];
  const kept = record.packages.filter((entry) => !changed.some((one) => isSamePlace(one, entry)));
  const publisherKeys = new Map(record.publisherKeys);
  for (const [toolId, key] of keys) {
    if (key === undefined) publisherKeys.delete(toolId);
    else publisherKeys.set(toolId, key);
  }
  const stillPending = record.pending.filter((one) => !changed.some((other) => isSamePlace(one, other)));
  return {
    packages: [...kept, ...place.map(({ entry }) => entry)],
    publisherKeys,
    pending: [...stillPending, ...changed],
  };
}

/** Writes the new packages where nobody reads them. */
async function stage({ place }: Change, root: string, steps: FileSteps): Promise<void> {
  const staging = stagingOf(root);
  for (const { entry, files } of place) {
    const folder = join(staging, hexOf(entry.digest));
    await removeDirectory(folder, steps);
    const contents = [...files].map(([path, { bytes, isExecutable }]) => {
      return [path, { bytes, mode: isExecutable ? modes.executable : modes.plain }] as const;
    });
    await writeDirectory(folder, new Map(contents), steps);
  }
}

/** Creates the folder of packages, and refuses one that a repository has replaced by a link to another place. */
async function prepareRoot(root: string, project: string | undefined, steps: FileSteps): Promise<void> {
  for (const folder of placesOf(root, project)) {
    try {
      await steps.makeDirectory(folder, directoryMode).catch((error: unknown) => {
        if (errnoOf(error) !== "EEXIST") throw error;
      });
    } catch (cause) {
      throw unusable(folder, cause);
    }
    await requireFolder(folder);
  }
}

/** Returns the folders of Toolcrib down to the one for staging, the outermost first. */
function placesOf(root: string, project: string | undefined): readonly string[] {
  return [...(project === undefined ? [] : [join(project, ".mcp")]), root, stagingOf(root)];
}

/** @throws {InstallError} `INSTALL_FOLDER_UNUSABLE` where `path` is a link or a file */
async function requireFolder(path: string): Promise<void> {
  let isFolder: boolean;
  try {
    isFolder = (await lstat(path)).isDirectory();
  } catch (cause) {
    throw unusable(path, cause);
  }
  if (isFolder) return;
  throw new InstallError("INSTALL_FOLDER_UNUSABLE", `Cannot use "${path}": it is a link or a file`, {
    hint: "packages are installed in real folders; remove it",
  });
}

function unusable(path: string, cause: unknown): InstallError {
  return new InstallError("INSTALL_FOLDER_UNUSABLE", `Cannot use "${path}": ${reasonOf(cause)}`, { cause });
}

/**
 * Moves, removes and locks what the record lists as pending, and then takes it off the list.
 *
 * What fails in another place than `own` stays on the list and is a finding: a project whose folder cannot be
 * used any more does not stop changes elsewhere.
 */
async function completePending(deps: ChangeDeps, home: string, own: string | undefined): Promise<void> {
  const { steps = nodeFileSteps, onFinding } = deps;
  const { record } = await readRecordFile(home);
  const left: PendingChange[] = [];
  for (const [project, changes] of Map.groupBy(record.pending, (one) => one.project)) {
    try {
      await completeIn(deps, home, record, { project, changes });
    } catch (error) {
      if (project === own || !(isCodedError(error) || errnoOf(error) !== undefined)) throw error;
      left.push(...changes);
      onFinding?.(toFinding(rootOf(home, project), changes, error));
    }
  }
  if (left.length === record.pending.length) return;
  await replaceFile({ ...deps, steps }, recordPathOf(home), formatRecord({ ...record, pending: left }));
}

function toFinding(root: string, changes: readonly PendingChange[], error: unknown): Diagnostic {
  const tools = changes.map(({ toolId }) => toolId).join(", ");
  const reason = isCodedError(error) ? error.message : reasonOf(error);
  return {
    severity: "warning",
    code: "INSTALL_CHANGE_PENDING",
    message: `An interrupted change of ${tools} in "${root}" cannot be completed, and stays pending: ${reason}`,
    hint: "restore that folder, and install or remove a package there; other places are not affected",
  };
}

/** Completes the pending changes of one place. */
async function completeIn(
  deps: ChangeDeps,
  home: string,
  record: InstallRecord,
  { project, changes }: { readonly project: string | undefined; readonly changes: readonly PendingChange[] },
): Promise<void> {
  const { steps = nodeFileSteps } = deps;
  const root = rootOf(home, project);
  // A link that took the place of a folder since then leads elsewhere: nothing is moved or removed there.
  for (const path of placesOf(root, project)) {
    if (await exists(path)) await requireFolder(path);
  }
  for (const { toolId, staged } of changes) {
    const folder = folderOf(home, project, toolId);
    const from = staged === undefined ? undefined : join(stagingOf(root), staged);
    // What is not staged any more was moved before the process was killed.
    if (from !== undefined && !(await exists(from))) continue;
    if (await exists(folder)) {
      await prepareRoot(root, project, steps);
      const old = join(stagingOf(root), `${toolId}.old`);
      await removeDirectory(old, steps);
      await moveDirectory(folder, old, steps);
    }
    if (from !== undefined) await moveDirectory(from, folder, steps);
    // What tests of the package were recorded with goes with it.
    else await removeFile(`${folder}.metadata.json`, steps);
  }
  if (project !== undefined) await updateLock(deps, record, project);
  // Nothing of it is needed after a change, and no other change is in progress.
  await removeDirectory(stagingOf(root), steps);
}

/** Brings the entries of changed packages in the lock file up to date, and leaves the others. */
async function updateLock(deps: ChangeDeps, record: InstallRecord, project: string): Promise<void> {
  const { steps = nodeFileSteps } = deps;
  if (!(await exists(project))) return;
  let before: Awaited<ReturnType<typeof readLock>>;
  try {
    before = await readLock(project);
  } catch (error) {
    // It was damaged after the change was decided; `toolcrib lock` writes it anew.
    if (error instanceof InstallError) return;
    throw error;
  }
  const packages = new Map(before);
  for (const { toolId } of record.pending.filter((one) => one.project === project)) {
    const entry = record.packages.find((one) => isSamePlace(one, { toolId, project }));
    if (entry === undefined) packages.delete(toolId);
    else packages.set(toolId, toLocked(entry, project));
  }
  await writeLock({ ...deps, steps }, project, packages);
}

/** Writes the lock file of a project, or removes that of a project without packages. */
export async function writeLock(
  deps: ChangeDeps,
  project: string,
  packages: NonNullable<Awaited<ReturnType<typeof readLock>>>,
): Promise<void> {
  const { steps = nodeFileSteps } = deps;
  const path = join(project, lockFileName);
  await removeDrafts(project, { writtenBeforeMs: deps.now() - draftMaxAgeMs, steps });
  if (packages.size === 0) await removeFile(path, steps);
  else
    await replaceFile({ ...deps, steps }, path, formatLock(packages), { mode: 0o644, keepPermissions: true });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return false;
    throw new FilesError("FILE_UNWRITABLE", `Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

function hexOf(digest: string): string {
  return digest.replace(/^sha256:/, "");
}
