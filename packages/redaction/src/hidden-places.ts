/** Places of arguments that are left out of every form for people. Pure. */

import type { JsonValue } from "@toolcrib/json";

/** Places of hidden values, relative to a value: the names that lead to each, of which `*` stands for any name or index. */
export type HiddenPlaces = readonly (readonly string[])[];

const nowhere: HiddenPlaces = [];

/** Returns the places inside the member or item `name`, or "whole" when it is hidden itself. */
export function placesIn(
  places: HiddenPlaces,
  name: string,
  value: JsonValue | undefined,
): HiddenPlaces | "whole" {
  if (places.length === 0) return nowhere;
  const inside = places.filter(([first]) => first === name || first === "*");
  if (inside.length === 0) return nowhere;
  // A text in the place of an object can be that object in another form.
  return inside.some((place) => place.length === 1) || typeof value === "string"
    ? "whole"
    : inside.map((place) => place.slice(1));
}
