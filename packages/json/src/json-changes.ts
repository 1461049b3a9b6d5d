/** The differences of two JSON values, by the paths of their leaves. Pure. */

import { isJsonObject, type JsonValue } from "./json-value.ts";
import { isSameJson } from "./same-json.ts";

/** One difference. */
export interface JsonChange {
  /** Members and indexes from the root, joined with `.`: `inputSchema.properties.path.type`; empty for the whole value. */
  readonly path: string;
  /** Absent for what was added. */
  readonly before?: JsonValue;
  /** Absent for what was removed. */
  readonly after?: JsonValue;
}

/**
 * Returns what differs between two values, in the order of the members of `before`, then of `after`. Members that only
 * one of them has are one change, whatever they contain.
 *
 * @param maxCount most changes that are returned. @default 1000
 */
export function changesBetween(before: JsonValue, after: JsonValue, maxCount = 1000): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  collect([], before, after);
  return changes;

  function collect(path: readonly string[], a: JsonValue | undefined, b: JsonValue | undefined): void {
    if (changes.length >= maxCount) return;
    if (a === undefined || b === undefined || !haveMembers(a, b)) {
      if (a !== undefined && b !== undefined && isSameJson(a, b)) return;
      changes.push({
        path: path.join("."),
        ...(a === undefined ? {} : { before: a }),
        ...(b === undefined ? {} : { after: b }),
      });
      return;
    }
    const [ofA, ofB] = [membersOf(a), membersOf(b)];
    for (const key of new Set([...ofA.keys(), ...ofB.keys()]))
      collect([...path, key], ofA.get(key), ofB.get(key));
  }
}

function haveMembers(a: JsonValue, b: JsonValue): boolean {
  return (isJsonObject(a) && isJsonObject(b)) || (Array.isArray(a) && Array.isArray(b));
}

function membersOf(value: JsonValue): ReadonlyMap<string, JsonValue> {
  return new Map(Object.entries(value as object) as [string, JsonValue][]);
}
