/**
 * Removes from what servers send the members by which Toolcrib marks its own answers and
 * definitions, because a server must not pose as the gateway: those of `_meta` and of the
 * data of errors that start with `toolcrib/`. Pure; what has none is returned as it is.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { mapParts } from "./result-parts.ts";

const ownPrefix = "toolcrib/";

/** Returns `value` without the members of Toolcrib in its `_meta`, and in that of each of its parts. */
export function withoutOwnMeta(value: JsonObject): JsonObject {
  return mapParts(value, withoutOwnMembers);
}

function withoutOwnMembers(part: JsonObject): JsonObject {
  const { _meta: meta } = part;
  if (meta === undefined || !isJsonObject(meta) || !hasOwnMember(meta)) return part;
  const kept = Object.entries(meta).filter(([name]) => !name.startsWith(ownPrefix));
  return { ...part, _meta: Object.fromEntries(kept) };
}

function hasOwnMember(meta: JsonObject): boolean {
  for (const name in meta) if (name.startsWith(ownPrefix)) return true;
  return false;
}

/** Returns the data of an error without the members of Toolcrib, and without those that `also` names. */
export function withoutOwnErrorData(data: JsonObject, also: readonly string[]): JsonObject {
  const entries = Object.entries(data);
  const kept = entries.filter(([name]) => !name.startsWith(ownPrefix) && !also.includes(name));
  return kept.length === entries.length ? data : Object.fromEntries(kept);
}
