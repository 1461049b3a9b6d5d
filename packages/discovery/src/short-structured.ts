/**
 * Structured content above the budget of its endpoint, shortened so that a client can still check it against the
 * output schema: arrays lose their last items, texts their ends, and objects their last members, as little as
 * possible, until the rest fits into the budget and the schema. What nobody can shorten in this way is undefined.
 *
 * A text without white space can have a format that clients check and this gateway does not (a URI, Base64), so such
 * texts are cut only where the schema names no format.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { estimateTokens } from "./token-estimate.ts";

/** The schema that a client checks a result against. */
export interface OutputCheck {
  readonly schema: JsonObject;
  readonly isValid: (structured: JsonValue) => boolean;
}

/** The parts of a value that are shortened. */
interface Way {
  readonly items: boolean;
  readonly members: boolean;
  readonly texts: "none" | "prose" | "all";
}

/** Most items of an array, and members of an object. */
const itemsMaxCount = 4096;
/** Characters of a text for each item of an array. */
const charactersPerItem = 16;
/** Fewest characters to which a text is cut. */
const textMinLength = 64;
/** Most characters of a token, about: longer values are not estimated. */
const charactersPerToken = 10;

/** Returns the beginning of `value` in at most `budget` tokens; undefined where none is valid. */
export function shortenStructured(
  value: JsonValue,
  budget: number,
  { schema, isValid }: OutputCheck,
): JsonValue | undefined {
  for (const way of waysFor(JSON.stringify(schema).includes('"format"'))) {
    const longest = longestWithin(value, budget, way);
    if (longest !== undefined && isValid(longest)) return longest;
  }
  return undefined;
}

/** Returns the longest beginning of `value` within the budget; undefined where even the shortest one exceeds it. */
function longestWithin(value: JsonValue, budget: number, way: Way): JsonValue | undefined {
  const within = (most: number): JsonValue | undefined => {
    const room = { left: budget * charactersPerToken };
    const shorter = shorten(value, most, way, room);
    return room.left >= 0 && estimateTokens(JSON.stringify(shorter)) <= budget ? shorter : undefined;
  };
  let found = within(1);
  if (found === undefined) return undefined;
  for (let low = 2, high = Math.min(budget, itemsMaxCount); low <= high; ) {
    const most = Math.floor((low + high) / 2);
    const shorter = within(most);
    if (shorter === undefined) high = most - 1;
    else {
      found = shorter;
      low = most + 1;
    }
  }
  return found;
}

/** The ways to shorten a value, the least harmful first. For each, only the longest beginning is checked. */
function waysFor(hasFormats: boolean): readonly Way[] {
  const texts = hasFormats ? (["prose", "none"] as const) : (["prose", "all", "none"] as const);
  return [false, true].flatMap((members) =>
    texts.flatMap((one) => [true, false].map((items) => ({ items, members, texts: one }))),
  );
}

/** Shortens a value, and stops where there is no room for the rest. */
function shorten(value: JsonValue, most: number, way: Way, room: { left: number }): JsonValue {
  if (typeof value === "string") {
    const text = shortenText(value, most, way);
    room.left -= text.length;
    return text;
  }
  room.left -= 1;
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) {
      if (room.left < 0 || (way.items && items.length === most)) break;
      items.push(shorten(item, most, way, room));
    }
    return items;
  }
  if (!isJsonObject(value)) return value;
  const members: [string, JsonValue][] = [];
  for (const name of namesIn(value)) {
    if (room.left < 0 || (way.members && members.length === most)) break;
    room.left -= name.length;
    members.push([name, shorten(value[name] as JsonValue, most, way, room)]);
  }
  return Object.fromEntries(members);
}

/** Large objects list their members slowly, and each is shortened several times. */
const namesOf = new WeakMap<JsonObject, readonly string[]>();

function namesIn(value: JsonObject): readonly string[] {
  const names = namesOf.get(value) ?? Object.keys(value);
  namesOf.set(value, names);
  return names;
}

function shortenText(text: string, most: number, { texts }: Way): string {
  const length = Math.max(textMinLength, most * charactersPerItem);
  if (texts === "none" || text.length <= length) return text;
  if (texts === "prose" && !/\s/.test(text)) return text;
  // A pair of surrogates stays together.
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
