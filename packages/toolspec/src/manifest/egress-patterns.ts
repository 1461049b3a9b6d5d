/** The egress list of a manifest, as it is held against hosts. */

import { type HostPattern, parseHostPattern } from "@toolcrib/hosts";
import type { Manifest } from "./manifest.ts";

/** The hosts that `manifest` allows. An entry that is no host pattern, which lint reports, allows nothing. */
export function egressPatterns(manifest: Manifest): readonly HostPattern[] {
  return (manifest.entitlements?.egress ?? []).flatMap((entry) => {
    const verdict = parseHostPattern(entry);
    return verdict.kind === "valid" ? [verdict.value] : [];
  });
}
