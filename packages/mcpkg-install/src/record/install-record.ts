/**
 * The install record of a home: which packages are installed where, with the digests of their
 * files, and the pinned keys of publishers. Reads and writes its text; no I/O.
 *
 * A record that is not exactly of this form is unreadable as a whole: packages that were dropped from it
 * would lose their pinned keys.
 */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { isDigest, isSha256, isToolId } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import { isVersion } from "../version-order.ts";

/** Version of the format that this file reads and writes. */
const formatVersion = 1;
/** Greatest length of a record in bytes. */
export const recordMaxBytes = 16 * 1024 * 1024;
/** Greatest number of packages in a record. */
export const packagesMaxCount = 2000;

/** A file of an installed package. */
export interface RecordedFile {
  /** Relative to the folder of the package, with `/` between its parts. */
  readonly path: string;
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly isExecutable: boolean;
}

/** An installed package. */
export interface RecordEntry {
  readonly toolId: string;
  readonly version: string;
  /** Absolute path of the folder of the project; undefined: installed for the user. */
  readonly project: string | undefined;
  readonly digest: string;
  readonly publisherKey: string | undefined;
  readonly source: string;
  /** The registry that `source` was found in. */
  readonly registry: string | undefined;
  readonly installedAt: string;
  /** Ids of the tools that the operator approved for its Starlark programs; they can call no others. */
  readonly approvedTools: readonly string[];
  readonly files: readonly RecordedFile[];
}

/** A change of a folder that was decided and is not complete yet. */
export interface PendingChange {
  readonly toolId: string;
  readonly project: string | undefined;
  /** Name of the staged folder that replaces the package; undefined: the package is removed. */
  readonly staged: string | undefined;
}

/** The content of the record. */
export interface InstallRecord {
  readonly packages: readonly RecordEntry[];
  /** Pinned keys by toolId: only packages that this key signed replace the package. */
  readonly publisherKeys: ReadonlyMap<string, string>;
  /** Changes that the next command completes. */
  readonly pending: readonly PendingChange[];
}

/** The record of a home in which nothing was installed. */
export const emptyRecord: InstallRecord = { packages: [], publisherKeys: new Map(), pending: [] };

/** Whether both are the same package in the same place. */
export function isSamePlace(
  one: Pick<RecordEntry, "toolId" | "project">,
  other: Pick<RecordEntry, "toolId" | "project">,
): boolean {
  return one.toolId === other.toolId && one.project === other.project;
}

/** Returns the text of a record: the same text for the same content. */
export function formatRecord({ packages, publisherKeys, pending }: InstallRecord): string {
  const order = (one: RecordEntry, other: RecordEntry) =>
    compare(one.toolId, other.toolId) || compare(one.project ?? "", other.project ?? "");
  const keys = [...publisherKeys].toSorted(([one], [other]) => compare(one, other));
  const value = {
    format: formatVersion,
    packages: packages.toSorted(order).map(withoutEmptyApproval),
    publisherKeys: Object.fromEntries(keys),
    ...(pending.length === 0 ? {} : { pending }),
  };
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

/** Most packages have no program, and an approval of nothing is none. */
function withoutEmptyApproval({ approvedTools, files, ...entry }: RecordEntry): object {
  return { ...entry, ...(approvedTools.length === 0 ? {} : { approvedTools }), files };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Reads the text of a record.
 *
 * @param path for messages.
 * @throws {InstallError} `INSTALL_RECORD_UNREADABLE`
 */
export function parseRecord(text: string, path: string): InstallRecord {
  let value: JsonValue;
  try {
    value = parseJson(text, { maxDepth: 8 });
  } catch (cause) {
    throw unreadable(path, "it is not JSON", cause);
  }
  if (!isJsonObject(value)) throw unreadable(path, "it is not an object");
  const { format, packages, publisherKeys, pending = [] } = value;
  if (format !== formatVersion) {
    throw unreadable(
      path,
      `its format is ${JSON.stringify(format)?.slice(0, 20)}, and this version of Toolcrib reads ${formatVersion}`,
    );
  }
  const keys = isJsonObject(publisherKeys) ? Object.entries(publisherKeys) : undefined;
  const entries = listOf(packages, toEntry);
  const changes = listOf(pending, toPending);
  if (entries === undefined || changes === undefined || !keys?.every(isTextPair)) {
    throw unreadable(path, "its content is damaged");
  }
  return { packages: entries, publisherKeys: new Map(keys as [string, string][]), pending: changes };
}

/** Returns the error for a record that cannot be read. */
export function unreadable(path: string, reason: string, cause?: unknown): InstallError {
  return new InstallError(
    "INSTALL_RECORD_UNREADABLE",
    `Cannot read the record of installed packages "${path}": ${reason}`,
    {
      ...(cause === undefined ? {} : { cause }),
      hint: "restore the file; or move it away and install the packages again (pinned keys of publishers are then forgotten)",
    },
  );
}

function listOf<T>(value: JsonValue | undefined, toItem: (value: JsonObject) => T | undefined) {
  if (!Array.isArray(value)) return undefined;
  const items: T[] = [];
  for (const one of value as readonly JsonValue[]) {
    const item = isJsonObject(one) ? toItem(one) : undefined;
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function toEntry(value: JsonObject): RecordEntry | undefined {
  const { toolId, version, project, digest, publisherKey, source, registry, installedAt } = value;
  const { approvedTools = [] } = value;
  const files = listOf(value["files"], toFile);
  const required = [toolId, version, digest, source, installedAt];
  if (!required.every(isText) || files === undefined || !isTexts(approvedTools)) return undefined;
  if (![project, publisherKey, registry].every(isTextOrAbsent)) return undefined;
  if (!isToolId(toolId as string) || !isDigest(digest as string) || !isVersion(version as string))
    return undefined;
  return {
    toolId: toolId as string,
    version: version as string,
    project: project as string | undefined,
    digest: digest as string,
    publisherKey: publisherKey as string | undefined,
    source: source as string,
    registry: registry as string | undefined,
    installedAt: installedAt as string,
    approvedTools,
    files,
  };
}

function toFile({ path, bytes, sha256, isExecutable }: JsonObject): RecordedFile | undefined {
  if (!isText(path) || typeof bytes !== "number" || typeof isExecutable !== "boolean") return undefined;
  if (!isSha256(sha256)) return undefined;
  return { path, bytes, sha256, isExecutable };
}

function toPending({ toolId, project, staged }: JsonObject): PendingChange | undefined {
  if (!isText(toolId) || !isToolId(toolId) || !isTextOrAbsent(project) || !isTextOrAbsent(staged)) {
    return undefined;
  }
  if (staged !== undefined && !isSha256(staged)) return undefined;
  return { toolId, project, staged };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && (value as readonly JsonValue[]).every(isText);
}

function isTextOrAbsent(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || isText(value);
}

function isTextPair(pair: readonly [string, JsonValue | undefined]): boolean {
  return isText(pair[1]);
}
