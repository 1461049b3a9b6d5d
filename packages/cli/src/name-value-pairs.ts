/** Parses repeatable options of the form `NAME=VALUE`. Pure. */

import type { CliError } from "./cli-error.ts";

/**
 * Returns the values by name. The last value of a repeated name wins.
 *
 * @throws {CliError} the error from `refuse`, for a text without a name or without `=`.
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
