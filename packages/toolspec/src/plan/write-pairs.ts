/** Converts arguments to pairs of name and value, for queries, forms and multipart bodies. Encodes nothing. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { type Argument, argumentText, textOf } from "./arguments.ts";

/** A name and its value. */
export type Pair = readonly [name: string, value: string];

/**
 * Returns the pairs of one argument: one pair for a scalar, one per item of an
 * array with the same name, compact JSON for an object; other styles as the
 * parameter states. Commas of `style: comma` are part of the value.
 */
export function pairsOf(argument: Argument): readonly Pair[] {
  const { value } = argument;
  const { name, style } = argument.param;
  if (typeof value !== "object" || style === "json") return [[name, argumentText(argument)]];
  if (style === "brackets") return bracketPairs(name, value);
  if (!Array.isArray(value)) return [[name, textOf(value)]];
  if (style === "comma") return value.length === 0 ? [] : [[name, value.map(textOf).join(",")]];
  return value.map((item: JsonValue) => [name, textOf(item)] as const);
}

/** Writes `a[]=1` and `a[key]=1`; array items that have parts are numbered: `a[0][key]=1`. */
function bracketPairs(name: string, value: JsonValue): readonly Pair[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => {
      const isScalar = typeof item !== "object" || item === null;
      // A name that ends in [] already marks an array.
      const step = isScalar
        ? name.endsWith("[]")
          ? name
          : `${name}[]`
        : `${name.replace(/\[\]$/, "")}[${index}]`;
      return bracketPairs(step, item);
    });
  }
  if (!isJsonObject(value)) return [[name, textOf(value)]];
  return Object.entries(value).flatMap(([key, part]) =>
    part === undefined ? [] : bracketPairs(`${name}[${key}]`, part),
  );
}
