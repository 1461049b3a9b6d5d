/** How a model asks for the next page: by arguments of the tool itself, which the result names. */

import type { JsonObject } from "@toolcrib/json";

/** Key of the arguments for the next page in `_meta` of a result. */
export const nextPageKey = "toolcrib/nextPage";

/** Longest arguments that are handed on, as JSON. */
const argumentsMaxLength = 8192;

/** What a result says of the next page. */
export interface PageNote {
  readonly text: string;
  readonly meta: JsonObject | undefined;
}

/** The note for a call with `args` that goes on with `next`. */
export function notePage(args: JsonObject, next: JsonObject): PageNote {
  const changed = Object.fromEntries(Object.entries(next).filter(([name, value]) => args[name] !== value));
  const written = JSON.stringify(changed);
  if (written.length > argumentsMaxLength)
    return { text: "[more results, but their cursor is too long to be handed on]", meta: undefined };
  return {
    text: `[more results: call again with the same arguments and ${written}]`,
    meta: { [nextPageKey]: changed },
  };
}
