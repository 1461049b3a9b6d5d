/**
 * The URIs that a completion of a resource template is about: the template expanded with the values of
 * the request and each value that the server offers. The policy decides about them as about any other URI. Pure.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { expandTemplate } from "@toolcrib/policy";
import type { Completed } from "./request-params.ts";

/** Whether a client may use a URI. */
type AllowsUri = (uri: string) => boolean;

/** Returns a URI that the values in a request make of `template` and that is not allowed; undefined when all are. */
export function deniedUri(
  template: string,
  { argument, context }: Completed,
  allows: AllowsUri,
): string | undefined {
  const known = { ...context?.arguments, [argument.name]: argument.value };
  return expandTemplate(template, known).find((uri) => !allows(uri));
}

/** Returns the result of a completion without the values that make a URI which is not allowed. */
export function allowedValues(
  result: JsonObject,
  template: string,
  completed: Completed,
  allows: AllowsUri,
): JsonObject {
  const { completion } = result;
  const values = isJsonObject(completion) ? completion["values"] : undefined;
  if (!isJsonObject(completion) || !Array.isArray(values)) return result;
  const kept = values.filter((value) => {
    const argument = { ...completed.argument, value: String(value) };
    return deniedUri(template, { ...completed, argument }, allows) === undefined;
  });
  if (kept.length === values.length) return result;
  // The number of all values includes the denied ones.
  const { total: _total, ...rest } = completion;
  return { ...result, completion: { ...rest, values: kept } };
}
