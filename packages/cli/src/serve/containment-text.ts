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
 * Returns the containment of a server's process, such as `bubblewrap: net deny, write scoped`, with what is open
 * (`net allow`), too: a word that is missing would have to be known. Empty for servers that run elsewhere.
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
  const { tier, notEnforcedParts = [] } = containment ?? {};
  if (containment === undefined || tier === undefined) return "";
  const { networkEgress, filesystemWrite, frontingHosts: fronting = [] } = containment;
  const textOf = (network: string, write: string) => `net ${network}, write ${write}`;
  // Without a sandbox everything is open, whatever the entry demands: status names that below its table.
  if (tier === "none")
    return `${notEnforcedParts.length === 0 ? "no sandbox" : "UNCONTAINED"}: ${textOf("allow", "allow")}`;
  const suffix = fronting.length === 0 ? "" : ` (fronting possible: ${fronting.join(", ")})`;
  return safeLine(`${tier}: ${textOf(networkEgress, filesystemWrite)}${suffix}`);
}
