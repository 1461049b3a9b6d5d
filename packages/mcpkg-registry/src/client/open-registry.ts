/**
 * Reads the index of one registry, as a client that trusts neither its web server nor a mirror of it:
 * the statement must be signed by the known key, be at least as new as the last one that was seen, and
 * not be expired; the list must have the digest that the statement names. The key is known from the
 * configuration, or from the first use. Where the registry cannot be reached, the copy in the home is
 * used until it expires, and the result says so.
 */

import { hash } from "node:crypto";
import type { IndexEntry } from "../index/index-entry.ts";
import { readIndexList } from "../index/index-list.ts";
import {
  type CheckedStatement,
  isNamedList,
  listPathOf,
  readIndexStatement,
  statementPath,
} from "../index/index-statement.ts";
import { type FollowedKeys, followKeys, readKeyRotation } from "../index/key-rotation.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { indexTimeoutMs, statementMaxBytes } from "../registry-limits.ts";
import {
  type ReadFileOptions,
  type RegistryFile,
  readRegistryFile,
  type SendRegistryRequest,
} from "./read-registry-file.ts";
import { type RegistryPlace, showPlace } from "./registry-place.ts";
import {
  type RememberedRegistry,
  readRegistryState,
  stateFolderOf,
  toRegistryState,
  writeRegistryState,
} from "./registry-state.ts";

/** A registry as the configuration names it. */
export interface RegistrySource {
  readonly name: string;
  readonly place: RegistryPlace;
  /** Id of the key that signs its index. @default the key of the first index that is read */
  readonly keyId?: string | undefined;
}

/** The dependencies of a client of registries. */
export interface RegistryDeps {
  /** Toolcrib's home, which remembers keys and indexes. */
  readonly home: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly send: SendRegistryRequest;
}

/** Options of reading registries. */
export interface OpenOptions {
  readonly signal: AbortSignal;
  /** Uses the copies in the home and reads nothing else. @default false */
  readonly isOffline?: boolean;
  /** Time for each file of an index. @default 30000 */
  readonly timeoutMs?: number;
  /** Time for a package. @default 300000 */
  readonly archiveTimeoutMs?: number;
}

/** Earlier keys that are remembered. */
const earlierKeysMaxCount = 64;

/** The index of a registry, checked. */
export interface OpenedRegistry {
  readonly source: RegistrySource;
  readonly statement: CheckedStatement;
  readonly entries: readonly IndexEntry[];
  /** Bytes of the list. */
  readonly bytes: number;
  /** Whether the key was accepted because this is the first use. */
  readonly isFirstUse: boolean;
  /** The known key that the one of this index replaced just now, signed by it. */
  readonly replacedKeyId: string | undefined;
  /** Why the copy in the home is used, and when it was read; undefined for an index that was just read. */
  readonly stale: { readonly reason: string; readonly checkedAtMs: number } | undefined;
}

/**
 * Reads and checks the index of `source`.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_KEY_MISMATCH`, `MCPKG_REGISTRY_ROLLED_BACK`, `MCPKG_REGISTRY_EXPIRED`, `MCPKG_REGISTRY_DIGEST_MISMATCH`, `MCPKG_REGISTRY_STATE_INVALID`; as `readRegistryFile`, `readIndexStatement` and `readIndexList`
 */
export async function openRegistry(
  deps: RegistryDeps,
  source: RegistrySource,
  options: OpenOptions,
): Promise<OpenedRegistry> {
  const folder = stateFolderOf(deps.home, source.place);
  const remembered = await readRegistryState(folder);
  // A key of the configuration replaces a pinned one, and what was seen under that, unless it led to the pinned one.
  const isKnown =
    source.keyId === undefined ||
    remembered?.keyId === source.keyId ||
    remembered?.earlierKeyIds?.includes(source.keyId) === true;
  const known = isKnown ? remembered : undefined;
  if (options.isOffline === true) return fromCopy(deps, source, known, "offline use was asked for");
  const read = (path: string, maxBytes: number, etag?: string) =>
    readFile(deps, source, options, { path, maxBytes, etag });
  let file: RegistryFile;
  try {
    file = await read(
      statementPath,
      statementMaxBytes,
      known?.statementBytes === undefined ? undefined : known.etag,
    );
  } catch (error) {
    if (!isUnreachable(error) || known === undefined) throw error;
    return fromCopy(deps, source, known, error.message);
  }
  const statementBytes = file.kind === "read" ? file.bytes : (known?.statementBytes as Uint8Array);
  const etag = file.kind === "read" ? file.etag : known?.etag;
  const statement = checkStatement(deps, source, known, statementBytes);
  const copy =
    known?.listBytes !== undefined && isNamedList(statement, known.listBytes) ? known.listBytes : undefined;
  const list = copy ?? (await readList(read, source, statement));
  const entries = readIndexList(list);
  const earlierKeyIds = earlierKeysOf(source, known, statement, deps.now());
  const state = toRegistryState(source.place, statement, statementBytes, {
    etag,
    checkedAtMs: deps.now(),
    earlierKeyIds,
  });
  await writeRegistryState(deps, folder, state, {
    statementBytes,
    listBytes: copy === undefined ? list : undefined,
  });
  const isFirstUse = source.keyId === undefined && known === undefined;
  const wanted = known?.keyId ?? source.keyId;
  const replacedKeyId = wanted === statement.keyId ? undefined : wanted;
  return { source, statement, entries, bytes: list.length, isFirstUse, replacedKeyId, stale: undefined };
}

function readFile(
  { send }: RegistryDeps,
  { place }: RegistrySource,
  { signal, timeoutMs = indexTimeoutMs }: OpenOptions,
  file: Pick<ReadFileOptions, "path" | "maxBytes" | "etag">,
): Promise<RegistryFile> {
  return readRegistryFile(place, send, { ...file, timeoutMs, signal });
}

async function readList(
  read: (path: string, maxBytes: number) => Promise<RegistryFile>,
  source: RegistrySource,
  statement: CheckedStatement,
): Promise<Uint8Array> {
  const path = listPathOf(statement);
  const file = await read(path, statement.list.bytes);
  if (file.kind === "read" && isNamedList(statement, file.bytes)) return file.bytes;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_DIGEST_MISMATCH",
    `The index of the registry "${source.name}" is not used: ${path} is not the file that the signed index.json names`,
    {
      hint: "a mirror or a proxy changed it, or the copy is not complete: try again, or use the registry itself",
    },
  );
}

/** Uses the copy in the home, with the same checks. */
function fromCopy(
  deps: RegistryDeps,
  source: RegistrySource,
  known: RememberedRegistry | undefined,
  reason: string,
): OpenedRegistry {
  const { statementBytes, listBytes } = known ?? {};
  if (known === undefined || statementBytes === undefined || listBytes === undefined) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_UNREACHABLE",
      `There is no copy of the index of "${source.name}" in the home: ${reason}`,
      {
        hint: "read it once with access to the registry",
      },
    );
  }
  const statement = checkStatement(deps, source, known, statementBytes);
  if (!isNamedList(statement, listBytes)) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_DIGEST_MISMATCH",
      `The copy of the index of "${source.name}" in the home is damaged`,
      {
        hint: "read it again with access to the registry",
      },
    );
  }
  const entries = readIndexList(listBytes);
  const stale = { reason, checkedAtMs: known.checkedAtMs };
  return {
    source,
    statement,
    entries,
    bytes: listBytes.length,
    isFirstUse: false,
    replacedKeyId: undefined,
    stale,
  };
}

/** Reads a statement and checks it against what is known of the registry. */
function checkStatement(
  { now }: RegistryDeps,
  source: RegistrySource,
  known: RememberedRegistry | undefined,
  bytes: Uint8Array,
): CheckedStatement {
  const statement = readIndexStatement(bytes);
  const wanted = known?.keyId ?? source.keyId;
  const followed =
    wanted === undefined || wanted === statement.keyId ? undefined : followFrom(wanted, statement, now());
  if (followed !== undefined && followed.keys.at(-1) !== statement.keyId) {
    const isFirst = known !== undefined && (known.earlierKeyIds ?? []).length === 0;
    const from =
      wanted === source.keyId
        ? "the one of the configuration"
        : isFirst
          ? "the one of its first use"
          : "the one that replaced the one of its first use";
    const { expired } = followed;
    const why =
      expired === undefined
        ? ""
        : `; ${expired.from} signed the replacement by ${expired.to}, which could be followed until ${expired.expiresAt}`;
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_KEY_MISMATCH",
      `The index of the registry "${source.name}" is not used: it is signed by ${statement.keyId}, and its key is ${wanted} (${from})${why}`,
      {
        hint: `ask its operator, not over the same connection; if the key was replaced, accept it in the configuration of this registry: key: ${statement.keyId}`,
      },
    );
  }
  if (known !== undefined) requireNotOlder(source, known, statement, bytes);
  if (Date.parse(statement.expiresAt) <= now()) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_EXPIRED",
      `The index of the registry "${source.name}" is not used: it expired on ${statement.expiresAt}`,
      {
        hint: `its operator renews it with: toolcrib registry renew FOLDER; a mirror may serve an old copy of ${showPlace(source.place)}`,
      },
    );
  }
  return statement;
}

function followFrom(
  from: string,
  { keyId: to, rotations = [] }: CheckedStatement,
  nowMs: number,
): FollowedKeys {
  return followKeys(rotations.map(readKeyRotation), { from, to, nowMs });
}

/** The keys that led to the one of a statement, as far as this client followed them. */
function earlierKeysOf(
  source: RegistrySource,
  known: RememberedRegistry | undefined,
  statement: CheckedStatement,
  nowMs: number,
): readonly string[] {
  const from = known?.keyId ?? source.keyId;
  const before = known?.earlierKeyIds ?? [];
  if (from === undefined || from === statement.keyId) return before;
  const { keys } = followFrom(from, statement, nowMs);
  return [...before, ...keys.slice(0, -1)].slice(-earlierKeysMaxCount);
}

function requireNotOlder(
  { name }: RegistrySource,
  known: RememberedRegistry,
  { sequence, issuedAt }: CheckedStatement,
  bytes: Uint8Array,
): void {
  if (sequence < known.sequence) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_ROLLED_BACK",
      `The index of the registry "${name}" is not used: it is number ${sequence} of ${issuedAt}, and number ${known.sequence} was seen before`,
      {
        hint: "a mirror or a cache serves an old copy: use the registry itself, or wait until the copy is current",
      },
    );
  }
  if (sequence === known.sequence && hash("sha256", bytes, "hex") !== known.statementSha256) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_ROLLED_BACK",
      `The index of the registry "${name}" is not used: it is another one than the index with the same number ${sequence} that was seen before`,
      {
        hint: "its operator changed a copy of the folder, or its key is used by somebody else: ask the operator",
      },
    );
  }
}

function isUnreachable(error: unknown): error is McpkgRegistryError {
  return (
    error instanceof McpkgRegistryError &&
    (error.code === "MCPKG_REGISTRY_UNREACHABLE" || error.code === "MCPKG_REGISTRY_TIMED_OUT")
  );
}
