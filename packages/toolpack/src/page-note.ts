/** Pagination: the result names the arguments with which the model requests the next page. */

import type { JsonObject } from "@toolcrib/json";
import type { nextPage } from "@toolcrib/toolspec";

type NextPage = NonNullable<ReturnType<typeof nextPage>>;

/** Key in `_meta` of a result for the arguments of the next page. */
export const nextPageKey = "toolcrib/nextPage";

/** Longest arguments in a note, as JSON. */
const argumentsMaxLength = 8192;

/** A note in a result about the next page. */
export interface PageNote {
  readonly text: string;
  readonly meta: JsonObject | undefined;
}

/**
 * Returns the note for a call with `args` whose next page is `page`; `null` marks an argument to omit.
 *
 * @param nameOf returns the name of a parameter in the input schema.
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
    return { text: "[more results, but their cursor is too long]", meta: undefined };
  const without = leftOut.length === 0 ? "" : ` without ${leftOut.join(", ")},`;
  return {
    text: `[more results: call again with the same arguments${without} and ${written}]`,
    meta: { [nextPageKey]: { ...changed, ...Object.fromEntries(leftOut.map((name) => [name, null])) } },
  };
}
