/** Names that a saved tool cannot have, because they have a meaning in every program. Pure. */

import { keywords, reservedNames, savedNamespace, universalNames } from "../run/tool-directory.ts";

/** Returns why `name` has a meaning in every program; `undefined` if it has none. */
export function meaningOfName(name: string): string | undefined {
  if (universalNames.has(name)) return "the name belongs to a builtin of the language";
  if (reservedNames.has(name) || name === savedNamespace)
    return "the name belongs to a value of every program";
  return keywords.has(name) ? "the name is a keyword of the language" : undefined;
}
