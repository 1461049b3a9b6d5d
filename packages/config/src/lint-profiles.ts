/** Checks the names of profiles that clients are bound to. A client of an unknown profile could use nothing. Pure. */

import { type Diagnostic, didYouMean } from "@toolcrib/diagnostics";
import { nodeAt, toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";

/** Returns an error for each client of `layers`, as one configuration, whose profile does not exist. */
export function lintProfiles(layers: readonly ConfigLayer[]): Diagnostic[] {
  const names = new Set(layers.flatMap(({ sections }) => Object.keys(sections.profiles ?? {})));
  return layers.flatMap(({ sections, tree, source }) =>
    Object.entries(sections.policy?.clients ?? {}).flatMap(([client, { profile }]) => {
      const path = ["policy", "clients", client, "profile"];
      const span = nodeAt(tree, path)?.span;
      if (profile === undefined || names.has(profile) || span === undefined) return [];
      const known = [...names];
      const hint =
        didYouMean(profile, known) ??
        (known.length === 0
          ? "add it: profiles: { NAME: { tools: […] } }"
          : `the profiles are ${known.join(", ")}`);
      const message = `The client ${quote(client)} is bound to the profile ${quote(profile)}, which does not exist`;
      return [
        toDiagnostic({ code: "CONFIG_INVALID_VALUE", message, hint, span, path: path.join(".") }, source),
      ];
    }),
  );
}
