/**
 * Arguments that a hook replaced, with the values that it was not shown in their places. A hook
 * sees a mark in place of a secret; what it leaves as it was shown is the original again. It can
 * remove a hidden value, and never move it or put it into another text. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** The marks of hidden values. */
const marks = ["[redacted]", "[secret "] as const;

/** Returns `answered` with the original values, or why that is not possible, as the end of a sentence. */
export function restoreHidden(
  answered: JsonObject,
  shown: JsonObject,
  original: JsonObject,
): { readonly value: JsonObject } | string {
  try {
    return { value: restore(answered, shown, original) as JsonObject };
  } catch (error) {
    if (error instanceof ChangedMark) return "it changes a part of the arguments that is hidden from it";
    throw error;
  }
}

class ChangedMark extends Error {}

function restore(
  answered: JsonValue,
  shown: JsonValue | undefined,
  original: JsonValue | undefined,
): JsonValue {
  if (isJsonObject(answered)) {
    return isJsonObject(shown) && isJsonObject(original)
      ? restoreMembers(answered, shown, original)
      : answered;
  }
  if (Array.isArray(answered)) {
    if (!Array.isArray(shown) || !Array.isArray(original)) return answered;
    if (answered.length === shown.length) {
      return answered.map((item, at) => restore(item, shown[at], original[at]));
    }
    // Which item is which is not known any more.
    if (hasMark(shown) && !hasMark(original) && hasMark(answered)) throw new ChangedMark();
    return answered;
  }
  if (answered === shown) return original ?? answered;
  const isHidden = shown !== original && hasMark(shown ?? null);
  if (isHidden && hasMark(answered)) throw new ChangedMark();
  return answered;
}

function restoreMembers(answered: JsonObject, shown: JsonObject, original: JsonObject): JsonObject {
  // A name can be hidden, too. What is shown has the members of the original, in their order.
  const names = Object.keys(original);
  const originalNames = new Map(Object.keys(shown).map((name, at) => [name, names[at] ?? name]));
  return Object.fromEntries(
    Object.entries(answered).map(([name, member]) => {
      const originalName = originalNames.get(name);
      if (originalName === undefined || member === undefined) return [name, member];
      return [originalName, restore(member, shown[name], original[originalName])];
    }),
  );
}

function hasMark(value: JsonValue): boolean {
  if (typeof value === "string") return marks.some((mark) => value.includes(mark));
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasMark);
  return Object.entries(value).some(([name, member]) => hasMark(name) || hasMark(member ?? null));
}
