/** The egress list of a manifest as host patterns. */

import { type HostPattern, parseHostPattern } from "@toolcrib/hosts";
import type { Manifest } from "./manifest.ts";

/** Returns the hosts that `manifest` allows. An invalid entry, which lint reports, allows nothing. */
export function egressPatterns(manifest: Manifest): readonly HostPattern[] {
  return (manifest.entitlements?.egress ?? []).flatMap((entry) => {
    const verdict = parseHostPattern(entry);
    return verdict.kind === "valid" ? [verdict.value] : [];
  });
}
