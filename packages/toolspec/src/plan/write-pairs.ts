/** Arguments as names and values, for queries, forms and multipart bodies. Nothing is encoded here. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { type Argument, argumentText, textOf } from "./arguments.ts";

/** A name and its value. */
export type Pair = readonly [name: string, value: string];

/**
 * The pairs of one argument: a scalar once, each item of an array under the
 * same name, an object as compact JSON; other styles as the parameter says.
 * Commas of `style: comma` are part of the value.
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

/** `a[]=1`, `a[key]=1`; items of an array that have parts are counted: `a[0][key]=1`. */
function bracketPairs(name: string, value: JsonValue): readonly Pair[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => {
      const isScalar = typeof item !== "object" || item === null;
      // A name that ends in [] says so already.
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
