/**
 * Parses the text of a message or a batch. The id of a request comes back in its answer as it was sent, or the request
 * is refused: a number that JavaScript writes in another way than the text (1.0, 1e2, 1.00000000000000001) is replaced
 * by NaN, which no JSON contains and `classify` refuses. Integers that are too large it refuses by their values.
 */

import { isJsonObject, type JsonLimits, type JsonValue, parseJson } from "@toolcrib/json";

/** The member `id`, also written with escapes, before a number that is not written as a plain integer. */
const unusualId = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*(?:-?\d+[.eE]|-0)/;

/** @throws {JsonError} as `parseJson` */
export function parseMessage(text: string, limits: JsonLimits): JsonValue {
  const value = parseJson(text, limits);
  const messages = Array.isArray(value) ? value : [value];
  // A few members decide for most texts.
  if (!messages.some(hasNumber) || !unusualId.test(text)) return value;
  for (const index of changedIds(text, Array.isArray(value))) {
    const message = messages[index];
    // An answer means the request of this side whose id has the value.
    if (isJsonObject(message) && message["method"] !== undefined)
      (message as { id: JsonValue }).id = Number.NaN;
  }
  return value;
}

function hasNumber(message: JsonValue): boolean {
  return isJsonObject(message) && typeof message["id"] === "number";
}

/** Returns the indexes of the messages in valid JSON whose ids are numbers in another form than their shortest. */
function changedIds(text: string, isBatch: boolean): ReadonlySet<number> {
  const changed = new Set<number>();
  const messageDepth = isBatch ? 2 : 1;
  let depth = 0;
  let index = 0;
  let name = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') {
      const end = endOfString(text, at);
      // A value is a name only where a colon follows.
      if (depth === messageDepth) name = text.slice(at, end + 1);
      at = end;
    } else if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") depth -= 1;
    else if (unit === "," && depth === messageDepth - 1) index += 1;
    else if (unit === ":" && depth === messageDepth && JSON.parse(name) === "id") {
      const start = endOfSpace(text, at + 1);
      const token = /^-?\d[\d.eE+-]*/.exec(text.slice(start, start + tokenMaxLength))?.[0];
      // Of equal names, the last one counts.
      if (token !== undefined && token !== String(Number(token))) changed.add(index);
      else changed.delete(index);
    }
  }
  return changed;
}

/** More than the longest number in its shortest form, so that the part of a longer one is never equal to that. */
const tokenMaxLength = 1000;

/** Returns the index of the first character at or after `start` that is no white space of JSON. */
function endOfSpace(text: string, start: number): number {
  let at = start;
  while (" \t\n\r".includes(text[at] ?? ".")) at += 1;
  return at;
}

/** Returns the index of the quote that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
