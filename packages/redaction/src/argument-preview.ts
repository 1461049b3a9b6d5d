/**
 * Arguments of a call for people: the preview that the audit keeps in addition to their digest,
 * without credentials and shortened to what is enough to recognize the call; the whole arguments that are
 * kept for an approval; and the longer form of these that an operator reads first. What a form leaves out is
 * marked. Pure.
 *
 * A person who approves a call has to see what it does: no member is hidden from them because of its name, and what
 * only looks like a credential is hidden in the form and not in the whole.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { redactRanges } from "./credential.ts";
import { isCredentialArgument } from "./credential-variable.ts";
import { type HiddenPlaces, placesIn } from "./hidden-places.ts";
import type { TextScrubber } from "./hidden-value.ts";

/** Maximum number of characters of one text that are searched for secrets. */
const searchedMaxLength = 16 * 1024;
/** Maximum number of characters of all texts that are searched for one preview: any client can cause this work, also with calls that are denied. */
const allSearchedMaxLength = 64 * 1024;
/** Characters before the end of a text that was cut for the search. They can be the beginning of a secret that was divided, and are never shown. */
const guardLength = 8 * 1024;
/** Length of text that is searched for anything that looks like a credential. */
const suspectedMaxLength = 8 * 1024;
/** Limits of one form. */
interface FormLimits {
  /** Characters of a text. */
  readonly textMaxLength: number;
  /** Items of a list, and members of an object. */
  readonly maxItems: number;
  readonly maxDepth: number;
  /** Maximum number of values; later ones are dropped. */
  readonly maxValues: number;
  /** Whether members with the name of a credential lose their value. */
  readonly hidesNamed: boolean;
}

const previewLimits: FormLimits = {
  textMaxLength: 120,
  maxItems: 16,
  maxDepth: 4,
  maxValues: 200,
  hidesNamed: true,
};
const readableLimits: FormLimits = {
  textMaxLength: 4000,
  maxItems: 100,
  maxDepth: 12,
  maxValues: 1000,
  hidesNamed: false,
};

/** Finds the parts of a text that look like a credential. */
type FindCredentials = (text: string) => { readonly start: number; readonly end: number }[];

/**
 * Returns a short form of `args` for the audit.
 *
 * @param scrubber removes known secrets.
 * @param findCredentials finds unknown ones by their form.
 * @param hidden places of arguments that are left out.
 */
export function previewArguments(
  args: JsonObject,
  scrubber: TextScrubber,
  findCredentials: FindCredentials,
  hidden: HiddenPlaces = [],
): JsonObject {
  const room = roomOf(scrubber, findCredentials, previewLimits);
  return shorten(args, 0, room, hidden) as JsonObject;
}

/**
 * Returns a form of whole arguments in which an operator can read what a call does, and whether it leaves anything
 * out, which is then marked.
 *
 * @param whole what `wholeArguments` returned.
 * @param findCredentials as for `previewArguments`.
 */
export function readableArguments(
  whole: JsonObject,
  findCredentials: FindCredentials,
): { readonly arguments: JsonObject; readonly isPartial: boolean } {
  const scrubbed: Room["scrubber"] = { text: (text) => text };
  const room = roomOf(scrubbed, findCredentials, readableLimits);
  return { arguments: shorten(whole, 0, room, []) as JsonObject, isPartial: room.isPartial };
}

/**
 * Returns all of `args`, with their members in their order.
 *
 * @param scrubber removes known secrets.
 * @param hidden places of arguments that are left out. @default nothing but secrets is left out, as an approval needs it
 */
export function wholeArguments(
  args: JsonObject,
  scrubber: TextScrubber,
  hidden: HiddenPlaces = [],
): JsonObject {
  return wholeOf(args, scrubber, hidden) as JsonObject;
}

function wholeOf(
  value: JsonValue | undefined,
  scrubber: TextScrubber,
  hidden: HiddenPlaces | "whole",
): JsonValue {
  if (hidden === "whole") return "[redacted]";
  if (typeof value === "string") return scrubber.text(value);
  if (typeof value === "number") return scrubber.text(String(value)) === String(value) ? value : "[redacted]";
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value))
    return value.map((item, at) => wholeOf(item, scrubber, placesIn(hidden, String(at), item)));
  const all: Writable = {};
  for (const [key, member] of Object.entries(value)) {
    put(all, scrubber.text(key), wholeOf(member, scrubber, placesIn(hidden, key, member)));
  }
  return all;
}

function roomOf(scrubber: Room["scrubber"], findCredentials: FindCredentials, limits: FormLimits): Room {
  return {
    scrubber,
    findCredentials,
    limits,
    valuesLeft: limits.maxValues,
    textLeft: allSearchedMaxLength,
    isPartial: false,
  };
}

/** Remaining capacity of one preview. */
interface Room {
  readonly limits: FormLimits;
  readonly scrubber: Pick<TextScrubber, "text">;
  readonly findCredentials: FindCredentials;
  valuesLeft: number;
  /** Number of characters that can still be searched for secrets. */
  textLeft: number;
  /** Whether anything was left out. */
  isPartial: boolean;
}

/** @param hidden places inside `value` */
function shorten(value: JsonValue | undefined, depth: number, room: Room, hidden: HiddenPlaces): JsonValue {
  const { maxItems, maxDepth, hidesNamed } = room.limits;
  if (room.valuesLeft <= 0 || room.textLeft <= 0) return leftOut(room);
  room.valuesLeft -= 1;
  if (typeof value === "string") return shortenText(value, room);
  // A number can be a secret too.
  if (typeof value === "number")
    return scrubStart(String(value), room).start === String(value) ? value : "[redacted]";
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth >= maxDepth) return leftOut(room);
  if (Array.isArray(value)) {
    const items = value
      .slice(0, maxItems)
      .map((item, at) => shortenMember(item, depth + 1, room, placesIn(hidden, String(at), item)));
    return value.length > maxItems ? [...items, leftOut(room, `${value.length} items`)] : items;
  }
  const keys = Object.keys(value);
  const kept: Writable = {};
  let count = 0;
  for (const key of keys.length > maxItems ? keys.slice(0, maxItems) : keys) {
    if (room.textLeft <= 0) break;
    count += 1;
    const member = (value as JsonObject)[key];
    const isCredential = hidesNamed && isCredentialArgument(key) && member !== null;
    const inside = isCredential ? "whole" : placesIn(hidden, key, member);
    put(kept, shortenText(key, room), shortenMember(member, depth + 1, room, inside));
  }
  if (count < keys.length) {
    room.isPartial = true;
    put(kept, "…", `${keys.length} members`);
  }
  return kept;
}

function shortenMember(
  value: JsonValue | undefined,
  depth: number,
  room: Room,
  hidden: HiddenPlaces | "whole",
): JsonValue {
  return hidden === "whole" ? "[redacted]" : shorten(value, depth, room, hidden);
}

/** Notes that something is left out, and returns the mark for it. */
function leftOut(room: Room, what?: string): string {
  room.isPartial = true;
  return what === undefined ? "…" : `… (${what})`;
}

/** An object under construction. */
type Writable = { [key: string]: JsonValue };

/** Sets a member of any name: `__proto__` is data here. Two names can be equal without their secrets or their ends: the second one gets a mark. */
function put(object: Writable, name: string, value: JsonValue): void {
  let key = name;
  while (Object.hasOwn(object, key)) key += "*";
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

function shortenText(text: string, room: Room): string {
  const { textMaxLength } = room.limits;
  const { start, isWhole } = scrubStart(text, room);
  const searched = start.slice(0, suspectedMaxLength);
  const clean = withoutCredentials(searched, room);
  if (clean !== searched) room.isPartial = true;
  if (isWhole && start.length <= suspectedMaxLength && clean.length <= textMaxLength) return clean;
  return `${clean.slice(0, textMaxLength)}${leftOut(room, `${text.length} characters`)}`;
}

/** Removes known secrets from the start of `text`, as far as the room allows. */
function scrubStart(text: string, room: Room): { readonly start: string; readonly isWhole: boolean } {
  const length = Math.max(0, Math.min(searchedMaxLength, room.textLeft));
  room.textLeft -= Math.min(length, text.length);
  if (text.length <= length) return { start: room.scrubber.text(text), isWhole: true };
  const scrubbed = room.scrubber.text(text.slice(0, length));
  return { start: scrubbed.slice(0, Math.max(0, scrubbed.length - guardLength)), isWhole: false };
}

/** Returns `text` without recognizable credentials. */
function withoutCredentials(text: string, { findCredentials }: Room): string {
  if (text.length < 8) return text;
  return redactRanges(text, findCredentials(text));
}
