/** Options that are given once for each name, as `NAME=VALUE`. Pure. */

import type { CliError } from "./cli-error.ts";

/**
 * The values by their names; of a name that is given twice, the last one.
 *
 * @throws {CliError} what `refuse` makes of a text without a name or without `=`.
 */
export function readPairs(
  given: readonly string[],
  refuse: (text: string) => CliError,
): { readonly [name: string]: string } {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw refuse(text);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
