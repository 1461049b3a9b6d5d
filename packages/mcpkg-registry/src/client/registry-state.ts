/**
 * The state of one registry that the home remembers: its pinned key, the highest number of an index that was
 * seen, and a copy of that index for use without the network. Everything read from it is checked as if
 * it came from the network; only the pin is taken as it is.
 */

import { hash } from "node:crypto";
import { join } from "node:path";
import { makePrivateDirectory, removeFile, replaceFile, waitForLock } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { isSha256 } from "@toolcrib/mcpkg";
import { readOptional } from "../folder/registry-folder.ts";
import type { CheckedStatement } from "../index/index-statement.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { indexMaxBytes, statementMaxBytes } from "../registry-limits.ts";
import { type RegistryPlace, showPlace } from "./registry-place.ts";

/** The state that is remembered. */
export interface RegistryState {
  /** The place, for people who look into the folder. */
  readonly place: string;
  /** Id of the key that signs the index. */
  readonly keyId: string;
  /** Ids of keys that this one replaced, each signed by the one before it. @default none */
  readonly earlierKeyIds?: readonly string[] | undefined;
  /** The highest sequence that was seen, and the digest of its statement. */
  readonly sequence: number;
  readonly statementSha256: string;
  /** Digest of the list of that statement. */
  readonly listSha256: string;
  /** Of `index.json`. */
  readonly etag?: string | undefined;
  /** When it was last read from the registry, in milliseconds since 1970. */
  readonly checkedAtMs: number;
}

/** A state with its copies; a copy that is not there is undefined. */
export interface RememberedRegistry extends RegistryState {
  readonly statementBytes: Uint8Array | undefined;
  readonly listBytes: Uint8Array | undefined;
}

const stateName = "state.json";
const copyName = "index.json";
const stateMaxBytes = 16 * 1024;
const lockTimeoutMs = 10_000;

/** Returns the folder in the home for the registry at `place`. */
export function stateFolderOf(home: string, place: RegistryPlace): string {
  return join(home, "registries", hash("sha256", `${place.kind}:${showPlace(place)}`, "hex").slice(0, 32));
}

/**
 * Reads what is remembered.
 *
 * @returns undefined for a registry that was never read
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_STATE_INVALID`
 */
export async function readRegistryState(folder: string): Promise<RememberedRegistry | undefined> {
  const bytes = await readOptional(join(folder, stateName), stateMaxBytes);
  if (bytes === undefined) return undefined;
  const state = parseState(bytes, folder);
  return {
    ...state,
    statementBytes: await readOptional(join(folder, copyName), statementMaxBytes),
    listBytes: await readOptional(join(folder, `${state.listSha256}.json`), indexMaxBytes),
  };
}

/**
 * Remembers an index that was checked, unless another command remembered a newer one meanwhile.
 *
 * @param listBytes undefined where the copy of the list is current
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_STATE_BUSY` where the key could not be pinned
 */
export async function writeRegistryState(
  { randomBytes }: { readonly randomBytes: (length: number) => Buffer },
  folder: string,
  state: RegistryState,
  copies: { readonly statementBytes: Uint8Array; readonly listBytes: Uint8Array | undefined },
): Promise<void> {
  await makePrivateDirectory(folder);
  using lock = await waitForLock(folder, "state", lockTimeoutMs);
  const before = await readOptional(join(folder, stateName), stateMaxBytes);
  const known = before === undefined ? undefined : parseState(before, folder);
  if (lock === undefined) {
    // A later use remembers the index. The pin cannot wait: without it any key would be accepted again.
    if (known?.keyId === state.keyId) return;
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_STATE_BUSY",
      `Cannot remember the key of ${state.place}: another command holds "${join(folder, "state.lock")}"`,
      { hint: "try again when it has ended" },
    );
  }
  // Another command may have followed a replacement of the key meanwhile.
  const isNewer =
    known !== undefined &&
    (known.keyId === state.keyId || known.earlierKeyIds?.includes(state.keyId) === true);
  if (isNewer && known.sequence > state.sequence) return;
  const write = (name: string, content: Uint8Array) =>
    replaceFile({ randomBytes }, join(folder, name), content);
  if (copies.listBytes !== undefined) await write(`${state.listSha256}.json`, copies.listBytes);
  await write(copyName, copies.statementBytes);
  await write(stateName, Buffer.from(`${JSON.stringify(state, undefined, 2)}\n`));
  if (known !== undefined && known.listSha256 !== state.listSha256) {
    await removeFile(join(folder, `${known.listSha256}.json`));
  }
}

/** Returns the state after `statement` was read. */
export function toRegistryState(
  place: RegistryPlace,
  statement: CheckedStatement,
  statementBytes: Uint8Array,
  { etag, checkedAtMs, earlierKeyIds = [] }: Pick<RegistryState, "etag" | "checkedAtMs" | "earlierKeyIds">,
): RegistryState {
  return {
    place: showPlace(place),
    keyId: statement.keyId,
    ...(earlierKeyIds.length === 0 ? {} : { earlierKeyIds }),
    sequence: statement.sequence,
    statementSha256: hash("sha256", statementBytes, "hex"),
    listSha256: statement.list.sha256,
    ...(etag === undefined ? {} : { etag }),
    checkedAtMs,
  };
}

function parseState(bytes: Uint8Array, folder: string): RegistryState {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { maxDepth: 4 });
  } catch {
    // Reported below.
  }
  if (isJsonObject(value)) {
    const {
      place,
      keyId,
      earlierKeyIds = [],
      sequence,
      statementSha256,
      listSha256,
      etag,
      checkedAtMs,
    } = value;
    if (
      typeof place === "string" &&
      typeof keyId === "string" &&
      Array.isArray(earlierKeyIds) &&
      earlierKeyIds.every((one) => typeof one === "string") &&
      typeof sequence === "number" &&
      typeof statementSha256 === "string" &&
      isSha256(listSha256) &&
      typeof checkedAtMs === "number" &&
      (etag === undefined || typeof etag === "string")
    ) {
      return {
        place,
        keyId,
        earlierKeyIds: earlierKeyIds as readonly string[],
        sequence,
        statementSha256,
        listSha256,
        etag,
        checkedAtMs,
      };
    }
  }
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_STATE_INVALID",
    `Cannot read "${join(folder, stateName)}": it has the pinned key of a registry, and is damaged`,
    {
      hint: "remove the folder, and compare the key that is shown at the next use with the one that the registry's operator states",
    },
  );
}
