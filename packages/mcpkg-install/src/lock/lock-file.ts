/**
 * `mcp.lock` of a project: which packages it uses, with their versions, digests and keys. The
 * same packages give the same bytes on every machine, so that a version control system shows real changes alone.
 */

import { lstat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { errnoOf, type FileContent, readRegularFile, reasonOf } from "@toolcrib/files";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { isDigest, isToolId } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import type { RecordEntry } from "../record/install-record.ts";
import { isVersion } from "../version-order.ts";

/** Name of the file in the folder of the project. */
export const lockFileName = "mcp.lock";

const lockfileVersion = 1;
const lockMaxBytes = 4 * 1024 * 1024;
/** Greatest number of packages in a lock file. */
const packagesMaxCount = 2000;

/** A package of a lock file. */
export interface LockedPackage {
  readonly version: string;
  /** Digest of the archive, such as `sha256:…`. */
  readonly digest: string;
  /** Id of the key that signed it; undefined: unsigned. */
  readonly publisherKey: string | undefined;
  /** Where it comes from: `toolId@range`, a URL, or a path that begins in the project. */
  readonly source: string;
}

/** The packages of a lock file by their toolIds. */
export type LockedPackages = ReadonlyMap<string, LockedPackage>;

/** Returns what the lock file of `project` says about a package. */
export function toLocked(
  { version, digest, publisherKey, source }: RecordEntry,
  project: string,
): LockedPackage {
  return { version, digest, publisherKey, source: toLockedSource(source, project) };
}

/** A path in the project is written such that it means the same file in every clone. */
function toLockedSource(source: string, project: string): string {
  if (!isAbsolute(source)) return source;
  const path = relative(project, source);
  if (path.startsWith("..") || isAbsolute(path)) return source;
  return `./${path.split(sep).join("/")}`;
}

/** Returns the text of a lock file. */
export function formatLock(packages: LockedPackages): string {
  const entries = [...packages].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const value = {
    lockfileVersion,
    packages: Object.fromEntries(
      entries.map(([toolId, { version, digest, publisherKey, source }]) => [
        toolId,
        { version, digest, publisherKey: publisherKey ?? null, source },
      ]),
    ),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/**
 * Reads the lock file of a project.
 *
 * @returns undefined where there is none.
 * @throws {InstallError} `INSTALL_LOCK_INVALID`
 */
export async function readLock(project: string): Promise<LockedPackages | undefined> {
  const path = join(project, lockFileName);
  let content: FileContent;
  try {
    // It belongs to the project, and leads to no other file.
    if ((await lstat(path)).isSymbolicLink()) throw invalid(path, "it is a symbolic link");
    content = await readRegularFile(path, lockMaxBytes);
  } catch (cause) {
    if (cause instanceof InstallError) throw cause;
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw invalid(path, reasonOf(cause));
  }
  if (content.bytes.length > lockMaxBytes) throw invalid(path, `it has more than ${lockMaxBytes} bytes`);
  return parseLock(Buffer.from(content.bytes).toString("utf8"), path);
}

function parseLock(text: string, path: string): LockedPackages {
  let value: JsonValue;
  try {
    value = parseJson(text, { maxDepth: 8 });
  } catch {
    throw invalid(path, /^(?:<{7}|>{7}|={7})/m.test(text) ? "it has conflicts of a merge" : "it is not JSON");
  }
  const packages = isJsonObject(value) ? value["packages"] : undefined;
  if (!isJsonObject(value) || !isJsonObject(packages)) throw invalid(path, 'it has no "packages"');
  if (value["lockfileVersion"] !== lockfileVersion) {
    throw invalid(path, `its lockfileVersion is not ${lockfileVersion}`);
  }
  const entries = Object.entries(packages);
  if (entries.length > packagesMaxCount) throw invalid(path, `it has more than ${packagesMaxCount} packages`);
  return new Map(
    entries.map(([toolId, one]) => {
      const locked = isToolId(toolId) ? toLockedPackage(one) : undefined;
      if (locked === undefined) throw invalid(path, `its entry "${toolId.slice(0, 200)}" is damaged`);
      return [toolId, locked];
    }),
  );
}

function toLockedPackage(value: JsonValue | undefined): LockedPackage | undefined {
  if (!isJsonObject(value)) return undefined;
  const { version, digest, publisherKey, source } = value;
  if (typeof version !== "string" || typeof source !== "string" || source === "") return undefined;
  if (!isVersion(version) || !isDigest(digest)) return undefined;
  if (publisherKey !== null && !isDigest(publisherKey)) return undefined;
  return { version, digest, publisherKey: publisherKey ?? undefined, source };
}

function invalid(path: string, reason: string): InstallError {
  return new InstallError("INSTALL_LOCK_INVALID", `Cannot use "${path}": ${reason}`, {
    hint: "restore it from version control; or delete it, and write that of the installed packages with: toolcrib lock",
  });
}
