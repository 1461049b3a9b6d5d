/** What contains the process of a server, in words for people. */

import type { GatewayStatus } from "@toolcrib/gateway";
import { safeLine } from "../output/output.ts";

/**
 * Returns the containment of a server's process, such as `bubblewrap: network_egress deny, filesystem_write scoped`;
 * empty for servers that run elsewhere or need no sandbox.
 */
export function containmentText({
  containment,
}: {
  readonly containment?: GatewayStatus["servers"][number]["containment"];
}): string {
  // A gateway of an earlier version has no sandboxes.
  const { tier, enforcedParts = [], notEnforcedParts = [] } = containment ?? {};
  if (containment === undefined || tier === undefined) return "";
  const levels: { readonly [part: string]: string } = {
    network_egress: containment.networkEgress,
    filesystem_write: containment.filesystemWrite,
  };
  const shown = (parts: readonly string[]): string =>
    parts
      .filter((part) => Object.hasOwn(levels, part))
      .map((part) => `${part} ${levels[part]}`)
      .join(", ");
  const fronting = containment.frontingHosts ?? [];
  const suffix = fronting.length === 0 ? "" : ` (fronting possible: ${fronting.join(", ")})`;
  if (tier !== "none") {
    return safeLine([tier, shown(enforcedParts)].filter((text) => text !== "").join(": ") + suffix);
  }
  return notEnforcedParts.length === 0 ? "" : safeLine(`UNCONTAINED: ${shown(notEnforcedParts)}`);
}
