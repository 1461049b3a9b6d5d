/**
 * Arguments of a call for people, without credentials: the preview that the audit keeps in
 * addition to their digest, shortened to what is enough to recognize the call, and the longer form that
 * an operator reads before approving the call. What is left out is marked. Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { TextScrubber } from "./hidden-value.ts";

/** Maximum number of characters of one text that are searched for secrets. */
const searchedMaxLength = 16 * 1024;
/** Maximum number of characters of all texts that are searched for one preview: any client can cause this work, also with calls that are denied. */
const allSearchedMaxLength = 64 * 1024;
/** Characters before the end of a text that was cut for the search. They can be the beginning of a secret that was divided, and are never shown. */
const guardLength = 8 * 1024;
/** Length of text that is searched for anything that looks like a credential. */
const suspectedMaxLength = 8 * 1024;
const credentialKey =
  /passw(?:or)?d|passphrase|passcode|(?:^|[-_.])pass$|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|auth$|authorization|bearer|cookie|session[-_.]?id|(?:^|[-_.])(?:otp|pin)$|signature/i;

/** Limits of one form. */
interface FormLimits {
  /** Characters of a text. */
  readonly textMaxLength: number;
  /** Items of a list, and members of an object. */
  readonly maxItems: number;
  readonly maxDepth: number;
  /** Maximum number of values; later ones are dropped. */
  readonly maxValues: number;
}

const previewLimits: FormLimits = { textMaxLength: 120, maxItems: 16, maxDepth: 4, maxValues: 200 };
const readableLimits: FormLimits = { textMaxLength: 4000, maxItems: 100, maxDepth: 12, maxValues: 1000 };

/** Finds the parts of a text that look like a credential. */
type FindCredentials = (text: string) => { readonly start: number; readonly end: number }[];

/**
 * Returns a short form of `args` for the audit.
 *
 * @param scrubber removes known secrets.
 * @param findCredentials finds unknown ones by their form.
 */
export function previewArguments(
  args: JsonObject,
  scrubber: TextScrubber,
  findCredentials: FindCredentials,
): JsonObject {
  return formOf(args, scrubber, findCredentials, previewLimits);
}

/** Returns a form of `args` in which an operator can read what a call does; the parameters are those of `previewArguments`. */
export function readableArguments(
  args: JsonObject,
  scrubber: TextScrubber,
  findCredentials: FindCredentials,
): JsonObject {
  return formOf(args, scrubber, findCredentials, readableLimits);
}

function formOf(
  args: JsonObject,
  scrubber: TextScrubber,
  findCredentials: FindCredentials,
  limits: FormLimits,
): JsonObject {
  const room = {
    scrubber,
    findCredentials,
    limits,
    valuesLeft: limits.maxValues,
    textLeft: allSearchedMaxLength,
  };
  return shorten(args, 0, room) as JsonObject;
}

/** Remaining capacity of one preview. */
interface Room {
  readonly limits: FormLimits;
  readonly scrubber: TextScrubber;
  readonly findCredentials: FindCredentials;
  valuesLeft: number;
  /** Number of characters that can still be searched for secrets. */
  textLeft: number;
}

function shorten(value: JsonValue | undefined, depth: number, room: Room): JsonValue {
  const { maxItems, maxDepth } = room.limits;
  if (room.valuesLeft <= 0 || room.textLeft <= 0) return "…";
  room.valuesLeft -= 1;
  if (typeof value === "string") return shortenText(value, room);
  // A number can be a secret too.
  if (typeof value === "number")
    return scrubStart(String(value), room).start === String(value) ? value : "[redacted]";
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shorten(item, depth + 1, room));
    return value.length > maxItems ? [...items, `… (${value.length} items)`] : items;
  }
  const keys = Object.keys(value);
  const kept: Writable = {};
  let count = 0;
  for (const key of keys.length > maxItems ? keys.slice(0, maxItems) : keys) {
    if (room.textLeft <= 0) break;
    count += 1;
    const member = (value as JsonObject)[key];
    const isCredential = credentialKey.test(key) && member !== null;
    put(kept, shortenText(key, room), isCredential ? "[redacted]" : shorten(member, depth + 1, room));
  }
  if (count < keys.length) put(kept, "…", `${keys.length} members`);
  return kept;
}

/** An object under construction. */
type Writable = { [key: string]: JsonValue };

/** Sets a member of any name: `__proto__` is data here. */
function put(object: Writable, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

function shortenText(text: string, room: Room): string {
  const { textMaxLength } = room.limits;
  const { start, isWhole } = scrubStart(text, room);
  const clean = withoutCredentials(start.slice(0, suspectedMaxLength), room);
  if (isWhole && start.length <= suspectedMaxLength && clean.length <= textMaxLength) return clean;
  return `${clean.slice(0, textMaxLength)}… (${text.length} characters)`;
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
  const stretches = findCredentials(text).sort((a, b) => a.start - b.start);
  let clean = "";
  let at = 0;
  for (const { start, end } of stretches) {
    if (end <= at) continue;
    clean += `${text.slice(at, Math.max(at, start))}[redacted]`;
    at = end;
  }
  return at === 0 ? text : clean + text.slice(at);
}
