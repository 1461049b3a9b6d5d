/** Options of `toolcrib add` that an entry does not get, because it is in the configuration already. Pure. */

import type { CliContext } from "../cli-context.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "./add-flags.ts";

const names: readonly (readonly [flag: keyof AddFlags, name: string])[] = [
  ["secret", "--secret"],
  ["variable", "--variable"],
  ["allTools", "--all-tools"],
  ["serverArg", "--server-arg"],
  ["env", "--env"],
  ["read", "--read"],
  ["write", "--write"],
  ["allow", "--allow"],
  ["program", "--program"],
];

/** Returns the names of the given options that only a new entry gets. */
export function unusedFlags(flags: AddFlags): readonly string[] {
  return names.flatMap(([flag, name]) => (flags[flag] === undefined ? [] : [name]));
}

/** Returns the line about the options that changed nothing; none where none was given. */
export function unusedFlagsLines(
  context: CliContext,
  { id, shown, flags }: { readonly id: string; readonly shown: string; readonly flags: AddFlags },
): readonly string[] {
  const unused = unusedFlags(flags);
  if (unused.length === 0) return [];
  const verb = unused.length === 1 ? "changes" : "change";
  const mark = context.output.style("yellow", "!");
  return [
    `${mark} ${unused.join(", ")} ${verb} nothing: the entry of ${id} stays as it is. Edit it in ${shown}, or remove it (${ownCommand(context)} remove ${shellQuote(id)}) and add it again`,
  ];
}
