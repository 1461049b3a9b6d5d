/**
 * What the audit keeps of a call's arguments besides their digest: enough to
 * recognise the call, cut short, with credentials left out. Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";

const textMaxLength = 120;
const maxItems = 16;
const maxDepth = 4;
const credentialKey =
  /pass(word|phrase|wd)?$|secret|token|api[-_]?key|credential|authorization|cookie|private[-_]?key/i;

/** A short form of `args` for the audit. */
export function previewArguments(args: JsonObject): JsonObject {
  return shorten(args, 0) as JsonObject;
}

function shorten(value: JsonValue | undefined, depth: number): JsonValue {
  if (typeof value === "string") {
    return value.length <= textMaxLength
      ? value
      : `${value.slice(0, textMaxLength)}… (${value.length} characters)`;
  }
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shorten(item, depth + 1));
    return value.length > maxItems ? [...items, `… (${value.length} items)`] : items;
  }
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, maxItems)
    .map(([key, member]) => [
      key.slice(0, textMaxLength),
      credentialKey.test(key) && member !== null ? "[redacted]" : shorten(member, depth + 1),
    ]);
  if (entries.length > maxItems) kept.push(["…", `${entries.length} members`]);
  return Object.fromEntries(kept) as JsonObject;
}
