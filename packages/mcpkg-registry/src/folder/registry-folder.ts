/**
 * The folder of a registry, as its operator changes it: `index.json` (the signed statement), `index/`
 * (the list that it names, and the one before, for clients that are reading), and `packages/` (the
 * archives). Any web server can serve it. A change is complete with the replacement of `index.json`:
 * after a crash the state before it is valid.
 */

import type { KeyObject } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, readRegularFile, reasonOf, removeFile, replaceFile, waitForLock } from "@toolcrib/files";
import { keyIdOf } from "@toolcrib/mcpkg";
import type { IndexEntry } from "../index/index-entry.ts";
import { readIndexList, writeIndexList } from "../index/index-list.ts";
import {
  type CheckedStatement,
  describeList,
  type IndexStatement,
  isNamedList,
  listPathOf,
  readIndexStatement,
  statementPath,
  writeIndexStatement,
} from "../index/index-statement.ts";
import { rotationsMaxCount, writeKeyRotation } from "../index/key-rotation.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { statementMaxBytes } from "../registry-limits.ts";

/** The dependencies of a change. */
export interface FolderDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
}

/** The state of a registry folder. */
export interface RegistryFolder {
  readonly statement: CheckedStatement;
  /** In the order of their ids, then of their versions. */
  readonly entries: readonly IndexEntry[];
}

/** Options of `initRegistry`. */
export interface InitOptions {
  readonly name: string;
  /** Milliseconds for which a statement is valid. @default 90 days */
  readonly validMs?: number;
}

/** Default of `InitOptions.validMs`. */
const validDefaultMs = 90 * 24 * 3600 * 1000;
/** Longest wait for another command that changes the folder. */
const lockTimeoutMs = 10_000;

/**
 * Creates a registry without packages in `folder`, which may exist.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_FOLDER_INVALID` for a folder that is a registry; {FilesError}
 */
export async function initRegistry(
  deps: FolderDeps,
  folder: string,
  key: KeyObject,
  { name, validMs = validDefaultMs }: InitOptions,
): Promise<RegistryFolder> {
  await mkdir(join(folder, "packages"), { recursive: true });
  await mkdir(join(folder, "index"), { recursive: true });
  using _lock = await lockFolder(folder);
  if ((await readOptional(join(folder, statementPath), statementMaxBytes)) !== undefined) {
    throw new McpkgRegistryError("MCPKG_REGISTRY_FOLDER_INVALID", `"${folder}" is a registry already`, {
      hint: "toolcrib registry list FOLDER shows its packages",
    });
  }
  return await writeState(deps, folder, key, [], { name, sequence: 0, validMs });
}

/**
 * Reads the folder and checks the signature of its index.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_FOLDER_INVALID`, `MCPKG_REGISTRY_SIGNATURE_INVALID`, `MCPKG_REGISTRY_INDEX_INVALID`, `MCPKG_REGISTRY_DIGEST_MISMATCH`
 */
export async function readRegistryFolder(folder: string): Promise<RegistryFolder> {
  const bytes = await readOptional(join(folder, statementPath), statementMaxBytes);
  if (bytes === undefined) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_FOLDER_INVALID",
      `"${folder}" is not a registry: it has no ${statementPath}`,
      {
        hint: `create one with: toolcrib registry init ${folder}`,
      },
    );
  }
  const statement = readIndexStatement(bytes);
  const list = await readOptional(join(folder, listPathOf(statement)), statement.list.bytes);
  if (list === undefined || !isNamedList(statement, list)) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_DIGEST_MISMATCH",
      `The list of packages in "${folder}" is ${list === undefined ? "missing" : "not the one that index.json names"}`,
      { hint: "copy the whole folder, index/ included, from where it was written" },
    );
  }
  return { statement, entries: readIndexList(list) };
}

/**
 * Changes the entries of a registry and signs the new state. `change` may write archives; it runs while
 * no other command changes the folder.
 *
 * @param change returns the new entries
 * @returns the new state
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_KEY_MISMATCH` for another key than the last one; as `readRegistryFolder`; what `change` throws
 */
export async function changeRegistry(
  deps: FolderDeps,
  folder: string,
  key: KeyObject,
  change: (entries: readonly IndexEntry[]) => Promise<readonly IndexEntry[]> | readonly IndexEntry[],
): Promise<RegistryFolder> {
  using _lock = await lockFolder(folder);
  const { statement, entries } = await readRegistryFolder(folder);
  requireKey(folder, statement, key);
  const changed = await writeState(deps, folder, key, await change(entries), continuing(statement));
  await removeLists(folder, [changed.statement.list.sha256, statement.list.sha256]);
  return changed;
}

/** Options of `rotateRegistryKey`. */
export interface RotateOptions {
  readonly oldKey: KeyObject;
  readonly newKey: KeyObject;
  /** Milliseconds during which clients that know the old key accept the new one. @default a year */
  readonly acceptedMs?: number | undefined;
}

/** Milliseconds of a replacement of a key. */
const acceptedDefaultMs = 366 * 24 * 3_600_000;

/**
 * Replaces the key of a registry: the old key signs the new one, which signs the index from now on.
 *
 * @throws {McpkgRegistryError} as `changeRegistry`; `MCPKG_REGISTRY_KEY_MISMATCH` where both keys are the same
 */
export async function rotateRegistryKey(
  deps: FolderDeps,
  folder: string,
  { oldKey, newKey, acceptedMs = acceptedDefaultMs }: RotateOptions,
): Promise<RegistryFolder> {
  using _lock = await lockFolder(folder);
  const { statement, entries } = await readRegistryFolder(folder);
  requireKey(folder, statement, oldKey);
  const to = keyIdOf(newKey);
  if (to === statement.keyId) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_KEY_MISMATCH",
      `Cannot replace the key of "${folder}": the new key is the old one, ${to}`,
      { hint: "create another one with: openssl genpkey -algorithm ed25519 -out FILE" },
    );
  }
  const expiresAt = new Date(deps.now() + acceptedMs).toISOString();
  const rotation = writeKeyRotation({ to, expiresAt }, oldKey);
  const rotations = [...(statement.rotations ?? []), rotation].slice(-rotationsMaxCount);
  const changed = await writeState(deps, folder, newKey, entries, { ...continuing(statement), rotations });
  await removeLists(folder, [changed.statement.list.sha256, statement.list.sha256]);
  return changed;
}

/** @throws {McpkgRegistryError} `MCPKG_REGISTRY_KEY_MISMATCH` */
function requireKey(folder: string, { keyId }: RegistryFolder["statement"], key: KeyObject): void {
  if (keyId === keyIdOf(key)) return;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_KEY_MISMATCH",
    `Cannot sign the index of "${folder}" by ${keyIdOf(key)}: it is signed by ${keyId}, and clients know that key`,
    {
      hint: "name the file of that key: --key FILE; to replace it: toolcrib registry rotate FOLDER --key FILE --new-key FILE",
    },
  );
}

/** The parts that a new state takes from the last one. */
function continuing({
  name,
  sequence,
  issuedAt,
  expiresAt,
  rotations,
}: RegistryFolder["statement"]): StateOptions {
  return { name, sequence, validMs: Date.parse(expiresAt) - Date.parse(issuedAt), rotations };
}

interface StateOptions {
  readonly name: string;
  readonly sequence: number;
  readonly validMs: number;
  readonly rotations?: readonly string[] | undefined;
}

/** Writes the list, then the statement that names it. */
async function writeState(
  { now, randomBytes }: FolderDeps,
  folder: string,
  key: KeyObject,
  entries: readonly IndexEntry[],
  { name, sequence, validMs, rotations = [] }: StateOptions,
): Promise<RegistryFolder> {
  const list = writeIndexList(entries);
  const statement: IndexStatement = {
    name,
    sequence: sequence + 1,
    issuedAt: new Date(now()).toISOString(),
    expiresAt: new Date(now() + validMs).toISOString(),
    list: describeList(list, entries.length),
    rotations,
  };
  const mode = { mode: 0o644 };
  await replaceFile({ randomBytes }, join(folder, listPathOf(statement)), list, mode);
  await replaceFile({ randomBytes }, join(folder, statementPath), writeIndexStatement(statement, key), mode);
  return { statement: { ...statement, keyId: keyIdOf(key) }, entries: readIndexList(list) };
}

/** Removes lists that no client can be reading any more. */
async function removeLists(folder: string, kept: readonly string[]): Promise<void> {
  for (const name of await readdir(join(folder, "index"))) {
    const [, digest] = /^([0-9a-f]{64})\.json$/.exec(name) ?? [];
    if (digest !== undefined && !kept.includes(digest)) await removeFile(join(folder, "index", name));
  }
}

async function lockFolder(folder: string): Promise<Disposable> {
  const lock = await waitForLock(folder, ".registry", lockTimeoutMs);
  if (lock !== undefined) return lock;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_FOLDER_INVALID",
    `Cannot change "${folder}": another command is changing it`,
    {
      hint: "wait until it is done",
    },
  );
}

/**
 * Reads a file of a registry folder, at most `maxBytes` of it and one more.
 *
 * @returns undefined where there is no such file
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_UNREACHABLE`
 */
export async function readOptional(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    return (await readRegularFile(path, maxBytes)).bytes;
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause) ?? "")) return undefined;
    throw new McpkgRegistryError("MCPKG_REGISTRY_UNREACHABLE", `Cannot read "${path}": ${reasonOf(cause)}`, {
      cause,
    });
  }
}
