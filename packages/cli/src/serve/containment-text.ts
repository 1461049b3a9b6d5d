/** Describes what contains the process of a server, in words for people. */

import type { GatewayStatus } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { safeLine } from "../output/output.ts";

/** The failure of a process that was never started: nothing of it runs, contained or not. */
const notStarted: { readonly [code: string]: string } = {
  PROCESS_COMMAND_NOT_FOUND: "command not found",
  PROCESS_COMMAND_NOT_EXECUTABLE: "command not executable",
};

/** Returns why the process of a source was never started; undefined where it was, or where that is not known. */
export function notStartedText({ health, pid }: Partial<SourceStatus>): string | undefined {
  const code = pid === undefined ? health?.failure?.code : undefined;
  return code !== undefined && Object.hasOwn(notStarted, code) ? notStarted[code] : undefined;
}

/**
 * Returns the containment of a server's process, such as `bubblewrap: network_egress deny, filesystem_write scoped`;
 * empty for servers that run elsewhere or need no sandbox.
 */
export function containmentText(
  status: Partial<SourceStatus> & {
    readonly containment?: GatewayStatus["servers"][number]["containment"];
  },
): string {
  const reason = notStartedText(status);
  if (reason !== undefined) return reason;
  const { containment } = status;
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
