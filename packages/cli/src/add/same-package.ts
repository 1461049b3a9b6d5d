/** Says which entries of a configuration run a package already that is added once more. Pure. */

import type { GatewayConfig } from "@toolcrib/config";
import { packageWordsOf } from "../sandbox/fetched-store.ts";
import type { OfferFact } from "./offer.ts";

/**
 * Returns the fact about the other entries with one of `packages`; none where there is no such entry.
 *
 * @param id of the entry that is added
 * @param packages their names, also with versions
 */
export function samePackageFacts(
  { toolServers, disabled }: Pick<GatewayConfig, "toolServers" | "disabled">,
  id: string,
  packages: readonly string[],
): readonly OfferFact[] {
  const names = new Set(packages.map(nameOf));
  const others = [...toolServers, ...disabled.toolServers].filter(
    (one) => one.id !== id && packageWordsOf(one).some((word) => names.has(nameOf(word))),
  );
  if (others.length === 0) return [];
  const ids = others.map((one) => one.id).join(", ");
  return [
    [
      "already",
      `${ids} ${others.length === 1 ? "has" : "have"} this package; clients get the tools of each entry`,
    ],
  ];
}

/** The name of a package without its version. */
function nameOf(word: string): string {
  return word.replace(/(?<=.)(?:@|==)[^@/]*$/, "");
}
