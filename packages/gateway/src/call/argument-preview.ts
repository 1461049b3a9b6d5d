/**
 * The preview of a call's arguments that the audit keeps in addition to their
 * digest: enough to recognize the call, shortened, without credentials. Pure.
 */

import { credentialRanges } from "@toolcrib/config";
import type { JsonObject, JsonValue } from "@toolcrib/json";

const textMaxLength = 120;
/** Length of text that is searched for secrets before it is cut: a secret that the cut would divide must be found as a whole. */
const searchedMaxLength = 256 * 1024;
/** Length of text that is searched for anything that looks like a credential. */
const suspectedMaxLength = 8 * 1024;
const maxItems = 16;
const maxDepth = 4;
const credentialKey =
  /passw(?:or)?d|passphrase|passcode|(?:^|[-_.])pass$|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|auth$|authorization|bearer|cookie|session[-_.]?id|(?:^|[-_.])(?:otp|pin)$|signature/i;

/** Most values in one preview; later ones are dropped. */
const maxValues = 200;

/** Returns a short form of `args` for the audit. @param scrub removes known secrets from a text */
export function previewArguments(args: JsonObject, scrub: (text: string) => string): JsonObject {
  return shorten(args, 0, { scrub, valuesLeft: maxValues }) as JsonObject;
}

/** Remaining capacity of one preview. */
interface Room {
  readonly scrub: (text: string) => string;
  valuesLeft: number;
}

function shorten(value: JsonValue | undefined, depth: number, room: Room): JsonValue {
  if (room.valuesLeft <= 0) return "…";
  room.valuesLeft -= 1;
  if (typeof value === "string") return shortenText(value, room.scrub);
  // A number can be a secret too.
  if (typeof value === "number") return room.scrub(String(value)) === String(value) ? value : "[redacted]";
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shorten(item, depth + 1, room));
    return value.length > maxItems ? [...items, `… (${value.length} items)`] : items;
  }
  const keys = Object.keys(value);
  const kept: Writable = {};
  for (const key of keys.length > maxItems ? keys.slice(0, maxItems) : keys) {
    const member = (value as JsonObject)[key];
    const isCredential = credentialKey.test(key) && member !== null;
    put(kept, shortenText(key, room.scrub), isCredential ? "[redacted]" : shorten(member, depth + 1, room));
  }
  if (keys.length > maxItems) put(kept, "…", `${keys.length} members`);
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

function shortenText(text: string, scrub: (text: string) => string): string {
  const scrubbed = scrub(text.slice(0, searchedMaxLength));
  const clean = withoutCredentials(scrubbed.slice(0, suspectedMaxLength));
  const isAll = text.length <= searchedMaxLength && scrubbed.length <= suspectedMaxLength;
  if (isAll && clean.length <= textMaxLength) return clean;
  return `${clean.slice(0, textMaxLength)}… (${text.length} characters)`;
}

/** Returns `text` without recognizable credentials. */
function withoutCredentials(text: string): string {
  if (text.length < 8) return text;
  const stretches = credentialRanges(text).sort((a, b) => a.start - b.start);
  let clean = "";
  let at = 0;
  for (const { start, end } of stretches) {
    if (end <= at) continue;
    clean += `${text.slice(at, Math.max(at, start))}[redacted]`;
    at = end;
  }
  return at === 0 ? text : clean + text.slice(at);
}
