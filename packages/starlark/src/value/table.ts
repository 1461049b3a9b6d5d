/**
 * Reads and changes of dicts and sets. They hash the key, check that the change is
 * allowed, and charge it.
 */

import type { Thread } from "../run/thread.ts";
import { hashKey } from "./hash-key.ts";
import { dictEntryWeight, recordFieldWeight, setMemberWeight, tableWeight } from "./heap-weight.ts";
import { StarlarkDict, StarlarkSet, type Value } from "./value.ts";

/** Creates an empty dict and charges it. */
export function newDict(t: Thread): StarlarkDict {
  t.charge(tableWeight);
  return new StarlarkDict();
}

/** Creates an empty set and charges it. */
export function newSet(t: Thread): StarlarkSet {
  t.charge(tableWeight);
  return new StarlarkSet();
}

/** The value of `key`; `undefined` if the key does not exist. */
export function dictGet(dict: StarlarkDict, key: Value, t: Thread): Value | undefined {
  return dict.entries.get(hashKey(key, t));
}

/**
 * `dict[key] = value`.
 *
 * @throws {StarlarkError} if the dict cannot change or the key is unhashable.
 */
export function dictSet(dict: StarlarkDict, key: Value, value: Value, t: Thread): void {
  const hashed = hashKey(key, t);
  if (dict.frozen !== 0 || dict.locks !== 0) dict.checkMutable("insert into");
  if (dict.entries.replace(hashed, value)) return;
  const { shape, size } = dict.entries;
  // A record that gets another key no longer shares its keys.
  t.charge(dictEntryWeight + (shape === undefined ? 0 : (dictEntryWeight - recordFieldWeight) * size));
  dict.entries.add(hashed, key, value);
}

/** Removes `key`. Returns its value, or `undefined` if the key does not exist. */
export function dictDelete(dict: StarlarkDict, key: Value, t: Thread): Value | undefined {
  const hashed = hashKey(key, t);
  dict.checkMutable("delete from");
  return dict.entries.delete(hashed);
}

/** Adds `member` to a set that is mutable. Returns whether it is new. */
export function setAdd(set: StarlarkSet, member: Value, t: Thread): boolean {
  const hashed = hashKey(member, t);
  set.checkMutable("insert into");
  if (set.members.has(hashed)) return false;
  t.charge(setMemberWeight);
  set.members.set(hashed, member);
  return true;
}

export function setHas(set: StarlarkSet, member: Value, t: Thread): boolean {
  return set.members.has(hashKey(member, t));
}

/** Removes `member` from a set that is mutable. Returns whether it was a member. */
export function setDelete(set: StarlarkSet, member: Value, t: Thread): boolean {
  const hashed = hashKey(member, t);
  set.checkMutable("delete from");
  return set.members.delete(hashed);
}
