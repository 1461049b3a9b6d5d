/**
 * Reads which packages are installed. Only what the record of the home lists counts, and only
 * while its folder has exactly the files of the archive: what lies in `.mcp/tools` of a cloned repository
 * is nothing.
 */

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type Diagnostic, hasErrors, isCodedError } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import { parsePackage, type ToolPackage } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import { folderOf, type InstallScope, rootOf, stagingOf } from "../install-places.ts";
import { type Comparison, compareFiles, compareFilesInSteps, statFiles } from "./compare-files.ts";
import { type InstallRecord, isSamePlace, type RecordEntry, type RecordedFile } from "./install-record.ts";
import { type ReadRecord, readRecordFile } from "./record-file.ts";

/** An installed package whose folder has exactly the files of its archive. */
export interface InstalledPackage {
  readonly toolId: string;
  readonly version: string;
  /** Absolute folder with the unpacked files of the package. */
  readonly folder: string;
  /** Digest of the archive, `sha256:` and 64 hexadecimal digits, as `digestArchive` of `mcpkg` gives it. */
  readonly digest: string;
  /** Id of the publisher key that signed it, as `keyIdOf` gives it; undefined: unsigned. */
  readonly publisherKey: string | undefined;
  /** Where it came from: an absolute path, a URL, or `toolId@range`. */
  readonly source: string;
  /** The registry that `source` was found in. */
  readonly registry: string | undefined;
  /** ISO 8601. */
  readonly installedAt: string;
  readonly scope: InstallScope;
  /** Ids of the tools that the operator approved for its Starlark programs; they can call no others. */
  readonly approvedTools: readonly string[];
  /** Its files with their digests. */
  readonly files: readonly RecordedFile[];
}

/** The installed packages, and the findings about those that cannot be used. */
export interface InstalledPackages {
  /** At most one for each toolId, in the order of their ids. */
  readonly packages: readonly InstalledPackage[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Where to look. */
export interface InstalledPlaces {
  /** Toolcrib's home. */
  readonly home: string;
  /** Folder of the project, whose packages take the place of the user's. @default only the user's */
  readonly projectFolder?: string | undefined;
  /** The results of earlier reads; only packages that changed since are read. @default nothing */
  readonly checked?: CheckedFolders | undefined;
}

/**
 * Folders of packages that were compared with their records, by the state of their files. A process that reads the
 * installed packages again and again keeps one.
 */
export class CheckedFolders {
  #states = new Map<string, string>();

  /** Compares a folder, unless neither its files nor its record changed since it was compared without a difference. */
  async compare(
    folder: string,
    { digest, files }: Pick<RecordEntry, "digest" | "files">,
  ): Promise<Comparison> {
    const stateOf = () => {
      const state = statFiles(folder, files);
      return state === undefined ? undefined : `${digest}\n${state}`;
    };
    const before = stateOf();
    if (before !== undefined && before === this.#states.get(folder))
      return { files: new Map(), differences: [] };
    this.#states.delete(folder);
    const comparison = await compareFilesInSteps(folder, files);
    // Files that are written while they are compared are compared again by the next read.
    if (comparison.differences.length === 0 && before !== undefined && before === stateOf()) {
      this.#states.set(folder, before);
    }
    return comparison;
  }

  /** Forgets all folders but these. */
  keep(folders: ReadonlySet<string>): void {
    this.#states = new Map([...this.#states].filter(([folder]) => folders.has(folder)));
  }
}

/** Number of reads while other commands change the record. */
const readsMaxCount = 5;
/** Milliseconds until a change that is in progress is read again. */
const rereadMs = 20;

/**
 * Reads the installed packages, and compares the files of each with the record.
 *
 * Never throws for what it finds on the disk: a record that cannot be read and a package that was changed are findings.
 */
export async function readInstalledPackages({
  home,
  projectFolder,
  checked = new CheckedFolders(),
}: InstalledPlaces): Promise<InstalledPackages> {
  const project = projectFolder === undefined ? undefined : await realPathOf(projectFolder);
  let before: string | undefined;
  for (let count = 1; ; count += 1) {
    let read: ReadRecord;
    try {
      read = await readRecordFile(home);
    } catch (error) {
      return { packages: [], diagnostics: [toDiagnostic(error)] };
    }
    const { record, text } = read;
    const found = await checkAll(home, record, project, checked);
    // A difference can be a package that another command is replacing: it changed the record before. And a package
    // that is staged is about to be moved.
    const isPending = record.pending.some((one) => one.project === undefined || one.project === project);
    const isSettled = !isPending && (!hasErrors(found.diagnostics) || text === before);
    if (isSettled || count === readsMaxCount) return found;
    if (text === before) await delay(rereadMs);
    before = text;
  }
}

/**
 * Reads an installed package completely, from files that are compared with the record as they are read.
 *
 * @throws {InstallError} `INSTALL_PACKAGE_CHANGED`
 */
export function openInstalledPackage(installed: InstalledPackage, validator: SchemaValidator): ToolPackage {
  const { files, differences } = compareFiles(installed.folder, installed.files, true);
  if (differences.length > 0) throw changedError(installed, differences);
  const { value, diagnostics } = parsePackage(files, validator);
  if (value !== undefined) return value;
  throw new InstallError(
    "INSTALL_PACKAGE_CHANGED",
    `Cannot use the package ${installed.toolId} ${installed.version}: this version of Toolcrib refuses it`,
    { data: { diagnostics }, hint: repairOf(installed) },
  );
}

/**
 * Checks again and again that the folder of an installed package has exactly the files of its archive. Files
 * are read where their sizes, inodes or times are not those of the last check.
 */
export class InstalledCheck {
  readonly #installed: InstalledPackage;
  /** The state of the files when they were last compared. */
  #compared: string | undefined;

  constructor(installed: InstalledPackage) {
    this.#installed = installed;
  }

  /** @throws {InstallError} `INSTALL_PACKAGE_CHANGED` */
  check(): void {
    const { folder, files } = this.#installed;
    const state = statFiles(folder, files);
    if (state !== undefined && state === this.#compared) return;
    this.#compared = undefined;
    const { differences } = compareFiles(folder, files);
    if (differences.length > 0) throw changedError(this.#installed, differences);
    // Files that are written while they are compared are compared again by the next check.
    if (state !== undefined && state === statFiles(folder, files)) this.#compared = state;
  }
}

/** Resolves links of a folder; the path itself where it does not exist. */
export function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function checkAll(
  home: string,
  record: InstallRecord,
  project: string | undefined,
  checked: CheckedFolders,
): Promise<InstalledPackages> {
  const packages: InstalledPackage[] = [];
  const diagnostics: Diagnostic[] = [];
  const chosen = new Map<string, RecordEntry>();
  for (const entry of record.packages) {
    if (entry.project !== undefined && entry.project !== project) continue;
    // The package of the project takes the place of the user's, also when it cannot be used.
    if (entry.project !== undefined || !chosen.has(entry.toolId)) chosen.set(entry.toolId, entry);
  }
  for (const entry of [...chosen.values()].toSorted((one, other) => (one.toolId < other.toolId ? -1 : 1))) {
    const installed = toInstalled(home, entry);
    const { differences } = await checked.compare(installed.folder, entry);
    // Also where nothing is read, hundreds of packages have thousands of files.
    await nextTurn();
    const staged = differences.length === 0 ? undefined : findStaged(home, record, entry);
    if (differences.length === 0) packages.push(installed);
    else if (staged !== undefined) packages.push({ ...installed, folder: staged });
    else {
      const finding = changed(installed, differences);
      diagnostics.push({ severity: "error", code: "INSTALL_PACKAGE_CHANGED", ...finding });
    }
  }
  checked.keep(new Set(packages.map(({ folder }) => folder)));
  return { packages, diagnostics };
}

/** Returns where a package lies that was installed by a process that was killed before it moved it. */
function findStaged(home: string, { pending }: InstallRecord, entry: RecordEntry): string | undefined {
  const name = pending.find((one) => isSamePlace(one, entry))?.staged;
  if (name === undefined) return undefined;
  const folder = join(stagingOf(rootOf(home, entry.project)), name);
  return compareFiles(folder, entry.files).differences.length === 0 ? folder : undefined;
}

/** Returns the installed package of an entry; its folder is not compared. */
export function toInstalled(home: string, entry: RecordEntry): InstalledPackage {
  const { project, ...rest } = entry;
  return {
    ...rest,
    folder: folderOf(home, project, entry.toolId),
    scope: project === undefined ? "user" : "project",
  };
}

function changedError(installed: InstalledPackage, differences: readonly string[]): InstallError {
  const { message, hint } = changed(installed, differences);
  return new InstallError("INSTALL_PACKAGE_CHANGED", message, { hint });
}

function changed(
  installed: Pick<InstalledPackage, "toolId" | "version" | "folder" | "source" | "scope">,
  differences: readonly string[],
): { readonly message: string; readonly hint: string } {
  const { toolId, version, folder } = installed;
  return {
    message: `The package ${toolId} ${version} in "${folder}" was changed after it was installed, and is not used: ${differences.join(", ")}`,
    hint: repairOf(installed),
  };
}

function repairOf({ toolId, source, scope }: Pick<InstalledPackage, "toolId" | "source" | "scope">): string {
  const user = scope === "user" ? " --user" : "";
  const again = source.replace(/@\*$/, "");
  const shown = /^[\w./:@^~%-]+$/.test(again) ? again : `'${again}'`;
  return `install it again: toolcrib install ${shown}${user}; or remove it: toolcrib uninstall ${toolId}${user}`;
}

function toDiagnostic(error: unknown): Diagnostic {
  if (!isCodedError(error)) throw error;
  const { code, message, hint } = error;
  return { severity: "error", code, message, ...(hint === undefined ? {} : { hint }) };
}
