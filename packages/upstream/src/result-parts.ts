/**
 * The objects of which a message of the protocol consists: a result, its content blocks,
 * its messages and its resources. What lies elsewhere is data of the server: structured
 * content, `_meta`, the data of log messages. Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** Members that hold further parts, alone or in a list. */
const nestingMembers = ["content", "contents", "messages", "resource"] as const;

/** Returns `value` with `change` applied to each of its parts; the same object if nothing changed. */
export function mapParts(value: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const changed = change(value);
  const { content, contents, messages, resource } = value;
  const isNesting = isNested(content) || isNested(contents) || isNested(messages) || isNested(resource);
  return isNesting ? withInnerParts(value, changed, change) : changed;
}

function isNested(member: JsonValue | undefined): member is JsonObject | readonly JsonValue[] {
  return typeof member === "object" && member !== null;
}

/** @param changed `value` with the changes to the part itself */
function withInnerParts(
  value: JsonObject,
  changed: JsonObject,
  change: (part: JsonObject) => JsonObject,
): JsonObject {
  let whole = changed;
  for (const name of nestingMembers) {
    const inner = value[name];
    if (!isNested(inner)) continue;
    const mapped = mapInner(inner, change);
    if (mapped !== inner) whole = { ...whole, [name]: mapped };
  }
  return whole;
}

function mapInner(
  inner: JsonObject | readonly JsonValue[],
  change: (part: JsonObject) => JsonObject,
): JsonValue {
  if (!isList(inner)) return mapParts(inner, change);
  let mapped: JsonValue[] | undefined;
  for (let at = 0; at < inner.length; at += 1) {
    const item = inner[at];
    if (!isNested(item)) continue;
    const one = mapInner(item, change);
    if (one === item) continue;
    mapped ??= [...inner];
    mapped[at] = one;
  }
  return mapped ?? (inner as JsonValue);
}

function isList(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}
