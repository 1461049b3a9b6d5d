/**
 * What the audit keeps of a call's arguments besides their digest: enough to
 * recognise the call, cut short, with credentials left out. Pure.
 */

import { credentialRanges } from "@toolcrib/config";
import type { JsonObject, JsonValue } from "@toolcrib/json";

const textMaxLength = 120;
/** How much of a text is searched for secrets before it is cut: one that the cut would divide must be found whole. */
const searchedMaxLength = 256 * 1024;
/** How much is searched for what only looks like a credential. */
const suspectedMaxLength = 8 * 1024;
const maxItems = 16;
const maxDepth = 4;
const credentialKey =
  /passw(?:or)?d|passphrase|passcode|(?:^|[-_.])pass$|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|auth$|authorization|bearer|cookie|session[-_.]?id|(?:^|[-_.])(?:otp|pin)$|signature/i;

/** Values in one preview; what follows is left out. */
const maxValues = 200;

/** A short form of `args` for the audit. @param scrub takes known secrets out of a text */
export function previewArguments(args: JsonObject, scrub: (text: string) => string): JsonObject {
  return shorten(args, 0, { scrub, valuesLeft: maxValues }) as JsonObject;
}

/** What one preview still may hold. */
interface Room {
  readonly scrub: (text: string) => string;
  valuesLeft: number;
}

function shorten(value: JsonValue | undefined, depth: number, room: Room): JsonValue {
  if (room.valuesLeft <= 0) return "…";
  room.valuesLeft -= 1;
  if (typeof value === "string") return shortenText(value, room.scrub);
  // A number may be a secret too.
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

/** An object that is being made. */
type Writable = { [key: string]: JsonValue };

/** Set a member, whatever its name: `__proto__` is data here. */
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

/** `text` without what is recognised as a credential wherever it stands. */
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
