/**
 * The replacement of the key of a registry: a statement that the old key signed and that names the new one, with a date
 * after which it does not count any more. An index contains the last ones, so that a client that knows any of the old
 * keys follows them to the one that signed the index. The holder of an old key can sign such a statement, too: a
 * replacement does not help where the old key was stolen. Pure.
 */

import type { KeyObject } from "node:crypto";
import { McpkgError, readStatement, signStatement } from "@toolcrib/mcpkg";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";

/** A replacement whose signature was checked. */
export interface KeyRotation {
  /** Id of the old key, which signed it. */
  readonly from: string;
  /** Id of the new key. */
  readonly to: string;
  /** ISO 8601. A client that knows only the old key does not accept the new one afterwards. */
  readonly expiresAt: string;
}

/** Replacements in one index. */
export const rotationsMaxCount = 8;
/** Bytes of one. */
const rotationMaxBytes = 4096;
const payloadType = "application/vnd.toolcrib.mcpkg-registry-key+json";
const statementType = "urn:toolcrib:mcpkg-registry:key:v1";

/** Returns a replacement that `oldKey` signs, as an index contains it. */
export function writeKeyRotation(
  { to, expiresAt }: Pick<KeyRotation, "to" | "expiresAt">,
  oldKey: KeyObject,
): string {
  const statement = { _type: statementType, to, expiresAt };
  return Buffer.from(signStatement(payloadType, statement, oldKey)).toString("base64");
}

/** Reads a replacement and checks its signature. @throws {McpkgRegistryError} `MCPKG_REGISTRY_INDEX_INVALID` */
export function readKeyRotation(text: string): KeyRotation {
  try {
    const bytes = Buffer.from(text, "base64");
    const { keyId: from, statement } = readStatement(payloadType, bytes, rotationMaxBytes);
    const { _type, to, expiresAt } = statement;
    const isValid = _type === statementType && typeof to === "string" && /^sha256:[0-9a-f]{64}$/.test(to);
    if (isValid && typeof expiresAt === "string" && !Number.isNaN(Date.parse(expiresAt))) {
      return { from, to, expiresAt };
    }
  } catch (cause) {
    if (!(cause instanceof McpkgError)) throw cause;
  }
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_INDEX_INVALID",
    "Cannot read the index: a replacement of its key is not signed, or has another form",
    {
      hint: "a later version of Toolcrib may have written it; its operator checks it with: toolcrib registry verify FOLDER",
    },
  );
}

/** Where the replacements lead from a key. */
export interface FollowedKeys {
  /** The keys from the known one to the last one that is reached, both included. */
  readonly keys: readonly string[];
  /** The replacement that is past its date, at which the way ends. */
  readonly expired: KeyRotation | undefined;
}

/** Follows replacements from the key `from` until `to` is reached, or no further. @param rotations the oldest first @param nowMs milliseconds since 1970 */
export function followKeys(
  rotations: readonly KeyRotation[],
  { from, to, nowMs }: { readonly from: string; readonly to: string; readonly nowMs: number },
): FollowedKeys {
  const keys = [from];
  for (let last = from; last !== to; ) {
    // The last time that a key was left counts: the registry can have returned to it before.
    const next = rotations.findLast((one) => one.from === last && !keys.includes(one.to));
    if (next === undefined) break;
    if (Date.parse(next.expiresAt) <= nowMs) return { keys, expired: next };
    keys.push(next.to);
    last = next.to;
  }
  return { keys, expired: undefined };
}
