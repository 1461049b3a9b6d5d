/**
 * Removes hidden characters from JSON values of untrusted programs: from their strings and
 * from the names of members. Two names can become equal by that: then the member whose name
 * had no hidden character stays, else the first, so that a name with one never replaces a
 * member that was checked.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { stripHidden } from "./hidden-text.ts";
import type { SecretScrubber } from "./secret-scrubber.ts";

/** Replaces secrets in complete texts and JSON values. */
export type TextScrubber = Pick<SecretScrubber, "text" | "value">;

/**
 * Returns a scrubber that removes hidden characters before `scrubber` looks for secrets, so that none can be hidden
 * from it by a character within.
 */
export function withoutHidden(scrubber: TextScrubber): TextScrubber {
  return {
    text: (text) => scrubber.text(stripHidden(text)),
    value: (value) => scrubber.value(stripHiddenValue(value as JsonValue) as typeof value),
  };
}

/**
 * Returns `value` without hidden characters in its strings and names; the same object if there are none.
 *
 * @param onEqual gets the name of each member that is left out because another one has the same name without hidden
 *   characters.
 */
export function stripHiddenValue<Value extends JsonValue>(
  value: Value,
  onEqual?: (name: string) => void,
): Value {
  return strip(value, onEqual) as Value;
}

function strip(value: JsonValue, onEqual: ((name: string) => void) | undefined): JsonValue {
  if (typeof value === "string") return stripHidden(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => strip(item, onEqual));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return isJsonObject(value) ? stripMembers(value, onEqual) : value;
}

function stripMembers(value: JsonObject, onEqual: ((name: string) => void) | undefined): JsonObject {
  let isSame = true;
  let isRenamed = false;
  const members = Object.entries(value).map(([name, member]) => {
    const clean = stripHidden(name);
    const one = [clean, member === undefined ? member : strip(member, onEqual)] as const;
    isRenamed ||= clean !== name;
    isSame &&= one[1] === member;
    return one;
  });
  if (isRenamed) return Object.fromEntries(withOwnNames(value, members, onEqual));
  return isSame ? value : Object.fromEntries(members);
}

/** Returns the members whose names differ. @param members those of `value`, in its order */
function withOwnNames(
  value: JsonObject,
  members: readonly (readonly [name: string, member: JsonValue | undefined])[],
  onEqual: ((name: string) => void) | undefined,
) {
  const names = Object.keys(value);
  const taken = new Set(names);
  return members.filter(([name], at) => {
    if (name === names[at]) return true;
    if (taken.has(name)) {
      onEqual?.(name);
      return false;
    }
    taken.add(name);
    return true;
  });
}
