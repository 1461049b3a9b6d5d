/** How a model asks for the next page: by arguments of the tool itself, which the result names. */

import type { JsonObject } from "@toolcrib/json";
import type { NextPage } from "@toolcrib/toolspec";

/** Key of the arguments for the next page in `_meta` of a result. */
export const nextPageKey = "toolcrib/nextPage";

/** Longest arguments that are handed on, as JSON. */
const argumentsMaxLength = 8192;

/** What a result says of the next page. */
export interface PageNote {
  readonly text: string;
  readonly meta: JsonObject | undefined;
}

/**
 * The note for a call with `args` that goes on with `page`; `null` stands for an argument to leave out.
 *
 * @param nameOf what the input schema calls a parameter.
 */
export function notePage(args: JsonObject, page: NextPage, nameOf: (param: string) => string): PageNote {
  if (page.kind === "refused") return { text: `[more results, but ${page.reason}]`, meta: undefined };
  const next = page.args;
  const changed = Object.fromEntries(
    Object.entries(next).flatMap(([name, value]) => (args[name] === value ? [] : [[nameOf(name), value]])),
  );
  const leftOut = Object.keys(args)
    .filter((name) => !Object.hasOwn(next, name))
    .map(nameOf);
  const written = JSON.stringify(changed);
  if (written.length > argumentsMaxLength)
    return { text: "[more results, but their cursor is too long to be handed on]", meta: undefined };
  const without = leftOut.length === 0 ? "" : ` without ${leftOut.join(", ")},`;
  return {
    text: `[more results: call again with the same arguments${without} and ${written}]`,
    meta: { [nextPageKey]: { ...changed, ...Object.fromEntries(leftOut.map((name) => [name, null])) } },
  };
}
