/**
 * Removes members of `_meta` that start with `toolcrib/` from what servers send.
 * Toolcrib marks its own answers and definitions with them, and a server must not
 * pose as the gateway. Pure; objects without such members are returned as they are.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";

const ownPrefix = "toolcrib/";

/** Whether the `_meta` of `value` has a member of Toolcrib. */
export function hasOwnMeta({ _meta: meta }: JsonObject): boolean {
  if (!isJsonObject(meta)) return false;
  for (const name in meta) if (name.startsWith(ownPrefix)) return true;
  return false;
}

/** Returns `value` without the members of Toolcrib in its `_meta`. */
export function withoutOwnMeta(value: JsonObject): JsonObject {
  const { _meta: meta } = value;
  if (!isJsonObject(meta) || !hasOwnMeta(value)) return value;
  const kept = Object.entries(meta).filter(([name]) => !name.startsWith(ownPrefix));
  return { ...value, _meta: Object.fromEntries(kept) };
}
